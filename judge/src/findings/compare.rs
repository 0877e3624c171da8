//! Compares two runs: every contender's speed (its rate, or one over what it is ranked by) relative to the reference's of its
//! own run, so that a slower machine is not mistaken for a slower server. Pure.

#[cfg(test)]
mod floors;
mod heats;
pub mod machine;

use model::Metric;
use model::comparison::{Comparison, FailedContender};
use model::findings::{CellFindings, ContenderFindings, Findings};
use model::study::REFERENCE;
use stats::estimate::CONFIDENCE;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// Why two runs can't be compared.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The runs differ in something that decides the figures.
    #[error("{old} and {new} can't be compared: {why}; use --anyway to compare them regardless")]
    Unequal {
        /// The earlier run.
        old: String,
        /// The later one.
        new: String,
        /// The differences.
        why: String,
    },
    /// A run has nothing that shows the machine's drift.
    #[error(
        "{run} has neither a reference nor a hub that shows the machine's drift: races can't be compared; run a study instead"
    )]
    NoReference {
        /// The run.
        run: String,
    },
    /// The runs have nothing in common.
    #[error("{old} and {new} share no contender in any cell: compare two runs of one study")]
    Nothing {
        /// The earlier run.
        old: String,
        /// The later one.
        new: String,
    },
}

/// Compares two runs; `anyway`: even if the machine or the work differs.
pub fn compare(old: &Findings, new: &Findings, anyway: bool) -> Result<Comparison, CompareError> {
    for findings in [old, new] {
        let has =
            |cell: &CellFindings| cell.contenders.iter().any(|c| c.name == REFERENCE) || heats::has_hub(cell);
        if !findings.cells.iter().all(has) {
            return Err(CompareError::NoReference { run: findings.run.clone() });
        }
    }
    let (unequal, mut notes) = machine::differences(old, new);
    if !unequal.is_empty() && !anyway {
        let why = unequal.join("; ");
        return Err(CompareError::Unequal { old: old.run.clone(), new: new.run.clone(), why });
    }
    notes.splice(0..0, unequal);
    let is_same_hub = old.environment.hub == new.environment.hub;
    if !is_same_hub && new.cells.iter().any(heats::has_hub) {
        notes.push(
            "the hub does different work in the two runs: contenders are compared with the reference"
                .to_owned(),
        );
    }
    let pairs: Vec<(&CellFindings, &CellFindings)> =
        new.cells.iter().filter_map(|n| Some((old.cells.iter().find(|o| is_same(o, n))?, n))).collect();
    let judged = pairs.iter().map(|(o, n)| common(o, n).count()).sum::<usize>();
    if judged == 0 {
        return Err(CompareError::Nothing { old: old.run.clone(), new: new.run.clone() });
    }
    let of_heats =
        heats::BothRuns { comparisons: judged, is_same_hub, may_be_busy: [old.allow_busy, new.allow_busy] };
    Ok(Comparison {
        schema: SCHEMA,
        old: old.run.clone(),
        new: new.run.clone(),
        notes,
        confidence: CONFIDENCE,
        cells: pairs.iter().map(|(o, n)| heats::cell(o, n, &of_heats)).collect(),
        gone: only_in(old, new),
        added: only_in(new, old),
        failed: failed(new),
    })
}

/// The contenders that failed in a run, with their cells.
fn failed(run: &Findings) -> Vec<FailedContender> {
    let all = run.cells.iter().flat_map(|cell| cell.contenders.iter().map(move |c| (cell, c)));
    let failed = all.filter(|(_, c)| c.failed > 0).map(|(cell, c)| FailedContender {
        name: c.name.clone(),
        title: c.title.clone(),
        cell: cell.title.clone(),
        failed: c.failed,
        trials: c.trials + c.failed,
    });
    failed.collect()
}

/// Whether two cells of two runs are the same.
pub fn is_same(a: &CellFindings, b: &CellFindings) -> bool {
    let asked = |cell: &CellFindings| (cell.workload.clone(), cell.load.clone(), cell.transport, cell.metric);
    asked(a) == asked(b)
}

/// The contenders of both runs, without the reference.
fn common<'f>(
    old: &'f CellFindings,
    new: &'f CellFindings,
) -> impl Iterator<Item = (&'f ContenderFindings, &'f ContenderFindings)> {
    let others = new.contenders.iter().filter(|c| c.name != REFERENCE);
    others.filter_map(|n| Some((old.contenders.iter().find(|o| o.name == n.name)?, n)))
}

/// Whether the figure is a lower bound: only the rate can be, because the server's cost per answer does not depend on the load generator.
fn is_floor(c: &ContenderFindings, metric: Metric) -> bool {
    metric == Metric::Rate && c.is_held_back()
}

