//! Computes the findings of a run from its observations. Pure: the same observations and seed give the same findings.

mod conditions;
pub mod heats;

use crate::findings::race;
use crate::findings::steady;
use crate::verdict;
use model::environment::ConditionsRange;
use model::findings::{CellFindings, ContenderFindings, Figure, Findings, Missing, RaceFindings, SCHEMA};
use model::metric::Percentile;
use model::study::{RACE, REFERENCE};
use model::{Bound, Measurement, Metric, Observation, Outcome, Run};
use stats::rank::Series;
use stats::sequential::{self, Pair};
use stats::{Estimate, centre_interval, estimate, median_interval, paired_ratio, ranks};
use std::collections::BTreeMap;

/// Computes the findings of a run; `ended` is why the run ended, `None` while it goes on.
pub fn findings(run: &Run, observations: &[Observation], ended: Option<&str>) -> Findings {
    let cells: Vec<CellFindings> =
        (0..run.study.cells.len()).map(|cell| cell_findings(run, observations, cell)).collect();
    let elapsed_s = elapsed_s(observations);
    let race = race::in_blocks(run, &cells, elapsed_s);
    whole(run, cells, race, conditions::of_trials(observations), elapsed_s, ended)
}

/// Assembles the findings of a run from those of its cells.
fn whole(
    run: &Run,
    cells: Vec<CellFindings>,
    race: Option<RaceFindings>,
    conditions: ConditionsRange,
    elapsed_s: f64,
    ended: Option<&str>,
) -> Findings {
    let missing = run
        .contenders
        .iter()
        .filter_map(|(name, entrant)| Some(Missing { name: name.clone(), why: entrant.missing.clone()? }));
    Findings {
        schema: SCHEMA,
        run: run.id.clone(),
        study: run.name.clone(),
        title: run.study.title.clone(),
        source: run.study.source.clone(),
        started_at: run.started_at.clone(),
        seed: run.seed,
        environment: run.environment.clone(),
        origin: None,
        conditions,
        workloads: run.workloads.clone(),
        quick: run.quick,
        allow_busy: run.allow_busy == Some(true),
        ended: ended.unwrap_or(cut_off(run)).to_owned(),
        elapsed_s,
        race,
        noise_floor: cells.iter().filter_map(|c| c.noise_floor).reduce(f64::max),
        cells,
        missing: missing.collect(),
        page: run.study.published.clone(),
        unequal: run.study.unequal.clone(),
        entrants: run.contenders.clone(),
        profiles: Vec::new(),
    }
}

/// The words for a run that has not ended. A race can't be resumed.
fn cut_off(run: &Run) -> &'static str {
    if run.name == RACE {
        "the race was interrupted; the results cover the trials that finished"
    } else if run.fleet.is_some() {
        "the run has not ended; `drome heat --owed` prints the heats that it still needs, and `drome.fleet.run(resume=...)` measures \
         them"
    } else {
        "the run has not ended; --resume continues it"
    }
}

fn elapsed_s(observations: &[Observation]) -> f64 {
    // The sum of nothing would be -0.
    observations.iter().map(|o| o.elapsed_ns as f64 / 1e9).fold(0.0, |all, s| all + s)
}

/// Half the width of the widest interval of a ratio to the base, as a share of that ratio, over all cells and the first `blocks` blocks.
/// `None` where one of the ratios has no interval yet.
pub fn widest(run: &Run, observations: &[Observation], blocks: usize) -> Option<f64> {
    let mut widest = 0.0_f64;
    for cell in 0..run.study.cells.len() {
        let table = Table::of(run, observations.iter().filter(|o| o.trial.block < blocks), cell);
        for name in table.names().filter(|name| *name != table.base() && table.is_measured(name)) {
            let ratio = table.ratio(run, name)?;
            widest = widest.max(ratio.relative_half_width()?);
        }
    }
    Some(widest)
}

/// With fewer blocks than this, no contender counts as equal to the base.
const BLOCKS_FOR_EQUAL: usize = 6;

