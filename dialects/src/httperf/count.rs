//! httperf's counts, made from the exchanges as they are reported. Only sums are kept, and two moments for each connection.

use model::{End, Exchange, Loss};
use std::collections::{BTreeMap, HashMap};

/// The width of the bins in which lifetimes are counted: one millisecond.
const BIN_NS: u64 = 1_000_000;

/// The longest lifetime that has a bin: 100 s.
const BINS: u64 = 100_000;

/// The length of the steps in which replies are counted. Samples of five seconds are made from them.
const STEP_NS: u64 = 10_000_000;

/// The sums.
#[derive(Debug, Default)]
pub struct Count {
    /// The calls of each connection.
    calls: u64,
    /// The connections with calls left, or which ended early.
    open: HashMap<u64, Open>,
    begun: Vec<u64>,
    closed: Vec<u64>,
    /// The lifetimes of connections with a reply, in ns.
    pub lifetimes: Spread,
    bins: BTreeMap<u64, u64>,
    /// The times until connections were open, in ns.
    pub connects: Spread,
    /// The times from a call to the first byte of its reply, in ns.
    pub responses: Spread,
    /// The times from the first byte of a reply to its last, in ns.
    pub transfers: Spread,
    /// The replies by the first digit of their status.
    pub replies: [u64; 10],
    /// Bytes of replies' bodies.
    pub content_bytes: u64,
    steps: BTreeMap<u64, u64>,
    /// The failed connections, by cause.
    pub failed: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
struct Open {
    replies: u64,
    last_ns: u64,
    connect_ns: u64,
    lost: Option<Loss>,
}

/// Count, minimum, maximum, mean and deviation of numbers that are not kept, by Welford's algorithm.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// The count.
    pub n: u64,
    /// The minimum.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The maximum.
    pub max: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.min = if self.n == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.n += 1;
        let before = value - self.mean;
        self.mean += before / self.n as f64;
        self.squares += before * (value - self.mean);
    }

    /// The standard deviation of a sample.
    pub fn sd(&self) -> f64 {
        if self.n > 1 { (self.squares / (self.n - 1) as f64).max(0.0).sqrt() } else { 0.0 }
    }

    /// The summary of these numbers.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self::default(), |mut spread, value| {
            spread.add(value);
            spread
        })
    }
}

impl Count {
    /// Empty counts, for connections with this number of calls each.
    pub fn new(calls: u64) -> Self {
        Self { calls, ..Self::default() }
    }

    /// Counts a finished call.
    pub fn hear(&mut self, exchange: &Exchange) {
        let open = self.open.entry(exchange.connection).or_insert_with(|| {
            self.begun.push(exchange.connect_ns);
            if let Some(ns) = exchange.connect_time_ns() {
                self.connects.add(ns as f64);
            }
            Open { replies: 0, last_ns: 0, connect_ns: exchange.connect_ns, lost: None }
        });
        open.last_ns = open.last_ns.max(exchange.done_ns);
        match exchange.end {
            End::Answered { status, .. } => {
                open.replies += 1;
                self.replies[usize::from(status / 100).min(9)] += 1;
                self.content_bytes += exchange.body_bytes;
                self.responses.add(exchange.waiting_ns().unwrap_or_default() as f64);
                self.transfers.add(exchange.done_ns.saturating_sub(exchange.first_byte_ns) as f64);
                *self.steps.entry(exchange.done_ns / STEP_NS).or_default() += 1;
                if open.replies == self.calls {
                    self.close(exchange.connection, false);
                }
            }
            End::Lost(loss) => _ = open.lost.get_or_insert(loss),
        }
    }

    /// Completes the counts. `is_cut_short`: drome closed the connections with calls left.
    pub fn finish(&mut self, is_cut_short: bool) {
        let left: Vec<u64> = self.open.keys().copied().collect();
        left.into_iter().for_each(|number| self.close(number, !is_cut_short));
        self.begun.sort_unstable();
        self.closed.sort_unstable();
    }

    fn close(&mut self, number: u64, has_failed: bool) {
        let Some(open) = self.open.remove(&number) else { return };
        self.closed.push(open.last_ns);
        if open.replies > 0 {
            let lifetime_ns = open.last_ns.saturating_sub(open.connect_ns);
            self.lifetimes.add(lifetime_ns as f64);
            *self.bins.entry(lifetime_ns / BIN_NS).or_default() += 1;
        }
        if let Some(kind) = open.lost.map(word).or(has_failed.then_some("connreset")) {
            *self.failed.entry(kind).or_default() += 1;
        }
    }

    /// The number of connections that began.
    pub fn connections(&self) -> u64 {
        self.begun.len() as u64
    }

    /// The number of all replies.
    pub fn total(&self) -> u64 {
        self.replies.iter().sum()
    }

    /// The time from the first connection's beginning to the last one's end; `None` without connections.
    pub fn duration_ns(&self) -> Option<u64> {
        Some(self.closed.last()?.saturating_sub(*self.begun.first()?))
    }

    /// The largest number of simultaneous connections.
    pub fn concurrent(&self) -> u64 {
        let mut closed = self.closed.iter().peekable();
        let (mut now, mut most) = (0u64, 0);
        for begun in &self.begun {
            // If one ends at the moment at which another begins, they do not count as simultaneous.
            while now > 0 && closed.next_if(|closed| *closed <= begun).is_some() {
                now -= 1;
            }
            now += 1;
            most = most.max(now);
        }
        most
    }

    /// The largest burst: consecutive connections that began at least twice as fast as they were due. Like the
    /// tool, this ignores the last burst.
    pub fn burst(&self, gap_ns: Option<f64>) -> u64 {
        let (mut row, mut most) = (1, 0);
        for pair in self.begun.windows(2) {
            if gap_ns.is_some_and(|gap_ns| ((pair[1] - pair[0]) as f64) < gap_ns / 2.0) {
                row += 1;
            } else {
                most = most.max(row);
                row = 1;
            }
        }
        most
    }

    /// The median lifetime by bins, in ms; 0 if it is longer than 100 s.
    pub fn median_ms(&self) -> f64 {
        let mut n = 0;
        for (bin, count) in self.bins.range(..BINS) {
            n += count;
            if n as f64 >= 0.5 * self.lifetimes.n as f64 {
                return *bin as f64 + 0.5;
            }
        }
        0.0
    }

    /// The lifetimes in milliseconds, with their counts.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins.range(..BINS).map(|(bin, n)| (*bin, *n))
    }

    /// The rate of replies per second in every complete interval; the first one may have another length.
    pub fn rates(&self, first_s: f64, interval_s: f64) -> Vec<f64> {
        let (Some(start), Some(duration_ns)) = (self.begun.first(), self.duration_ns()) else {
            return Vec::new();
        };
        let mut rates = Vec::new();
        let (mut from, mut to) = (0.0, first_s * 1e9);
        while to <= duration_ns as f64 {
            let step = |offset: f64| (start + offset as u64) / STEP_NS;
            let replies: u64 = self.steps.range(step(from)..step(to)).map(|(_, n)| n).sum();
            rates.push(replies as f64 * 1e9 / (to - from));
            (from, to) = (to, to + interval_s * 1e9);
        }
        rates
    }
}

/// httperf's name for the cause of a failed connection.
fn word(loss: Loss) -> &'static str {
    match loss {
        Loss::Timeout => "client-timo",
        Loss::Connect => "connrefused",
        Loss::Send | Loss::Receive | Loss::Ended => "connreset",
        Loss::Local => "fd-unavail",
        Loss::Handshake | Loss::Protocol => "other",
    }
}
