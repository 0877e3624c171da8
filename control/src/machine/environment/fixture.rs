//! Machines for tests: files as the kernel shows them there.

#![allow(
    clippy::missing_panics_doc,
    clippy::must_use_candidate,
    clippy::return_self_not_must_use,
    reason = "for tests only"
)]

use crate::machine::cores::Cores;
use crate::machine::system::System;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::Command;

/// A folder that looks like a machine's root.
pub struct Tree(tempfile::TempDir);

impl Tree {
    /// A machine on which nothing can be read.
    pub fn empty() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    /// Adds these files, by path and content.
    pub fn with(self, files: &[(&str, &str)]) -> Self {
        for (path, text) in files {
            let path = self.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        self
    }

    /// Adds this program. Another process writes it: a descriptor of this one, open for writing, could be inherited by a program that another
    /// test starts, and as long as that has it, the file can't be run ("text file busy").
    pub fn with_program(self, path: &str, script: &str) -> Self {
        let draft = format!("{path}.draft");
        let tree = self.with(&[(&draft, script)]);
        let copied = Command::new("cp").args([tree.path(&draft), tree.path(path)]).status().unwrap();
        assert!(copied.success(), "{path} can't be written");
        std::fs::set_permissions(tree.path(path), std::fs::Permissions::from_mode(0o755)).unwrap();
        tree
    }

    /// A recorded machine: files as `tail -n +1 FILE...` writes them, and lines with `#` that say where they are from. In place of a path,
    /// `vcgencmd get_throttled` is what that program says. The CPUs' links to their frequency policies are not recorded: these list their CPUs.
    pub fn recorded(recording: &str) -> Self {
        let lines = recording.lines().filter(|line| !line.starts_with('#'));
        let files: String = lines.map(|line| format!("{line}\n")).collect();
        let mut tree = Self::empty();
        for file in files.split("==> ").skip(1) {
            let (path, text) = file.split_once(" <==\n").unwrap();
            tree = if path == "vcgencmd get_throttled" {
                tree.with_program("usr/bin/vcgencmd", &format!("#!/bin/sh\necho {text}"))
            } else {
                tree.with(&[(path.trim_start_matches('/'), text)])
            };
        }
        tree.link_frequency_policies();
        tree
    }

    fn link_frequency_policies(&self) {
        let cpus = "sys/devices/system/cpu";
        for policy in self.system().names(&format!("{cpus}/cpufreq")) {
            let related = self.system().read(&format!("{cpus}/cpufreq/{policy}/related_cpus")).unwrap();
            for number in related.split_whitespace() {
                let cpu = self.path(&format!("{cpus}/cpu{number}"));
                std::fs::create_dir_all(&cpu).unwrap();
                symlink(format!("../cpufreq/{policy}"), cpu.join("cpufreq")).unwrap();
            }
        }
    }

    /// The machine.
    pub fn system(&self) -> System {
        System::at(self.0.path())
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }
}

/// Cores 0 to 3, half to either side.
pub fn four() -> Cores {
    cores(&[0, 1], &[2, 3])
}

/// Cores that are divided like this.
pub fn cores(server: &[usize], client: &[usize]) -> Cores {
    let (server, client) = (server.to_vec(), client.to_vec());
    let trouble = (server == client && !server.is_empty()).then(|| "there is only one CPU".to_owned());
    Cores { server, client, client_may_poll: trouble.is_none(), trouble, ..Cores::default() }
}

/// A sound machine, so that the machines below differ only in what they add.
pub fn sound() -> Tree {
    let tree = Tree::empty().with(&[
        ("dev/cpu_dma_latency", ""),
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: A processor\nflags\t\t: fpu vme\n"),
        (
            "proc/meminfo",
            "MemTotal:       16000000 kB\nMemAvailable:   15000000 kB\nSwapTotal:             0 kB\n",
        ),
        ("proc/stat", "cpu  100 0 50 10000 0 0 0 0 0 0\ncpu0 1 2 3\n"),
        ("proc/loadavg", "0.10 0.20 0.30 1/200 4711\n"),
        (
            "proc/self/limits",
            "Limit      Soft Limit  Hard Limit  Units\nMax open files   1024   524288   files\n",
        ),
        ("proc/self/cgroup", "0::/user.slice\n"),
        ("proc/sys/kernel/osrelease", "6.1.0-18-amd64\n"),
        ("proc/sys/net/ipv4/ip_local_port_range", "32768\t60999\n"),
        ("proc/sys/net/core/somaxconn", "4096\n"),
        ("sys/fs/cgroup/cgroup.controllers", "cpu memory\n"),
        ("sys/fs/cgroup/user.slice/cpu.max", "max 100000\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("sys/devices/system/cpu/isolated", "\n"),
        ("sys/devices/system/cpu/cpufreq/boost", "0\n"),
        ("sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: usercopy barriers\n"),
        ("sys/devices/system/cpu/vulnerabilities/meltdown", "Not affected\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n"),
        ("sys/class/thermal/thermal_zone0/type", "acpitz\n"),
        ("sys/class/thermal/thermal_zone0/temp", "99000\n"),
        ("sys/class/thermal/thermal_zone1/type", "x86_pkg_temp\n"),
        ("sys/class/thermal/thermal_zone1/temp", "41000\n"),
    ]);
    (0..4).fold(tree, |tree, cpu| {
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/{name}");
        tree.with(&[
            (&file("topology/thread_siblings_list"), &format!("{cpu}\n")),
            (&file("cpufreq/scaling_driver"), "acpi-cpufreq\n"),
            (&file("cpufreq/scaling_governor"), "performance\n"),
            (&file("cpufreq/scaling_min_freq"), "800000\n"),
            (&file("cpufreq/scaling_max_freq"), "3500000\n"),
            (&file("cpufreq/scaling_cur_freq"), "3400000\n"),
            (&file("thermal_throttle/core_throttle_count"), "0\n"),
        ])
    })
}

/// A laptop that saves power, on two cores of two threads each, and that was too hot already.
pub fn laptop() -> Tree {
    let tree = sound().with(&[
        ("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n"),
        ("sys/class/thermal/thermal_zone1/temp", "92000\n"),
        ("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "17\n"),
        ("proc/loadavg", "3.20 1.00 0.50 4/900 4711\n"),
    ]);
    std::fs::remove_file(tree.path("sys/devices/system/cpu/cpufreq/boost")).unwrap();
    (0..4).fold(tree, |tree, cpu| {
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/{name}");
        tree.with(&[
            (&file("topology/thread_siblings_list"), if cpu % 2 == 0 { "0,2\n" } else { "1,3\n" }),
            (&file("cpufreq/scaling_driver"), "intel_pstate\n"),
            (&file("cpufreq/scaling_governor"), "powersave\n"),
        ])
    })
}

/// A Raspberry Pi 4 on a weak power supply: it had too little voltage and was throttled, and is not now.
pub fn raspberry_pi() -> Tree {
    let tree = Tree::empty().with(&[
        (
            "proc/cpuinfo",
            "processor\t: 0\nFeatures\t: fp asimd\n\nModel\t\t: Raspberry Pi 4 Model B Rev 1.4\n",
        ),
        (
            "proc/meminfo",
            "MemTotal:        3884376 kB\nMemAvailable:    3500000 kB\nSwapTotal:        102396 kB\n",
        ),
        ("proc/stat", "cpu  100 0 50 10000 0 0 0 0 0 0\n"),
        ("proc/loadavg", "0.00 0.01 0.05 1/120 99\n"),
        ("proc/sys/kernel/osrelease", "6.1.21-v8+\n"),
        ("sys/devices/system/cpu/online", "0-3\n"),
        ("sys/devices/platform/soc/soc:firmware/get_throttled", "50000\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter\n"),
        ("sys/class/thermal/thermal_zone0/type", "cpu-thermal\n"),
        ("sys/class/thermal/thermal_zone0/temp", "61341\n"),
    ]);
    (0..4).fold(tree, |tree, cpu| {
        let file = |name: &str| format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/{name}");
        tree.with(&[
            (&file("scaling_driver"), "cpufreq-dt\n"),
            (&file("scaling_governor"), "ondemand\n"),
            (&file("scaling_min_freq"), "600000\n"),
            (&file("scaling_max_freq"), "1800000\n"),
            (&file("scaling_cur_freq"), "600000\n"),
        ])
    })
}

/// A guest that has no say in its frequency and reads the time the slow way.
pub fn virtual_machine() -> Tree {
    let tree = sound().with(&[
        ("proc/cpuinfo", "processor\t: 0\nmodel name\t: A processor\nflags\t\t: fpu hypervisor vme\n"),
        ("sys/class/dmi/id/product_name", "KVM\n"),
        ("sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n"),
    ]);
    for cpu in 0..4 {
        std::fs::remove_dir_all(tree.path(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq"))).unwrap();
    }
    std::fs::remove_dir_all(tree.path("sys/devices/system/cpu/cpufreq")).unwrap();
    tree
}

/// A container that may use one and a half cores and half a gigabyte; the tighter limit is on the group above.
pub fn container() -> Tree {
    sound().with(&[
        ("proc/self/cgroup", "0::/docker/abc\n"),
        ("sys/fs/cgroup/docker/cpu.max", "150000 100000\n"),
        ("sys/fs/cgroup/docker/abc/cpu.max", "max 100000\n"),
        ("sys/fs/cgroup/docker/memory.max", "max\n"),
        ("sys/fs/cgroup/docker/abc/memory.max", "536870912\n"),
    ])
}

/// The same container with version 1 of control groups.
pub fn old_container() -> Tree {
    let tree = sound().with(&[
        ("proc/self/cgroup", "9:memory:/docker/abc\n4:cpu,cpuacct:/docker/abc\n0::/\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_quota_us", "150000\n"),
        ("sys/fs/cgroup/cpu,cpuacct/docker/abc/cpu.cfs_period_us", "100000\n"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ("sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes", "9223372036854771712\n"),
    ]);
    std::fs::remove_file(tree.path("sys/fs/cgroup/cgroup.controllers")).unwrap();
    tree
}