/// The logarithms of each contender's ratio to the base in a cell, block by block.
pub fn logs_to_base(run: &Run, observations: &[Observation], cell: usize) -> Vec<(String, Vec<f64>)> {
    let table = Table::of(run, observations.iter(), cell);
    let of = |name| table.paired(run, name, table.figure(name));
    let base = of(table.base());
    let others = table.names().filter(|name| *name != table.base());
    others.map(|name| (name.to_owned(), estimate::paired_logs(&of(name), &base))).collect()
}

/// The contenders without a sound trial in some cell, sorted by name. They can't be compared.
pub fn without_a_sound_trial<'r>(run: &'r Run, observations: &'r [Observation]) -> Vec<&'r str> {
    let mut without = Vec::new();
    for cell in 0..run.study.cells.len() {
        let table = Table::of(run, observations.iter(), cell);
        without.extend(table.names().filter(|name| !table.is_measured(name)));
    }
    without.sort_unstable();
    without.dedup();
    without
}

/// Whether every contender with a sound trial is decided after this number of blocks: certainly better or worse than the base, by more than
/// the margin of equality, or equal to the base within the wanted precision.
pub fn is_decided(run: &Run, observations: &[Observation], blocks: usize) -> bool {
    (0..run.study.cells.len()).all(|cell| {
        let table = Table::of(run, observations.iter().filter(|o| o.trial.block < blocks), cell);
        table.names().filter(|name| *name != table.base() && table.is_measured(name)).all(|name| {
            table.differs(run, name) == Some(true) || table.is_equal(run, name, run.study.design.precision)
        })
    })
}

/// Observations of one cell by contender, block and copy.
struct Table<'o> {
    metric: Metric,
    blocks: usize,
    by_name: BTreeMap<&'o str, Vec<&'o Observation>>,
}