/// Says what else than the server limited the rate in one of the runs or both; `None`: nothing did.
fn floor_note(both: [&ContenderFindings; 2], metric: Metric) -> Option<String> {
    let by: Vec<&str> =
        both.iter().filter(|c| is_floor(c, metric)).filter_map(|c| c.held_back_by()).collect();
    let by = match by[..] {
        [] => return None,
        [one, other] if one != other => "the load generator or the network",
        [one, ..] => one,
    };
    Some(format!("{by} was the limit: its rates are lower bounds"))
}

/// The cells, and the contenders of common cells, that the other run lacks.
fn only_in(one: &Findings, other: &Findings) -> Vec<String> {
    let mut only = Vec::new();
    for cell in &one.cells {
        match other.cells.iter().find(|o| is_same(o, cell)) {
            None => only.push(cell.title.clone()),
            Some(there) => {
                let is_there = |name: &str| there.contenders.iter().any(|c| c.name == name);
                let names = cell.contenders.iter().map(|c| &c.name).filter(|name| !is_there(name));
                only.extend(names.map(|name| format!("{name} ({})", cell.title)));
            }
        }
    }
    only
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example;
    use crate::example::in_heats;
    use model::comparison::Change;
    use model::{Bound, Run};
    use stats::random::uniform;

    /// The findings of a run on a machine of this speed, where the contenders have these rates of their own, with 2 % of noise.
    fn run(id: &str, machine: f64, rates: &[(&str, f64)], rounds: usize) -> (Run, Findings) {
        let names: Vec<&str> = rates.iter().map(|(name, _)| *name).collect();
        let run = Run { id: id.to_owned(), ..example::run(&names) };
        let mut starts = Vec::new();
        for round in 0..rounds {
            for (i, (name, rate)) in rates.iter().copied().chain([(REFERENCE, 100_000.0)]).enumerate() {
                let k = (round * 10 + i) as u64;
                let jitter = 0.04 * (uniform(id.len() as u64, k) - 0.5);
                starts.push(example::start(round, name, Some(rate * machine * (1.0 + jitter))));
            }
        }
        let findings = in_heats::findings(&run, &starts, None);
        (run, findings)
    }

    fn changes(comparison: &Comparison) -> Vec<(&str, Change)> {
        comparison.cells[0].contenders.iter().map(|c| (c.name.as_str(), c.change)).collect()
    }

    #[test]
    fn another_machine_or_another_body_is_refused_unless_told() {
        let (_, old) = run("old", 1.0, &[("a", 50_000.0)], 8);
        let (_, mut new) = run("newer", 1.0, &[("a", 50_000.0)], 8);
        new.environment.cpu = Some("another one".to_owned());
        new.workloads.insert("hello".to_owned(), "aa".to_owned());
        let why = compare(&old, &new, false).unwrap_err().to_string();
        assert!(why.contains("different processor (unknown then, another one now)"), "{why}");
        assert_eq!(compare(&old, &new, true).unwrap().notes.len(), 1);
        let mut old = old;
        old.workloads.insert("hello".to_owned(), "bb".to_owned());
        assert!(compare(&old, &new, false).unwrap_err().to_string().contains("body for the workload hello"));
    }

    #[test]
    fn runs_without_a_common_contender_are_refused() {
        let (_, old) = run("old", 1.0, &[("a", 50_000.0)], 3);
        let (_, other) = run("newer", 1.0, &[("b", 10_000.0)], 8);
        assert!(matches!(compare(&old, &other, false), Err(CompareError::Nothing { .. })));
    }

    #[test]
    fn a_cell_over_other_connections_is_another_cell() {
        let (_, old) = run("old", 1.0, &[("a", 50_000.0)], 8);
        let (_, mut new) = run("newer", 1.0, &[("a", 50_000.0)], 8);
        assert!(compare(&old, &new, false).is_ok());
        new.cells[0].transport.tls = Some(model::study::Handshake::Full);
        assert!(matches!(compare(&old, &new, false), Err(CompareError::Nothing { .. })));
    }

    #[test]
    fn floors_are_not_compared_and_what_only_one_has_is_named() {
        let (run, _) = run("old", 1.0, &[("a", 50_000.0), ("b", 1_000.0)], 8);
        let started = |contender: &'static str, rate: f64, bound| {
            (0..8).map(move |round| {
                let mut start = example::start(round, contender, Some(rate));
                for m in start.cells.values_mut().filter_map(|of| of.measurement.as_mut()) {
                    m.verdict.bound = bound;
                }
                start
            })
        };
        let all = |rate, bound| -> Vec<_> {
            started("a", rate, bound).chain(started(REFERENCE, 100_000.0, Bound::Server)).collect()
        };
        let old = in_heats::findings(&run, &all(50_000.0, Bound::Server), None);
        let mut new = in_heats::findings(&run, &all(10_000.0, Bound::Client), None);
        new.cells[0].contenders.retain(|c| c.name != "b");
        let comparison = compare(&old, &new, false).unwrap();
        assert_eq!(changes(&comparison), [("a", Change::Unknown)]);
        assert_eq!(
            (comparison.gone.as_slice(), comparison.added.len()),
            (&["b (keep-alive)".to_owned()][..], 0)
        );
    }
}
