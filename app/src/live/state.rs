//! The state of the measurement that a viewer shows: the sum of the intervals that the workers published. Pure; the
//! clock and the server's CPU come from outside.

use super::server_sampler::ServerUse;
use model::{Interval, Plan, Rate};
use report::{offered, units};
use stats::Histogram;
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// The number of rates kept for the chart, one every quarter of a second: two minutes.
const MOST_POINTS: usize = 480;

/// The measurement so far.
#[derive(Debug)]
pub struct State {
    /// The URL under load.
    pub url: String,
    /// The load in words.
    pub load: String,
    /// The time of load before the measurement.
    warmup: Duration,
    /// The time since the load started, by the viewer's clock.
    since_start: Duration,
    /// The time since the measurement began, by the workers' clocks.
    elapsed: Duration,
    /// The share of the measurement that is done, 0 to 1.
    pub done: f64,
    /// The progress of the measurement in words.
    pub progress: String,
    /// Requests per second, oldest first.
    pub rates: VecDeque<f64>,
    /// Requests with a complete and expected answer.
    completed: u64,
    /// Errors by cause.
    pub error_causes: BTreeMap<String, u64>,
    /// All errors.
    pub errors: u64,
    /// Latency of the whole measurement.
    pub latency: Histogram,
    /// The number of requests without an answer whose ages are in it.
    pub unanswered: u64,
    /// The share of its cores that the client used last, if known.
    pub client_core_use: Option<f64>,
    /// What a server on this machine used last.
    pub server: ServerUse,
    /// Connections that are open.
    pub connections_open: Option<u64>,
    /// Worker threads.
    threads: usize,
    until: model::Until,
}

impl State {
    /// The state before anything is known.
    pub fn new(plan: &Plan) -> Self {
        let threads = plan.threads.clamp(1, plan.load.connections());
        let load = plan
            .load
            .rate_per_s()
            .map_or("closed load".to_owned(), |rate: &Rate| format!("open load {}", offered::words(rate)));
        let connections = plan.load.connections();
        Self {
            url: plan.target.url.clone(),
            load: format!(
                "{load}, {}, {}",
                units::several(connections, "connection"),
                units::several(threads, "thread")
            ),
            warmup: plan.warmup,
            since_start: Duration::ZERO,
            elapsed: Duration::ZERO,
            done: 0.0,
            progress: String::new(),
            rates: VecDeque::with_capacity(MOST_POINTS),
            completed: 0,
            error_causes: BTreeMap::new(),
            errors: 0,
            latency: Histogram::new(),
            unanswered: 0,
            client_core_use: None,
            server: ServerUse::default(),
            connections_open: None,
            threads,
            until: plan.until,
        }
    }

    /// Adds what the workers have published since the last call; a worker may be early or late by one interval.
    pub fn take(&mut self, intervals: &[Interval]) {
        let mut all = Interval::default();
        intervals.iter().for_each(|interval| all.append(interval));
        if all.duration_ns == 0 {
            return;
        }
        let worker_time = Duration::from_nanos(all.duration_ns);
        self.elapsed += worker_time / self.threads as u32;
        if self.rates.len() == MOST_POINTS {
            self.rates.pop_front();
        }
        self.rates.push_back(all.completed as f64 * self.threads as f64 / worker_time.as_secs_f64());
        let busy_ns = all.client_cpu_ns.saturating_sub(all.client_idle_ns);
        self.client_core_use = Some(busy_ns as f64 / all.duration_ns as f64);
        let open: u64 = intervals.iter().map(|interval| interval.connections_open).sum();
        self.connections_open = Some(open * self.threads as u64 / intervals.len() as u64);
        self.completed += all.completed;
        self.errors += all.errors;
        for (cause, n) in all.error_causes {
            *self.error_causes.entry(cause).or_default() += n;
        }
        self.latency.add(&all.latency);
        self.unanswered += all.unanswered;
    }

