//! Computes the findings of a run in heats. Pure: the same heats, starts and slices give the same findings. Each start gets a figure in a
//! cell ([`starts`]), one model ties the figures together ([`cell_model`]), and each contender ([`contender`]) and cell is described by it.

pub mod cell_model;
mod contender;
mod front;
mod machines;
mod neighbours;
mod pairs;
mod starts;
#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) mod world;

pub use neighbours::neighbours;

use super::{conditions, whole};
use crate::findings::race;
use crate::schedule::starts_summary::StartsSummary;
use cell_model::{Asked, CellModel, NamedEntrant};
use contender::Row;
use model::background::Background;
use model::findings::{CellFindings, CellInHeats, ClassFloor, ContenderFindings, Findings, StartFigure};
use model::heat::{Counts, Start};
use model::study::REFERENCE;
use model::{Measured, Metric, Run};
use starts::{MeasuredStart, Turns};
use std::collections::{BTreeMap, BTreeSet};

/// Computes the findings of a run in heats; `ended` is why the run ended, `None` while it goes on.
pub fn findings(run: &Run, measured: &Measured, ended: Option<&str>) -> Findings {
    let starts = &measured.starts;
    let (turns, found) = (Turns::of(run, measured), StartsSummary::of(starts));
    let cells: Vec<FittedCell<'_>> =
        (0..run.study.cells.len()).map(|cell| FittedCell::of(run, starts, &turns, &found, cell)).collect();
    let pairs = cells.first().map(pairs::of_race).unwrap_or_default();
    let cells: Vec<CellFindings> = cells.iter().map(cell_findings).collect();
    let elapsed_s = starts.iter().map(|start| start.took_ns as f64 / 1e9).fold(0.0, |all, s| all + s);
    let race = race::findings(run, &cells, pairs, elapsed_s);
    let findings = whole(run, cells, race, conditions::of_heats(starts), elapsed_s, ended);
    match machines::only(&measured.heats) {
        Some(environment) => Findings { environment: environment.clone(), ..findings },
        None => findings,
    }
}

/// A cell as it was measured, with its models.
struct FittedCell<'a> {
    run: &'a Run,
    cell: usize,
    metric: Metric,
    turns: &'a Turns<'a>,
    /// Every start of the contenders that take part, whether measured in this cell or not.
    starts: &'a [Start],
    found: &'a BTreeMap<&'a str, StartsSummary>,
    measured: Vec<MeasuredStart<'a>>,
    /// The model of the metric by which contenders are ranked.
    ranked: CellModel,
    /// The model of requests/s.
    rate: CellModel,
    /// The model of the server's CPU time per answer.
    cpu: CellModel,
}

impl<'a> FittedCell<'a> {
    fn of(
        run: &'a Run,
        starts: &'a [Start],
        turns: &'a Turns<'a>,
        found: &'a BTreeMap<&'a str, StartsSummary>,
        cell: usize,
    ) -> Self {
        let measured = starts::measured(run, starts, turns, cell);
        let has_rank = |name: &str| is_sound(name, &measured, found);
        let metric = starts::supported(run.study.metric(cell), &measured, has_rank);
        let model = |metric: Metric, ranks: bool| {
            let entrants = entrants(run, metric, &measured, found, ranks);
            CellModel::of(entrants, &start_figures(metric, &measured), &Asked { metric, chance: run.level() })
        };
        let ranked = model(metric, true);
        let [rate, cpu] = [Metric::Rate, Metric::ServerCpu].map(|other| model(other, other == metric));
        Self { run, cell, metric, turns, starts, found, measured, ranked, rate, cpu }
    }

    /// The contender that the others are measured against: the reference, else the first.
    fn base(&self) -> &'a str {
        let takes_part = || takes_part(self.run);
        takes_part().find(|name| *name == REFERENCE).or_else(|| takes_part().next()).unwrap_or(REFERENCE)
    }

    fn rounds(&self) -> BTreeSet<usize> {
        self.measured.iter().map(|m| m.start.round).collect()
    }
}

fn takes_part(run: &Run) -> impl Iterator<Item = &str> {
    run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none()).map(|(name, _)| name.as_str())
}

