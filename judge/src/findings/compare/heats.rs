//! Compares a cell of two runs: each contender relative to the hub of its own run, by the model that judged both.

use super::{common, floor_note, is_floor};
use crate::findings::analyse::heats::cell_model::{Asked, CellModel, NamedEntrant};
use crate::is_third;
use model::Metric;
use model::comparison::{CellComparison, Change, ContenderComparison, DriftOf};
use model::findings::{CellFindings, ContenderFindings, Figure, Unranked};
use model::gate::speed;
use model::heat::HUB;
use model::study::REFERENCE;
use stats::estimate::CHANCE;
use stats::heats::{InBoth, Relation, changes, shift};

/// Whether heats of this cell are tied together by a hub.
pub(super) fn has_hub(cell: &CellFindings) -> bool {
    cell.in_heats.starts.iter().any(|start| start.contender == HUB)
}

/// What holds for all cells of the two runs.
pub(super) struct BothRuns {
    /// The number of comparisons in all cells together.
    pub comparisons: usize,
    /// Whether the hubs do the same work; otherwise they are no common measure.
    pub is_same_hub: bool,
    /// Whether disturbed measurements were allowed to count, in the earlier run and in the later one.
    pub may_be_busy: [bool; 2],
}

/// Compares a cell that both runs measured.
pub(super) fn cell(old: &CellFindings, new: &CellFindings, both_runs: &BothRuns) -> CellComparison {
    let base = if both_runs.is_same_hub && has_hub(old) && has_hub(new) { HUB } else { REFERENCE };
    let [one, two] = [old, new].map(model);
    let both: Vec<(&ContenderFindings, &ContenderFindings)> = common(old, new).collect();
    let (nobody, cell_metric) = (usize::MAX, new.metric);
    let index = |model: &CellModel, name: &str| model.index(name).unwrap_or(nobody);
    let why_not = |pair: [&ContenderFindings; 2]| why_not(pair, cell_metric, both_runs.may_be_busy);
    // A contender whose own change is inconclusive does not show how much contenders move from run to run either.
    let in_both = |(o, n): &(&ContenderFindings, &ContenderFindings)| {
        let (before, after) = match why_not([o, n]) {
            Some(_) => (nobody, nobody),
            None => (index(&one, &o.name), index(&two, &n.name)),
        };
        let deviations = [o, n].into_iter().filter_map(|c| c.in_heats.turn_deviation);
        InBoth { before, after, turn_deviation: stats::root_mean_square(deviations) }
    };
    let pairs: Vec<InBoth> = both.iter().map(in_both).collect();
    let bases = (index(&one, base), index(&two, base));
    let found = changes(&one.fit, &two.fit, bases, &pairs, both_runs.comparisons);
    let is_same_yardstick = base == HUB || is_reference_held_back(old) == is_reference_held_back(new);
    let judge = |((o, n), change): (&(&ContenderFindings, &ContenderFindings), _)| {
        contender([o, n], change, why_not([o, n]), cell_metric, is_same_yardstick)
    };
    let mut contenders: Vec<ContenderComparison> = both.iter().zip(found.all).map(judge).collect();
    let of = |c: &ContenderComparison| c.ratio.map_or(f64::INFINITY, |ratio| ratio.median);
    contenders.sort_by(|a, b| of(a).total_cmp(&of(b)));
    CellComparison {
        title: new.title.clone(),
        workload: new.workload.clone(),
        load: new.load.clone(),
        transport: new.transport,
        metric: new.metric,
        drift: drift([old, new], base).filter(|_| is_same_yardstick),
        drift_of: if base == HUB { DriftOf::Hub } else { DriftOf::Reference },
        movement: found.movement.filter(|_| is_same_yardstick).map(f64::exp_m1),
        contenders,
    }
}

/// Whether the rate of the reference is the load generator's limit, not its own.
fn is_reference_held_back(cell: &CellFindings) -> bool {
    cell.contenders.iter().any(|c| c.name == REFERENCE && is_floor(c, cell.metric))
}