    /// Sets the time to `since_start`.
    pub fn tick(&mut self, since_start: Duration) {
        self.since_start = since_start;
        let seconds = self.elapsed.as_secs_f64();
        (self.done, self.progress) = match self.until {
            _ if self.is_warming_up() => (0.0, format!("warming up for {:?}", self.warmup)),
            model::Until::Elapsed(whole) => {
                (seconds / whole.as_secs_f64(), format!("{seconds:.1} s of {:.1} s", whole.as_secs_f64()))
            }
            model::Until::Answered(n) | model::Until::Closed(n) => (
                self.completed as f64 / n as f64,
                format!("{} of {} requests", report::units::count(self.completed), report::units::count(n)),
            ),
        };
        // Covers a measurement of length 0, and workers that run slightly past the end.
        self.done = if self.done.is_finite() { self.done.clamp(0.0, 1.0) } else { 0.0 };
    }

    fn is_warming_up(&self) -> bool {
        self.rates.is_empty() && self.since_start < self.warmup
    }

    /// Requests per second over the last second.
    pub fn rate_now(&self) -> Option<f64> {
        let last: Vec<f64> = self.rates.iter().rev().take(4).copied().collect();
        (!last.is_empty()).then(|| last.iter().sum::<f64>() / last.len() as f64)
    }

    /// Requests per second over the measurement so far.
    pub fn rate_mean(&self) -> Option<f64> {
        let seconds = self.elapsed.as_secs_f64();
        (seconds > 0.0).then(|| self.completed as f64 / seconds)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use model::{Ask, Load, Target, Until};
    use stats::Counts;

    /// A quarter of a second of one of two workers.
    pub fn interval(completed: u64, ns: u64) -> Interval {
        let mut latency = Histogram::new();
        (0..completed).for_each(|i| latency.record(ns + i * ns / 100));
        Interval {
            duration_ns: 250_000_000,
            sent: completed,
            completed,
            latency: Counts::of(&latency),
            client_cpu_ns: 150_000_000,
            client_idle_ns: 50_000_000,
            threads: 1,
            connections_open: 32,
            ..Interval::default()
        }
    }

    /// A measurement of 10 s by two workers.
    pub fn state() -> State {
        let target = Target::resolve("http://127.0.0.1:8080/hello").unwrap();
        let load = Load::Closed { connections: 64, per_connection: None };
        let until = Until::Elapsed(Duration::from_secs(10));
        let plan = Plan::new(target, Ask::default(), load, until);
        State::new(&Plan { threads: 2, warmup: Duration::from_secs(1), ..plan })
    }

    #[test]
    fn intervals_of_two_workers_make_one_rate() {
        let mut state = state();
        state.take(&[interval(1000, 100_000), interval(500, 100_000)]);
        assert_eq!((state.rate_now(), state.rate_mean()), (Some(6000.0), Some(6000.0)));
        assert_eq!((state.client_core_use, state.connections_open), (Some(0.4), Some(64)));
        // One worker is late: the rate is that of the others, and the time is half of it.
        state.take(&[interval(1000, 100_000)]);
        assert_eq!(state.rates, [6000.0, 8000.0]);
        assert_eq!(state.elapsed, Duration::from_millis(375));
        state.take(&[]);
        assert_eq!((state.rates.len(), state.completed, state.latency.count()), (2, 2500, 2500));
    }

    #[test]
    fn nothing_is_known_before_the_window_opens() {
        let mut state = state();
        state.tick(Duration::from_millis(300));
        assert_eq!((state.rate_now(), state.rate_mean(), state.client_core_use), (None, None, None));
        assert_eq!(state.progress, "warming up for 1s");
        state.take(&[interval(10, 1000), interval(10, 1000)]);
        state.tick(Duration::from_millis(1250));
        assert_eq!((state.progress.as_str(), state.done), ("0.2 s of 10.0 s", 0.025));
    }
}
