//! The words of `--profile`: what was sampled, and what one contender spends more and less than another.

use crate::stored::counted;
use model::gate_verdict::MOST_FUNCTIONS;
use profile::{Difference, Report, Row};
use report::{function_name, units};

/// The longest name of a function in a table, which then fits into 80 columns.
const LONGEST_NAME: usize = 44;

/// The line of a contender: its samples, and what was counted per answer. What is not known is left out.
pub fn summary(name: &str, title: &str, report: &Report) -> String {
    let line = format!("profile of {name} ({title}): {}", report.summary());
    let counted = counted::per_answer(&report.counters, report.work.answers);
    if counted.is_empty() { line } else { format!("{line}; per answer {}", counted.join(", ")) }
}

/// The functions that take most CPU time by themselves; empty without samples or answers.
pub fn functions(report: &Report) -> Vec<String> {
    let all = report.profile.samples.max(1) as f64;
    let costs = report.profile.costs(&report.work);
    let own = costs.iter().filter(|cost| cost.self_samples > 0).take(MOST_FUNCTIONS);
    own.map(|cost| {
        let share = format!("{:.1} %", 100.0 * cost.self_samples as f64 / all);
        let time = units::duration(cost.self_ns_per_answer);
        format!("  {share:>9} {time:>9}  {}", short(&cost.frame))
    })
    .collect()
}

/// The sentence that explains a difference, and below it the functions whose CPU time in B is most above and most below that in A.
/// Differences that sampling explains are left out.
pub fn difference(difference: &Difference) -> String {
    let mut lines = vec![difference.sentence()];
    let row = |row: &Row| {
        let change = &row.change;
        let [a, b] = [change.a_ns_per_answer, change.b_ns_per_answer].map(units::duration);
        line(&a, &b, &units::signed(change.difference_ns), &short(&row.frame))
    };
    let (more, less) = (difference.more().take(MOST_FUNCTIONS), difference.less().take(MOST_FUNCTIONS));
    let rows: Vec<String> = more.chain(less).map(row).collect();
    if !rows.is_empty() {
        lines.push(line(&difference.a, &difference.b, "change", "function: its own CPU time per answer"));
        lines.extend(rows);
    }
    lines.join("\n")
}

fn line(a: &str, b: &str, change: &str, frame: &str) -> String {
    format!("  {a:>9} {b:>9} {change:>10}  {frame}")
}

fn short(name: &str) -> String {
    function_name::within(name, LONGEST_NAME)
}

#[cfg(test)]
mod tests {
    use super::*;
    use profile::{Counters, Side, Work, example};

    #[test]
    fn what_is_not_known_is_left_out() {
        let profile = example::folded("# has_kernel=true\nmain;a 3\n");
        let work = Work { answers: 1_000, cpu_ns: None };
        let counters = Counters { instructions: Some(12_345_678), ..Counters::default() };
        let report = Report { work, profile, counters, ..Report::default() };
        assert_eq!(
            summary("B", "new", &report),
            "profile of B (new): 3 samples; most CPU time in a (100 %); per answer 12,346 instructions"
        );
        let unknown = Report { counters: Counters::default(), ..report.clone() };
        assert_eq!(
            summary("B", "new", &unknown),
            "profile of B (new): 3 samples; most CPU time in a (100 %)"
        );
        let idle = Report { work: Work::default(), ..report };
        assert_eq!(summary("B", "new", &idle), "profile of B (new): 3 samples");
    }

    #[test]
    fn a_table_has_the_functions_that_differ_most() {
        let a = example::folded("# period_ns=1000000\nmain;read 1000\nmain;old 300\nmain;same 50\n");
        let b = example::folded("# period_ns=1000000\nmain;read 1000\nmain;new::work 4000\nmain;same 51\n");
        let work = Work { answers: 100_000, cpu_ns: None };
        let (a, b) = (Side { name: "A", profile: &a, work }, Side { name: "B", profile: &b, work });
        let text = difference(&Difference::between(&a, &b).unwrap());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("B spends 37.0 µs more CPU time per answer than A"), "{text}");
        assert_eq!(
            lines[1..],
            [
                "          A         B     change  function: its own CPU time per answer",
                "       0 ns   40.0 µs   +40.0 µs  new::work",
                "    3.00 µs      0 ns   −3.00 µs  old",
            ],
            "{text}"
        );
        let own = functions(&Report { work, profile: b.profile.clone(), ..Report::default() });
        assert_eq!(
            own,
            [
                "     79.2 %   40.0 µs  new::work",
                "     19.8 %   10.0 µs  read",
                "      1.0 %    510 ns  same",
            ]
        );
        assert_eq!(functions(&Report::default()), Vec::<String>::new());
        let same = difference(&Difference::between(&a, &a).unwrap());
        assert_eq!(same.lines().count(), 1, "{same}");
    }
}
