//! The history of a study over many runs: each contender relative to the reference of its own run, where that changes for good,
//! and whether the reference changed there too, so that a machine's step is not mistaken for a server's. Pure: the same runs give
//! the same history, bit for bit.

mod cause;

use crate::findings::compare::{is_same, machine};
use model::Environment;
use model::Metric;
use model::environment::facts::{self, Weight};
use model::findings::{CellFindings, ContenderFindings, Figure, Findings, Unranked};
use model::gate;
use model::history::{Cause, CellHistory, ContenderHistory, History, LeftOut, Point, RunInHistory, Step};
use model::origin::HERE;
use model::study::REFERENCE;
use stats::e_divisive::{self, ChangePoint, SearchOptions};
use stats::estimate::CHANCE;
use stats::heats::shift;
use stats::random;
use std::collections::BTreeSet;

/// The version of the JSON.
const SCHEMA: u32 = 1;

/// The minimum number of runs that a step must last: of two, a single disturbed run would be half.
const LEAST_RUNS: usize = 3;

/// The maximum number of runs on either side from which a step's size is computed: enough for narrow bounds, and close to the step.
const RUNS_FOR_SIZE: usize = 30;

/// Computes the history of a study from its ended runs, in the order of time; `unended`: how many have not ended. In a history without any
/// step, one is found by mistake with the probability [`CHANCE`].
pub fn history(study: &str, runs: &[Findings], unended: usize) -> History {
    let mut cells = cells(runs);
    let series: usize = cells.iter().map(|cell| 1 + cell.contenders.len()).sum();
    let level_each = CHANCE / series.max(1) as f64;
    let fewest_runs = e_divisive::fewest(level_each);
    for (nth, cell) in cells.iter_mut().enumerate() {
        find_steps(cell, random::derive(&[nth as u64]), level_each, fewest_runs, series);
    }
    History {
        schema: SCHEMA,
        study: study.to_owned(),
        title: runs.last().map_or_else(|| study.to_owned(), |run| run.title.clone()),
        level: CHANCE,
        level_each,
        fewest_runs,
        unended,
        cells,
    }
}

/// Whether a run can be part of a history: a race has no reference that shows the machine's drift.
pub fn has_reference(run: &Findings) -> bool {
    run.cells.iter().any(|cell| cell.contenders.iter().any(|c| c.name == REFERENCE))
}

/// All cells that any run has, those of the latest run first.
fn cells(runs: &[Findings]) -> Vec<CellHistory> {
    let mut all: Vec<&CellFindings> = Vec::new();
    for cell in runs.iter().rev().flat_map(|run| &run.cells) {
        if !all.iter().any(|there| is_same(there, cell)) {
            all.push(cell);
        }
    }
    all.into_iter().map(|cell| cell_history(runs, cell)).collect()
}

/// The history of a cell, without its steps.
fn cell_history(runs: &[Findings], cell: &CellFindings) -> CellHistory {
    let place = |run: &Findings| run.cells.iter().position(|c| is_same(c, cell));
    let taking_part = runs.iter().filter_map(|run| Some((run, &run.cells[place(run)?])));
    // Runs of one kind together, in the order of time.
    let mut kinds: Vec<Vec<(&Findings, &CellFindings)>> = Vec::new();
    for (run, findings) in taking_part {
        match kinds.iter_mut().find(|alike| unlike(run, alike[0].0, &cell.workload).is_empty()) {
            Some(alike) => alike.push((run, findings)),
            None => kinds.push(vec![(run, findings)]),
        }
    }
    // The kind with the most runs is shown; of several, the one with the latest run.
    let latest = |alike: &[(&Findings, &CellFindings)]| alike.last().map(|(run, _)| run.started_at.clone());
    let shown = (0..kinds.len()).max_by_key(|i| (kinds[*i].len(), latest(&kinds[*i]))).unwrap_or(0);
    let alike = kinds.swap_remove(shown);
    kinds.sort_by_key(|others| latest(others));
    let left_out = kinds.iter().map(|others| LeftOut {
        runs: others.iter().map(|(run, _)| run.run.clone()).collect(),
        why: unlike(others[0].0, alike[0].0, &cell.workload).join("; "),
    });
    let names: BTreeSet<&str> =
        alike.iter().flat_map(|(_, c)| &c.contenders).map(|c| c.name.as_str()).collect();
    CellHistory {
        number: runs.last().and_then(place).map(|i| i + 1),
        title: cell.title.clone(),
        workload: cell.workload.clone(),
        load: cell.load.clone(),
        transport: cell.transport,
        metric: cell.metric,
        runs: alike.iter().map(|(run, _)| in_history(run)).collect(),
        left_out: left_out.collect(),
        reference: contender(&alike, REFERENCE),
        contenders: names
            .into_iter()
            .filter(|name| *name != REFERENCE)
            .map(|name| contender(&alike, name))
            .collect(),
        note: None,
    }
}

