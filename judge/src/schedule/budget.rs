//! Estimates how long heats take: from the starts measured so far or, before there are any, from the study's design and the usual times
//! of each class of server. The budget is an upper bound: a heat that would exceed it is not started. Pure.

use crate::schedule::stopping_rule::rounds_in_words;
use crate::turns::repeat_limit::TIME_FACTOR;
use crate::turns::shape::Shape;
use model::contender::Class;
use model::forecast::{Forecast, Look};
use model::heat::{HUB, Heat, Start};
use model::{Cell, Design, Run};
use std::time::Duration;

/// About how long a server of this class takes to answer, be verified and stop. A guess, used until a server of this class has been started.
fn around(class: Class) -> Duration {
    match class {
        Class::Native => Duration::from_millis(500),
        Class::Managed | Class::Prefork => Duration::from_millis(1_500),
        Class::Jit => Duration::from_secs(4),
    }
}

/// About how long a server of this class warms up in these cells, pauses included, until it has settled: longest in the first cell, and
/// only for a moment in one with the load of an earlier one. A guess from what servers took on a machine of two cores, used until one of
/// this class has been measured.
fn warmups(class: Class, cells: &[&Cell], design: &Design) -> Duration {
    let limit = design.warmup_limit;
    let warmth = class.warmth();
    let [first, other] = match class {
        Class::Native | Class::Prefork => [500, 500],
        Class::Managed => [2_500, 1_000],
        Class::Jit => [13_000, 8_000],
    };
    let of = |nth: usize| {
        let (usual_ms, least_s) = match nth {
            0 => (first, warmth.least_load_s),
            _ if cells[..nth].iter().any(|before| before.warms_up_like(cells[nth])) => (500, 0.0),
            _ => (other, warmth.once_more().least_load_s),
        };
        let least = Duration::from_secs_f64(least_s).max(design.warmup);
        Duration::from_millis(usual_ms).max(least).min(limit)
    };
    total((0..cells.len()).map(of))
}

/// Computes what a run takes, before anything is started; `None` where no contender takes part.
pub fn forecast(run: &Run) -> Option<Forecast> {
    let design = &run.study.design;
    let cells: Vec<&Cell> = run.study.cells.iter().collect();
    let takes_part: Vec<(Class, bool)> = run
        .contenders
        .values()
        .filter(|e| e.missing.is_none())
        .map(|e| (Class::assumed(e.class), e.alone))
        .collect();
    let together = takes_part.iter().filter(|(_, alone)| !alone).count();
    let heats = together.div_ceil(design.heat.max(1)) + takes_part.len() - together;
    if heats == 0 {
        return None;
    }
    let (copies, hubs) = (run.copies.max(1), if run.race.is_none() || heats > 1 { heats } else { 0 });
    let servers = takes_part.iter().flat_map(|(class, _)| std::iter::repeat_n(*class, copies));
    let servers = servers.chain(std::iter::repeat_n(Class::Native, hubs));
    let starts: Vec<[Duration; 3]> = servers.map(|class| by_design(class, &cells, design)).collect();
    let [starting, warming, turns] = [0, 1, 2].map(|part| total(starts.iter().map(|start| start[part])));
    let round = total([starting, warming, turns]);
    let mut longest: Vec<Duration> = starts.iter().copied().map(total).collect();
    longest.sort_unstable_by(|a, b| b.cmp(a));
    // If no moment is quiet, every cycle is repeated as often as allowed.
    let most =
        times(design.warmup_limit, cells.len()).saturating_add(times(turns_in(&cells, design), TIME_FACTOR));
    let look = |rounds: usize| Look { rounds, time: round.saturating_mul(rounds as u32) };
    Some(Forecast {
        study: run.name.clone(),
        contenders: takes_part.len(),
        not_installed: Vec::new(),
        cells: cells.len(),
        heats,
        heat: total(longest.into_iter().take(design.heat.saturating_mul(copies).saturating_add(1))),
        round,
        starting,
        warming,
        turns,
        round_most: starting.saturating_add(times(most, starts.len())),
        round_measured: None,
        looks: design.looks().into_iter().map(look).collect(),
        budget: design.budget,
        too_small: None,
    })
}