/// The contenders as the model sees them, the hub included. `ranks`: whether the model decides ranks.
fn entrants(
    run: &Run,
    metric: Metric,
    measured: &[MeasuredStart<'_>],
    found: &BTreeMap<&str, StartsSummary>,
    ranks: bool,
) -> Vec<NamedEntrant> {
    let of = |name: &str| NamedEntrant {
        name: name.to_owned(),
        class: run.contenders.get(name).and_then(|entrant| entrant.class),
        is_ranked: ranks && !run.quick && is_sound(name, measured, found),
        is_floor: metric == Metric::Rate && starts::is_held_back(&starts_of(name, measured)),
    };
    takes_part(run).map(of).collect()
}

/// Whether a contender's starts leave it its rank: not too many of them failed, were void or had not settled.
fn is_sound(name: &str, measured: &[MeasuredStart<'_>], found: &BTreeMap<&str, StartsSummary>) -> bool {
    let failed = found.get(name).is_none_or(StartsSummary::is_unreliable);
    let own = starts_of(name, measured);
    !failed && !starts::are_void(&own) && !starts::has_not_settled(&own)
}

fn starts_of<'m, 'a>(name: &str, measured: &'m [MeasuredStart<'a>]) -> Vec<&'m MeasuredStart<'a>> {
    measured.iter().filter(|m| m.start.contender == name).collect()
}

/// The figures of all starts by this metric, where they have one.
fn start_figures(metric: Metric, measured: &[MeasuredStart<'_>]) -> Vec<StartFigure> {
    let of = |m: &MeasuredStart<'_>| {
        let (contender, start) = (m.start.contender.clone(), m.start);
        let figure = m.figure(metric).filter(|figure| *figure > 0.0 && figure.is_finite())?;
        Some(StartFigure { contender, copy: start.copy, round: start.round, heat: start.heat, figure })
    };
    let known = starts::with_figure(metric, measured);
    known.into_iter().filter_map(of).collect()
}

fn cell_findings(of: &FittedCell<'_>) -> CellFindings {
    let (run, asked) = (of.run, &of.run.study.cells[of.cell]);
    let letters = of.ranked.letters();
    let row = |name: &str| contender::findings(&Row::of(of, name, letters.get(name).cloned()));
    let mut contenders: Vec<ContenderFindings> = takes_part(run).map(row).collect();
    front::tiers(&of.ranked, &mut contenders);
    let merit = |c: &ContenderFindings| match c.metric.map(|figure| figure.median) {
        Some(median) if of.metric.is_better_higher() => median,
        Some(median) => -median,
        None => f64::NEG_INFINITY,
    };
    let is_unranked = |c: &ContenderFindings| c.rank_low.is_none();
    contenders.sort_by(|a, b| is_unranked(a).cmp(&is_unranked(b)).then(merit(b).total_cmp(&merit(a))));
    let floors = of.ranked.noise_floors();
    CellFindings {
        title: asked.title.clone(),
        workload: asked.workload.clone(),
        load: asked.load.clone(),
        transport: asked.transport(),
        metric: of.metric,
        rounds: of.rounds().len(),
        noise_floor: floors.iter().map(|floor| floor.noise_floor).reduce(f64::max),
        in_heats: in_heats(of, floors),
        contenders,
    }
}

fn in_heats(of: &FittedCell<'_>, noise_floors: Vec<ClassFloor>) -> CellInHeats {
    let heats: BTreeMap<(usize, usize), &Counts> =
        of.measured.iter().map(|m| ((m.start.round, m.start.heat), &m.in_cell.counts)).collect();
    let count = |is: fn(&Counts) -> bool| heats.values().filter(|counts| is(counts)).count();
    let background = of.measured.iter().flat_map(|m| &m.in_cell.background);
    CellInHeats {
        rounds: of.rounds().len(),
        heats: heats.len(),
        never_quiet: count(|counts| *counts == Counts::NeverQuiet),
        shares_differ: count(|counts| matches!(counts, Counts::SharesDiffer(_))),
        background: Background::most(background.map(|one| (&one.program, &one.cpu_ns))),
        noise_floors,
        pairs: of.ranked.pairs(),
        front: front::front(&of.ranked),
        machines: machines::compared(of),
        starts: start_figures(of.metric, &of.measured),
    }
}
