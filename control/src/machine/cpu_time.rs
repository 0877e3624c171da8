//! Reads CPU times from `/proc/stat`, which has a line for all CPUs together and one for each.

use serde::{Deserialize, Serialize};

/// The length of a kernel tick, in nanoseconds: the unit of these times, although idle time is not counted at ticks.
pub fn tick_ns() -> u64 {
    1_000_000_000 / procfs::ticks_per_second()
}

/// Fewer ticks than this give no share: one more or less of them is more than a twentieth.
const LEAST_TICKS: u64 = 20;

/// CPU time since boot, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Times {
    /// The whole time.
    pub all: u64,
    /// Idle time.
    pub idle: u64,
    /// Time that the host took.
    pub steal: u64,
}

impl Times {
    /// The share that the host took between two readings, in millionths; `None` where too few ticks passed to tell.
    pub fn steal_ppm_until(self, after: Self) -> Option<u64> {
        let all = after.all.checked_sub(self.all).filter(|all| *all >= LEAST_TICKS)?;
        Some(after.steal.saturating_sub(self.steal).saturating_mul(1_000_000) / all)
    }
}

/// Counts the machine's CPUs, whoever may use them.
pub fn count(stat: &str) -> Option<usize> {
    let is_cpu = |line: &&str| line.starts_with("cpu") && !line.starts_with("cpu ");
    Some(stat.lines().filter(is_cpu).count()).filter(|n| *n > 0)
}

/// The times of one CPU.
pub fn of_one(stat: &str, cpu: usize) -> Option<Times> {
    named(stat, &format!("cpu{cpu}"))
}

/// The times of these CPUs together; `None` where one of them is missing, or none is given.
pub fn of(stat: &str, cpus: &[usize]) -> Option<Times> {
    let sum = |a: Times, b: Times| Times {
        all: a.all.saturating_add(b.all),
        idle: a.idle.saturating_add(b.idle),
        steal: a.steal.saturating_add(b.steal),
    };
    cpus.iter().map(|cpu| of_one(stat, *cpu)).collect::<Option<Vec<_>>>()?.into_iter().reduce(sum)
}

/// The times of these CPUs or, where the system does not list them one by one, of all.
pub fn of_or_all(stat: &str, cpus: &[usize]) -> Option<Times> {
    of(stat, cpus).or_else(|| named(stat, "cpu"))
}

/// Parses one line: user, nice, system, idle, iowait, irq, softirq, steal; guests are in user.
fn named(stat: &str, name: &str) -> Option<Times> {
    let line = stat.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    let ticks: Vec<u64> =
        line.split_whitespace().skip(1).take(8).map_while(|word| word.parse().ok()).collect();
    let [_, _, _, idle, iowait, _, _, steal] = ticks.as_slice() else { return None };
    let all = ticks.iter().copied().fold(0, u64::saturating_add);
    Some(Times { all, idle: idle.saturating_add(*iowait), steal: *steal })
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  30 0 0 70 20 0 0 10 0 0\ncpu0 10 0 0 60 5 0 0 0 0 0\ncpu3 20 0 0 10 15 0 0 10 0 0\n\
                        intr 1 0\nctxt 1\n";

    #[test]
    fn time_is_told_of_the_cpus_that_are_asked_for() {
        let zero = Times { all: 75, idle: 65, steal: 0 };
        let three = Times { all: 55, idle: 25, steal: 10 };
        assert_eq!((of_one(STAT, 0), of_one(STAT, 3), of_one(STAT, 1)), (Some(zero), Some(three), None));
        assert_eq!(of(STAT, &[0, 3]), Some(Times { all: 130, idle: 90, steal: 10 }));
        assert_eq!((of(STAT, &[]), of(STAT, &[0, 1]), count(STAT)), (None, None, Some(2)));
        assert_eq!((of_or_all(STAT, &[3]), of_or_all(STAT, &[1])), (Some(three), of(STAT, &[0, 3])));
        for odd in ["", "cpu", "cpu  1 2 3\ncpu0 x", "ctxt 1"] {
            assert!(of_or_all(odd, &[0]).is_none() && of_one(odd, 0).is_none(), "{odd}");
        }
        assert_eq!(count("ctxt 1"), None);
    }

    #[test]
    fn what_the_host_took_is_a_share_of_what_went_by() {
        let at = |all, steal| Times { all, idle: 0, steal };
        assert_eq!(at(100, 10).steal_ppm_until(at(200, 60)), Some(500_000));
        assert_eq!(
            (at(100, 10).steal_ppm_until(at(100, 10)), at(100, 9).steal_ppm_until(at(90, 10))),
            (None, None)
        );
    }

    /// A measurement of 10 ms on two CPUs, in which the kernel counted one tick: that is no 25 per cent.
    #[test]
    fn one_tick_of_a_few_is_no_share() {
        let at = |all, steal| Times { all, idle: 0, steal };
        assert_eq!(at(100, 10).steal_ppm_until(at(104, 11)), None);
        assert_eq!(at(100, 10).steal_ppm_until(at(120, 11)), Some(50_000));
    }
}
