//! Comparisons of runs in which the load generator was the bound.

use super::*;
use crate::example;
use crate::example::in_heats;
use model::comparison::Change;
use model::{Bound, Metric, Usage};

/// Eight rounds, in which `a` has this rate, and uses this much CPU for an answer; the bounds are its own and the reference's.
fn run(metric: Metric, rate: f64, cpu_ns: u64, bounds: [Bound; 2]) -> Findings {
    let mut run = example::run(&["a"]);
    run.study.design.metric = metric;
    let mut all = Vec::new();
    for round in 0..8 {
        let more = round as u64;
        for (name, rate, cpu_ns, bound) in
            [("a", rate + more as f64, cpu_ns + more, bounds[0]), (REFERENCE, 100_000.0, 5_000, bounds[1])]
        {
            let mut start = example::start(round, name, Some(rate));
            for m in start.cells.values_mut().filter_map(|of| of.measurement.as_mut()) {
                m.verdict.bound = bound;
                let cpu_ns = cpu_ns * m.tally.completed;
                m.usage = Some(Usage { cpu_ns, ..m.usage.take().unwrap_or_default() });
            }
            all.push(start);
        }
    }
    in_heats::findings(&run, &all, None)
}

fn compared(old: &Findings, new: &Findings) -> (Change, bool, String, bool) {
    // Where the hubs do different work, contenders are compared with the reference.
    let mut new = new.clone();
    new.environment.hub = Some("other work".to_owned());
    let comparison = compare(old, &new, true).unwrap();
    let cell = &comparison.cells[0];
    let a = &cell.contenders[0];
    (a.change, a.ratio.is_some(), a.note.clone().unwrap_or_default(), cell.drift.is_some())
}

#[test]
fn a_reference_that_was_limited_in_one_run_only_gives_no_ratio() {
    let of = |rate, reference| run(Metric::Rate, rate, 1_000, [Bound::Server, reference]);
    let old = of(50_000.0, Bound::Server);
    for (old, new) in
        [(&old, of(40_000.0, Bound::Client)), (&of(50_000.0, Bound::Both), of(40_000.0, Bound::Neither))]
    {
        let (change, has_ratio, note, has_drift) = compared(old, &new);
        assert_eq!((change, has_ratio, has_drift), (Change::Unknown, false, false), "{note}");
        assert!(note.contains("in one of the runs only"), "{note}");
    }
    // As in any two runs on a machine whose load generator is no faster than the reference.
    let (change, has_ratio, _, has_drift) =
        compared(&of(50_000.0, Bound::Client), &of(40_000.0, Bound::Both));
    assert_eq!((change, has_ratio, has_drift), (Change::Slower, true, true));
}

#[test]
fn only_a_rate_is_a_floor() {
    let of = |cpu_ns| run(Metric::ServerCpu, 50_000.0, cpu_ns, [Bound::Client, Bound::Client]);
    let (change, has_ratio, note, _) = compared(&of(1_000), &of(2_000));
    assert_eq!((change, has_ratio), (Change::Slower, true), "{note}");
    let unlike = run(Metric::ServerCpu, 50_000.0, 2_000, [Bound::Server, Bound::Server]);
    assert_eq!(compared(&of(1_000), &unlike).0, Change::Slower);
}
