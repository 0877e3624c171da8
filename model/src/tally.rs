//! The counts of the load engine. Tallies merge: over threads, later over processes and machines.
//!
//! Every request that was sent ends in exactly one way:
//! `sent = completed + in_flight_at_end + errors.of_sent()`.

use crate::checked;
use crate::errors::{Errors, add_causes, is_zero};
use crate::interval::{self, Interval};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::Histogram;
use std::collections::BTreeMap;

/// The counts of one measurement.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tally {
    /// The length of the measured window; the longest over all threads.
    pub duration_ns: u64,
    /// The number of requests sent, those in flight when the window opened included.
    pub sent: u64,
    /// The number of answers that were complete and as expected.
    pub completed: u64,
    /// The number of requests that were not yet answered when time was up.
    pub in_flight_at_end: u64,
    /// How long the requests in flight when the window opened had been in flight by then, in all.
    #[serde(default)]
    pub under_way_before_ns: u64,
    /// How long the requests that were not yet answered when time was up had been in flight by then, in all.
    #[serde(default)]
    pub under_way_at_end_ns: u64,
    /// Open load: the number of requests that became due within the window.
    pub due: Option<u64>,
    /// Open load: the part of `completed` that answers requests which were due before the window opened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_in: Option<u64>,
    /// Open load: the number of requests that became due within the window and were neither answered nor lost when it closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carried_out: Option<u64>,
    /// Open load: the number of connections that were given requests and brought no answer within the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connections_starved: Option<u64>,
    /// Open load: the number of due requests that still waited for a free connection when time was up.
    pub unsent_at_end: Option<u64>,
    /// The errors by kind.
    pub errors: Errors,
    /// The causes of errors, in words, and how often each occurred.
    pub error_causes: BTreeMap<String, u64>,
    /// The number of whole answers by status, expected or not.
    pub status: BTreeMap<u16, u64>,
    /// Bytes of requests.
    pub sent_bytes: u64,
    /// Bytes of answers, heads included.
    pub received_bytes: u64,
    /// Bytes of answers' bodies.
    pub body_bytes: u64,
    /// From when a request was due (open load) or sent (closed) to the last byte of its answer. The ages of `unanswered` requests are included.
    #[serde(with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub latency: Histogram,
    /// The number of durations in `latency` that are ages of requests without an answer, whose latencies are at least that: they timed out,
    /// or had waited longer than the median when time was up.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unanswered: u64,
    /// From the actual send to the last byte of the answer; answers only.
    #[serde(with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub service: Histogram,
    /// From the actual send to the first bytes of the answer.
    #[serde(with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub first_byte: Histogram,
    /// From the start of a connection until it was open.
    #[serde(with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub connect: Histogram,
    /// From an open connection to the end of its TLS handshake.
    #[serde(default, with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub handshake: Histogram,
    /// The number of handshakes that resumed an earlier session.
    #[serde(default)]
    pub handshakes_resumed: u64,
    /// What the first handshake agreed on; not stored.
    #[serde(skip)]
    pub agreed: Option<Agreed>,
    /// The fewest requests that the server took at once on a connection, by its own word, where that is fewer than were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub streams_allowed: Option<u64>,
    /// The number of requests whose bodies had to wait for the server's flow control (HTTP/2's windows).
    #[serde(default)]
    pub held_back: u64,
    /// How long a request that could have left waited in the load generator until it was handed to the kernel: in open load since it was
    /// due and a connection was free, in closed load since the answer before it was whole.
    #[serde(with = "checked::histogram")]
    #[schemars(schema_with = "checked::histogram::schema")]
    pub schedule_lag: Histogram,
    /// The number of whole answers by connection. In slices of closed load, answers in the parts that are not counted are included, so
    /// that a connection that has its turn only then does not seem to starve.
    pub served: Vec<u64>,
    /// The number of connections opened within the window.
    pub connections_opened: u64,
    /// The number of whole answers whose body was compared with the expected one, byte by byte.
    #[serde(default)]
    pub verified: u64,
    /// The back end that drove the sockets; unknown in what older versions stored.
    #[serde(default)]
    pub io: Option<String>,
    /// Why the back end was not the best one, `io_uring`; `None` where it was, or where `epoll` was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_fallback: Option<String>,
    /// When bytes last came from the server, counted from the opening of the window. `None`: not within the window; also in sums of several
    /// windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_ns: Option<u64>,
    /// Since when the server owes an answer: when the oldest request in flight at the end was sent, or the first request that was lost after
    /// bytes last came; counted from the opening of the window, and later by the time for which the load generator did not run in the end.
    /// `None`: it owes none; also in sums of several windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed_ns: Option<u64>,
    /// Closed load: how long, at the end of the window, connections that had been answered since they were opened had waited for an answer:
    /// the sum over those that had waited for more than a quarter of the window, half a second and ten times the median latency. `None` in
    /// open load, and in sums of several windows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stalled_ns: Option<u64>,
    /// Closed load: how long connections were refused, or were closed or reset without an answer, within the window: the sum over all
    /// connections. `None` in open load, where a connection may have nothing to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outage_ns: Option<u64>,
    /// Why the load engine stopped before its time: this machine ran out of something.
    #[serde(default)]
    pub halted: Option<String>,
    /// CPU time of the worker threads within the window.
    pub client_cpu_ns: u64,
    /// The part of `client_cpu_ns` that was spent in the kernel, if the system reports it. An estimate: the kernel samples the
    /// split between user and system time and scales it to the exact total.
    #[serde(default)]
    pub client_system_cpu_ns: Option<u64>,
    /// The part of `client_cpu_ns` that the workers spent polling without finding anything to do.
    pub client_idle_ns: u64,
    /// The number of worker threads.
    pub threads: usize,
    /// The share of its time that the busiest worker was busy, in millionths; see [`Tally::client_busiest_use`].
    #[serde(default)]
    pub client_busiest_ppm: Option<u64>,
    /// The load generator's largest resident memory, where it is known.
    pub client_rss_max_bytes: Option<u64>,
    /// Whether the measurement was ended before its time.
    pub interrupted: bool,
    /// The window second by second, if the plan wants it; not stored.
    #[serde(skip)]
    pub series: Vec<Interval>,
    /// The answers in each step of the window, if the plan wants them, separately for each worker; not stored.
    #[serde(skip)]
    pub pulse: Vec<Beat>,
    /// The first answer's bytes, at most [`FIRST_ANSWER_BYTES`], if the plan wants them; not stored.
    #[serde(skip)]
    pub first_answer: Vec<u8>,
}