/// What makes the figures of two runs unequal, a sentence for each property; empty: the runs are of one kind.
fn unlike(run: &Findings, shown: &Findings, workload: &str) -> Vec<String> {
    let mut unequal = Vec::new();
    let mut differ = |what: &str, own: &str, other: &str| {
        unequal.push(format!("different {what} ({own}; shown: {other})"));
    };
    let [own, other] =
        [run, shown].map(|run| run.origin.as_ref().map_or(HERE, |origin| origin.machine.as_str()));
    if own != other {
        differ("machine", own, other);
    }
    if [run, shown].iter().any(|run| machine::several(run).is_some()) {
        // The environment of such a run is that of the machine that planned it.
        let [own, other] = [run, shown].map(machine::kinds);
        if own != other {
            differ("kinds of machines", &own, &other);
        }
    } else {
        let mut compare = |own: &Environment, other: &Environment, whose: &str| {
            let facts = facts::differences(own, other).into_iter();
            for fact in facts.filter(|fact| fact.weight == Weight::OtherKind) {
                let what = format!("{}{whose}", fact.name);
                differ(&what, &fact.old.unwrap_or_default(), &fact.new.unwrap_or_default());
            }
        };
        compare(&run.environment, &shown.environment, "");
        if let [Some(own), Some(other)] = [run, shown].map(|run| run.environment.servers_on.as_deref()) {
            compare(&own.environment, &other.environment, " of the servers' machine");
        }
        let [own, other] = [run, shown].map(|run| machine::of_servers(&run.environment));
        if own != other {
            differ("machine of the servers", &own, &other);
        }
    }
    let [own, other] = [run, shown].map(|run| run.environment.hub.as_deref().unwrap_or("unknown"));
    if own != other {
        differ("work of the hub", own, other);
    }
    let [own, other] = [run, shown].map(|run| run.workloads.get(workload).map_or("unknown", String::as_str));
    if own != other {
        differ("body", &machine::short(own), &machine::short(other));
    }
    if run.quick != shown.quick {
        let length = |run: &Findings| if run.quick { "quick" } else { "whole" };
        differ("length", length(run), length(shown));
    }
    let [own, other] = [run, shown].map(machine::way);
    if own != other {
        differ("way of measuring", own, other);
    }
    unequal
}

fn in_history(run: &Findings) -> RunInHistory {
    RunInHistory {
        run: run.run.clone(),
        started_at: run.started_at.clone(),
        drome: run.environment.drome.clone(),
        kernel: run.environment.of_servers().kernel.clone().filter(|_| machine::several(run).is_none()),
        machine: run.origin.as_ref().map(|origin| origin.machine.clone()),
    }
}

/// The history of a contender, without its steps.
fn contender(alike: &[(&Findings, &CellFindings)], name: &str) -> ContenderHistory {
    let found = |cell: &'_ CellFindings| cell.contender(name).cloned();
    let title = alike.iter().rev().find_map(|(_, cell)| found(cell)).map(|c| c.title);
    let points = alike.iter().map(|(_, cell)| point(&found(cell)?, cell.metric));
    ContenderHistory {
        name: name.to_owned(),
        title: title.unwrap_or_else(|| name.to_owned()),
        points: points.collect(),
        steps: Vec::new(),
        note: None,
    }
}

/// A contender's point in one run. A lower bound is no point; that of the reference is, because it is all that this machine can show.
fn point(contender: &ContenderFindings, metric: Metric) -> Option<Point> {
    let rate_per_s = contender.rate_per_s?.median;
    let is_reference = contender.name == REFERENCE;
    let is_floor = metric == Metric::Rate && contender.is_held_back();
    if rate_per_s <= 0.0 || (is_floor && !is_reference) {
        return None;
    }
    let known: Vec<f64> = contender.merit_by_round.iter().copied().flatten().collect();
    let speed = stats::median(&known).filter(|speed| *speed > 0.0)?;
    let own = &contender.in_heats;
    let is_sound = matches!(own.unranked, None | Some(Unranked::FirstLook));
    // The reference is held back by the load generator on small machines, and then moves by itself.
    let ratio = own.of_hub.filter(|_| is_sound).map(|share| gate::speed(share, metric));
    let of_reference = ratio.filter(|_| !is_reference);
    let followed = if is_reference { contender.rate_per_s } else { of_reference };
    (is_reference || of_reference.is_some()).then_some(Point {
        version: contender.version.clone(),
        rate_per_s,
        speed,
        of_reference: of_reference.map(|ratio| ratio.median),
        low: followed.and_then(|figure| figure.low),
        high: followed.and_then(|figure| figure.high),
    })
}

