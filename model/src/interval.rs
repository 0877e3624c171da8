//! The counts of a part of the measured window: of one second of it, or since a viewer last looked.

use crate::errors::{Errors, add_causes};
use stats::Counts;
use std::collections::BTreeMap;

/// The counts of one interval, of one worker or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Interval {
    /// The second of the window in which it began, from 0.
    pub second: u64,
    /// The length of the interval; the longest over all workers.
    pub duration_ns: u64,
    /// The number of requests sent.
    pub sent: u64,
    /// The number of answers that were complete and as expected.
    pub completed: u64,
    /// The errors by kind.
    pub errors_by_kind: Errors,
    /// The causes of errors, in words, and how often each occurred.
    pub error_causes: BTreeMap<String, u64>,
    /// Bytes of requests.
    pub sent_bytes: u64,
    /// Bytes of answers, heads included.
    pub received_bytes: u64,
    /// Latency of the answers in the interval. The last interval includes the requests that were in flight when time was up, as the tally
    /// does.
    pub latency: Counts,
    /// The number of requests without an answer whose ages are in `latency`.
    pub unanswered: u64,
    /// Latency from the actual send; answers only.
    pub service: Counts,
    /// Open load: how long after their due time requests were sent; empty where it is not watched.
    pub schedule_lag: Counts,
    /// CPU time of the worker threads.
    pub client_cpu_ns: u64,
    /// The part of it in which they polled and nothing had happened.
    pub client_idle_ns: u64,
    /// The number of worker threads.
    pub threads: usize,
    /// The number of connections that were open at its end.
    pub connections_open: u64,
}

impl Interval {
    /// Requests/s; `None` where the interval has no length.
    pub fn rate_per_s(&self) -> Option<f64> {
        (self.duration_ns > 0).then(|| self.completed as f64 * 1e9 / self.duration_ns as f64)
    }

    /// The share of its threads' time that the client was busy; polling for nothing does not count.
    pub fn client_core_use(&self) -> Option<f64> {
        let available = self.duration_ns as f64 * self.threads as f64;
        let busy = self.client_cpu_ns.saturating_sub(self.client_idle_ns);
        (available > 0.0).then(|| busy as f64 / available)
    }

    /// Adds what another worker counted at the same time.
    pub fn merge(&mut self, other: &Self) {
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        self.threads += other.threads;
        self.connections_open += other.connections_open;
        self.add(other);
    }

    /// Adds what the same worker counted next.
    pub fn append(&mut self, next: &Self) {
        self.duration_ns += next.duration_ns;
        self.connections_open = next.connections_open;
        self.add(next);
    }

    fn add(&mut self, other: &Self) {
        self.sent += other.sent;
        self.completed += other.completed;
        self.errors_by_kind.merge(&other.errors_by_kind);
        add_causes(&mut self.error_causes, &other.error_causes);
        self.sent_bytes += other.sent_bytes;
        self.received_bytes += other.received_bytes;
        self.latency.merge(&other.latency);
        self.unanswered += other.unanswered;
        self.service.merge(&other.service);
        self.schedule_lag.merge(&other.schedule_lag);
        self.client_cpu_ns += other.client_cpu_ns;
        self.client_idle_ns += other.client_idle_ns;
    }
}

/// Merges the seconds of two workers; both are in order, and stay so.
pub fn merge(into: &mut Vec<Interval>, other: &[Interval]) {
    for interval in other {
        match into.binary_search_by_key(&interval.second, |own| own.second) {
            Ok(at) => into[at].merge(interval),
            Err(at) => into.insert(at, interval.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stats::Histogram;

    fn interval(second: u64, ns: u64) -> Interval {
        let mut latency = Histogram::new();
        latency.record(ns);
        Interval {
            second,
            duration_ns: 1_000_000_000,
            sent: 2,
            completed: 1,
            latency: Counts::of(&latency),
            client_cpu_ns: 600_000_000,
            client_idle_ns: 100_000_000,
            threads: 1,
            connections_open: 3,
            ..Interval::default()
        }
    }

    #[test]
    fn seconds_of_workers_merge_by_their_number() {
        let mut all = vec![interval(0, 10), interval(2, 10)];
        merge(&mut all, &[interval(1, 20), interval(2, 30)]);
        assert_eq!(all.iter().map(|i| (i.second, i.sent)).collect::<Vec<_>>(), [(0, 2), (1, 2), (2, 4)]);
        assert_eq!((all[2].connections_open, all[2].threads, all[2].latency.count()), (6, 2, 2));
        assert_eq!((all[2].rate_per_s(), all[2].client_core_use()), (Some(2.0), Some(0.5)));
    }

    #[test]
    fn what_the_same_worker_counted_next_makes_the_interval_longer() {
        let mut one = interval(0, 10);
        one.append(&Interval { connections_open: 1, ..interval(0, 10) });
        assert_eq!((one.duration_ns, one.connections_open, one.threads), (2_000_000_000, 1, 1));
        assert_eq!((one.rate_per_s(), one.client_core_use()), (Some(1.0), Some(0.5)));
        assert_eq!(Interval::default().rate_per_s(), None);
    }
}
