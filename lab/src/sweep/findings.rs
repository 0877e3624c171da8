//! Computes the findings of a sweep from its measurements. Pure.

use super::{Setting, SweepMeasurements};
use judge::verdict;
use model::sweep::{Common, CommonStep, Part, SCHEMA, Spread, Step, Sweep};
use model::{Bound, Measurement, Promise, Run, SweepTrial, Tally};
use stats::knee::{self, Point};
use std::collections::BTreeMap;
use std::time::Duration;

/// The stored form of a measurement.
pub fn trial(
    part: Part,
    repeat: usize,
    at: Option<(f64, f64)>,
    seed: u64,
    measured: Result<Measurement, String>,
    keep: Option<&Promise>,
) -> SweepTrial {
    let mut trial = SweepTrial {
        part,
        repeat,
        share: at.map(|(share, _)| share),
        offered_per_s: at.map(|(_, rate)| rate),
        seed,
        failed: None,
        verdict: None,
        due_per_s: None,
        achieved_per_s: None,
        latency_ns_p50: None,
        latency_ns_p99: None,
        latency_ns_p999: None,
        latency_ns_kept: None,
        failed_share: None,
        server_cpu_ns_per_request: None,
        server_cores: None,
        client_core_use: None,
    };
    let Measurement { tally, usage, verdict } = match measured {
        Ok(measured) => measured,
        Err(why) => return SweepTrial { failed: Some(why), ..trial },
    };
    trial.verdict = Some(verdict);
    let seconds = tally.duration_ns as f64 / 1e9;
    trial.due_per_s = tally.due.filter(|_| seconds > 0.0).map(|due| due as f64 / seconds);
    trial.achieved_per_s = tally.rate_per_s();
    trial.latency_ns_p50 = quantile(&tally, 0.5);
    trial.latency_ns_p99 = quantile(&tally, 0.99);
    trial.latency_ns_p999 = quantile(&tally, 0.999);
    trial.latency_ns_kept = keep.and_then(|promise| quantile(&tally, promise.quantile));
    trial.failed_share = tally.failed_share();
    trial.client_core_use = tally.client_core_use();
    if let Some(usage) = usage {
        let cpu_ns = usage.cpu_ns as f64;
        trial.server_cpu_ns_per_request = (tally.completed > 0).then(|| cpu_ns / tally.completed as f64);
        trial.server_cores = (usage.wall_ns > 0).then(|| cpu_ns / usage.wall_ns as f64);
    }
    trial
}

/// A percentile, where at least one request is expected beyond it.
fn quantile(tally: &Tally, share: f64) -> Option<f64> {
    let beyond = tally.latency.count() as f64 * (1.0 - share);
    // 1 − 0.99 is a little less than a hundredth.
    (beyond >= 1.0 - 1e-9).then(|| tally.latency_ns(share)).flatten().map(|ns| ns as f64)
}

/// The capacity: the rate under closed load.
pub fn capacity(trials: &[SweepTrial]) -> Option<Spread> {
    spread(trials.iter().filter(|t| t.part == Part::Capacity), |t| t.achieved_per_s)
}

/// The knee: the median of the repeats' knees.
pub fn knee(trials: &[SweepTrial]) -> Option<Spread> {
    let mut repeats: BTreeMap<usize, Vec<Point>> = BTreeMap::new();
    for trial in trials.iter().filter(|t| t.part == Part::Step && t.is_sound()) {
        // What really became due: by chance, Poisson arrivals are a few more or less than were offered.
        if let (Some(offered), Some(achieved)) =
            (trial.due_per_s.or(trial.offered_per_s), trial.achieved_per_s)
        {
            repeats.entry(trial.repeat).or_default().push(Point { offered, achieved });
        }
    }
    let knees: Vec<f64> = repeats.values().filter_map(|points| knee::knee(points)).collect();
    Spread::of(&knees)
}

fn spread<'a>(
    trials: impl Iterator<Item = &'a SweepTrial>,
    value: impl Fn(&SweepTrial) -> Option<f64>,
) -> Option<Spread> {
    let values: Vec<f64> = trials.filter(|t| t.is_sound()).filter_map(value).collect();
    Spread::of(&values)
}

