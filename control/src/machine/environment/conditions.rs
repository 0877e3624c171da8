//! The conditions of the machine that change from heat to heat: read before the server starts and after it has stopped.

use crate::machine::cores::Cores;
use crate::machine::cpu_time::{self, Times};
use crate::machine::system::System;
use crate::shell;
use model::Conditions;
use model::environment::Ends;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How the names of sensors that measure the processor's temperature begin, in lower case. Boards with several clusters of cores have one for
/// each: `bigcore0-thermal` (Rockchip RK3588), `cluster1-thermal` (`SpacemiT` K1), `BCPU-therm` (NVIDIA Tegra X2).
const SENSORS: [&str; 12] = [
    "x86_pkg_temp",
    "coretemp",
    "k10temp",
    "zenpower",
    "cpu",
    "bcpu",
    "mcpu",
    "soc",
    "package",
    "bigcore",
    "littlecore",
    "cluster",
];

/// How many bits the flag since boot is above the same flag for now.
const SINCE_BOOT: u32 = 16;

/// How long the Raspberry Pi's own tool may take, which answers within milliseconds. It is asked before and after every heat.
const FLAGS_PATIENCE: Duration = Duration::from_secs(2);

/// The Raspberry Pi's current flags, by bit.
const FLAGS: [(u32, &str); 4] =
    [(0, "under-voltage"), (1, "frequency capped"), (2, "throttled"), (3, "soft temperature limit")];

/// The conditions before a heat.
#[derive(Clone, Debug)]
pub struct ConditionsWatch {
    system: System,
    cores: Cores,
    times: Option<Times>,
    load_average: Option<f64>,
    hz: [Option<u64>; 2],
    temperature_c: Option<f64>,
    throttle: Throttle,
}

/// The signs of a throttled processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Throttle {
    /// The Raspberry Pi's flags.
    pub flags: Option<Flags>,
    /// How often an x86 core was too hot since boot.
    pub events: Option<u64>,
}

/// The Raspberry Pi's flags: current ones, and the same `SINCE_BOOT` bits higher.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags {
    pub bits: u32,
    /// Whether they are the firmware's, so that those since boot stay set. A kernel shows what one of its drivers was told last: that can be
    /// old, and the driver clears the flags since boot every two seconds.
    pub stay: bool,
}

impl ConditionsWatch {
    /// Reads the conditions before a heat.
    pub fn begin(system: &System, cores: &Cores) -> Self {
        Self {
            system: system.clone(),
            cores: cores.clone(),
            times: system.times(cores),
            load_average: system.load_average(),
            hz: [system.mean_hz(&cores.server), system.mean_hz(&cores.client)],
            temperature_c: system.temperature_c(),
            throttle: system.throttle(),
        }
    }

    /// Reads the conditions again and returns those of the heat.
    pub fn end(self) -> Conditions {
        let after = Self::begin(&self.system, &self.cores);
        let [server, client] = [0, 1].map(|i| Ends { before: self.hz[i], after: after.hz[i] });
        Conditions {
            steal_ppm: self.times.zip(after.times).and_then(|(then, now)| then.steal_ppm_until(now)),
            // Who else ran is told by whoever knows which processes are the server's.
            others_ppm: None,
            load_average: self.load_average,
            server_hz: server,
            client_hz: client,
            temperature_c: Ends { before: self.temperature_c, after: after.temperature_c },
            throttled: self.throttle.until(after.throttle),
            server: None,
        }
    }
}

impl Throttle {
    /// What throttled the processor between two readings; `None` where the machine does not tell.
    pub(super) fn until(self, after: Self) -> Option<Vec<String>> {
        let flags = self.flags.zip(after.flags).and_then(|(before, after)| before.until(after));
        let events =
            self.events.zip(after.events).map(|(before, after)| match after.saturating_sub(before) {
                0 => Vec::new(),
                n => vec![format!("too hot, {n} times")],
            });
        let known: Vec<Vec<String>> = [flags, events].into_iter().flatten().collect();
        (!known.is_empty()).then(|| known.concat())
    }

    /// What throttled the processor since boot.
    pub fn since_start(self) -> Option<Vec<String>> {
        let flags = self.flags.map(|flags| Flags { bits: 0, ..flags });
        let at_boot = Self { flags, events: self.events.map(|_| 0) };
        at_boot.until(self)
    }
}

impl Flags {
    /// What was set between two readings; `None` where nothing was seen and something could have come and gone: a flag since boot that was set
    /// before the first reading can't be set again, and one that does not stay set is missed.
    fn until(self, after: Self) -> Option<Vec<String>> {
        // Set since then and gone again. A change of source says nothing of what happened in between.
        let since = if self.stay == after.stay { (after.bits & !self.bits) >> SINCE_BOOT } else { 0 };
        let seen = self.bits | after.bits | since;
        let names = FLAGS.iter().filter(|(bit, _)| seen & (1 << bit) != 0);
        let names: Vec<String> = names.map(|(_, name)| (*name).to_owned()).collect();
        let tells_all = self.stay && after.stay && !self.has_flag_since_boot();
        (tells_all || !names.is_empty()).then_some(names)
    }

