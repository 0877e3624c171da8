//! The sum of what the workers of a measurement have published, for the viewer and for `--metrics`.

use model::{Interval, Plan, Tally};

/// The measurement so far.
#[derive(Debug)]
pub struct LiveSum {
    /// What was counted.
    pub tally: Tally,
    /// Connections that are open.
    pub connections_open: Option<u64>,
    /// The measured time of all workers together.
    worker_time_ns: u64,
}

impl LiveSum {
    /// The sum before anything is known.
    pub fn new(plan: &Plan) -> Self {
        let threads = plan.threads.clamp(1, plan.load.connections());
        // Intervals don't count opened connections, and nothing must be concluded from 0.
        let tally = Tally { threads, connections_opened: 1, ..Tally::default() };
        Self { tally, connections_open: None, worker_time_ns: 0 }
    }

    /// Adds what the workers have published since the last call; a worker may be early or late by one interval.
    pub fn take(&mut self, intervals: &[Interval]) {
        if intervals.is_empty() {
            return;
        }
        let tally = &mut self.tally;
        for interval in intervals {
            self.worker_time_ns += interval.duration_ns;
            tally.sent += interval.sent;
            tally.completed += interval.completed;
            tally.errors.merge(&interval.errors_by_kind);
            for (cause, n) in &interval.error_causes {
                *tally.error_causes.entry(cause.clone()).or_default() += n;
            }
            tally.sent_bytes += interval.sent_bytes;
            tally.received_bytes += interval.received_bytes;
            tally.latency.add(&interval.latency);
            tally.unanswered += interval.unanswered;
            tally.service.add(&interval.service);
            tally.schedule_lag.add(&interval.schedule_lag);
            tally.client_cpu_ns += interval.client_cpu_ns;
            tally.client_idle_ns += interval.client_idle_ns;
        }
        tally.duration_ns = self.worker_time_ns / tally.threads as u64;
        let open: u64 = intervals.iter().map(|interval| interval.connections_open).sum();
        self.connections_open = Some(open * tally.threads as u64 / intervals.len() as u64);
    }
}
