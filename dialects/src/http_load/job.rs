//! A run of `http_load`: its counts and its report.

use super::options::{End, Options, Start};
use crate::number::{g, strerror};
use crate::{Halt, Job, Printed};
use model::{End as Outcome, Exchange, Loss, Plan, Tally};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The interval between two lines about progress.
const PROGRESS: Duration = Duration::from_mins(1);

/// A run, from a parsed command line.
#[derive(Debug)]
pub struct HttpLoad {
    /// The plan.
    pub plan: Plan,
    /// The options.
    pub options: Options,
    /// The URLs, as they were given.
    pub urls: Vec<String>,
    /// The counts.
    pub sums: Sums,
    /// When it began.
    pub began: Option<Instant>,
    /// The number of lines about progress so far.
    pub reports: u32,
}

/// Times of one kind, in whole microseconds like the tool's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    n: u64,
    sum: u64,
    max: u64,
    min: u64,
}

/// The counts. Their size grows with the fetches in flight, not with all fetches.
#[derive(Debug, Default)]
pub struct Sums {
    /// All fetches that have ended.
    pub fetches: u64,
    /// The largest number of parallel fetches at any moment.
    pub max_parallel: u64,
    /// Bytes of bodies.
    pub bytes: u64,
    /// The duration of the run, in nanoseconds.
    pub elapsed_ns: u64,
    connects: Times,
    responses: Times,
    timeouts: u64,
    bad_byte_counts: u64,
    codes: BTreeMap<u16, u64>,
    /// For each URL, the result of its first fetch.
    first_bytes: BTreeMap<u32, u64>,
    parallel: Parallel,
}

/// Counts parallel fetches, although each is reported only when it has ended. A fetch that is reported later began
/// at most one timeout earlier, so the counts for earlier moments are final.
#[derive(Debug, Default)]
struct Parallel {
    moments: BinaryHeap<Reverse<(u64, i8)>>,
    now: u64,
    most: u64,
}

impl Times {
    fn add(&mut self, ns: u64) {
        let us = ns / 1000;
        self.min = if self.n == 0 { us } else { self.min.min(us) };
        self.max = self.max.max(us);
        self.sum += us;
        self.n += 1;
    }

    fn line(&self, what: &str) -> String {
        if self.n == 0 {
            return String::new();
        }
        let mean = self.sum as f64 / self.n as f64 / 1000.0;
        let (max, min) = (self.max as f64 / 1000.0, self.min as f64 / 1000.0);
        format!("msecs/{what}: {} mean, {} max, {} min\n", g(mean), g(max), g(min))
    }
}

impl Parallel {
    fn add(&mut self, began_ns: u64, done_ns: u64, reach_ns: u64) {
        // At the same moment, ends come before beginnings, because one fetch takes the other's place.
        self.moments.push(Reverse((began_ns, 1)));
        self.moments.push(Reverse((done_ns, -1)));
        self.settle(done_ns.saturating_sub(reach_ns));
    }

    fn settle(&mut self, until_ns: u64) {
        while let Some(Reverse((_, step))) = self.moments.peek().copied().filter(|m| m.0.0 < until_ns) {
            self.moments.pop();
            self.now = self.now.saturating_add_signed(i64::from(step));
            self.most = self.most.max(self.now);
        }
    }
}