/// Why the budget is too short for even one heat, and what the run would take; `None` where it is long enough. To be called before anything
/// is started.
pub fn too_small(run: &Run) -> Option<String> {
    let forecast = forecast(run)?;
    let [least, _] = run.study.design.rounds;
    let enough = forecast.round.saturating_mul(u32::try_from(least).unwrap_or(u32::MAX));
    if forecast.budget >= forecast.heat.min(forecast.round) {
        return None;
    }
    let written = |time: Duration| {
        humantime::format_duration(Duration::from_secs(time.as_secs().saturating_add(1))).to_string()
    };
    Some(format!(
        "the budget of {} is too short for one heat, which takes about {}: {} of {} take about {}; use --budget {}, or measure \
         fewer contenders or cells",
        humantime::format_duration(forecast.budget),
        written(forecast.heat.min(forecast.round)),
        rounds_in_words(least),
        if forecast.heats == 1 { "1 heat".to_owned() } else { format!("{} heats", forecast.heats) },
        written(enough),
        written(enough).replace(' ', "")
    ))
}

/// Why there is no time for this heat; `None` where there is.
pub fn exceeded(run: &Run, heat: &Heat, starts: &[Start]) -> Option<String> {
    let (spent, budget) = (spent(starts), run.study.design.budget);
    if spent.saturating_add(cost(run, heat, starts)) <= budget {
        return None;
    }
    let is_begun = starts.iter().any(|start| start.round == heat.round);
    let when = if is_begun || heat.round == 0 {
        format!("in round {}", heat.round + 1)
    } else {
        format!("after {}", rounds_in_words(heat.round))
    };
    let least = run.study.design.rounds[0];
    let short = match time_of_least_rounds(run, starts) {
        Some(time) if heat.round < least => format!(
            "; at least {least} rounds are needed, and take about {} in all: {}",
            humantime::format_duration(budget_for(time)),
            how_to_go_on(run, time)
        ),
        _ => String::new(),
    };
    Some(format!("the budget of {} is spent {when}{short}", humantime::format_duration(budget)))
}

/// About how long the smallest number of rounds takes in all: what the run has taken, and for each start that is still owed what those of its
/// contender took (else of its class, else by design). `None` where no contender takes part.
fn time_of_least_rounds(run: &Run, starts: &[Start]) -> Option<Duration> {
    let heats = forecast(run)?.heats;
    let cells: Vec<&Cell> = run.study.cells.iter().collect();
    let least = run.study.design.rounds[0];
    let owed = |name: &str, in_round: usize| {
        let done = starts.iter().filter(|start| start.contender == name && !start.cells.is_empty()).count();
        let one = start_time(run, name, &cells, starts, mean);
        times(one, least.saturating_mul(in_round).saturating_sub(done))
    };
    let takes_part = run.contenders.iter().filter(|(_, entrant)| entrant.missing.is_none());
    let of_contenders = takes_part.map(|(name, _)| owed(name, run.copies.max(1)));
    let of_hubs = (run.race.is_none() || heats > 1).then(|| owed(HUB, heats));
    Some(spent(starts).saturating_add(total(of_contenders.chain(of_hubs))))
}

/// Why the budget will not last for the smallest number of rounds, by what the first round took; `None` where it will, before that round is
/// over, and once the last of these rounds has begun. `heats`: all that have been run.
pub fn too_slow(run: &Run, heats: &[Heat], starts: &[Start]) -> Option<String> {
    let (least, budget) = (run.study.design.rounds[0], run.study.design.budget);
    let is_known = forecast(run).is_some_and(|forecast| heats.len() >= forecast.heats);
    let is_due = heats.last().is_some_and(|heat| heat.round + 1 < least);
    let time = time_of_least_rounds(run, starts).filter(|time| is_known && is_due && *time > budget)?;
    Some(format!(
        "at this pace {least} rounds take longer than the budget of {}: when it is spent, {}",
        humantime::format_duration(budget),
        how_to_go_on(run, time)
    ))
}

