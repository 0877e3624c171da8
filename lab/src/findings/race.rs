//! The result of a race in a few words that a program can read. Pure: from the findings of its only cell.

use model::findings::{
    CellFindings, ContenderFindings, Decided, Figure, HeldEqual, PairFindings, RaceFindings,
};
use model::observation::Raced;
use model::study::RACE;
use model::{Metric, Run};

/// The findings of a race in heats, from the comparisons of all pairs, by letter; `None` for a study.
pub fn in_heats(
    run: &Run,
    cells: &[CellFindings],
    pairs: Vec<PairFindings>,
    elapsed_s: f64,
) -> Option<RaceFindings> {
    let over_all = over_all_pairs(&pairs);
    findings(run, cells.first()?, pairs, over_all, elapsed_s)
}

/// The findings of a race in blocks, in which each command is compared with the first only; `None` for a study.
pub fn in_blocks(run: &Run, cells: &[CellFindings], elapsed_s: f64) -> Option<RaceFindings> {
    let cell = cells.first()?;
    // In the order of letters: the cell has them in the order of merit.
    let mut by_letter: Vec<&ContenderFindings> = cell.contenders.iter().collect();
    by_letter.sort_by(|a, b| a.name.cmp(&b.name));
    let (first, others) = by_letter.split_first()?;
    let pairs: Vec<PairFindings> = others.iter().map(|other| pair(cell, first, other)).collect();
    let over_all = over_all(cell, first, &pairs);
    findings(run, cell, pairs, over_all, elapsed_s)
}

fn findings(
    run: &Run,
    cell: &CellFindings,
    pairs: Vec<PairFindings>,
    (decided, faster): (Option<Decided>, Option<String>),
    elapsed_s: f64,
) -> Option<RaceFindings> {
    // Races of older versions say so by their name only.
    let raced = run.race.clone().or_else(|| (run.name == RACE).then(Raced::default))?;
    let ratio = if let [pair] = pairs.as_slice() { pair.ratio } else { None };
    let design = &run.study.design;
    Some(RaceFindings {
        metric: cell.metric,
        elapsed_s,
        blocks: cell.blocks,
        decided,
        faster,
        ratio,
        pairs,
        held_equal: HeldEqual {
            body_bytes: raced.body_bytes,
            connections: cell.load.connections(),
            server_cpus: if raced.running { Vec::new() } else { run.environment.server_cpus.clone() },
            client_cpus: run.environment.client_cpus.clone(),
            warmup_s: design.warmup.as_secs_f64(),
            measure_s: design.measure.as_secs_f64(),
            prepare: raced.prepare,
        },
        running: raced.running,
    })
}

/// What holds for all contenders: all are equal, or one is better than every other.
fn over_all_pairs(pairs: &[PairFindings]) -> (Option<Decided>, Option<String>) {
    if !pairs.is_empty() && pairs.iter().all(|pair| pair.decided == Some(Decided::Equal)) {
        return (Some(Decided::Equal), None);
    }
    let beats_all = |name: &&String| {
        let mut own = pairs.iter().filter(|pair| [&pair.contender, &pair.against].contains(name));
        own.all(|pair| pair.faster.as_ref() == Some(*name))
    };
    let best = pairs.iter().filter_map(|pair| pair.faster.as_ref()).find(beats_all).cloned();
    (best.as_ref().map(|_| Decided::Faster), best)
}

fn pair(cell: &CellFindings, first: &ContenderFindings, other: &ContenderFindings) -> PairFindings {
    let better = surely_better(cell, first, other);
    let decided = match better {
        Some(_) => Some(Decided::Faster),
        // Of two floors nothing is known, not even that they are equal.
        None if is_held_back(cell, first) || is_held_back(cell, other) => None,
        None => other.equal.filter(|equal| *equal).map(|_| Decided::Equal),
    };
    PairFindings {
        contender: other.name.clone(),
        against: first.name.clone(),
        decided,
        faster: better.map(|c| c.name.clone()),
        ratio: other.metric_of_reference,
        sure: None,
    }
}

/// The better of the two, if that is certain, and if the load generator did not make the difference.
fn surely_better<'c>(
    cell: &CellFindings,
    first: &'c ContenderFindings,
    other: &'c ContenderFindings,
) -> Option<&'c ContenderFindings> {
    let Figure { median, low, high } = other.metric_of_reference?;
    // A race that stops as soon as it is sure has its own rule for that; its interval alone would be sure too often.
    let is_sure = other.differs.unwrap_or(low? > 1.0 || high? < 1.0);
    let is_beyond = || cell.noise_floor.is_some_and(|floor| median.ln().abs() > floor.ln_1p());
    if !is_sure || !is_beyond() {
        return None;
    }
    let is_better = (median > 1.0) == cell.metric.is_better_higher();
    let (better, worse) = if is_better { (other, first) } else { (first, other) };
    (!is_held_back(cell, worse)).then_some(better)
}

/// Whether the load generator limited this figure, which can only be a rate.
fn is_held_back(cell: &CellFindings, c: &ContenderFindings) -> bool {
    cell.metric == Metric::Rate && c.is_held_back()
}

fn over_all(
    cell: &CellFindings,
    first: &ContenderFindings,
    pairs: &[PairFindings],
) -> (Option<Decided>, Option<String>) {
    if pairs.iter().all(|pair| pair.decided == Some(Decided::Equal)) {
        return (Some(Decided::Equal), None);
    }
    if pairs.iter().all(|pair| pair.faster.as_deref() == Some(first.name.as_str())) {
        return (Some(Decided::Faster), Some(first.name.clone()));
    }
    // The ranks hold for all pairs together; the sequential rule holds for those with the first only.
    let best = |pair: &&PairFindings| {
        let is_first = |c: &&ContenderFindings| c.name == pair.contender && c.rank_high == Some(1);
        pair.faster.as_ref() == Some(&pair.contender)
            && (pairs.len() == 1 || cell.contenders.iter().any(|c| is_first(&c)))
    };
    let best = pairs.iter().find(best).map(|pair| pair.contender.clone());
    (best.as_ref().map(|_| Decided::Faster), best)
}