/// The result of a TLS handshake. Names are IANA's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Agreed {
    /// The protocol: `TLS 1.2` or `TLS 1.3`.
    pub protocol: &'static str,
    /// The cipher suite, such as `TLS_AES_128_GCM_SHA256`.
    pub cipher_suite: &'static str,
    /// The group of the key exchange, such as `X25519`; unknown where an earlier session was resumed.
    pub group: Option<&'static str>,
}

/// The size of the part of the first answer that is kept.
pub const FIRST_ANSWER_BYTES: usize = 64 * 1024;

/// A step of one worker's window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beat {
    /// The number of whole answers, expected or not.
    pub answers: u64,
    /// The length of the step.
    pub duration_ns: u64,
}

impl Tally {
    /// The share of the requests that ended without the expected answer. `None` where none ended.
    pub fn failed_share(&self) -> Option<f64> {
        let failed = self.errors.total() - self.errors.unasked;
        let ended = failed.saturating_add(self.completed);
        (ended > 0).then(|| failed as f64 / ended as f64)
    }

    /// Whether more requests failed than a percentile leaves out: the percentile of the answers that came is then not that of all
    /// requests, of which the failed ones are the worst.
    pub fn is_selection(&self, share: f64) -> bool {
        self.failed_share().is_some_and(|failed| failed > 1.0 - share)
    }

    /// The cause of most errors.
    pub fn main_cause(&self) -> Option<&str> {
        self.error_causes.iter().max_by_key(|(_, n)| **n).map(|(cause, _)| cause.as_str())
    }

    /// The latencies, if there are any of answers: the ages of requests without an answer are no latencies by themselves.
    pub fn answered_latency(&self) -> Option<&Histogram> {
        Some(&self.latency).filter(|latency| latency.count() > self.unanswered)
    }

    /// Whether a percentile of latency is only a lower bound: it lies among the ages of requests without an answer.
    pub fn is_lower_bound(&self, share: f64) -> bool {
        self.unanswered as f64 > self.latency.count() as f64 * (1.0 - share)
    }

    /// A percentile of latency. `None` without answers, and where [`Self::is_selection`].
    pub fn latency_ns(&self, share: f64) -> Option<u64> {
        self.latency.quantile_ns(share).filter(|_| !self.is_selection(share))
    }

    /// How long the server was silent at the end of the window although it owed an answer; `None`: it owed none, or that is not known.
    pub fn silent_ns(&self) -> Option<u64> {
        let since_ns = self.owed_ns?.max(self.heard_ns.unwrap_or(0));
        Some(self.duration_ns.saturating_sub(since_ns))
    }

    /// Whether so long a silence at the end of a window means that a server, or a part of it, may have stopped. One that takes so long for an
    /// answer needs a longer window; and a machine that is shared stands still for half a second now and then.
    pub fn is_long_silence(silent_ns: u64, window_ns: u64) -> bool {
        silent_ns > (window_ns / 4).max(500_000_000)
    }

