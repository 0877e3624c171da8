//! Boards as others recorded them (`boards/`): what drome reads there. It was not run on them: untested on hardware.

use super::fixture::Tree;
use super::*;
use model::Conditions;
use model::environment::Ends;

/// What drome reads of a board on which the server has all CPUs.
struct Board {
    environment: Environment,
    /// Of a heat in which nothing changes.
    conditions: Conditions,
    throttled_since_boot: Option<Vec<String>>,
}

fn board(recording: &str) -> Board {
    assert!(recording.contains("untested on hardware"), "a recording says that drome was not run there");
    let tree = Tree::recorded(recording);
    let system = tree.system();
    let server = system.cpu_list("sys/devices/system/cpu/online").unwrap_or_default();
    let cores = Cores { server, ..Cores::default() };
    Board {
        environment: system.look(&cores),
        conditions: ConditionsWatch::begin(&system, &cores).end(),
        throttled_since_boot: system.throttle().since_start(),
    }
}

impl Board {
    fn name(&self) -> Option<&str> {
        self.environment.cpu.as_deref()
    }

    /// Now; the same before and after, for nothing changed.
    fn hz(&self) -> Option<u64> {
        let Ends { before, after } = self.conditions.server_hz;
        assert_eq!(before, after);
        before
    }

    fn celsius(&self) -> Option<f64> {
        let Ends { before, after } = self.conditions.temperature_c;
        assert_eq!(before, after);
        before
    }

    /// The governors, the lowest and the highest frequency.
    fn policy(&self) -> (Option<&str>, Option<u64>, Option<u64>) {
        let policy = &self.environment.machine.frequency;
        (policy.governor.as_deref(), policy.min_hz, policy.max_hz)
    }

    /// Memory and swap.
    fn memory(&self) -> (Option<u64>, Option<u64>) {
        (self.environment.memory_bytes, self.environment.machine.swap_bytes)
    }

    /// The packages of the physical cores.
    fn packages(&self) -> Option<Vec<Option<u32>>> {
        let cores = self.environment.machine.physical_cores.as_ref()?;
        Some(cores.iter().map(|core| core.package).collect())
    }

    /// What throttled it during the heat, and since boot.
    fn throttled(&self) -> [Option<Vec<&str>>; 2] {
        [&self.conditions.throttled, &self.throttled_since_boot]
            .map(|why| Some(why.as_ref()?.iter().map(String::as_str).collect()))
    }
}

#[test]
fn a_raspberry_pi_3_is_throttled_though_its_kernel_shows_no_flag() {
    let found = board(include_str!("boards/raspberry-pi-3.txt"));
    assert_eq!(found.name(), Some("Raspberry Pi 3 Model B Plus Rev 1.3"));
    assert_eq!(found.environment.kernel.as_deref(), Some("4.19.122-1-osmc"));
    let hot = Some(vec!["soft temperature limit"]);
    assert_eq!(found.throttled(), [hot.clone(), hot]);
    assert_eq!((found.hz(), found.celsius(), found.memory()), (None, None, (None, None)), "not recorded");
}

#[test]
fn a_raspberry_pi_4_with_a_kernel_of_32_bits() {
    let found = board(include_str!("boards/raspberry-pi-4.txt"));
    assert_eq!(found.name(), Some("Raspberry Pi 4 Model B Rev 1.2"));
    assert_eq!((found.environment.cores, found.environment.virtualization.as_deref()), (4, None));
    assert_eq!((found.hz(), found.celsius()), (Some(1_100_000_000), Some(62.322)));
    assert_eq!(found.policy(), (Some("ondemand"), Some(600_000_000), Some(1_500_000_000)));
    assert_eq!(found.memory(), (Some(3_938_123_776), Some(104_853_504)));
    let hot = Some(vec!["soft temperature limit"]);
    assert_eq!(found.throttled(), [hot.clone(), hot]);
}

#[test]
fn a_raspberry_pi_5_had_too_little_voltage_and_what_happened_in_a_heat_is_unknown() {
    let found = board(include_str!("boards/raspberry-pi-5.txt"));
    assert_eq!(found.name(), Some("Raspberry Pi 5 Model B Rev 1.0"));
    assert_eq!((found.environment.cores, found.hz()), (4, Some(2_400_000_000)));
    assert_eq!(found.policy(), (Some("ondemand"), Some(1_000_000_000), Some(2_400_000_000)));
    assert_eq!(found.celsius(), Some(46.3), "the other chip, with 55 °C, is not the processor");
    assert_eq!(found.throttled(), [None, Some(vec!["under-voltage", "throttled"])]);
}

#[test]
fn a_rock_5b_has_three_clusters_in_one_package() {
    let found = board(include_str!("boards/rock-5b.txt"));
    assert_eq!((found.name(), found.environment.cores), (Some("Radxa ROCK 5B"), 8));
    assert_eq!(found.packages(), Some(vec![None; 8]));
    assert_eq!(found.environment.machine.sibling_cpus, Some(vec![]));
    assert_eq!(found.hz(), Some(1_650_000_000), "the mean of 4 × 1.8, 2 × 2.4 and 2 × 0.6 GHz");
    assert_eq!(found.policy(), (Some("ondemand"), Some(408_000_000), Some(2_400_000_000)));
    assert_eq!(found.celsius(), Some(34.23));
    assert_eq!(found.throttled(), [None, None], "its kernel does not tell");
}

#[test]
fn an_orange_pi_rv2_tells_the_temperature_of_its_clusters_only() {
    let found = board(include_str!("boards/orange-pi-rv2.txt"));
    assert_eq!((found.name(), found.environment.cores), (Some("Ky(R) X1"), 8));
    assert_eq!((found.celsius(), found.hz(), found.packages()), (Some(58.0), None, None));
    assert_eq!(found.throttled(), [None, None]);
}

#[test]
fn a_jetson_nano_s_processor_is_not_as_hot_as_its_power_supply_s_chip_says() {
    let found = board(include_str!("boards/jetson-nano.txt"));
    assert_eq!((found.name(), found.environment.cores), (Some("NVIDIA Jetson Nano Developer Kit"), 4));
    assert_eq!((found.celsius(), found.hz()), (Some(34.0), Some(1_479_000_000)));
    assert_eq!(found.policy(), (None, Some(102_000_000), Some(1_479_000_000)));
    assert_eq!(found.memory(), (Some(4_156_932_096), Some(2_078_457_856)));
    assert_eq!(found.throttled(), [None, None]);
}

#[test]
fn a_visionfive_2_is_named_by_its_device_tree() {
    let found = board(include_str!("boards/visionfive-2.txt"));
    assert_eq!((found.name(), found.environment.cores), (Some("StarFive VisionFive V2"), 4));
    assert_eq!(found.packages(), Some(vec![None; 4]), "-1 is not a package");
    assert_eq!(found.environment.machine.frequency.driver.as_deref(), Some("cpufreq-dt"));
    assert_eq!(found.policy(), (Some("performance"), Some(375_000_000), Some(1_500_000_000)));
    assert_eq!((found.hz(), found.celsius()), (Some(1_500_000_000), Some(45.945)));
    assert_eq!(found.throttled(), [None, None]);
}
