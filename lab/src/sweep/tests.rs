//! The sweep over made-up servers: their capacity is known, and no real time passes.

use super::*;
use model::sweep::{KeptOutcome, SweepTrial};
use model::{Bound, Tally, Usage, Verdict};

/// Servers that answer up to these rates in requests/s, each request within `1/(1 − ρ)` milliseconds.
struct Made {
    capacities: Vec<f64>,
    /// Open loads above this share of its capacity keep the client too busy.
    client_limit: f64,
    /// The number of requests in a hundred that fail.
    failed: u64,
    /// This contender dies from this measurement on.
    dies: Option<(usize, usize)>,
    stop_after: usize,
    measured: usize,
    elapsed: Duration,
    offered: Vec<(usize, f64, u64)>,
}

impl Made {
    fn new(capacities: &[f64]) -> Self {
        let (capacities, elapsed) = (capacities.to_vec(), Duration::ZERO);
        Self {
            capacities,
            client_limit: 9.0,
            failed: 0,
            dies: None,
            stop_after: usize::MAX,
            measured: 0,
            elapsed,
            offered: Vec::new(),
        }
    }
}

impl Measure for Made {
    fn measure(&mut self, contender: usize, load: &Load, seed: u64) -> Result<Measurement, Fault> {
        self.measured += 1;
        self.elapsed += Duration::from_secs(1);
        if self.dies.is_some_and(|(who, when)| who == contender && self.measured >= when) {
            return Err(Fault::Contender("under load the server ended: signal: 11".to_owned()));
        }
        let capacity = self.capacities[contender];
        let offered = load.rate_per_s().map(|rate| rate.mean_per_s(1_000_000_000));
        self.offered.push((contender, offered.unwrap_or(0.0), seed));
        let share = offered.map_or(1.0, |rate| rate / capacity);
        let completed = (capacity * share.min(1.0)) as u64;
        let mut tally = Tally { duration_ns: 1_000_000_000, completed, ..Tally::default() };
        tally.due = offered.map(|rate| rate as u64);
        // Its capacity, which is found first, is sound.
        tally.errors.receive = offered.map_or(0, |_| completed * self.failed / 100);
        let latency_ns = if share < 0.999 { 1e6 / (1.0 - share) } else { 1e9 };
        tally.latency.record_n(latency_ns as u64, 1000);
        let is_busy = offered.is_some() && share > self.client_limit;
        let reasons = if is_busy { vec!["the load generator was busy".to_owned()] } else { Vec::new() };
        let usage = Usage { wall_ns: 1_000_000_000, cpu_ns: completed * 1000, cores: 1, ..Usage::default() };
        // As the real verdict has it: requests that are lost void a measurement.
        let loses = tally.is_selection(0.99);
        let valid = completed > 0 && !is_busy && !loses;
        let void_by_loss = loses && !is_busy;
        let verdict = Verdict { bound: Bound::Server, valid, void_by_loss, reasons, ..Verdict::default() };
        Ok(Measurement { tally, usage: Some(usage), verdict })
    }

    fn is_stopped(&self) -> bool {
        self.measured >= self.stop_after
    }

    fn elapsed(&self) -> Duration {
        self.elapsed
    }
}

impl ShowSweep for Vec<String> {
    fn begins(&mut self, contender: usize, what: &str, _done: usize, _about: usize) {
        self.push(format!("{contender} {what}"));
    }
    fn observed(&mut self, _contender: usize, _trial: &SweepTrial) {}
}

fn setting(keep: Option<&str>) -> Setting {
    Setting {
        shares: vec![0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0, 1.1, 1.2],
        repeats: 3,
        connections: 8,
        per_connection: None,
        arrivals: Arrivals::Poisson,
        seed: 42,
        keep: keep.map(|text| text.parse().unwrap()),
        budget: Duration::from_secs(1000),
        common_share: 0.7,
    }
}

fn walk(setting: &Setting, made: &mut Made) -> SweepMeasurements {
    run(setting, made.capacities.len(), made, &mut Vec::new())
}