/// Computes the findings of the whole sweep.
pub fn findings(
    run: &Run,
    setting: &Setting,
    url: &str,
    titles: &[String],
    swept: SweepMeasurements,
    elapsed: Duration,
) -> Sweep {
    let names: Vec<String> = ('A'..='Z').take(titles.len()).map(String::from).collect();
    let common = swept.common.map(|(rate_per_s, slowest)| Common {
        share: setting.common_share,
        slowest: names[slowest].clone(),
        rate_per_s,
        contenders: common_steps(&names, &swept, rate_per_s),
    });
    let mut notes = Vec::new();
    if titles.len() > 1 && common.is_none() {
        notes.push("no common rate: fewer than two contenders have a known capacity".to_owned());
    }
    let parts = swept.trials.into_iter().zip(swept.given_up).zip(swept.kept);
    let contenders =
        names.iter().zip(titles).zip(parts).map(|((name, title), ((trials, given_up), kept))| {
            let (capacity_per_s, knee_per_s) = (capacity(&trials), knee(&trials));
            let bound = capacity_bound(&trials);
            model::sweep::Swept {
                name: name.clone(),
                title: title.clone(),
                notes: given_up.into_iter().chain(contender_notes(&trials, bound, knee_per_s)).collect(),
                capacity_per_s,
                capacity_bound: bound.map(|bound| bound.word().to_owned()),
                knee_per_s,
                steps: steps(&trials),
                kept,
                trials,
            }
        });
    Sweep {
        schema: SCHEMA,
        started_at: run.started_at.clone(),
        seed: setting.seed,
        url: url.to_owned(),
        arrivals: setting.arrivals,
        connections: setting.connections,
        repeats: setting.repeats,
        warmup_s: run.study.design.warmup.as_secs_f64(),
        duration_s: run.study.design.measure.as_secs_f64(),
        environment: run.environment.clone(),
        ended: if swept.interrupted { "interrupted" } else { "all steps were measured" }.to_owned(),
        interrupted: swept.interrupted,
        elapsed_s: elapsed.as_secs_f64(),
        contenders: contenders.collect(),
        common,
        notes,
    }
}

fn common_steps(names: &[String], swept: &SweepMeasurements, rate: f64) -> Vec<CommonStep> {
    let step = |(name, trials): (&String, &Vec<SweepTrial>)| {
        let all: Vec<&SweepTrial> = trials.iter().filter(|t| t.part == Part::Common).collect();
        let share = all.first()?.share?;
        Some(CommonStep { name: name.clone(), step: step(share, rate, &all) })
    };
    names.iter().zip(&swept.trials).filter_map(step).collect()
}

/// The bound of most of the measurements under closed load.
fn capacity_bound(trials: &[SweepTrial]) -> Option<Bound> {
    let capacity = trials.iter().filter(|t| t.part == Part::Capacity && t.is_sound());
    verdict::usual_bound(capacity.filter_map(|t| t.verdict.as_ref()).map(|verdict| verdict.bound))
}

fn contender_notes(trials: &[SweepTrial], bound: Option<Bound>, knee: Option<Spread>) -> Vec<String> {
    let mut notes = Vec::new();
    if bound.is_some_and(Bound::is_held_back) {
        notes.push(
            "the load generator was the limit under closed load: the capacity is a lower bound, and the knee may be higher"
                .to_owned(),
        );
    }
    let steps: Vec<&SweepTrial> = trials.iter().filter(|t| t.part == Part::Step).collect();
    let lost = steps.iter().filter(|t| !t.is_sound()).count();
    if !steps.is_empty() && lost == steps.len() {
        notes.push("every step was void or failed: latency and knee are unknown".to_owned());
    } else if knee.is_none() && !steps.is_empty() {
        notes.push(
            "no knee was found: the achieved rate followed the offered one, or fewer than two sound steps lie above the knee; \
             add larger shares with --shares"
                .to_owned(),
        );
    }
    notes
}

/// The steps, from the lowest rate to the highest.
fn steps(trials: &[SweepTrial]) -> Vec<Step> {
    let mut by_share: BTreeMap<u64, Vec<&SweepTrial>> = BTreeMap::new();
    for trial in trials.iter().filter(|t| t.part == Part::Step) {
        // Bits of numbers above 0 are in the order of the numbers.
        by_share.entry(trial.share.unwrap_or(0.0).to_bits()).or_default().push(trial);
    }
    let offered = |all: &[&SweepTrial]| all.iter().find_map(|t| t.offered_per_s).unwrap_or(0.0);
    by_share.iter().map(|(bits, all)| step(f64::from_bits(*bits), offered(all), all)).collect()
}

fn step(share: f64, offered_per_s: f64, all: &[&SweepTrial]) -> Step {
    let figure = |value: fn(&SweepTrial) -> Option<f64>| spread(all.iter().copied(), value);
    let mut reasons: Vec<String> = Vec::new();
    for trial in all {
        let all_reasons = trial.verdict.iter().flat_map(|v| &v.reasons).chain(&trial.failed);
        for reason in all_reasons {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
    }
    Step {
        share,
        offered_per_s,
        trials: all.iter().filter(|t| t.failed.is_none()).count(),
        void: all.iter().filter(|t| t.failed.is_none() && !t.is_sound()).count(),
        failed: all.iter().filter(|t| t.failed.is_some()).count(),
        due_per_s: figure(|t| t.due_per_s),
        achieved_per_s: figure(|t| t.achieved_per_s),
        latency_ns_p50: figure(|t| t.latency_ns_p50),
        latency_ns_p99: figure(|t| t.latency_ns_p99),
        latency_ns_p999: figure(|t| t.latency_ns_p999),
        server_cpu_ns_per_request: figure(|t| t.server_cpu_ns_per_request),
        server_cores: figure(|t| t.server_cores),
        reasons,
    }
}