    /// Requests/s: answers that were complete and as expected. `None` without a window.
    ///
    /// In open load an answer to a request that was due before the window counts only in place of one that was due in it and is still
    /// in flight at its end: a server that works off what the warm-up left behind has at most the offered rate, and one that is slow
    /// and keeps up has all of it.
    pub fn rate_per_s(&self) -> Option<f64> {
        let carried = self.carried_in.unwrap_or(0).min(self.carried_out.unwrap_or(u64::MAX));
        let counted = self.completed_of_due().saturating_add(carried);
        (self.duration_ns > 0).then(|| counted as f64 * 1e9 / self.duration_ns as f64)
    }

    /// The number of answers that were complete and as expected; in open load, only of those to requests that were due within the
    /// window.
    pub fn completed_of_due(&self) -> u64 {
        self.completed.saturating_sub(self.carried_in.unwrap_or(0))
    }

    /// The mean number of requests under way: the time that requests were in flight within the window, or waited in the load generator
    /// to leave, divided by the window's length. It includes those still in flight at the end, but not the times in flight of those lost within
    /// the window. `None` without a window, or without answers.
    pub fn under_way(&self) -> Option<f64> {
        let lag_ns = self.schedule_lag.count() as f64 * self.schedule_lag.mean_ns().unwrap_or(0.0);
        let in_flight_ns = self.completed as f64 * self.service.mean_ns()? + lag_ns;
        let within_ns = in_flight_ns - self.under_way_before_ns as f64 + self.under_way_at_end_ns as f64;
        (self.duration_ns > 0).then(|| within_ns / self.duration_ns as f64)
    }

    /// CPU time of the client per completed request; polling for nothing does not count.
    pub fn client_cpu_ns_per_request(&self) -> Option<f64> {
        (self.completed > 0).then(|| self.client_busy_ns() as f64 / self.completed as f64)
    }

    fn client_busy_ns(&self) -> u64 {
        self.client_cpu_ns.saturating_sub(self.client_idle_ns)
    }

    /// The share of its threads' time that the client was busy; polling for nothing does not count.
    pub fn client_core_use(&self) -> Option<f64> {
        let available = self.duration_ns as f64 * self.threads as f64;
        (available > 0.0).then(|| self.client_busy_ns() as f64 / available)
    }

    /// The share of its time that the busiest worker was busy: a worker that is at its limit holds back its connections, however idle the
    /// others are. For several workers whose own shares are not known, the mean.
    pub fn client_busiest_use(&self) -> Option<f64> {
        self.client_busiest_ppm.map(|ppm| ppm as f64 / 1e6).or_else(|| self.client_core_use())
    }

    fn busiest_ppm(&self) -> Option<u64> {
        let alone = || self.client_core_use().filter(|_| self.threads == 1).map(|share| (share * 1e6) as u64);
        self.client_busiest_ppm.or_else(alone)
    }

    /// Clears all counts and keeps the allocated memory, because histograms are large.
    pub fn clear(&mut self) {
        (self.duration_ns, self.sent, self.completed, self.in_flight_at_end) = (0, 0, 0, 0);
        (self.under_way_before_ns, self.under_way_at_end_ns) = (0, 0);
        (self.due, self.carried_in, self.carried_out) = (None, None, None);
        (self.connections_starved, self.unsent_at_end) = (None, None);
        (self.heard_ns, self.owed_ns, self.stalled_ns, self.outage_ns) = (None, None, None, None);
        (self.sent_bytes, self.received_bytes, self.body_bytes) = (0, 0, 0);
        (self.handshakes_resumed, self.agreed, self.streams_allowed) = (0, None, None);
        self.held_back = 0;
        (self.connections_opened, self.verified, self.unanswered) = (0, 0, 0);
        (self.io, self.io_fallback, self.halted, self.interrupted) = (None, None, None, false);
        (self.client_cpu_ns, self.client_system_cpu_ns, self.client_idle_ns) = (0, None, 0);
        (self.threads, self.client_busiest_ppm, self.client_rss_max_bytes) = (0, None, None);
        self.errors = Errors::default();
        let timed = [&mut self.latency, &mut self.service, &mut self.first_byte, &mut self.schedule_lag];
        let opened = [&mut self.connect, &mut self.handshake];
        for histogram in timed.into_iter().chain(opened).filter(|histogram| histogram.count() > 0) {
            histogram.clear();
        }
        self.error_causes.clear();
        self.status.clear();
        self.served.clear();
        self.series.clear();
        self.pulse.clear();
        self.first_answer.clear();
    }

