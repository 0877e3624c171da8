//! The result of a race in a few words that a program can read. Pure: from the findings of its only cell.

use model::findings::{
    CellFindings, ContenderFindings, Decided, Figure, HeldEqual, PairFindings, RaceFindings,
};
use model::observation::Raced;
use model::study::RACE;
use model::{Metric, Run};

/// The findings of a race; `None` for a study.
pub fn findings(run: &Run, cells: &[CellFindings], elapsed_s: f64) -> Option<RaceFindings> {
    // Races of older versions say so by their name only.
    let raced = run.race.clone().or_else(|| (run.name == RACE).then(Raced::default))?;
    let cell = cells.first()?;
    // In the order of letters: the cell has them in the order of merit.
    let mut by_letter: Vec<&ContenderFindings> = cell.contenders.iter().collect();
    by_letter.sort_by(|a, b| a.name.cmp(&b.name));
    let (first, others) = by_letter.split_first()?;
    let pairs: Vec<PairFindings> = others.iter().map(|other| pair(cell, first, other)).collect();
    let (decided, faster) = over_all(cell, first, &pairs);
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
        sure: other.in_heats.as_ref().and_then(|own| own.sure_of_reference),
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
    // In heats, the model's verdict allows for the differences between equal servers; the noise floor is only that of the usual pair.
    let is_beyond =
        || cell.in_heats.is_some() || cell.noise_floor.is_some_and(|floor| median.ln().abs() > floor.ln_1p());
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
    // The ranks hold for all pairs together; in blocks the sequential rule holds for those with the first only.
    let best = |pair: &&PairFindings| {
        let is_first = |c: &&ContenderFindings| c.name == pair.contender && c.rank_high == Some(1);
        pair.faster.as_ref() == Some(&pair.contender)
            && (pairs.len() == 1 || cell.contenders.iter().any(|c| is_first(&c)))
    };
    let best = pairs.iter().find(best).map(|pair| pair.contender.clone());
    (best.as_ref().map(|_| Decided::Faster), best)
}
