//! weighttp 0.3: a number of requests over a number of connections, in several threads.
//!
//! This dialect differs on purpose where weighttp can't parse answers: HTTP/1.0 answers are accepted, and the chunks' framing is not
//! counted as data. If no server is listening, one request is tried instead of all.

mod options;

use crate::job::ask;
use crate::number::strerror;
use crate::{Call, Dialect, Halt, Job, Printed};
use model::{End, Exchange, Load, Plan, Tally, Until};
use options::Options;
use std::fmt::Write;
use std::time::Duration;

/// weighttp 0.3.
pub const DIALECT: Dialect =
    Dialect { name: "weighttp", about: "a number of requests over connections (0.3)", parse };

/// weighttp has no timeout, so the timeout is a century.
const FOR_EVER: Duration = Duration::from_hours(100 * 365 * 24);

/// The first line of every output.
const BANNER: &str = "weighttp - a lightweight and simple webserver benchmarking tool\n\n";

fn parse(call: &Call) -> Result<Box<dyn Job>, Printed> {
    let with_banner = |printed: Printed| Printed { out: format!("{BANNER}{}", printed.out), ..printed };
    let options = Options::parse(&call.args).map_err(with_banner)?;
    let target = options.target().map_err(with_banner)?;
    let ask = ask(options.request(&target));
    let per_connection = (!options.keep_alive).then_some(1);
    let load = Load::Closed { connections: options.connections.into(), per_connection };
    let plan = Plan {
        threads: options.threads.into(),
        timeout: FOR_EVER,
        ..Plan::new(target, ask, load, Until::Answered(options.requests))
    };
    let of_first = options.of_thread(0).1;
    Ok(Box::new(Weighttp { options, plan, of_first, first_done: 0, count: Count::default() }))
}

/// A measurement that prints as weighttp does.
struct Weighttp {
    options: Options,
    plan: Plan,
    /// The requests of the first thread, the only one that prints its progress.
    of_first: u64,
    first_done: u64,
    count: Count,
}

/// The counts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    succeeded: u64,
    failed: u64,
    errored: u64,
    data_bytes: u64,
}

impl Job for Weighttp {
    fn plan(&self) -> &Plan {
        &self.plan
    }

    fn begin(&mut self) -> Printed {
        let mut out = format!("{BANNER}starting benchmark...\n");
        for thread in 0..self.options.threads {
            let (connections, requests) = self.options.of_thread(thread);
            let _ = writeln!(
                out,
                "spawning thread #{}: {connections} concurrent requests, {requests} total requests",
                thread + 1
            );
        }
        Printed::out(out)
    }

    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        let mut out = String::new();
        for exchange in exchanges {
            self.count.hear(exchange);
            let is_first = exchange.connection >> 32 == 0;
            if is_first {
                self.first_done += 1;
                if self.first_done.is_multiple_of((self.of_first / 10).max(1)) {
                    let percent = self.first_done * 100 / self.of_first.max(1);
                    let _ = writeln!(out, "progress: {percent:>3}% done");
                }
            }
        }
        Printed::out(out)
    }

    fn print(&mut self, tally: &Tally) -> Printed {
        let mut err = String::new();
        for (cause, n) in &tally.error_causes {
            let _ = writeln!(err, "error: {cause} ({n} times)");
        }
        Printed { err, ..Printed::out(self.report(tally)) }
    }

    fn fail(&mut self, halt: &Halt) -> Printed {
        match halt {
            Halt::Connect(error) => {
                self.count = Count { failed: 1, errored: 1, ..Count::default() };
                let report = self.report(&Tally { sent: 1, ..Tally::default() });
                let errno = error.raw_os_error().map_or_else(String::new, |errno| format!(" ({errno})"));
                let why = strerror(error);
                Printed { err: format!("error: connect() failed: {why}{errno}\n"), ..Printed::out(report) }
                    .exit(0)
            }
            Halt::Other { why, .. } => Printed::err(format!("error: {why}\n")).exit(2),
        }
    }
}

impl Count {
    fn hear(&mut self, exchange: &Exchange) {
        match exchange.end {
            End::Answered { status: ..400, .. } => {
                self.succeeded += 1;
                self.data_bytes += exchange.body_bytes;
            }
            End::Answered { .. } => self.failed += 1,
            End::Lost(_) => {
                self.failed += 1;
                self.errored += 1;
            }
        }
    }
}

impl Weighttp {
    fn report(&self, tally: &Tally) -> String {
        let Count { succeeded, failed, errored, data_bytes } = self.count;
        let ns = tally.duration_ns;
        let (s, ms, us) = (ns / 1_000_000_000, ns / 1_000_000 % 1000, ns / 1000 % 1000);
        let done = succeeded + failed;
        // The tool truncates to whole numbers; with no elapsed time, the rates are 0.
        let per_s = |n: u64| if ns > 0 { (n as f64 * 1e9 / ns as f64) as u64 } else { 0 };
        // A request that failed before it was sent counts as started.
        let started = tally.sent.max(done);
        let class = |low: u16, high: u16| tally.status.range(low..=high).map(|(_, n)| n).sum::<u64>();
        let (total, bytes) = (self.options.requests, tally.received_bytes);
        format!(
            "\nfinished in {s} sec, {ms} millisec and {us} microsec, {} req/s, {} kbyte/s\n\
             requests: {total} total, {started} started, {done} done, {succeeded} succeeded, {failed} failed, \
             {errored} errored\n\
             status codes: {} 2xx, {} 3xx, {} 4xx, {} 5xx\n\
             traffic: {bytes} bytes total, {} bytes http, {data_bytes} bytes data\n",
            per_s(done),
            per_s(bytes) / 1024,
            class(200, 299),
            class(300, 399),
            class(400, 499),
            class(500, 599),
            bytes.saturating_sub(data_bytes)
        )
    }
}