impl Sums {
    /// Counts a fetch, and the parallel fetches if later reports reach back at most `reach_ns`. Returns the tool's
    /// error message, if there is one.
    fn add(&mut self, exchange: &Exchange, reach_ns: Option<u64>) -> Option<&'static str> {
        self.fetches += 1;
        self.bytes += exchange.body_bytes;
        if let Some(ns) = exchange.connect_time_ns() {
            self.connects.add(ns);
        }
        if let Some(ns) = exchange.waiting_ns() {
            self.responses.add(ns);
        }
        if let Some(status) = exchange.status() {
            *self.codes.entry(status).or_default() += 1;
        }
        if let Some(reach_ns) = reach_ns {
            self.parallel.add(exchange.connect_ns, exchange.done_ns, reach_ns);
        }
        let is_late = exchange.end == Outcome::Lost(Loss::Timeout);
        self.timeouts += u64::from(is_late);
        let first = *self.first_bytes.entry(exchange.ask).or_insert(exchange.body_bytes);
        let is_bad = first != exchange.body_bytes;
        self.bad_byte_counts += u64::from(is_bad);
        match exchange.end {
            Outcome::Lost(Loss::Timeout) => Some("timed out"),
            Outcome::Lost(Loss::Connect | Loss::Handshake) => Some("can't connect"),
            _ if is_bad => Some("byte count wrong"),
            _ => None,
        }
    }

    /// The report.
    pub fn report(&self) -> String {
        let elapsed_s = self.elapsed_ns as f64 / 1e9;
        let (bytes, fetches) = (self.bytes as f64, self.fetches as f64);
        let mut text = format!(
            "{} fetches, {} max parallel, {} bytes, in {} seconds\n",
            self.fetches,
            self.max_parallel,
            g(bytes),
            g(elapsed_s)
        );
        if self.fetches > 0 {
            let _ = writeln!(text, "{} mean bytes/connection", g(bytes / fetches));
        }
        if elapsed_s > 0.01 {
            let _ =
                writeln!(text, "{} fetches/sec, {} bytes/sec", g(fetches / elapsed_s), g(bytes / elapsed_s));
        }
        text.push_str(&self.connects.line("connect"));
        text.push_str(&self.responses.line("first-response"));
        for (n, what) in [(self.timeouts, "timeouts"), (self.bad_byte_counts, "bad byte counts")] {
            if n > 0 {
                let _ = writeln!(text, "{n} {what}");
            }
        }
        text.push_str("HTTP response codes:\n");
        for (code, n) in &self.codes {
            let _ = writeln!(text, "  code {code:03} -- {n}");
        }
        text
    }
}

impl Job for HttpLoad {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn begin(&mut self) -> Printed {
        self.began = Some(Instant::now());
        Printed::default()
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        // With -parallel the number is known, and keeping a minute of fetches would take much memory.
        let is_paced = matches!(self.options.start, Start::Rate(_));
        let reach_ns = is_paced.then(|| self.plan.timeout.as_nanos() as u64 + 1_000_000_000);
        let mut printed = Printed::default();
        for exchange in exchanges {
            if let Some(what) = self.sums.add(exchange, reach_ns) {
                let url = self.urls.get(exchange.ask as usize).map_or("", String::as_str);
                let _ = writeln!(printed.err, "{url}: {what}");
            }
        }
        printed
    }

    fn tick(&mut self, done: u64) -> Printed {
        let elapsed = self.began.map_or(Duration::ZERO, |began| began.elapsed());
        if !self.options.verbose || elapsed < PROGRESS * (self.reports + 1) {
            return Printed::default();
        }
        self.reports += 1;
        let started = match self.options.start {
            Start::Parallel(n) => done + n as u64,
            Start::Rate(rate) => (elapsed.as_secs_f64() * f64::from(rate)) as u64,
        };
        let (secs, current) = (g(elapsed.as_secs_f64()), started.saturating_sub(done));
        Printed::err(format!(
            "--- {secs} secs, {started} fetches started, {done} completed, {current} current\n"
        ))
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        self.sums.elapsed_ns = tally.duration_ns;
        self.sums.parallel.settle(u64::MAX);
        self.sums.max_parallel = match self.options.start {
            Start::Parallel(n) => tally.connections_opened.max(self.sums.fetches).min(n as u64),
            Start::Rate(_) => self.sums.parallel.most,
        };
        Printed::out(self.sums.report()).exit(0)
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        let why = match halt {
            Halt::Connect(error) => strerror(error),
            Halt::Other { why, .. } => return Printed::err(format!("http_load: {why}\n")).exit(1),
        };
        let url = self.urls.first().map_or("", String::as_str);
        let line = format!("{url}: {why}\n");
        // Every fetch would fail like this. In a run by time their number is unknown, so only one is reported.
        let fetches = match self.options.end {
            End::Fetches(n) => n,
            End::Seconds(_) => 1,
        };
        self.sums.fetches = fetches;
        self.sums.max_parallel = match self.options.start {
            Start::Parallel(n) => fetches.min(n as u64),
            Start::Rate(_) => 1,
        };
        let err = line.repeat(fetches.min(100_000) as usize);
        Printed { out: self.sums.report(), err, ..Printed::default() }.exit(0)
    }
}