/// The model of a cell, as in the run's own findings.
fn model(cell: &CellFindings) -> CellModel {
    let entrant = |c: &ContenderFindings| NamedEntrant {
        name: c.name.clone(),
        class: c.in_heats.class,
        is_ranked: c.rank_low.is_some(),
        is_floor: is_floor(c, cell.metric),
    };
    let entrants = cell.contenders.iter().map(entrant).collect();
    // The level is not corrected for the number of pairs, because no pair within one run is judged here.
    let asked = Asked { metric: cell.metric, chance: CHANCE };
    CellModel::of(entrants, &cell.in_heats.starts, &asked)
}

/// The machine's drift: the base's own speed now, divided by its speed then.
fn drift(both: [&CellFindings; 2], base: &str) -> Option<Figure> {
    let logs = |cell: &CellFindings| -> Vec<f64> {
        let own = cell.in_heats.starts.iter().filter(|start| start.contender == base && start.figure > 0.0);
        own.map(|start| start.figure.ln()).collect()
    };
    let [before, now] = both.map(logs);
    Some(speed(Figure::from(shift(&now, &before)?), both[1].metric))
}

fn contender(
    [old, new]: [&ContenderFindings; 2],
    found: Option<stats::heats::Change>,
    why_not: Option<String>,
    metric: Metric,
    is_same_yardstick: bool,
) -> ContenderComparison {
    let ratio = found.map(|change| {
        let (median, (low, high)) = (change.ratio, change.sure);
        speed(Figure { median, low: Some(low), high: Some(high) }, metric)
    });
    let unknown = |why: String| (Change::Unknown, Some(why));
    let (change, note) = match found {
        _ if why_not.is_some() => (Change::Unknown, why_not),
        _ if !is_same_yardstick => unknown(
            "the load generator limited the reference in one of the runs only, so the reference is no common measure"
                .to_owned(),
        ),
        Some(found) => match found.relation {
            Relation::Better => (Change::Faster, None),
            Relation::Worse => (Change::Slower, None),
            Relation::Equal | Relation::Open => (Change::NoneSeen, None),
        },
        None => unknown(why_none(old, new)),
    };
    ContenderComparison {
        name: new.name.clone(),
        title: new.title.clone(),
        versions: [old.version.clone(), new.version.clone()],
        ratio: ratio.filter(|_| change != Change::Unknown),
        change,
        note,
    }
}

/// Why nothing can be said of a contender whatever its figures are, if so. `may_be_busy`: whether disturbed measurements were allowed to
/// count in each run.
fn why_not(both: [&ContenderFindings; 2], metric: Metric, may_be_busy: [bool; 2]) -> Option<String> {
    if let Some(note) = floor_note(both, metric) {
        return Some(note);
    }
    let runs = || both.into_iter().zip(["earlier", "later"]);
    if let Some((why, which)) = runs().find_map(|(c, which)| Some((unsound(c)?, which))) {
        return Some(format!("{why} in the {which} run"));
    }
    let ((_, which), _) = runs().zip(may_be_busy).find(|((c, _), may)| !may && was_never_quiet(c))?;
    let why = "other programs or the host disturbed most of its turns";
    Some(format!("in the {which} run, {why}, so they all count: what that cost it is unknown"))
}

/// Whether all turns count, those that were disturbed too, in a third of its starts or more. Contenders don't all lose the same beside other
/// programs, and the intervals of one run show only what they lost beside those of that run.
fn was_never_quiet(c: &ContenderFindings) -> bool {
    let own = &c.in_heats;
    is_third(own.never_quiet, own.starts)
}

/// Why its figures, where it has some, are not those of all of its starts.
fn unsound(c: &ContenderFindings) -> Option<&'static str> {
    match c.in_heats.unranked? {
        Unranked::NotSettled => Some("it had not settled"),
        Unranked::Failed => Some("it failed in a third of its starts or more"),
        Unranked::Void => Some("it was void in a third of its starts or more"),
        Unranked::NoFigure | Unranked::FirstLook => None,
    }
}

