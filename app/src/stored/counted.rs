//! What was counted while a server was sampled, per answer and in words.

use profile::Counters;
use report::units;

/// Each known count divided by the answers, such as `31,204 instructions`; empty without answers.
pub fn per_answer(counters: &Counters, answers: u64) -> Vec<String> {
    if answers == 0 {
        return Vec::new();
    }
    let words = |(count, what): (Option<u64>, &str)| {
        Some(format!("{} {what}", number(count? as f64 / answers as f64)))
    };
    let counts = [
        (counters.instructions, "instructions"),
        (counters.cycles, "cycles"),
        (counters.cache_misses, "cache misses"),
        (counters.branch_misses, "branch misses"),
        (counters.context_switches, "context switches"),
        (counters.page_faults, "page faults"),
        (counters.system_calls, "system calls"),
    ];
    let mut all: Vec<String> = counts.into_iter().filter_map(words).collect();
    if let Some(last) = all.last_mut().filter(|_| counters.is_user_only) {
        last.push_str(" (user code only)");
    }
    all.extend(words((counters.received_bytes, "bytes received")));
    all
}

/// A count per answer.
fn number(n: f64) -> String {
    match n {
        n if n >= 99.95 => units::count(n.round() as u64),
        n if n == 0.0 || n >= 0.005 => format!("{n:.2}"),
        _ => "less than 0.01".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_known_is_left_out() {
        let counters = Counters {
            instructions: Some(12_345_678),
            context_switches: Some(1),
            page_faults: Some(0),
            system_calls: Some(2_040),
            received_bytes: Some(135_000),
            ..Counters::default()
        };
        let words = per_answer(&counters, 1_000).join(", ");
        assert_eq!(
            words,
            "12,346 instructions, less than 0.01 context switches, 0.00 page faults, 2.04 system calls, 135 bytes received"
        );
        assert_eq!(per_answer(&counters, 0), Vec::<String>::new());
        assert_eq!(per_answer(&Counters::default(), 1), Vec::<String>::new());
        let user = Counters { is_user_only: true, ..counters };
        let words = per_answer(&user, 1_000).join(", ");
        assert!(words.ends_with("2.04 system calls (user code only), 135 bytes received"), "{words}");
    }
}
