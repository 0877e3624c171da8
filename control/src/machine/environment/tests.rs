//! Every kind of machine, and one that tells nothing.

use super::conditions::{Flags, Throttle};
use super::fixture::{self, Tree};
use super::*;
use crate::machine::digest::{executable, sha256};
use model::Run;
use model::environment::{Cap, Machine};
use serde_json::json;
use std::path::Path;

fn look(tree: &Tree) -> Environment {
    tree.system().look(&fixture::four())
}

/// Whether every value in it is null. An object without entries counts as null.
fn all_null(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::Object(map) => map.values().all(all_null),
        other => other.is_null(),
    }
}

#[test]
fn where_nothing_can_be_read_all_is_unknown_and_nothing_is_zero() {
    let tree = Tree::empty();
    let environment = look(&tree);
    let json = serde_json::to_value(&environment).unwrap();
    for key in ["kernel", "cpu", "memory_bytes", "virtualization"] {
        assert!(json[key].is_null(), "{key}: {json}");
    }
    let machine = Machine { drome_sha256: None, ..environment.machine };
    let json = serde_json::to_value(&machine).unwrap();
    assert!(all_null(&json), "{json}");
    let conditions = ConditionsWatch::begin(&tree.system(), &fixture::four()).end();
    let json = serde_json::to_value(&conditions).unwrap();
    assert!(all_null(&json), "{json}");
}

#[test]
fn a_machine_tells_what_decides_its_figures() {
    let found = look(&fixture::laptop());
    assert_eq!(
        (found.cpu.as_deref(), found.kernel.as_deref()),
        (Some("A processor"), Some("6.1.0-18-amd64"))
    );
    assert_eq!((found.cores, found.memory_bytes, found.virtualization), (4, Some(16_384_000_000), None));
    let machine = found.machine;
    assert_eq!(machine.online_cpus, Some(vec![0, 1, 2, 3]));
    assert_eq!(machine.isolated_cpus, Some(vec![]), "an empty list is known");
    assert_eq!(machine.sibling_cpus, Some(vec![vec![0, 2], vec![1, 3]]));
    let policy = machine.frequency;
    assert_eq!(
        (policy.driver.as_deref(), policy.governor.as_deref()),
        (Some("intel_pstate"), Some("powersave"))
    );
    assert_eq!((policy.min_hz, policy.max_hz), (Some(800_000_000), Some(3_500_000_000)));
    assert_eq!(policy.boost, Some(true), "no_turbo is the contrary of boost");
    assert_eq!(machine.mitigations.unwrap()["meltdown"], "Not affected");
    assert_eq!(machine.sysctls["net.ipv4.ip_local_port_range"].as_deref(), Some("32768 60999"));
    assert_eq!(machine.sysctls["net.ipv4.tcp_tw_reuse"], None, "asked for, and not told");
    assert_eq!((machine.descriptors_soft, machine.descriptors_hard), (Some(1024), Some(524_288)));
    assert_eq!((machine.clock_source.as_deref(), machine.swap_bytes), (Some("tsc"), Some(0)));
    assert_eq!(machine.cgroup_cpu_millicores, Some(Cap::NONE));
}