impl<'o> Table<'o> {
    fn of(run: &'o Run, observations: impl Iterator<Item = &'o Observation> + Clone, cell: usize) -> Self {
        let takes_part = run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none());
        let mut by_name: BTreeMap<&str, Vec<&Observation>> =
            takes_part.map(|(name, _)| (name.as_str(), Vec::new())).collect();
        let here = observations.filter(|o| o.trial.cell == cell);
        let blocks = here.clone().map(|o| o.trial.block + 1).max().unwrap_or(0);
        for observation in here {
            by_name.entry(&observation.trial.contender).or_default().push(observation);
        }
        Self { metric: run.study.metric(cell), blocks, by_name }
    }

    fn names(&self) -> impl Iterator<Item = &'o str> {
        self.by_name.keys().copied()
    }

    /// The contender that the others are measured against: the reference, else the first.
    fn base(&self) -> &'o str {
        self.names().find(|name| *name == REFERENCE).or_else(|| self.names().next()).unwrap_or(REFERENCE)
    }

    /// Whether it has a figure to decide by.
    fn is_measured(&self, name: &str) -> bool {
        self.valid(name).any(|(_, m)| self.figure(name)(m).is_some())
    }

    /// The number of valid trials in which the server fell behind.
    fn fell_behind(&self, name: &str) -> usize {
        self.valid(name).filter(|(_, m)| m.verdict.fell_behind()).count()
    }

    /// Whether its latency may be reported. Where it fell behind, or failed more requests than the percentile leaves out, in a third of its
    /// trials or more, the other trials are a selection of its best.
    fn has_latency(&self, name: &str) -> bool {
        let share = if let Metric::Latency(p) = self.metric { p.share() } else { Percentile::P99.share() };
        let has_none = |m: &Measurement| m.verdict.fell_behind() || m.tally.is_selection(share);
        self.valid(name).filter(|(_, m)| has_none(m)).count() * 3 < self.valid(name).count()
    }

    fn valid<'t>(
        &'t self,
        name: &str,
    ) -> impl Iterator<Item = (&'o Observation, &'o Measurement)> + use<'t, 'o> {
        self.by_name.get(name).into_iter().flatten().filter_map(|o| Some((*o, o.valid()?)))
    }

    /// The figure by which the run decides, for this contender.
    fn figure(&self, name: &str) -> impl Fn(&Measurement) -> Option<f64> + use<> {
        let (metric, is_known) = (self.metric, self.is_known(name));
        move |m| metric.of(m).filter(|_| is_known)
    }

    /// The same figure, turned so that more is better.
    fn merit(&self, name: &str) -> impl Fn(&Measurement) -> Option<f64> + use<> {
        let (metric, is_known) = (self.metric, self.is_known(name));
        move |m| metric.merit(m).filter(|_| is_known)
    }

    fn is_known(&self, name: &str) -> bool {
        !matches!(self.metric, Metric::Latency(_)) || self.has_latency(name)
    }

    /// The ratio of that figure to the base's.
    fn ratio(&self, run: &Run, name: &str) -> Option<Estimate> {
        let of = |name| self.paired(run, name, self.figure(name));
        paired_ratio(&of(name), &of(self.base()))
    }

    /// One value a block: the mean over the contender's copies that were measured.
    fn by_block(&self, name: &str, value: impl Fn(&Measurement) -> Option<f64>) -> Vec<Option<f64>> {
        let mut values = vec![Vec::new(); self.blocks];
        for (observation, measurement) in self.valid(name) {
            values[observation.trial.block].extend(value(measurement));
        }
        let mean = |values: Vec<f64>| values.iter().sum::<f64>() / values.len() as f64;
        values.into_iter().map(|values| (!values.is_empty()).then(|| mean(values))).collect()
    }

    /// The values to pair with another contender's: a block's mean, or each entry by itself where all enter twice.
    fn paired(&self, run: &Run, name: &str, value: impl Fn(&Measurement) -> Option<f64>) -> Vec<Option<f64>> {
        if run.copies == 1 {
            return self.by_block(name, value);
        }
        let mut values = vec![None; self.blocks * run.copies];
        for (observation, measurement) in self.valid(name) {
            values[observation.trial.block * run.copies + observation.trial.copy] = value(measurement);
        }
        values
    }

    /// Whether it is certainly better or worse than the base, by more than the margin of equality. `None` for the base, and where too
    /// little is known.
    fn differs(&self, run: &Run, name: &str) -> Option<bool> {
        if name == self.base() {
            return None;
        }
        let logs = |name: &str, block: usize| -> Vec<f64> {
            let here = self.valid(name).filter(|(o, _)| o.trial.block == block);
            here.filter_map(|(_, m)| self.figure(name)(m)).filter(|x| *x > 0.0).map(f64::ln).collect()
        };
        let pair = |block| Pair { one: logs(name, block), other: logs(self.base(), block) };
        let is_whole = |pair: &Pair| !pair.one.is_empty() && !pair.other.is_empty();
        let pairs: Vec<Pair> = (0..self.blocks).map(pair).filter(is_whole).collect();
        let (floor, others) = (self.noise_floor()?, self.by_name.len() - 1);
        let ratio = self.ratio(run, name)?;
        let is_beyond = ratio.median.ln().abs() > floor.ln_1p();
        Some(is_beyond && sequential::was_sure(&pairs, others, run.seed))
    }

    /// Whether the whole interval of its ratio to the base lies within this share of 1. A few blocks may look equal by chance, and this
    /// is asked after each.
    fn is_equal(&self, run: &Run, name: &str, share: f64) -> bool {
        let ratio = self.ratio(run, name);
        let is_within = |(low, high): (f64, f64)| low >= 1.0 / (1.0 + share) && high <= 1.0 + share;
        self.blocks >= BLOCKS_FOR_EQUAL && ratio.and_then(|ratio| ratio.interval).is_some_and(is_within)
    }

    /// The noise floor, as a share: how far from 1 the farther bound is of the interval of the ratio between two entries of the same
    /// contender, over all contenders that entered twice. `None` with fewer than six pairs.
    fn noise_floor(&self) -> Option<f64> {
        let mut logs = Vec::new();
        for name in self.names() {
            let copy = |copy: usize| {
                let mut values = vec![None; self.blocks];
                for (o, m) in self.valid(name).filter(|(o, _)| o.trial.copy == copy) {
                    values[o.trial.block] = self.figure(name)(m);
                }
                values
            };
            logs.extend(estimate::paired_logs(&copy(0), &copy(1)));
        }
        let (low, high) = centre_interval(&logs)?.interval?;
        Some(low.abs().max(high.abs()).exp_m1())
    }
}

