//! The state of the measurement that a viewer shows: the sum of the intervals that the workers published. Pure; the
//! clock and the server's CPU come from outside.

use super::sum::LiveSum;
use control::processes::usage::UsageSoFar;
use model::{Interval, Plan, Usage};
use report::{offered, units};
use std::collections::VecDeque;
use std::time::Duration;

/// The number of rates kept for the chart, one every quarter of a second: two minutes.
const MOST_POINTS: usize = 480;

/// The time over which a server's use of its cores is shown, at least.
const USE_INTERVAL: Duration = Duration::from_secs(1);

/// The measurement so far.
#[derive(Debug)]
pub struct LiveState {
    /// The URL under load.
    pub url: String,
    /// The load in words.
    pub load: String,
    /// The time of load before the measurement.
    warmup: Duration,
    /// The time since the load started, by the viewer's clock.
    since_start: Duration,
    /// The share of the measurement that is done, 0 to 1.
    pub done: f64,
    /// The progress of the measurement in words.
    pub progress: String,
    /// Requests per second, oldest first.
    pub rates: VecDeque<f64>,
    /// What was counted so far.
    pub sum: LiveSum,
    /// The share of its cores that the client used last, if known.
    pub client_core_use: Option<f64>,
    /// The share of its cores that a server on this machine used last, if known.
    pub server_core_use: Option<f64>,
    /// The memory that it held then, if known.
    pub server_rss_bytes: Option<u64>,
    /// What it had used then.
    usage: Usage,
    until: model::Until,
}

impl LiveState {
    /// The state before anything is known.
    pub fn new(plan: &Plan) -> Self {
        let sum = LiveSum::new(plan);
        let connections = plan.load.connections();
        Self {
            url: plan.target.url.clone(),
            load: format!(
                "{}, {}, {}",
                offered::kind(&plan.load),
                units::several(connections, "connection"),
                units::several(sum.tally.threads, "thread")
            ),
            warmup: plan.warmup,
            since_start: Duration::ZERO,
            done: 0.0,
            progress: String::new(),
            rates: VecDeque::with_capacity(MOST_POINTS),
            sum,
            client_core_use: None,
            server_core_use: None,
            server_rss_bytes: None,
            usage: Usage::default(),
            until: plan.until,
        }
    }

    /// Adds what the workers have published since the last call; a worker may be early or late by one interval.
    pub fn take(&mut self, intervals: &[Interval]) {
        let all_ns: u64 = intervals.iter().map(|interval| interval.duration_ns).sum();
        if all_ns == 0 {
            return;
        }
        self.sum.take(intervals);
        if self.rates.len() == MOST_POINTS {
            self.rates.pop_front();
        }
        let completed: u64 = intervals.iter().map(|interval| interval.completed).sum();
        let worker_s = Duration::from_nanos(all_ns).as_secs_f64();
        self.rates.push_back(completed as f64 * self.sum.tally.threads as f64 / worker_s);
        let busy_ns: u64 = intervals.iter().map(|i| i.client_cpu_ns.saturating_sub(i.client_idle_ns)).sum();
        self.client_core_use = Some(busy_ns as f64 / all_ns as f64);
    }

    /// Takes what a server on this machine has used so far.
    pub fn take_usage(&mut self, so_far: &UsageSoFar) {
        let (now, then) = (&so_far.usage, &self.usage);
        let wall_ns = now.wall_ns.saturating_sub(then.wall_ns);
        if Duration::from_nanos(wall_ns) < USE_INTERVAL {
            return;
        }
        let cpu_ns = now.cpu_ns.saturating_sub(then.cpu_ns);
        let since = Usage { wall_ns, cpu_ns, cores: now.cores, ..Usage::default() };
        self.server_rss_bytes = so_far.rss_bytes;
        // When all of its processes have ended, this is unknown: it is not idle.
        self.server_core_use = so_far.rss_bytes.and_then(|_| since.core_use());
        self.usage = now.clone();
    }

    /// The time since the measurement began, by the workers' clocks.
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.sum.tally.duration_ns)
    }

    /// Sets the time to `since_start`.
    pub fn tick(&mut self, since_start: Duration) {
        self.since_start = since_start;
        let seconds = self.elapsed().as_secs_f64();
        (self.done, self.progress) = match self.until {
            _ if self.is_warming_up() => (0.0, format!("warming up for {:?}", self.warmup)),
            model::Until::Elapsed(whole) => {
                (seconds / whole.as_secs_f64(), format!("{seconds:.1} s of {:.1} s", whole.as_secs_f64()))
            }
            model::Until::Answered(n) | model::Until::Closed(n) => (
                self.sum.tally.completed as f64 / n as f64,
                format!(
                    "{} of {} requests",
                    report::units::count(self.sum.tally.completed),
                    report::units::count(n)
                ),
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
        let seconds = self.elapsed().as_secs_f64();
        (seconds > 0.0).then(|| self.sum.tally.completed as f64 / seconds)
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use model::{Ask, Load, Target, Until};
    use stats::{Counts, Histogram};

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
    pub fn state() -> LiveState {
        let target = Target::resolve("http://127.0.0.1:8080/hello").unwrap();
        let load = Load::Closed { connections: 64, per_connection: None };
        let until = Until::Elapsed(Duration::from_secs(10));
        let plan = Plan::new(target, Ask::default(), load, until);
        LiveState::new(&Plan { threads: 2, warmup: Duration::from_secs(1), ..plan })
    }

    #[test]
    fn intervals_of_two_workers_make_one_rate() {
        let mut state = state();
        state.take(&[interval(1000, 100_000), interval(500, 100_000)]);
        assert_eq!((state.rate_now(), state.rate_mean()), (Some(6000.0), Some(6000.0)));
        assert_eq!((state.client_core_use, state.sum.connections_open), (Some(0.4), Some(64)));
        // One worker is late: the rate is that of the others, and the time is half of it.
        state.take(&[interval(1000, 100_000)]);
        assert_eq!(state.rates, [6000.0, 8000.0]);
        assert_eq!(state.elapsed(), Duration::from_millis(375));
        state.take(&[]);
        assert_eq!(
            (state.rates.len(), state.sum.tally.completed, state.sum.tally.latency.count()),
            (2, 2500, 2500)
        );
    }

    #[test]
    fn a_servers_use_of_its_cores_is_that_of_the_last_second() {
        let mut state = state();
        let mut look = |ms, cpu_ms, rss_bytes| {
            let [wall_ns, cpu_ns] = [ms, cpu_ms].map(|ms: u64| ms * 1_000_000);
            let usage = Usage { wall_ns, cpu_ns, cores: 2, ..Usage::default() };
            state.take_usage(&UsageSoFar { usage, rss_bytes });
            (state.server_core_use, state.server_rss_bytes)
        };
        assert_eq!(look(800, 800, Some(7)), (None, None), "too soon");
        assert_eq!(look(1000, 500, Some(7)), (Some(0.25), Some(7)));
        assert_eq!(look(1800, 2100, Some(8)), (Some(0.25), Some(7)), "too soon again");
        assert_eq!(look(2000, 2500, Some(9)), (Some(1.0), Some(9)));
        assert_eq!(look(3000, 2500, None), (None, None), "all of its processes have ended");
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