/// The values that are searched for steps: the index of the run, and the logarithm.
fn logs(contender: &ContenderHistory) -> Vec<(usize, f64)> {
    let value = |point: &Point| point.of_reference.unwrap_or(point.speed);
    let known = contender.points.iter().enumerate();
    known.filter_map(|(i, point)| Some((i, value(point.as_ref()?).ln()))).collect()
}

fn find_steps(cell: &mut CellHistory, seed: u64, level: f64, fewest: usize, series: usize) {
    let runs = cell.runs.clone();
    let too_few = |n: usize| {
        format!("{n} comparable runs: telling a step from chance takes {fewest} ({series} series)")
    };
    let everyone = std::iter::once(&mut cell.reference).chain(&mut cell.contenders);
    for (nth, contender) in everyone.enumerate() {
        let known = logs(contender);
        if known.len() < fewest {
            contender.note = Some(too_few(known.len()));
            continue;
        }
        let values: Vec<f64> = known.iter().map(|(_, log)| *log).collect();
        let options = SearchOptions { level, least: LEAST_RUNS, seed: random::derive(&[seed, nth as u64]) };
        let found = e_divisive::change_points(&values, options);
        contender.steps =
            (0..found.len()).filter_map(|nth| step(contender, &runs, &known, &found, nth)).collect();
    }
    if runs.len() < fewest {
        cell.note = Some(too_few(runs.len()));
    } else if runs.len() > e_divisive::MOST_VALUES {
        let most = e_divisive::MOST_VALUES;
        cell.note = Some(format!("only the latest {most} of {} runs are searched for steps", runs.len()));
    }
    cause::tell(cell);
}

/// The nth change point as a step; its cause is set when all steps are known.
fn step(
    contender: &ContenderHistory,
    runs: &[RunInHistory],
    known: &[(usize, f64)],
    found: &[ChangePoint],
    nth: usize,
) -> Option<Step> {
    let middle = found[nth].at;
    let begin =
        nth.checked_sub(1).map_or(0, |before| found[before].at).max(middle.saturating_sub(RUNS_FOR_SIZE));
    let end = found.get(nth + 1).map_or(known.len(), |next| next.at).min(middle + RUNS_FOR_SIZE);
    let side = |part: &[(usize, f64)]| part.iter().map(|(_, log)| *log).collect::<Vec<_>>();
    let ratio = shift(&side(&known[middle..end]), &side(&known[begin..middle]))?;
    let (before, after) = (known[middle - 1].0, known[middle].0);
    let version = |i: usize| contender.points[i].as_ref().and_then(|point| point.version.clone());
    // A step is found to within a run or so: a version that changed one run before or after it is named as well.
    let pairs: Vec<(usize, usize)> = [middle, middle + 1, middle - 1]
        .into_iter()
        .filter(|i| (1..known.len()).contains(i))
        .map(|i| (known[i - 1].0, known[i].0))
        .collect();
    let changed = |a: &(usize, usize)| version(a.0) != version(a.1);
    let drome_changed = |a: &(usize, usize)| runs[a.0].drome != runs[a.1].drome;
    let kernel_changed = |a: &(usize, usize)| runs[a.0].kernel != runs[a.1].kernel;
    let first = |differ: &dyn Fn(&(usize, usize)) -> bool| pairs.iter().copied().find(|pair| differ(pair));
    Some(Step {
        at: after,
        before: runs[before].run.clone(),
        after: runs[after].run.clone(),
        ratio: Figure::from(ratio),
        p: found[nth].p,
        cause: Cause::Contender,
        versions: first(&changed).map(|(a, b)| [version(a), version(b)]),
        drome: first(&drome_changed).map(|(a, b)| [runs[a].drome.clone(), runs[b].drome.clone()]),
        kernel: first(&kernel_changed).map(|(a, b)| [runs[a].kernel.clone(), runs[b].kernel.clone()]),
    })
}

#[cfg(test)]
mod tests;