fn cell_findings(run: &Run, observations: &[Observation], cell: usize) -> CellFindings {
    let table = Table::of(run, observations.iter(), cell);
    let noise_floor = table.noise_floor();
    let mut contenders: Vec<ContenderFindings> =
        table.names().map(|name| contender_findings(run, &table, name)).collect();
    if let Some(floor) = noise_floor.filter(|_| !run.quick) {
        let series: Vec<Series> = contenders
            .iter()
            .map(|c| Series {
                by_block: rankable(&table, c),
                held_back: table.metric == Metric::Rate && c.is_held_back(),
            })
            .collect();
        for (contender, rank) in contenders.iter_mut().zip(ranks(&series, floor)) {
            contender.tier = rank.map(|r| r.tier);
            contender.rank_low = rank.map(|r| r.low);
            contender.rank_high = rank.map(|r| r.high);
        }
    }
    for contender in &mut contenders {
        let page = run.study.published.as_ref();
        contender.published = page.and_then(|p| p.figure(&run.study.cells[cell].title, &contender.name));
    }
    let merit = |c: &ContenderFindings| match c.metric.map(|figure| figure.median) {
        Some(median) if table.metric.is_better_higher() => median,
        Some(median) => -median,
        None => f64::NEG_INFINITY,
    };
    contenders.sort_by(|a, b| merit(b).total_cmp(&merit(a)));
    let asked = &run.study.cells[cell];
    CellFindings {
        title: asked.title.clone(),
        workload: asked.workload.clone(),
        load: asked.load.clone(),
        metric: table.metric,
        blocks: table.blocks,
        noise_floor,
        in_heats: None,
        contenders,
    }
}

/// The figures to rank by. A contender whose ratio has no interval, because too few of its trials are sound, has no rank either.
fn rankable(table: &Table<'_>, c: &ContenderFindings) -> Vec<Option<f64>> {
    let is_known = c.metric_of_reference.is_some_and(|ratio| ratio.low.is_some());
    if is_known { table.by_block(&c.name, table.merit(&c.name)) } else { Vec::new() }
}

fn contender_findings(run: &Run, table: &Table<'_>, name: &str) -> ContenderFindings {
    let all = table.by_name.get(name).map_or(&[][..], Vec::as_slice);
    let figure = |value: &dyn Fn(&Measurement) -> Option<f64>| {
        let values: Vec<f64> = table.by_block(name, value).into_iter().flatten().collect();
        median_interval(&values).map(Figure::from)
    };
    let measured: Vec<&Measurement> = all.iter().filter_map(|o| measurement(o)).collect();
    let base = table.paired(run, table.base(), rate);
    let entrant = run.contenders.get(name);
    let steady = steady::of_trials(table.valid(name).map(|(_, m)| m));
    let notes = steady.as_ref().and_then(steady::sentence).into_iter().chain(notes(all)).collect();
    let has_latency = table.has_latency(name);
    let is_known = |m: &Measurement| has_latency && !m.verdict.fell_behind();
    let latency = |p: Percentile| {
        move |m: &Measurement| m.tally.latency_ns(p.share()).filter(|_| is_known(m)).map(|ns| ns as f64)
    };
    // Where p99 is of a selection, the mean is, too.
    let mean = |m: &Measurement| latency(Percentile::P99)(m).and_then(|_| m.tally.latency.mean_ns());
    ContenderFindings {
        name: name.to_owned(),
        title: entrant.map_or_else(|| name.to_owned(), |e| e.title.clone()),
        version: entrant.and_then(|e| e.version.clone()),
        ran: conditions::ran(entrant, all),
        trials: measured.len(),
        void: measured.iter().filter(|m| !m.verdict.valid).count(),
        failed: all.len() - measured.len(),
        rate_per_s: figure(&rate),
        server_cpu_ns_per_request: figure(&server_cpu_ns),
        metric: figure(&table.figure(name)),
        metric_of_reference: table.ratio(run, name).map(|e| Figure::from(e.with_systematic_ratio())),
        latency_ns_mean: figure(&mean),
        latency_ns_p50: figure(&latency(Percentile::P50)),
        latency_ns_p99: figure(&latency(Percentile::P99)),
        rate_per_s_by_block: table.by_block(name, rate),
        merit_by_block: table.by_block(name, table.merit(name)),
        wire_bytes_per_answer: figure(&wire_bytes).map(|f| f.median),
        server_core_use: figure(&|m| m.usage.as_ref()?.core_use()),
        rss_max_bytes: measured.iter().filter_map(|m| Some(m.usage.as_ref()?.rss_max_bytes)).max(),
        differs: table.differs(run, name).filter(|_| run.study.design.decide),
        equal: (run.study.design.decide && name != table.base() && table.is_measured(name))
            .then(|| table.is_equal(run, name, run.study.design.precision)),
        of_reference: paired_ratio(&table.paired(run, name, rate), &base)
            .map(|e| Figure::from(e.with_systematic_ratio())),
        time_ns_more: more(run, table, name, |m| rate(m).filter(|r| *r > 0.0).map(|r| 1e9 / r)),
        server_cpu_ns_more: more(run, table, name, server_cpu_ns),
        tier: None,
        rank_low: None,
        rank_high: None,
        bound: usual_bound(table, name).map(|bound| bound.word().to_owned()),
        server_idle_share: figure(&|m| Some(m.verdict.server_idle_ppm? as f64 / 1e6)).map(|f| f.median),
        fell_behind: table.fell_behind(name),
        errors: measured.iter().map(|m| m.tally.errors.total()).sum(),
        published: None,
        steady,
        in_heats: None,
        notes,
    }
}

