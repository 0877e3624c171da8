//! One contender in one cell of a run in heats.

use super::FittedCell;
use super::starts::{self, MeasuredStart};
use crate::findings::analyse::{counted, reasons, wire_bytes};
use crate::schedule::starts_summary::StartsSummary;
use model::contender::Class;
use model::environment::Ran;
use model::findings::{ContenderFindings, ContenderInHeats, Figure, Unranked};
use model::heat::{Counts, HUB, Start, StartOutcome};
use model::metric::Percentile;
use model::notes::FAILED;
use model::{Measurement, Metric};
use stats::growth::growth;
use stats::heats::{Relation, StartRate};
use stats::median_interval;

/// A step of a server's memory up to this size does not count as growth. Linux keeps up to 32 pages of each CPU out of a process's account
/// (`percpu_counter`), and glibc gets memory from the kernel in steps of 128 KiB (`M_TOP_PAD`).
const MEMORY_STEP_BYTES: f64 = 131_072.0;

/// One contender's starts in one cell.
pub(super) struct Row<'a, 'c> {
    of: &'c FittedCell<'a>,
    name: &'c str,
    letters: Option<String>,
    /// All of its starts, those that failed included.
    starts: Vec<&'a Start>,
    /// The starts that were measured in the cell.
    own: Vec<&'c MeasuredStart<'a>>,
    found: StartsSummary,
}

impl<'a, 'c> Row<'a, 'c> {
    pub fn of(of: &'c FittedCell<'a>, name: &'c str, letters: Option<String>) -> Self {
        let starts = of.starts.iter().filter(|start| start.contender == name).collect();
        let own = of.measured.iter().filter(|m| m.start.contender == name).collect();
        let found = of.found.get(name).cloned().unwrap_or_default();
        Self { of, name, letters, starts, own, found }
    }

