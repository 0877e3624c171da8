//! The figure of each start in a cell, from the slices of its heat, and what else is known of the start.

use crate::is_third;
use crate::turns::figures;
use crate::verdict;
use model::contender::Class;
use model::heat::{HUB, Heat, InCell, Slice, Start};
use model::metric::{LEAST_BEYOND, Percentile};
use model::{Bound, Load, Measured, Measurement, Metric, Run};
use stats::heats::{self, Drift, StartChange, StartRate};
use std::collections::{BTreeMap, BTreeSet};

/// One start that was measured in the cell.
pub(super) struct MeasuredStart<'a> {
    pub start: &'a Start,
    pub in_cell: &'a InCell,
    /// The figure from its slices; `None` in open load, where a turn is too short to tell, and for a start without an answer.
    pub of_slices: Option<StartRate>,
    /// How its rate changed from its first slice to its last; `None` as above, and with too few slices.
    change: Option<StartChange>,
    /// What all starts of its contender show of that together.
    pub drift: Option<Drift>,
    is_closed: bool,
}

impl<'a> MeasuredStart<'a> {
    /// The measurement, unless it is void.
    pub fn valid(&self) -> Option<&'a Measurement> {
        self.in_cell.measurement.as_deref().filter(|m| m.verdict.valid)
    }

    /// Whether its measurement is void. A start of which only slices are stored is not.
    pub fn is_void(&self) -> bool {
        self.in_cell.measurement.as_deref().is_some_and(|m| !m.verdict.valid)
    }

    /// Its figure by this metric.
    pub fn figure(&self, metric: Metric) -> Option<f64> {
        match metric {
            Metric::Rate if self.is_closed => {
                self.of_slices.filter(|_| !self.is_void()).map(|figure| figure.log_rate.exp())
            }
            _ => metric.of(self.valid()?),
        }
    }
}

/// Whether the load generator was the limit of this start, so that its slices say nothing about the machine.
fn is_held_back_start(in_cell: &InCell) -> bool {
    in_cell.measurement.as_deref().is_some_and(|m| m.verdict.bound.is_held_back())
}

/// All slices of a run, by heat and cell.
pub(super) struct Turns<'a> {
    heats: BTreeMap<(usize, usize), &'a Heat>,
    slices: BTreeMap<(usize, usize, usize), Vec<&'a Slice>>,
    /// Those of the run's machine, for heats that do not name their own.
    server_cores: usize,
}

impl<'a> Turns<'a> {
    pub fn of(run: &Run, measured: &'a Measured) -> Self {
        let mut by_cell: BTreeMap<_, Vec<&Slice>> = BTreeMap::new();
        for slice in &measured.slices {
            by_cell.entry((slice.round, slice.heat, slice.cell)).or_default().push(slice);
        }
        let heats = measured.heats.iter().map(|heat| ((heat.round, heat.number), heat)).collect();
        Self { heats, slices: by_cell, server_cores: run.environment.server_cpus.len() }
    }

    /// The heat of this round and number.
    pub fn heat(&self, round: usize, number: usize) -> Option<&'a Heat> {
        self.heats.get(&(round, number)).copied()
    }

    /// The figures of a heat's starts in a cell, by contender and copy, and how their rates changed; `starts` are those that were measured in
    /// the cell.
    fn rates(&self, cell: usize, starts: &[(&'a Start, &'a InCell)]) -> Vec<OfSlices> {
        let nobody = || vec![OfSlices::default(); starts.len()];
        let Some((first, in_cell)) = starts.first() else { return nobody() };
        let Some(slices) = self.slices.get(&(first.round, first.heat, cell)) else { return nobody() };
        let servers: Vec<(&str, usize)> = match self.heats.get(&(first.round, first.heat)) {
            Some(heat) => heat.servers(),
            None => starts.iter().map(|(start, _)| (start.contender.as_str(), start.copy)).collect(),
        };
        let of = |server: &(&str, usize)| {
            starts.iter().find(|(start, _)| (start.contender.as_str(), start.copy) == *server)
        };
        // One that died in the cell has no figure in it, and its last turns say nothing of the machine.
        let informs: Vec<bool> = servers
            .iter()
            .map(|server| of(server).is_some_and(|(_, in_cell)| !is_held_back_start(in_cell)))
            .collect();
        let own = self.heats.get(&(first.round, first.heat)).and_then(|heat| heat.machine.as_ref());
        let cores = own.map_or(self.server_cores, |machine| machine.environment.server_cpus.len());
        let counted = figures::counted(slices, &servers, &in_cell.counts, cores);
        let all = heats::start_rates(&counted, &informs);
        let place = |start: &Start| {
            servers.iter().position(|server| *server == (start.contender.as_str(), start.copy))
        };
        let of = |(start, _): &(&Start, &InCell)| {
            let member = place(start)?;
            Some((all.get(member).copied().flatten(), change(&counted, member)))
        };
        starts.iter().map(|start| of(start).unwrap_or_default()).collect()
    }
}

