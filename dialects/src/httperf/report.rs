//! httperf's report, with its own arithmetic: sizes are whole bytes, because it divides integers.

use super::count::{Count, Spread};
use super::first::First;
use model::Tally;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The interval at which the rate of replies is sampled, in seconds.
const INTERVAL_S: f64 = 5.0;

/// The data for the report.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// The completed counts of calls.
    pub count: &'a Count,
    /// The load engine's counts.
    pub tally: &'a Tally,
    /// The time between the beginnings of two connections, if they begin at a rate: two in less than half of it are a burst.
    pub gap_ns: Option<f64>,
    /// The client's number, and the number of clients, which sample at different times.
    pub client: (u64, u64),
    /// How often `--verbose` was given.
    pub verbose: u32,
}

impl Report<'_> {
    /// The whole report.
    pub fn print(&self) -> String {
        let mut out = String::new();
        // Writing to a String never fails.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        let Self { count, tally, .. } = self;
        let first_s = (self.client.0 as f64 + 1.0) * INTERVAL_S / self.client.1 as f64;
        let rates = count.rates(first_s, INTERVAL_S);
        if self.verbose > 0 {
            rates.iter().try_for_each(|rate| writeln!(out, "reply-rate = {rate:<8.1}"))?;
        }
        writeln!(out, "Maximum connect burst length: {}", count.burst(self.gap_ns))?;
        self.histogram(out)?;
        // If nothing happened, the duration is 0.
        let seconds = count.duration_ns().unwrap_or(tally.duration_ns).max(1) as f64 / 1e9;
        let (connections, replies) = (count.connections(), count.total());
        writeln!(
            out,
            "\nTotal: connections {connections} requests {} replies {replies} test-duration {seconds:.3} s\n",
            tally.sent
        )?;
        self.connections(out, seconds)?;
        writeln!(
            out,
            "Request rate: {:.1} req/s ({:.1} ms/req)\nRequest size [B]: {}.0\n",
            tally.sent as f64 / seconds,
            each(seconds * 1e3, tally.sent),
            tally.sent_bytes.checked_div(tally.sent).unwrap_or(0)
        )?;
        self.replies(out, seconds, &Spread::of(rates))?;
        self.errors(out)
    }

    fn histogram(&self, out: &mut String) -> std::fmt::Result {
        if self.verbose < 2 {
            return Ok(());
        }
        writeln!(out, "\nConnection lifetime histogram (time in ms):")?;
        let mut next = 0;
        for (bin, n) in self.count.bins() {
            if bin > next {
                writeln!(out, "{:>14}", ':')?;
            }
            writeln!(out, "{:>16.1} {n}", bin as f64 + 0.5)?;
            next = bin + 1;
        }
        Ok(())
    }

    fn connections(&self, out: &mut String, seconds: f64) -> std::fmt::Result {
        let count = self.count;
        let (n, lifetimes) = (count.connections(), &count.lifetimes);
        writeln!(
            out,
            "Connection rate: {:.1} conn/s ({:.1} ms/conn, <={} concurrent connections)",
            n as f64 / seconds,
            each(seconds * 1e3, n),
            count.concurrent()
        )?;
        writeln!(
            out,
            "Connection time [ms]: min {:.1} avg {:.1} max {:.1} median {:.1} stddev {:.1}",
            lifetimes.min / 1e6,
            lifetimes.mean / 1e6,
            lifetimes.max / 1e6,
            count.median_ms(),
            lifetimes.sd() / 1e6
        )?;
        writeln!(
            out,
            "Connection time [ms]: connect {:.1}\nConnection length [replies/conn]: {:.3}\n",
            count.connects.mean / 1e6,
            each(count.total() as f64, lifetimes.n)
        )
    }

    fn replies(&self, out: &mut String, seconds: f64, rates: &Spread) -> std::fmt::Result {
        let Self { count, tally, .. } = self;
        let replies = count.total();
        writeln!(
            out,
            "Reply rate [replies/s]: min {:.1} avg {:.1} max {:.1} stddev {:.1} ({} samples)\n\
             Reply time [ms]: response {:.1} transfer {:.1}",
            rates.min,
            rates.mean,
            rates.max,
            rates.sd(),
            rates.n,
            count.responses.mean / 1e6,
            count.transfers.mean / 1e6
        )?;
        let (header_bytes, footer) = self.around();
        let header = header_bytes.checked_div(replies).unwrap_or(0);
        let content = count.content_bytes.checked_div(replies).unwrap_or(0);
        let [_, r1, r2, r3, r4, r5, ..] = count.replies;
        writeln!(
            out,
            "Reply size [B]: header {header}.0 content {content}.0 footer {footer}.0 (total {}.0)\n\
             Reply status: 1xx={r1} 2xx={r2} 3xx={r3} 4xx={r4} 5xx={r5}\n",
            header + content + footer
        )?;
        let total = tally.client_cpu_ns as f64 / 1e9;
        let system = tally.client_system_cpu_ns.unwrap_or(0) as f64 / 1e9;
        let user = total - system;
        let percent = |part: f64| 100.0 * part / seconds;
        writeln!(
            out,
            "CPU time [s]: user {user:.2} system {system:.2} (user {:.1}% system {:.1}% total {:.1}%)",
            percent(user),
            percent(system),
            percent(total)
        )?;
        let bytes = (tally.sent_bytes + header_bytes + count.content_bytes) as f64;
        writeln!(
            out,
            "Net I/O: {:.1} KB/s ({:.1}*10^6 bps)\n",
            bytes / seconds / 1024.0,
            8e-6 * bytes / seconds
        )
    }

    /// The bytes of all replies' heads, and the bytes after a reply's last chunk. If all replies are complete and
    /// not chunked, the heads are the received bytes without the bodies. Otherwise the first reply shows the size
    /// of a head.
    fn around(&self) -> (u64, u64) {
        let Self { count, tally, .. } = self;
        let replies = count.total();
        let first = First::of(&tally.first_answer);
        let is_plain = tally.errors.total() == 0 && tally.in_flight_at_end == 0;
        match first {
            _ if replies == 0 => (0, 0),
            Some(First { footer: Some(footer), head, .. }) => (head as u64 * replies, footer as u64),
            Some(First { head, .. }) if !is_plain => (head as u64 * replies, 0),
            _ => (tally.received_bytes.saturating_sub(tally.body_bytes), 0),
        }
    }

    fn errors(&self, out: &mut String) -> std::fmt::Result {
        let errors = self.kinds();
        let n = |kind: &str| errors.get(kind).copied().unwrap_or(0);
        writeln!(
            out,
            "Errors: total {} client-timo {} socket-timo {} connrefused {} connreset {}\n\
             Errors: fd-unavail {} addrunavail 0 ftab-full {} other {}",
            errors.values().sum::<u64>(),
            n("client-timo"),
            n("socket-timo"),
            n("connrefused"),
            n("connreset"),
            n("fd-unavail"),
            n("ftab-full"),
            n("other")
        )
    }

    /// The failed connections by httperf's kinds. `count` knows only the coarse kind; where the tally's causes name the system's error,
    /// connections are moved to the exact one.
    fn kinds(&self) -> BTreeMap<&'static str, u64> {
        let mut errors = self.count.failed.clone();
        let mut turn = |from: &'static str, to: &'static str, n: u64| {
            let left = errors.entry(from).or_default();
            let n = n.min(*left);
            *left -= n;
            *errors.entry(to).or_default() += n;
        };
        for (cause, n) in &self.tally.error_causes {
            let is = |words: &[&str]| words.iter().any(|word| cause.contains(word));
            match cause.split(':').next().unwrap_or_default() {
                "connect" if is(&["within the timeout"]) => turn("connrefused", "client-timo", *n),
                "connect" if is(&["os error 110"]) => turn("connrefused", "socket-timo", *n),
                "connect" if is(&["os error 104"]) => turn("connrefused", "connreset", *n),
                "connect" if !is(&["os error 111"]) => turn("connrefused", "other", *n),
                "send" | "receive" if is(&["os error 110"]) => turn("connreset", "socket-timo", *n),
                "local" if is(&["os error 23)"]) => turn("fd-unavail", "ftab-full", *n),
                "local" if !is(&["os error 24)"]) => turn("fd-unavail", "other", *n),
                _ => {}
            }
        }
        errors
    }
}

/// The average per item; 0 without items, as in the tool.
fn each(whole: f64, n: u64) -> f64 {
    if n > 0 { whole / n as f64 } else { 0.0 }
}