fn rate(m: &Measurement) -> Option<f64> {
    Metric::Rate.of(m)
}

fn server_cpu_ns(m: &Measurement) -> Option<f64> {
    Metric::ServerCpu.of(m)
}

/// Bytes per answer, head and body. Failed answers are included, and weigh little where errors are few.
fn wire_bytes(m: &Measurement) -> Option<f64> {
    let (bytes, answers) = (m.tally.received_bytes, m.tally.completed);
    (bytes > 0 && answers > 0).then(|| bytes as f64 / answers as f64)
}

/// The difference from the base, paired by block.
fn more(run: &Run, table: &Table<'_>, name: &str, value: fn(&Measurement) -> Option<f64>) -> Option<Figure> {
    let (own, base) = (table.paired(run, name, value), table.paired(run, table.base(), value));
    let differences: Vec<f64> =
        own.into_iter().zip(base).filter_map(|(own, base)| Some(own? - base?)).collect();
    centre_interval(&differences).map(|e| Figure::from(e.with_systematic_difference()))
}

fn measurement(observation: &Observation) -> Option<&Measurement> {
    match &observation.outcome {
        Outcome::Measured(m) => Some(m),
        Outcome::Failed(_) => None,
    }
}

/// The bound of most of the valid trials.
fn usual_bound(table: &Table<'_>, name: &str) -> Option<Bound> {
    verdict::usual_bound(table.valid(name).map(|(_, m)| m.verdict.bound))
}

/// The notes on a contender's trials.
fn notes(all: &[&Observation]) -> Vec<String> {
    let words = all.iter().flat_map(|observation| match &observation.outcome {
        Outcome::Failed(why) => vec![format!("failed: {why}")],
        Outcome::Measured(m) => reasons(m),
    });
    counted(words, &format!("{} trials", all.len()))
}

/// The reasons of a measurement's verdict, marked where they void it.
fn reasons(m: &Measurement) -> Vec<String> {
    let kind = if m.verdict.valid { "" } else { "void: " };
    m.verdict.reasons.iter().map(|reason| format!("{kind}{reason}")).collect()
}

/// Counts equal notes, the most frequent first. Notes that differ only in their figures count as one, with the range of each
/// figure.
fn counted(words: impl Iterator<Item = String>, of: &str) -> Vec<String> {
    let mut told: BTreeMap<Vec<String>, Vec<String>> = BTreeMap::new();
    for words in words {
        told.entry(model::notes::kind(&words)).or_default().push(words);
    }
    let mut told: Vec<Vec<String>> = told.into_values().collect();
    told.sort_by_key(|alike| std::cmp::Reverse(alike.len()));
    let shown = |alike: &Vec<String>| {
        let words = model::notes::together(alike.iter().map(String::as_str));
        format!("{words} ({} of {of})", alike.len())
    };
    told.iter().map(shown).collect()
}

#[cfg(test)]
mod tests;