fn sweep(setting: &Setting, made: &mut Made) -> model::Sweep {
    let swept = walk(setting, made);
    let run = judge::example::run(&["a"]);
    let titles: Vec<String> = made.capacities.iter().map(|c| format!("server of {c}")).collect();
    findings(&run, setting, "http://localhost/", &titles, swept, made.elapsed)
}

#[test]
fn capacity_knee_and_steps_of_a_known_server_are_as_they_are() {
    let found = sweep(&setting(None), &mut Made::new(&[1000.0]));
    let one = &found.contenders[0];
    assert!((one.capacity_per_s.unwrap().median - 1000.0).abs() < 1e-6);
    let knee = one.knee_per_s.unwrap();
    assert!((knee.median / 1000.0 - 1.0).abs() < 0.01 && knee.n == 3, "{knee:?}");
    assert_eq!(one.steps.len(), 9);
    assert!(one.steps.windows(2).all(|pair| pair[0].offered_per_s < pair[1].offered_per_s));
    assert!(one.steps.iter().all(|step| step.trials == 3 && step.void + step.failed == 0));
    let step = &one.steps[4];
    assert!((step.latency_ns_p99.unwrap().median / 5e6 - 1.0).abs() < 0.01, "{step:?}");
    assert!((step.server_cpu_ns_per_request.unwrap().median - 1000.0).abs() < 1.0);
    assert_eq!((found.common, found.interrupted), (None, false));
}

#[test]
fn who_fails_more_requests_than_the_promise_leaves_out_does_not_keep_it() {
    let kept = |failed| {
        let mut made = Made { failed, ..Made::new(&[1000.0]) };
        let found = sweep(&setting(Some("p99 < 10ms")), &mut made);
        let steps = &found.contenders[0].steps;
        assert!(steps.iter().all(|step| step.void == if failed > 1 { step.trials } else { 0 }), "{steps:?}");
        (
            found.contenders[0].kept.as_ref().unwrap().outcome,
            found.contenders[0].steps[0].latency_ns_p99.is_some(),
        )
    };
    assert_eq!((kept(0), kept(5)), ((KeptOutcome::Found, true), (KeptOutcome::LowestDoesNot, false)));
}

#[test]
fn the_same_seed_gives_the_same_order_and_arrivals_and_another_one_does_not() {
    let offered = |seed: u64| {
        let mut made = Made::new(&[1000.0, 500.0]);
        walk(&Setting { seed, ..setting(Some("p99 < 10ms")) }, &mut made);
        made.offered
    };
    assert_eq!(offered(1), offered(1));
    assert_ne!(offered(1), offered(2));
}

#[test]
fn all_contenders_are_held_side_by_side_below_the_slowest_knee() {
    let found = sweep(&setting(None), &mut Made::new(&[1000.0, 400.0, 3000.0]));
    let common = found.common.unwrap();
    assert_eq!((common.slowest.as_str(), common.contenders.len()), ("B", 3));
    assert!((common.rate_per_s / 280.0 - 1.0).abs() < 0.01, "{common:?}");
    assert!(common.contenders.iter().all(|c| c.step.trials == 3 && c.step.latency_ns_p99.is_some()));
    let share = common.contenders[2].step.share;
    assert!((share - 280.0 / 3000.0).abs() < 0.01, "{share}");
}

#[test]
fn the_highest_rate_that_keeps_a_promise_is_found_within_its_interval() {
    let found = sweep(&setting(Some("p99 < 4ms")), &mut Made::new(&[1000.0]));
    let kept = found.contenders[0].kept.clone().unwrap();
    assert_eq!(kept.outcome, KeptOutcome::Found, "{kept:?}");
    let (rate, low, high) = (kept.rate_per_s.unwrap(), kept.low_per_s.unwrap(), kept.high_per_s.unwrap());
    assert!((rate - 750.0).abs() < 25.0 && low <= 750.0 && 750.0 <= high, "{kept:?}");
    assert!(kept.ended.contains("±3 %"), "{kept:?}");
}

