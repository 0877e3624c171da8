//! The names of the other programs that ran within a turn, so that a report can say what disturbed it.

use std::collections::BTreeMap;

/// CPU time in nanoseconds by program.
pub type Programs = BTreeMap<String, u64>;

/// Programs that used less between two samples are not named: reading a name takes three system calls.
const LEAST_NS: u64 = 500_000;

/// The CPU time by program: of these processes, given as (PID, nanoseconds), and of drome's own threads beside the load generator.
pub fn of(others: &[(i32, u64)], own_ns: u64) -> Programs {
    let mut programs = Programs::new();
    for (pid, ns) in others.iter().filter(|(_, ns)| *ns >= LEAST_NS) {
        if let Some(name) = name(*pid) {
            *programs.entry(name).or_default() += ns;
        }
    }
    if own_ns >= LEAST_NS {
        *programs.entry("drome".to_owned()).or_default() += own_ns;
    }
    programs
}

/// The name of a process as the kernel has it; `None`: it is gone.
pub fn name(pid: i32) -> Option<String> {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).ok()?;
    // A program may give itself any name.
    let shown = agent::cleaned(name.trim_end());
    (!shown.is_empty()).then_some(shown)
}

/// Both sums together.
pub fn sum(a: &Programs, b: &Programs) -> Programs {
    let mut sum = a.clone();
    for (name, ns) in b {
        let all = sum.entry(name.clone()).or_default();
        *all = all.saturating_add(*ns);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_runs_in_both_is_summed() {
        let of = |ns| Programs::from([("cc1".to_owned(), ns)]);
        let other = Programs::from([("ld".to_owned(), 7)]);
        let all = Programs::from([("cc1".to_owned(), u64::MAX), ("ld".to_owned(), 7)]);
        assert_eq!(sum(&sum(&of(5), &of(u64::MAX)), &other), all);
    }

    #[test]
    fn a_program_is_named_that_ran_long_enough_and_is_there() {
        let own = std::process::id() as i32;
        let named = of(&[(own, LEAST_NS), (own, LEAST_NS - 1), (i32::MAX, LEAST_NS)], LEAST_NS);
        assert_eq!(named.values().sum::<u64>(), 2 * LEAST_NS, "{named:?}");
        assert!(named.contains_key("drome") && of(&[], LEAST_NS - 1).is_empty());
    }
}