#[test]
fn a_raspberry_pi_is_named_and_its_flags_are_read() {
    let tree = fixture::raspberry_pi();
    let found = look(&tree);
    assert_eq!(found.cpu.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.4"));
    assert_eq!(found.machine.frequency.boost, None);
    assert_eq!(found.machine.sibling_cpus, None, "its kernel does not tell here");
    let system = tree.system();
    let watch = ConditionsWatch::begin(&system, &fixture::four());
    let tree = tree.with(&[
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1800000"),
        ("sys/class/thermal/thermal_zone0/temp", "83000"),
    ]);
    let found = watch.end();
    assert_eq!(found.throttled, None, "it was throttled before, and that flag can't be set again");
    assert_eq!((found.server_hz.before, found.server_hz.after), (Some(600_000_000), Some(1_200_000_000)));
    assert_eq!((found.temperature_c.before, found.temperature_c.after), (Some(61.341), Some(83.0)));
    let watch = ConditionsWatch::begin(&system, &fixture::four());
    let tree = tree.with(&[("sys/devices/platform/soc/soc:firmware/get_throttled", "0xd0008")]);
    // Capped in the meantime and free again, and too warm now.
    let flags = tree.system().throttle().since_start().unwrap();
    assert_eq!(flags, ["under-voltage", "throttled", "soft temperature limit"]);
    assert_eq!(watch.end().throttled.unwrap(), ["soft temperature limit"]);
}

#[test]
fn a_board_is_named_by_its_model_where_the_processor_has_only_its_architecture_s_name() {
    let named = |files: &[(&str, &str)]| look(&Tree::empty().with(files)).cpu;
    let of_32_bits = "processor\t: 0\nmodel name\t: ARMv7 Processor rev 3 (v7l)\n";
    let raspberry = format!("{of_32_bits}\nHardware\t: BCM2711\nModel\t\t: Raspberry Pi 4 Model B Rev 1.2\n");
    let found = named(&[("proc/cpuinfo", raspberry.as_str())]);
    assert_eq!(found.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.2"));
    let model = ("proc/device-tree/model", "Hardkernel Odroid XU4\0");
    assert_eq!(named(&[("proc/cpuinfo", of_32_bits), model]).as_deref(), Some("Hardkernel Odroid XU4"));
    let found = named(&[("proc/cpuinfo", of_32_bits)]);
    assert_eq!(found.as_deref(), Some("ARMv7 Processor rev 3 (v7l)"), "nothing else is told");
    let found = named(&[("proc/cpuinfo", "model name\t: Ky(R) X1\n"), model]);
    assert_eq!(found.as_deref(), Some("Ky(R) X1"));
}

/// Zones and temperatures as the kernels of three boards told them; the boards are in `boards/`.
#[test]
fn the_hottest_sensor_of_all_clusters_counts_and_none_of_other_parts() {
    let hottest = |zones: &[(&str, &str)]| {
        let tree = zones.iter().enumerate().fold(Tree::empty(), |tree, (n, (kind, temp))| {
            let file = |name: &str| format!("sys/class/thermal/thermal_zone{n}/{name}");
            tree.with(&[(file("type").as_str(), *kind), (file("temp").as_str(), *temp)])
        });
        tree.system().temperature_c()
    };
    let rk3588 = [("gpu-thermal", "40700"), ("littlecore-thermal", "44400"), ("bigcore0-thermal", "45300")];
    assert_eq!(hottest(&rk3588), Some(45.3));
    let k1 = [
        ("soc-thermal", "35000"),
        ("package-thermal", "37000"),
        ("gpu-thermal", "36000"),
        ("cluster0-thermal", "36000"),
        ("cluster1-thermal", "37000"),
    ];
    assert_eq!(hottest(&k1), Some(37.0));
    let tegra =
        [("AO-therm", "41500"), ("CPU-therm", "34000"), ("GPU-therm", "31000"), ("PMIC-Die", "100000")];
    assert_eq!(hottest(&tegra), Some(34.0), "the power supply's chip always tells 100 °C");
    // The zones of a Jetson TX2 have these names; the temperatures are made up.
    assert_eq!(hottest(&[("BCPU-therm", "36000"), ("MCPU-therm", "36500")]), Some(36.5));
    assert_eq!(hottest(&[("gpu-thermal", "40700"), ("iwlwifi", "39000")]), None);
}

#[test]
fn what_a_raspberry_pi_keeps_since_boot_does_not_hide_what_is_throttled_now() {
    let words = |words: &[&str]| Some(words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
    let firmware = [
        (0, 0, words(&[])),
        (0, 0x4_0000, words(&["throttled"])),
        (0x4_0000, 0x4_0000, None),
        (0x1_0000, 0x1_0000, None),
        (0x4_0000, 0x4_0004, words(&["throttled"])),
        (0x4_0004, 0x4_0000, words(&["throttled"])),
        (0x1_0000, 0x5_0000, words(&["throttled"])),
        // A bit of no flag.
        (0x0010_0000, 0x0010_0000, words(&[])),
    ];
    // The kernel's are cleared again and again: where they are not set, something may have been missed.
    let kernel = [
        (0, 0, None),
        (0, 0x4_0000, words(&["throttled"])),
        (0x4_0004, 0, words(&["throttled"])),
        (0x4_0000, 0, None),
    ];
    let all = firmware.map(|case| (true, case)).into_iter().chain(kernel.map(|case| (false, case)));
    for (stay, (before, after, expected)) in all {
        let throttle = |bits| Throttle { flags: Some(Flags { bits, stay }), events: None };
        let found = throttle(before).until(throttle(after));
        assert_eq!(found, expected, "{before:#x}, then {after:#x}, {stay}");
    }
    let [kernel, firmware] = [(0, false), (0x5_0000, true)]
        .map(|(bits, stay)| Throttle { flags: Some(Flags { bits, stay }), events: None });
    assert_eq!(kernel.until(firmware), None, "these are of the time since boot");
}

#[test]
fn flags_come_from_vcgencmd_and_from_the_kernel_where_that_tells_nothing() {
    let flags = |tree: &Tree| tree.system().throttle().flags;
    let script = "#!/bin/sh\n[ \"$1\" = get_throttled ] && echo throttled=0x4\n";
    let tree = Tree::empty().with_program("usr/bin/vcgencmd", script);
    assert_eq!(flags(&tree), Some(Flags { bits: 4, stay: true }));
    let found = ConditionsWatch::begin(&tree.system(), &fixture::four()).end();
    assert_eq!(found.throttled, Some(vec!["throttled".to_owned()]));
    // As of the Raspberry Pi 3B+ in `boards/`.
    let tree = tree.with(&[("sys/devices/platform/soc/soc:firmware/get_throttled", "0\n")]);
    assert_eq!(flags(&tree), Some(Flags { bits: 4, stay: true }), "the kernel's are old");
    let not_allowed = "#!/bin/sh\necho VCHI initialization failed\nexit 255\n";
    let tree = tree.with_program("usr/bin/vcgencmd", not_allowed);
    assert_eq!(flags(&tree), Some(Flags { bits: 0, stay: false }));
    assert_eq!(tree.system().throttle().since_start(), None, "nothing seen is not nothing happened");
    let file = "sys/devices/platform/soc@107c000000/soc@107c000000:firmware/get_throttled";
    let found = flags(&Tree::empty().with(&[(file, "50005\n")]));
    assert_eq!(found, Some(Flags { bits: 0x5_0005, stay: false }), "a Raspberry Pi 5's SoC has an address");
}

#[test]
fn a_guest_is_known_by_the_flag_and_elsewhere_by_its_vendor() {
    assert_eq!(look(&fixture::virtual_machine()).virtualization.as_deref(), Some("KVM"));
    let arm = fixture::raspberry_pi()
        .with(&[("sys/class/dmi/id/sys_vendor", "QEMU\n"), ("sys/class/dmi/id/product_name", "virt-7.2\n")]);
    assert_eq!(look(&arm).virtualization.as_deref(), Some("virt-7.2"));
    let real = fixture::sound().with(&[
        ("sys/class/dmi/id/sys_vendor", "A maker\n"),
        ("sys/class/dmi/id/product_name", "A board\n"),
    ]);
    assert_eq!(look(&real).virtualization, None);
}

#[test]
fn the_tightest_limit_of_all_groups_above_counts() {
    let machine = look(&fixture::container()).machine;
    assert_eq!(machine.cgroup_cpu_millicores, Some(Cap::At(1500)));
    assert_eq!(machine.cgroup_memory_bytes, Some(Cap::At(1 << 29)));
    let machine = look(&fixture::old_container()).machine;
    assert_eq!(machine.cgroup_cpu_millicores, Some(Cap::At(1500)));
    assert_eq!(machine.cgroup_memory_bytes, Some(Cap::NONE), "version 1 writes no limit as a huge number");
    let no_limit = serde_json::to_value(machine.cgroup_memory_bytes).unwrap();
    assert_eq!(no_limit, json!("unlimited"), "which is not null: that would be an unknown limit");
}

#[test]
fn conditions_have_the_share_of_the_host() {
    let tree = fixture::sound();
    let watch = ConditionsWatch::begin(&tree.system(), &fixture::four());
    // 1000 ticks went by: 100 stolen.
    let tree = tree.with(&[
        ("proc/stat", "cpu  300 0 150 10600 0 0 0 100 0 0\n"),
        ("sys/devices/system/cpu/cpu2/thermal_throttle/core_throttle_count", "3\n"),
    ]);
    let found = watch.end();
    assert_eq!(found.steal_ppm, Some(100_000));
    assert_eq!(found.load_average, Some(0.1));
    assert_eq!(found.throttled, Some(vec!["too hot, 3 times".to_owned()]));
    assert_eq!(found.temperature_c.before, Some(41.0), "the board's own sensor is not the processor's");
    let still = ConditionsWatch::begin(&tree.system(), &fixture::four()).end();
    assert_eq!(still.steal_ppm, None, "no tick went by: nothing is known");
}

#[test]
fn nonsense_in_the_files_is_unknown() {
    let tree = fixture::sound().with(&[
        ("proc/stat", "cpu  18446744073709551615 9 9 18446744073709551615 1 0 0 7\n"),
        ("sys/devices/system/cpu/online", "7-3\n"),
        ("sys/devices/system/cpu/isolated", "0-99999999999\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "18446744073709551615\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "18446744073709551615 0\n"),
        ("proc/self/limits", "Max open files   unlimited\n"),
    ]);
    let machine = look(&tree).machine;
    assert_eq!((machine.online_cpus, machine.isolated_cpus, machine.sibling_cpus), (None, None, None));
    assert_eq!((machine.descriptors_soft, machine.descriptors_hard), (None, None));
    let found = ConditionsWatch::begin(&tree.system(), &fixture::four()).end();
    assert_eq!((found.steal_ppm, found.server_hz.before), (None, None));
}

#[test]
fn this_machine_and_this_program_are_read() {
    let environment = System::here().look(&Cores::deal());
    assert!(environment.kernel.is_some() && environment.memory_bytes > Some(1 << 20));
    assert_eq!(environment.machine.drome_sha256.unwrap().len(), 64);
    let own = executable(std::process::id() as i32).unwrap();
    assert_eq!(own.sha256, sha256(&std::env::current_exe().unwrap()));
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "abc").unwrap();
    // FIPS 180-2, appendix B.1.
    let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256(file.path()).as_deref(), Some(expected));
    assert_eq!(sha256(Path::new("/no/such/file")), None);
}

/// A run as 0.1.0 stored it.
#[test]
fn what_older_versions_stored_is_read_and_what_they_did_not_ask_for_is_unknown() {
    let mut run = serde_json::to_value(judge::example::run(&["a"])).unwrap();
    run["environment"] = json!({"drome": "0.1.0", "kernel": "6.1.0", "cpu": "A processor", "cores": 2,
        "server_cpus": [0], "client_cpus": [1], "memory_bytes": 1024, "virtualization": null});
    run["contenders"]["a"] = json!({"title": "A", "version": "1.0", "missing": null});
    let run: Run = serde_json::from_value(run).unwrap();
    assert_eq!((run.environment.memory_bytes, &run.environment.machine), (Some(1024), &Machine::default()));
    assert_eq!(run.contenders["a"].source_sha256, None);
    let some: Machine =
        serde_json::from_value(json!({"clock_source": "tsc", "frequency": {"boost": false}})).unwrap();
    assert_eq!((some.clock_source.as_deref(), some.frequency.boost), (Some("tsc"), Some(false)));
    for cap in [Some(Cap::At(1500)), Some(Cap::NONE), None] {
        assert_eq!(serde_json::from_value::<Option<Cap>>(serde_json::to_value(cap).unwrap()).unwrap(), cap);
    }
}