#[test]
fn a_promise_that_nothing_or_everything_keeps_is_told() {
    let outcome = |promise: &str| {
        let found = sweep(&setting(Some(promise)), &mut Made::new(&[1000.0]));
        found.contenders[0].kept.clone().unwrap()
    };
    assert_eq!(outcome("p99 < 100us").outcome, KeptOutcome::LowestDoesNot);
    let kept = outcome("p99 < 2s");
    assert_eq!((kept.outcome, kept.rate_per_s), (KeptOutcome::CapacityKeeps, None));
    assert!(kept.low_per_s.unwrap() > 990.0);
    let few = outcome("p9999 < 2ms");
    assert_eq!(few.outcome, KeptOutcome::Unknown, "a thousand requests say nothing of one in 10,000");
    assert!(few.ended.contains("too short"), "{few:?}");
}

#[test]
fn the_search_ends_with_its_budget() {
    let setting = Setting { budget: Duration::from_secs(2), ..setting(Some("p99 < 4ms")) };
    let mut made = Made::new(&[1000.0]);
    let found = sweep(&setting, &mut made);
    let kept = found.contenders[0].kept.clone().unwrap();
    assert_eq!((kept.ended.as_str(), kept.outcome), ("the budget is spent", KeptOutcome::Found));
    assert_eq!(made.measured, 3 + 27 + 2);
}

#[test]
fn void_steps_are_shown_and_never_averaged() {
    let mut made = Made { client_limit: 0.85, ..Made::new(&[1000.0]) };
    let found = sweep(&setting(None), &mut made);
    let one = &found.contenders[0];
    for step in &one.steps {
        let is_void = step.share > 0.85;
        assert_eq!((step.void, step.achieved_per_s.is_none()), (if is_void { 3 } else { 0 }, is_void));
        assert_eq!(step.reasons.is_empty(), !is_void, "{step:?}");
    }
    assert_eq!(one.knee_per_s, None);
    assert!(one.notes.iter().any(|note| note.starts_with("no knee")), "{:?}", one.notes);
    let mut made = Made { client_limit: 0.0, ..Made::new(&[1000.0]) };
    let found = sweep(&setting(Some("p99 < 4ms")), &mut made);
    let one = &found.contenders[0];
    assert!(one.notes.iter().any(|note| note.starts_with("every step was void")), "{:?}", one.notes);
    assert_eq!(one.kept.clone().unwrap().outcome, KeptOutcome::Unknown);
}

#[test]
fn a_server_that_dies_is_given_up_and_what_it_did_before_is_kept() {
    let mut made = Made { dies: Some((0, 25)), ..Made::new(&[1000.0, 500.0]) };
    let found = sweep(&setting(Some("p99 < 4ms")), &mut made);
    let (dead, alive) = (&found.contenders[0], &found.contenders[1]);
    assert!(dead.notes[0].contains("given up after 3 failures") && dead.notes[0].contains("signal: 11"));
    assert_eq!(dead.trials.iter().filter(|t| t.failed.is_some()).count(), 3);
    assert!(dead.steps.iter().any(|step| step.trials > 0));
    assert_eq!(dead.kept.clone().unwrap().outcome, KeptOutcome::Unknown);
    assert!(alive.knee_per_s.is_some() && alive.kept.clone().unwrap().rate_per_s.is_some());
    assert!(found.common.is_none() && found.notes[0].contains("fewer than two"), "{:?}", found.notes);
}

#[test]
fn no_capacity_is_told_and_nothing_more_is_asked() {
    let mut made = Made::new(&[0.0]);
    let found = sweep(&setting(Some("p99 < 4ms")), &mut made);
    assert_eq!(made.measured, 3);
    let one = &found.contenders[0];
    assert!(one.notes[0].starts_with("its capacity is unknown"), "{:?}", one.notes);
    assert_eq!((one.capacity_per_s, one.steps.len()), (None, 0));
}

#[test]
fn what_was_measured_before_somebody_stopped_it_is_told() {
    for after in [1, 10, 35] {
        let mut made = Made { stop_after: after, ..Made::new(&[1000.0]) };
        let found = sweep(&setting(Some("p99 < 4ms")), &mut made);
        assert!(found.interrupted && found.ended == "interrupted");
        // The one under way when it was stopped does not count.
        assert_eq!(found.contenders[0].trials.len(), after - 1, "{after}");
    }
}