    fn valid(&self) -> impl Iterator<Item = &'a Measurement> {
        self.own.iter().filter_map(|m| m.valid())
    }

    /// The median over starts, and its interval where there are enough starts.
    fn usual(&self, value: impl Fn(&Measurement) -> Option<f64>) -> Option<Figure> {
        let values: Vec<f64> = self.valid().filter_map(value).collect();
        median_interval(&values).map(Figure::from)
    }

    fn latency(&self, p: Percentile) -> Option<Figure> {
        let is_selection = starts::is_selection(p.share(), &self.own);
        self.usual(|m| Metric::Latency(p).of(m)).filter(|_| !is_selection)
    }

    /// The contender that its ratios refer to.
    fn base(&self) -> &'a str {
        self.of.base()
    }

    /// Its class; `None`: unknown.
    fn class(&self) -> Option<Class> {
        self.of.run.contenders.get(self.name).and_then(|entrant| entrant.class)
    }

    /// How much its rate changed from the first slice of a start to the last, as a share of it.
    fn rate_change(&self) -> Option<Figure> {
        let drift = starts::drift(&self.own)?;
        let [low, high] = [drift.low, drift.high].map(|log| Some(log.exp_m1()));
        Some(Figure { median: drift.change.exp_m1(), low, high })
    }

    /// One value per round: the mean over its starts in the round.
    fn by_round(&self, metric: Metric) -> Vec<Option<f64>> {
        let rounds = self.of.measured.iter().map(|m| m.start.round + 1).max().unwrap_or(0);
        let of = |round: usize| {
            let here = self.own.iter().filter(|m| m.start.round == round);
            let values: Vec<f64> = here.filter_map(|m| m.figure(metric)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        (0..rounds).map(of).collect()
    }
}

pub(super) fn findings(row: &Row<'_, '_>) -> ContenderFindings {
    let (of, name, base) = (row.of, row.name, row.base());
    let entrant = of.run.contenders.get(name);
    let place = of.ranked.place(name);
    let more = |model: &super::CellModel, inverse: bool| more(model, name, base, inverse);
    // Where p99 is of a selection, the mean is, too.
    let p99 = row.latency(Percentile::P99);
    let mean = row.usual(|m| m.tally.latency.mean_ns().filter(|_| !m.verdict.fell_behind()));
    let merit = |figure: f64| if of.metric.is_better_higher() { figure } else { 1.0 / figure };
    let merits = row.by_round(of.metric).into_iter().map(|figure| figure.filter(|f| *f > 0.0).map(merit));
    let raced = of.run.race.is_some() && name != base;
    let relation = of.ranked.relation(name, base);
    let page = of.run.study.published.as_ref();
    ContenderFindings {
        name: name.to_owned(),
        title: entrant.map_or_else(|| name.to_owned(), |e| e.title.clone()),
        version: entrant.and_then(|e| e.version.clone()),
        ran: ran(row),
        trials: row.own.len(),
        void: row.own.iter().filter(|m| m.is_void()).count(),
        failed: row.starts.iter().filter(|start| start.failed().is_some() && !start.has(of.cell)).count(),
        rate_per_s: of.rate.figure(name),
        server_cpu_ns_per_request: of.cpu.figure(name),
        metric: of.ranked.figure(name),
        metric_of_reference: of.ranked.ratio(name, base),
        latency_ns_mean: mean.filter(|_| p99.is_some()),
        latency_ns_p50: row.latency(Percentile::P50),
        latency_ns_p99: p99,
        wire_bytes_per_answer: row.usual(wire_bytes).map(|f| f.median),
        server_core_use: row.usual(|m| m.usage.as_ref()?.core_use()),
        rss_max_bytes: row.own.iter().filter_map(|m| rss(m)).max(),
        rate_per_s_by_round: row.by_round(Metric::Rate),
        merit_by_round: merits.collect(),
        of_reference: of.rate.ratio(name, base),
        differs: raced.then_some(relation.is_some_and(Relation::is_difference)),
        equal: raced.then_some(relation == Some(Relation::Equal)),
        time_ns_more: more(&of.rate, true),
        server_cpu_ns_more: more(&of.cpu, false),
        tier: None,
        rank_low: place.map(|place| place.best),
        rank_high: place.map(|place| place.worst),
        bound: starts::usual_bound(&row.own).map(|bound| bound.word().to_owned()),
        server_idle_share: row.usual(|m| Some(m.verdict.server_idle_ppm? as f64 / 1e6)).map(|f| f.median),
        fell_behind: row.valid().filter(|m| m.verdict.fell_behind()).count(),
        errors: measured(row).map(|m| m.tally.errors.total()).sum(),
        published: page.and_then(|p| p.figure(&of.run.study.cells[of.cell].title, name)),
        in_heats: in_heats(row),
        notes: notes(row),
    }
}

fn measured<'a>(row: &Row<'a, '_>) -> impl Iterator<Item = &'a Measurement> {
    row.own.iter().filter_map(|m| m.in_cell.measurement.as_deref())
}

/// The maximum memory of a start, in bytes: at any time of the start where that is known, else in this cell.
fn rss(m: &MeasuredStart<'_>) -> Option<u64> {
    let in_cell = || Some(m.in_cell.measurement.as_deref()?.usage.as_ref()?.rss_max_bytes);
    m.start.memory_bytes.or_else(in_cell).filter(|bytes| *bytes > 0)
}

fn ran(row: &Row<'_, '_>) -> Ran {
    let mut executables = Vec::new();
    for program in row.starts.iter().filter_map(|start| start.program.as_ref()) {
        if !executables.contains(program) {
            executables.push(program.clone());
        }
    }
    let entrant = row.of.run.contenders.get(row.name);
    Ran { source_sha256: entrant.and_then(|e| e.source_sha256.clone()), executables }
}

/// The difference from the base, from the ratio and the base's own figure. `inverse`: the difference of the reciprocals, in nanoseconds.
fn more(model: &super::CellModel, name: &str, base: &str, inverse: bool) -> Option<Figure> {
    let (own, ratio) = (model.figure(base)?.median, model.ratio(name, base)?);
    if own <= 0.0 || name == base {
        return None;
    }
    if inverse {
        let of = |ratio: f64| 1e9 / own * (1.0 / ratio - 1.0);
        return Some(Figure { median: of(ratio.median), low: ratio.high.map(of), high: ratio.low.map(of) });
    }
    let of = |ratio: f64| own * (ratio - 1.0);
    Some(Figure { median: of(ratio.median), low: ratio.low.map(of), high: ratio.high.map(of) })
}

fn in_heats(row: &Row<'_, '_>) -> ContenderInHeats {
    let median = |values: Vec<f64>| stats::median(&values);
    let own = || row.own.iter();
    let count = |is: &dyn Fn(&MeasuredStart<'_>) -> bool| own().filter(|m| is(m)).count();
    let of_starts: Vec<StartRate> = own().filter_map(|m| m.of_slices).collect();
    let stalls: Vec<f64> = of_starts.iter().filter_map(|figure| figure.stall).collect();
    ContenderInHeats {
        class: row.class(),
        warm: starts::is_warm(&row.own, row.class()),
        rate_change: row.rate_change(),
        starts: row.own.len(),
        not_settled: count(&|m| m.in_cell.settled == Some(false)),
        settling_known: count(&|m| m.in_cell.settled.is_some()),
        warmup_s: median(own().map(|m| m.in_cell.warmup_ns as f64 / 1e9).collect()),
        disturbed_share: disturbed_share(&row.own),
        stalls: of_starts.iter().filter(|figure| figure.stalls()).count(),
        stall_share: stats::heats::shown_stall(&stalls),
        turn_deviation: stats::root_mean_square(of_starts.iter().filter_map(|figure| figure.turn_deviation)),
        never_quiet: count(&|m| m.in_cell.counts == Counts::NeverQuiet),
        elsewhere_share: row.found.elsewhere_share,
        memory_growth_bytes_per_answer: memory_growth(row),
        letters: row.letters.clone(),
        unranked: unranked(row),
        of_hub: row.of.ranked.ratio(row.name, HUB),
        sure_of_reference: row.of.ranked.sure(row.name, row.base()),
    }
}

/// By how many bytes its memory grew per answer.
fn memory_growth(row: &Row<'_, '_>) -> Option<Figure> {
    let starts: Vec<&[[u64; 2]]> = row.own.iter().map(|m| m.in_cell.memory.as_slice()).collect();
    growth(&starts, MEMORY_STEP_BYTES).map(Figure::from)
}

/// The share of its turns that other programs disturbed.
fn disturbed_share(own: &[&MeasuredStart<'_>]) -> Option<f64> {
    let of = |m: &&MeasuredStart<'_>| (m.in_cell.turns, m.in_cell.disturbed.min(m.in_cell.turns));
    let (turns, disturbed) = own
        .iter()
        .map(of)
        .fold((0_u64, 0_u64), |(all, some), (n, d)| (all.saturating_add(n), some.saturating_add(d)));
    (turns > 0).then(|| disturbed as f64 / turns as f64)
}

fn unranked(row: &Row<'_, '_>) -> Option<Unranked> {
    if row.of.ranked.place(row.name).is_some() {
        return None;
    }
    let has_figure = row.of.ranked.figure(row.name).is_some();
    Some(match () {
        () if !row.starts.is_empty() && row.found.is_unreliable() => Unranked::Failed,
        () if !has_figure => Unranked::NoFigure,
        () if starts::are_void(&row.own) => Unranked::Void,
        () if starts::has_not_settled(&row.own) => Unranked::NotSettled,
        () if row.of.run.quick => Unranked::FirstLook,
        // No heat connects it with the other contenders.
        () => Unranked::NoFigure,
    })
}

/// The notes on its starts, the most frequent first.
fn notes(row: &Row<'_, '_>) -> Vec<String> {
    let failed = row.starts.iter().filter_map(|start| start.failed()).map(|why| format!("{FAILED}{why}"));
    let lacked = row.starts.iter().filter_map(|start| match &start.outcome {
        StartOutcome::LackedMemory(why) => Some(format!("started again alone: {why}")),
        _ => None,
    });
    let of_verdicts = measured(row).flat_map(reasons);
    let all = row.found.starts.max(row.own.len());
    let mut notes = counted(failed.chain(lacked).chain(of_verdicts), &format!("{all} starts"));
    notes.extend(warmth(row));
    notes
}

/// That it still warmed up while it was measured, or that this is unknown.
fn warmth(row: &Row<'_, '_>) -> Option<String> {
    let percent = |share: f64| format!("{}{:.0} %", if share < 0.0 { "−" } else { "+" }, 100.0 * share.abs());
    let change = row.rate_change().and_then(|change| Some((change.low?, change.high?)));
    let change = change.map(|(low, high)| {
        format!(
            "its rate changed by {} to {} from the first turn of a start to the last",
            percent(low),
            percent(high)
        )
    });
    let is_shown = starts::drift(&row.own).is_some_and(|drift| drift.is_shown);
    match (starts::is_warm(&row.own, row.class()), change) {
        (Some(false), Some(change)) if is_shown => Some(format!("it had not settled: {change}")),
        (Some(_), _) => None,
        (None, _) if row.valid().next().is_none() => None,
        (None, _) if row.class().is_none() => Some(
            "it is unknown whether it was warm: its processes do not show whether it compiles while it runs, and such a server warms up \
             for longer than this"
                .to_owned(),
        ),
        (None, Some(change)) => Some(format!("it is unknown whether it was warm: {change}")),
        (None, None) => {
            Some("it is unknown whether it was warm: too few turns under closed load could show it".to_owned())
        }
    }
}