    /// Whether one of the flags since boot is set.
    fn has_flag_since_boot(self) -> bool {
        FLAGS.iter().any(|(bit, _)| (self.bits >> SINCE_BOOT) & (1 << bit) != 0)
    }
}

impl System {
    /// The times of the CPUs of both sides.
    fn times(&self, cores: &Cores) -> Option<Times> {
        cpu_time::of_or_all(&self.read("proc/stat")?, &cores.used())
    }

    /// The load average of the last minute.
    pub fn load_average(&self) -> Option<f64> {
        self.read("proc/loadavg")?.split_whitespace().next()?.parse().ok()
    }

    fn mean_hz(&self, cpus: &[usize]) -> Option<u64> {
        let khz = |cpu: &usize| {
            self.number::<u64>(&format!("sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_cur_freq"))
        };
        let khz: Vec<u64> = cpus.iter().filter_map(khz).collect();
        khz.iter()
            .fold(0, |sum: u64, khz| sum.saturating_add(*khz))
            .checked_mul(1000)?
            .checked_div(khz.len() as u64)
    }

    /// The temperature of the hottest of the processor's sensors.
    pub fn temperature_c(&self) -> Option<f64> {
        let is_sensor = |name: Option<String>| {
            let name = name.unwrap_or_default().to_lowercase();
            SENSORS.iter().any(|sensor| name.starts_with(sensor))
        };
        let mut files = Vec::new();
        for zone in self.names("sys/class/thermal").iter().filter(|name| name.starts_with("thermal_zone")) {
            let zone = format!("sys/class/thermal/{zone}");
            if is_sensor(self.read(&format!("{zone}/type"))) {
                files.push(format!("{zone}/temp"));
            }
        }
        for chip in self.names("sys/class/hwmon") {
            let chip = format!("sys/class/hwmon/{chip}");
            if is_sensor(self.read(&format!("{chip}/name"))) {
                let inputs =
                    self.names(&chip).into_iter().filter(|n| n.starts_with("temp") && n.ends_with("_input"));
                files.extend(inputs.map(|name| format!("{chip}/{name}")));
            }
        }
        let all = files.iter().filter_map(|file| self.number::<i64>(file));
        all.max().map(|thousandths| thousandths as f64 / 1000.0)
    }

    /// The signs that the processor was throttled.
    pub fn throttle(&self) -> Throttle {
        let cpus = "sys/devices/system/cpu";
        let count = |name: &String| {
            let file = |kind| format!("{cpus}/{name}/thermal_throttle/{kind}_throttle_count");
            let counts = [self.number::<u64>(&file("core")), self.number::<u64>(&file("package"))];
            counts.into_iter().flatten().reduce(u64::saturating_add)
        };
        Throttle {
            flags: self.flags(),
            events: self.names(cpus).iter().filter_map(count).reduce(u64::saturating_add),
        }
    }

    /// The Raspberry Pi's flags: those of the firmware, else what the kernel was told last.
    fn flags(&self) -> Option<Flags> {
        let told = |text: &str, stay| {
            let hex = text.trim_start_matches("throttled=").trim_start_matches("0x");
            Some(Flags { bits: u32::from_str_radix(hex, 16).ok()?, stay })
        };
        let firmware = self.vcgencmd().and_then(|text| told(&text, true));
        firmware.or_else(|| told(&self.kernel_flags()?, false))
    }

    /// Asks the Raspberry Pi's own tool, which some systems lack and some let only the group `video` use.
    fn vcgencmd(&self) -> Option<String> {
        let places = ["usr/bin/vcgencmd", "opt/vc/bin/vcgencmd"].map(|path| self.path(path));
        let program = places.into_iter().find(|path| path.is_file())?;
        let mut asked = Command::new(program);
        let output = shell::output(asked.arg("get_throttled").stdin(Stdio::null()), FLAGS_PATIENCE).ok()?;
        Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// The flags as the kernel shows them, in the firmware's folder below that of the chip, which is named `soc`, or `soc@ADDRESS` on a
    /// Raspberry Pi 5.
    fn kernel_flags(&self) -> Option<String> {
        let platform = "sys/devices/platform";
        let socs = self.names(platform).into_iter().filter(|name| name == "soc" || name.starts_with("soc@"));
        let mut files = socs.map(|soc| format!("{platform}/{soc}/{soc}:firmware/get_throttled"));
        files.find_map(|file| self.read(&file))
    }
}