/// What the slices of a start show.
type OfSlices = (Option<StartRate>, Option<StartChange>);

/// How the rate of a member changed within its slices.
fn change(counted: &[heats::MemberSlice], member: usize) -> Option<StartChange> {
    let own = counted.iter().filter(|slice| slice.member == member && slice.time_ns > 0);
    let rates: Vec<(usize, f64)> =
        own.map(|slice| (slice.cycle, (slice.answers as f64 / slice.time_ns as f64).ln())).collect();
    StartChange::of(&rates)
}

/// Every start, the hub's included, that was measured in the cell.
pub(super) fn measured<'a>(
    run: &Run,
    starts: &'a [Start],
    turns: &Turns<'a>,
    cell: usize,
) -> Vec<MeasuredStart<'a>> {
    let is_closed = matches!(run.study.cells[cell].load, Load::Closed { .. });
    let mut by_heat: BTreeMap<(usize, usize), Vec<(&Start, &InCell)>> = BTreeMap::new();
    for start in starts.iter().filter(|s| s.contender == HUB || run.contenders.contains_key(&s.contender)) {
        let Some(in_cell) = start.cells.get(&cell) else { continue };
        by_heat.entry((start.round, start.heat)).or_default().push((start, in_cell));
    }
    let of_heat = |starts: &Vec<(&'a Start, &'a InCell)>| {
        let nothing = || vec![OfSlices::default(); starts.len()];
        let figures = if is_closed { turns.rates(cell, starts) } else { nothing() };
        let all = starts.iter().zip(figures);
        let measured = |(of, (of_slices, change)): (&(&'a Start, &'a InCell), OfSlices)| MeasuredStart {
            start: of.0,
            in_cell: of.1,
            of_slices,
            change,
            drift: None,
            is_closed,
        };
        all.map(measured).collect::<Vec<_>>()
    };
    with_drifts(by_heat.values().flat_map(of_heat).collect())
}

/// Adds what the starts of each contender show together.
fn with_drifts<'a>(mut measured: Vec<MeasuredStart<'a>>) -> Vec<MeasuredStart<'a>> {
    let of = |m: &MeasuredStart<'a>| {
        let Start { contender, round, heat, .. } = m.start;
        Some((contender.as_str(), (*round, *heat), m.change.filter(|_| !m.is_void())?))
    };
    let changes: Vec<(&str, (usize, usize), StartChange)> = measured.iter().filter_map(of).collect();
    let drifts = heats::drifts(&changes);
    for m in &mut measured {
        m.drift = drifts.get(m.start.contender.as_str()).copied();
    }
    measured
}

