//! What httperf counts, folded from the exchanges as they come: of a million calls nothing is kept but sums, and two
//! moments for each connection.

use model::{End, Exchange, Loss};
use std::collections::{BTreeMap, HashMap};

/// Lifetimes are counted in bins of a millisecond.
const BIN_NS: u64 = 1_000_000;

/// Longer ones have no bin: 100 s.
const BINS: u64 = 100_000;

/// Replies are counted in steps of so long, of which samples of five seconds are made.
const STEP_NS: u64 = 10_000_000;

/// The sums.
#[derive(Debug, Default)]
pub struct Count {
    /// Calls that a connection is for.
    calls: u64,
    /// Connections that have calls left, or ended before their time.
    open: HashMap<u64, Open>,
    begun: Vec<u64>,
    closed: Vec<u64>,
    /// Of connections that brought a reply, in ns.
    pub lifetimes: Spread,
    bins: BTreeMap<u64, u64>,
    /// How long connections took to open, in ns.
    pub connects: Spread,
    /// From a call to the first of its reply, in ns.
    pub responses: Spread,
    /// From the first of a reply to its last, in ns.
    pub transfers: Spread,
    /// By the first digit of their status.
    pub replies: [u64; 10],
    /// Bytes of replies' bodies.
    pub content_bytes: u64,
    steps: BTreeMap<u64, u64>,
    /// Connections that failed, by how.
    pub failed: BTreeMap<&'static str, u64>,
}

#[derive(Debug)]
struct Open {
    replies: u64,
    last_ns: u64,
    connect_ns: u64,
    lost: Option<Loss>,
}

/// Sum, least, most and deviation of some numbers, which need not be kept: Welford's way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spread {
    /// How many.
    pub n: u64,
    /// The least.
    pub min: f64,
    /// The mean.
    pub mean: f64,
    /// The most.
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

    /// Of a sample.
    pub fn sd(&self) -> f64 {
        if self.n > 1 { (self.squares / (self.n - 1) as f64).max(0.0).sqrt() } else { 0.0 }
    }

    /// Of these.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        values.into_iter().fold(Self::default(), |mut spread, value| {
            spread.add(value);
            spread
        })
    }
}

impl Count {
    /// Nothing yet, of connections for so many calls each.
    pub fn new(calls: u64) -> Self {
        Self { calls, ..Self::default() }
    }

    /// A call is over.
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

    /// Nothing more comes. `is_cut_short`: connections with calls left were ended by who measures.
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

    /// Connections that were begun.
    pub fn connections(&self) -> u64 {
        self.begun.len() as u64
    }

    /// All replies.
    pub fn total(&self) -> u64 {
        self.replies.iter().sum()
    }

    /// From the first connection's beginning to the last one's end. `None` without any.
    pub fn duration_ns(&self) -> Option<u64> {
        Some(self.closed.last()?.saturating_sub(*self.begun.first()?))
    }

    /// The most connections at one time.
    pub fn concurrent(&self) -> u64 {
        let mut closed = self.closed.iter().peekable();
        let (mut now, mut most) = (0u64, 0);
        for begun in &self.begun {
            // One that ends in the moment in which another begins makes room for it.
            while now > 0 && closed.next_if(|closed| *closed <= begun).is_some() {
                now -= 1;
            }
            now += 1;
            most = most.max(now);
        }
        most
    }

    /// The most connections that were begun in a row faster than they were due: twice as fast, or more. As the tool
    /// has it, the last such row is not looked at.
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

    /// The bin in which half of all lifetimes are reached, in ms; 0 where that takes longer than 100 s.
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

    /// Lifetimes by the millisecond, and how many.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.bins.range(..BINS).map(|(bin, n)| (*bin, *n))
    }

    /// The rate of replies, per second, in every whole interval; the first one may be another length.
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

/// httperf's word for how a connection failed.
fn word(loss: Loss) -> &'static str {
    match loss {
        Loss::Timeout => "client-timo",
        Loss::Connect => "connrefused",
        Loss::Send | Loss::Receive | Loss::Ended => "connreset",
        Loss::Local => "fd-unavail",
        Loss::Handshake | Loss::Protocol => "other",
    }
}