fn why_none(old: &ContenderFindings, new: &ContenderFindings) -> String {
    match [(old, "earlier"), (new, "later")].into_iter().find(|(c, _)| c.metric.is_none()) {
        Some((_, which)) => format!("none of its starts in the {which} run has a figure"),
        None => "too few starts to detect any change".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::analyse::heats::world::World;
    use crate::findings::compare::{CompareError, compare};
    use model::Findings;
    use model::comparison::Comparison;
    use model::gate::Gate;
    use model::heat::Counts;
    use stats::margin::Judged;

    const RATES: [(&str, f64); 4] =
        [("same", 100_000.0), ("worse", 80_000.0), ("better", 50_000.0), ("other", 120_000.0)];

    fn run(seed: u64, changed: &[(&str, f64)]) -> World {
        let rate = |(name, rate): &(&'static str, f64)| {
            (*name, changed.iter().find(|(own, _)| own == name).map_or(*rate, |(_, now)| *now))
        };
        World { seed, ..World::of(&RATES.iter().map(rate).collect::<Vec<_>>()) }
    }

    fn changes(comparison: &Comparison) -> Vec<(&str, Change)> {
        comparison.cells[0].contenders.iter().map(|c| (c.name.as_str(), c.change)).collect()
    }

    #[test]
    fn what_changed_is_found_beside_the_hub_whatever_the_machine_does() {
        let old = run(1, &[]).findings();
        let new = run(2, &[("worse", 60_000.0), ("better", 60_000.0)]).findings();
        let comparison = compare(&old, &new, false).unwrap();
        let expected = [
            ("worse", Change::Slower),
            ("other", Change::NoneSeen),
            ("same", Change::NoneSeen),
            ("better", Change::Faster),
        ];
        let mut found = changes(&comparison);
        assert_eq!((found.remove(0), found.pop()), (expected[0], Some(expected[3])));
        assert!(found.iter().all(|(_, change)| *change == Change::NoneSeen), "{found:?}");
        let worse = comparison.cells[0].contenders[0].ratio.unwrap();
        assert!(worse.low.unwrap() < 0.75 && worse.high.unwrap() > 0.75, "{worse:?}");
        let names = |margin| {
            let changes = Gate::of_comparison(&comparison, margin).changes.into_iter();
            changes.filter(|c| c.judged == Judged::Beyond).map(|c| c.name).collect::<Vec<_>>()
        };
        assert_eq!((names(0.03), names(0.2)), (vec!["worse".to_owned()], Vec::new()));
        assert!(comparison.cells[0].drift.is_some());
        assert_eq!(comparison.cells[0].drift_of, DriftOf::Hub);
    }

    #[test]
    fn the_same_twice_is_no_change() {
        let old = run(1, &[]).findings();
        for seed in 2..8 {
            let comparison = compare(&old, &run(seed, &[]).findings(), false).unwrap();
            let all = changes(&comparison);
            assert!(all.len() == 4 && all.iter().all(|(_, change)| *change == Change::NoneSeen), "{all:?}");
        }
    }

    #[test]
    fn hubs_that_do_not_do_the_same_work_are_no_measure() {
        let (old, mut new) = (run(1, &[]).findings(), run(2, &[]).findings());
        // Later, the hub has less to do, and so is three times as fast.
        let hubs = new.cells[0].in_heats.starts.iter_mut().filter(|s| s.contender == HUB);
        hubs.for_each(|start| start.figure *= 3.0);
        new.environment.hub = Some("less".to_owned());
        let comparison = compare(&old, &new, true).unwrap();
        assert!(changes(&comparison).iter().all(|(_, change)| *change == Change::NoneSeen), "{comparison:?}");
        assert!(comparison.notes.iter().any(|note| note.contains("the hub does different work")));
    }

    #[test]
    fn what_can_not_be_said_is_not_said() {
        let old = run(1, &[]).findings();
        let mut cold = run(2, &[("worse", 72_000.0)]);
        cold.settles = |name, _| Some(name != "worse");
        cold.most = |name| if name == "better" { 20_000.0 } else { f64::INFINITY };
        cold.fails = |name, _| name == "same";
        let mut kept = cold.kept();
        for start in kept.starts.iter_mut().filter(|start| start.contender == "other" && start.round < 3) {
            start
                .cells
                .values_mut()
                .for_each(|cell| cell.measurement.as_mut().unwrap().verdict.valid = false);
        }
        let new = cold.findings_from(&kept);
        let comparison = compare(&old, &new, false).unwrap();
        let of = |name: &str| {
            let c = comparison.cells[0].contenders.iter().find(|c| c.name == name).unwrap();
            (c.change, c.ratio, c.note.clone().unwrap_or_default())
        };
        let unknown = |name: &str, why: &str| {
            let (change, ratio, note) = of(name);
            assert!((change, ratio) == (Change::Unknown, None) && note.contains(why), "{name}: {note}");
        };
        unknown("worse", "not settled in the later run");
        unknown("better", "its rates are lower bounds");
        unknown("same", "it failed in a third of its starts or more in the later run");
        unknown("other", "it was void in a third of its starts or more in the later run");
        assert_eq!((comparison.failed.len(), Gate::of_comparison(&comparison, 0.0).changes.len()), (1, 0));
    }

    #[test]
    fn a_run_that_was_never_quiet_shows_no_change_of_a_contender() {
        let old = run(1, &[]).findings();
        let busy = |rounds: usize| {
            let world = run(2, &[("worse", 60_000.0)]);
            let mut kept = world.kept();
            let of_busy_rounds = kept.starts.iter_mut().filter(|start| start.round < rounds);
            for cell in of_busy_rounds.flat_map(|start| start.cells.values_mut()) {
                cell.counts = Counts::NeverQuiet;
            }
            world.findings_from(&kept)
        };
        let judged = |old: &Findings, new: &Findings| {
            let comparison = compare(old, new, false).unwrap();
            let worse = comparison.cells[0].contenders.iter().find(|c| c.name == "worse").cloned().unwrap();
            (worse.change, worse.ratio.is_some(), worse.note.unwrap_or_default())
        };
        assert_eq!(judged(&old, &busy(1)), (Change::Slower, true, String::new()), "one start of six");
        let (change, has_ratio, note) = judged(&old, &busy(2));
        assert_eq!((change, has_ratio), (Change::Unknown, false));
        assert!(note.contains("in the later run, other programs"), "{note}");
        assert!(judged(&busy(6), &old).2.contains("in the earlier run"));
        let allowed = Findings { allow_busy: true, ..busy(6) };
        assert_eq!(judged(&old, &allowed).0, Change::Slower, "it was to count: --allow-busy");
    }

    #[test]
    fn a_hub_or_a_reference_is_enough() {
        let mut race = run(1, &[]).findings();
        race.cells[0].contenders.retain(|c| c.name != REFERENCE);
        assert!(compare(&race, &race, false).is_ok(), "the hub is enough");
        race.cells[0].in_heats.starts.retain(|start| start.contender != HUB);
        assert!(matches!(compare(&race, &race, false), Err(CompareError::NoReference { .. })));
    }

    #[test]
    fn where_less_is_better_more_is_slower() {
        let mut old = run(1, &[]).findings();
        let mut new = run(2, &[("worse", 96_000.0)]).findings();
        for f in [&mut old, &mut new] {
            f.cells[0].metric = model::Metric::ServerCpu;
        }
        let comparison = compare(&old, &new, false).unwrap();
        let worse = &comparison.cells[0].contenders[0];
        assert_eq!((worse.name.as_str(), worse.change), ("worse", Change::Slower));
        let ratio = worse.ratio.unwrap();
        assert!(ratio.low.unwrap() < 1.0 / 1.2 && ratio.high.unwrap() > 1.0 / 1.2, "{ratio:?}");
    }
}