    /// Adds what another thread, or another machine, counted over the same window.
    pub fn merge(&mut self, other: &Self) {
        self.client_busiest_ppm = self.busiest_ppm().max(other.busiest_ppm());
        self.duration_ns = self.duration_ns.max(other.duration_ns);
        for (own, more) in [
            (&mut self.sent, other.sent),
            (&mut self.completed, other.completed),
            (&mut self.in_flight_at_end, other.in_flight_at_end),
            (&mut self.under_way_before_ns, other.under_way_before_ns),
            (&mut self.under_way_at_end_ns, other.under_way_at_end_ns),
            (&mut self.sent_bytes, other.sent_bytes),
            (&mut self.received_bytes, other.received_bytes),
            (&mut self.body_bytes, other.body_bytes),
            (&mut self.handshakes_resumed, other.handshakes_resumed),
            (&mut self.held_back, other.held_back),
            (&mut self.connections_opened, other.connections_opened),
            (&mut self.verified, other.verified),
            (&mut self.unanswered, other.unanswered),
            (&mut self.client_cpu_ns, other.client_cpu_ns),
            (&mut self.client_idle_ns, other.client_idle_ns),
        ] {
            add(own, more);
        }
        self.due = sum_known(self.due, other.due);
        self.carried_in = sum_known(self.carried_in, other.carried_in);
        self.carried_out = sum_known(self.carried_out, other.carried_out);
        self.connections_starved = sum_known(self.connections_starved, other.connections_starved);
        self.unsent_at_end = sum_known(self.unsent_at_end, other.unsent_at_end);
        self.heard_ns = self.heard_ns.max(other.heard_ns);
        self.owed_ns = [self.owed_ns, other.owed_ns].into_iter().flatten().min();
        self.stalled_ns = sum_known(self.stalled_ns, other.stalled_ns);
        self.outage_ns = sum_known(self.outage_ns, other.outage_ns);
        self.errors.merge(&other.errors);
        add_causes(&mut self.error_causes, &other.error_causes);
        for (status, n) in &other.status {
            add(self.status.entry(*status).or_default(), *n);
        }
        self.latency.merge(&other.latency);
        self.service.merge(&other.service);
        self.first_byte.merge(&other.first_byte);
        self.connect.merge(&other.connect);
        self.handshake.merge(&other.handshake);
        self.agreed = self.agreed.or(other.agreed);
        self.streams_allowed = [self.streams_allowed, other.streams_allowed].into_iter().flatten().min();
        self.schedule_lag.merge(&other.schedule_lag);
        self.served.extend_from_slice(&other.served);
        self.io = self.io.take().or_else(|| other.io.clone());
        self.io_fallback = self.io_fallback.take().or_else(|| other.io_fallback.clone());
        self.halted = self.halted.take().or_else(|| other.halted.clone());
        self.client_system_cpu_ns = sum_known(self.client_system_cpu_ns, other.client_system_cpu_ns);
        self.threads = self.threads.saturating_add(other.threads);
        self.client_rss_max_bytes = self.client_rss_max_bytes.max(other.client_rss_max_bytes);
        self.interrupted |= other.interrupted;
        interval::merge(&mut self.series, &other.series);
        self.pulse.extend_from_slice(&other.pulse);
        if self.first_answer.is_empty() {
            self.first_answer.clone_from(&other.first_answer);
        }
    }
}

impl Tally {
    /// Adds what the same workers counted in a later window on the same connections.
    pub fn append(&mut self, later: &Self) {
        let (duration_ns, threads) = (self.duration_ns, self.threads);
        let served = std::mem::take(&mut self.served);
        let busiest =
            [&*self, later].map(|t| t.busiest_ppm().map(|ppm| u128::from(ppm) * u128::from(t.duration_ns)));
        let is_first = duration_ns == 0 && threads == 0;
        self.merge(later);
        self.duration_ns = duration_ns + later.duration_ns;
        (self.heard_ns, self.owed_ns, self.stalled_ns) = (None, None, None);
        self.threads = threads.max(later.threads);
        for (all, before) in self.served.iter_mut().zip(&served) {
            *all += before;
        }
        self.served.extend(served.iter().skip(self.served.len()));
        // A connection that starved in several windows counts once; one that was answered in any window does not count.
        let never_served = self.served.iter().filter(|n| **n == 0).count() as u64;
        self.connections_starved = self.connections_starved.map(|sum| sum.min(never_served));
        let sum = if is_first { busiest[1] } else { busiest[0].zip(busiest[1]).map(|(a, b)| a + b) };
        self.client_busiest_ppm =
            sum.and_then(|sum| sum.checked_div(u128::from(self.duration_ns))).map(|ppm| ppm as u64);
    }
}

/// Adds to a count. Another machine may send any: a sum that is too large stays at the largest number.
fn add(own: &mut u64, more: u64) {
    *own = own.saturating_add(more);
}

fn sum_known(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.saturating_add(b)),
        (one, other) => one.or(other),
    }
}

#[cfg(test)]
mod tests;