/// Whether a third of these starts or more are void, so that the others are a selection.
pub(super) fn are_void(own: &[&MeasuredStart<'_>]) -> bool {
    let void = own.iter().filter(|m| m.is_void()).count();
    is_third(void, own.len())
}

/// Whether a third of these starts of a contender or more had not settled, or all of them show together that its rate still changed.
pub(super) fn has_not_settled(own: &[&MeasuredStart<'_>]) -> bool {
    let not = own.iter().filter(|m| m.in_cell.settled == Some(false)).count();
    is_third(not, own.len()) || drift(own).is_some_and(|drift| drift.is_shown)
}

/// Whether a contender of this class was warm in these starts; `None`: unknown. It was only where they could have been found cold: more than
/// two thirds of them were loaded for long enough to show that they had settled; or, where the server is known not to compile while it runs,
/// they show together that its rate changed little.
pub(super) fn is_warm(own: &[&MeasuredStart<'_>], class: Option<Class>) -> Option<bool> {
    if has_not_settled(own) {
        return Some(false);
    }
    let settled = own.iter().filter(|m| m.in_cell.settled == Some(true)).count();
    let is_level =
        class.is_some_and(|class| class != Class::Jit) && drift(own).is_some_and(|drift| drift.is_level());
    (settled * 3 > own.len() * 2 || is_level).then_some(true)
}

/// How the rate of a contender changed within these starts of it.
pub(super) fn drift(own: &[&MeasuredStart<'_>]) -> Option<Drift> {
    own.first()?.drift
}

/// The bound of most of these starts, or what held a third of them back.
pub(super) fn usual_bound(own: &[&MeasuredStart<'_>]) -> Option<Bound> {
    verdict::usual_bound(own.iter().filter_map(|m| m.valid()).map(|m| m.verdict.bound))
}

/// Whether the load generator was the limit of a third of these starts or more.
pub(super) fn is_held_back(own: &[&MeasuredStart<'_>]) -> bool {
    let is_closed = own.iter().all(|m| m.is_closed);
    is_closed && usual_bound(own).is_some_and(Bound::is_held_back)
}

/// Whether the server fell behind in a third of the starts or more, or these are void, so that the latency of the others is that of a
/// selection.
pub(super) fn is_selection(share: f64, own: &[&MeasuredStart<'_>]) -> bool {
    let known = || own.iter().filter_map(|m| m.in_cell.measurement.as_deref());
    let has_none =
        |m: &&Measurement| !m.verdict.valid || m.verdict.fell_behind() || m.tally.is_selection(share);
    let none = known().filter(has_none).count();
    is_third(none, known().count())
}

/// The starts whose figure by this metric may be reported.
pub(super) fn with_figure<'m, 'a>(
    metric: Metric,
    measured: &'m [MeasuredStart<'a>],
) -> Vec<&'m MeasuredStart<'a>> {
    let Metric::Latency(p) = metric else { return measured.iter().collect() };
    let mut by_name: BTreeMap<&str, Vec<&MeasuredStart<'_>>> = BTreeMap::new();
    for m in measured {
        by_name.entry(&m.start.contender).or_default().push(m);
    }
    let selections: BTreeSet<&str> =
        by_name.into_iter().filter(|(_, own)| is_selection(p.share(), own)).map(|(name, _)| name).collect();
    measured.iter().filter(|m| !selections.contains(m.start.contender.as_str())).collect()
}

/// The highest percentile, up to the one that was asked for, with at least ten answers beyond it in every contender's median start; the
/// median latency if there is none. Only contenders that `has_rank` names count, or all of them if none has a rank. Starts that are void,
/// have no answer or fell behind do not count. The choice depends on numbers of answers only, never on a latency; and as the median
/// start of a contender counts, one short start does not lower the percentile for everybody.
pub(super) fn supported(
    metric: Metric,
    measured: &[MeasuredStart<'_>],
    has_rank: impl Fn(&str) -> bool,
) -> Metric {
    let Metric::Latency(asked) = metric else { return metric };
    let mut answers: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for m in measured.iter().filter(|m| m.start.contender != HUB) {
        let kept_up = m.valid().filter(|m| !m.verdict.fell_behind()).map(|m| m.tally.completed);
        if let Some(completed) = kept_up.filter(|completed| *completed > 0) {
            answers.entry(&m.start.contender).or_default().push(completed);
        }
    }
    let of_ranked = answers.iter().filter(|(name, _)| has_rank(name)).map(|(_, own)| usual(own)).min();
    // Where no contender has a rank, figures are reported all the same.
    let Some(answers) = of_ranked.or_else(|| answers.values().map(|own| usual(own)).min()) else {
        return metric;
    };
    let is_known = |p: &Percentile| (1.0 - p.share()) * answers as f64 >= LEAST_BEYOND - 1e-6;
    let below = [Percentile::P999, Percentile::P99, Percentile::P90];
    let below = below.into_iter().filter(|p| p.share() <= asked.share());
    Metric::Latency(below.clone().find(is_known).unwrap_or(Percentile::P50))
}

/// The median; the larger one of two in the middle.
fn usual(numbers: &[u64]) -> u64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests;