/// How the run gets time for all that was estimated to take this long.
fn how_to_go_on(run: &Run, time: Duration) -> String {
    let budget = humantime::format_duration(budget_for(time)).to_string().replace(' ', "");
    if run.race.is_some() || run.quick {
        // Neither a race nor a first look can be resumed.
        format!("start again with `--budget {budget}`")
    } else if run.fleet.is_some() {
        format!("go on with a budget of {budget}")
    } else {
        format!("go on with `--resume --budget {budget}`")
    }
}

/// A budget with which a run ends only after a time estimated at this: a twentieth longer, in whole minutes.
fn budget_for(time: Duration) -> Duration {
    Duration::from_secs(time.saturating_add(time / 20).as_secs().div_ceil(60).saturating_mul(60))
}

/// The time that a run has taken.
pub fn spent(starts: &[Start]) -> Duration {
    total(starts.iter().map(|start| Duration::from_nanos(start.took_ns)))
}

/// The rest of the budget.
pub fn left(run: &Run, starts: &[Start]) -> Duration {
    run.study.design.budget.saturating_sub(spent(starts))
}

/// About how long a run with a fixed number of rounds still takes, at most the rest of the budget; `None` where the results decide.
pub fn about_left(run: &Run, starts: &[Start]) -> Option<Duration> {
    let [least, largest] = run.study.design.rounds;
    let time = time_of_least_rounds(run, starts).filter(|_| least == largest)?;
    Some(time.saturating_sub(spent(starts)).min(left(run, starts)))
}

/// About how long a heat takes: the sum of what its members and the hub take, each as long as its longest start.
pub fn cost(run: &Run, heat: &Heat, starts: &[Start]) -> Duration {
    let cells: Vec<&Cell> = heat.cells.iter().filter_map(|cell| run.study.cells.get(*cell)).collect();
    let longest = |all: &[u64]| all.iter().max().copied();
    total(heat.servers().into_iter().map(|(name, _)| start_time(run, name, &cells, starts, longest)))
}

/// About how long a start of this contender takes in these cells: what `of_own` makes of the times of its measured starts; if there are
/// none, the mean of its class; before there is one, the usual time of its class. Computed by cell, because a start in fewer cells takes less.
fn start_time(
    run: &Run,
    name: &str,
    cells: &[&Cell],
    starts: &[Start],
    of_own: impl Fn(&[u64]) -> Option<u64>,
) -> Duration {
    let class_of = |name: &str| run.contenders.get(name).map(|entrant| Class::assumed(entrant.class));
    // The hub is no contender.
    let class = class_of(name).unwrap_or(Class::Native);
    let of_class = || mean(&by_cell_ns(starts, |start| class_of(&start.contender) == Some(class)));
    match of_own(&by_cell_ns(starts, |start| start.contender == name)).or_else(of_class) {
        Some(ns) => times(Duration::from_nanos(ns), cells.len()),
        None => total(by_design(class, cells, &run.study.design)),
    }
}

/// The time in one cell of each of these starts that was measured.
fn by_cell_ns(starts: &[Start], of_these: impl Fn(&Start) -> bool) -> Vec<u64> {
    let these = starts.iter().filter(|start| !start.cells.is_empty() && of_these(start));
    these.map(|start| start.took_ns / start.cells.len() as u64).collect()
}

fn mean(all: &[u64]) -> Option<u64> {
    all.iter().fold(0_u64, |sum, n| sum.saturating_add(*n)).checked_div(all.len() as u64)
}

/// The usual times of a start of this class: to start, verify and stop it, to warm it up, and its turns.
fn by_design(class: Class, cells: &[&Cell], design: &Design) -> [Duration; 3] {
    [around(class), warmups(class, cells, design), turns_in(cells, design)]
}

/// The time of one member's turns in these cells.
fn turns_in(cells: &[&Cell], design: &Design) -> Duration {
    let of = |cell: &&Cell| {
        let shape = Shape::of(cell, design);
        times(shape.turn(), shape.cycles)
    };
    total(cells.iter().map(of))
}

/// A time multiplied by a count; saturates.
fn times(time: Duration, count: usize) -> Duration {
    time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The sum of times; saturates.
fn total(times: impl IntoIterator<Item = Duration>) -> Duration {
    times.into_iter().fold(Duration::ZERO, Duration::saturating_add)
}

#[cfg(test)]
mod tests;
