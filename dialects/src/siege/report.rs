//! siege's figures and how it prints them. Its clock counts hundredths of a second: a transaction's time is the
//! number of ticks between its beginning and end.

use model::{End, Exchange, Loss};

/// A tick of siege's clock, in nanoseconds.
pub const TICK_NS: u64 = 10_000_000;

/// siege's counts. Their size in memory is constant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    /// The transactions that siege counts as hits.
    pub hits: u64,
    /// The transactions with a status below 400, or with 401 or 407.
    pub okay: u64,
    /// The transactions that siege counts as failed: no answer, an answer that is not HTTP, or the status 408 or
    /// 500 to 509.
    pub failed: u64,
    /// The sum of all transactions' ticks.
    pub ticks: u64,
    /// The bytes of all bodies.
    pub bytes: u64,
    /// The ticks of the longest transaction.
    pub longest: u64,
    /// The ticks of the shortest transaction, if one ended.
    pub shortest: Option<u64>,
    /// The duration of the run, in ticks.
    pub elapsed: u64,
}

/// A transaction, for a line of verbose mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line {
    /// The status.
    pub status: u16,
    /// Its ticks.
    pub ticks: u64,
    /// The bytes of its body.
    pub bytes: u64,
}

/// The status that siege uses for an answer that is not HTTP.
const NOT_HTTP: u16 = 418;

impl Sums {
    /// Counts an exchange, and returns its line of verbose mode, if siege prints one.
    pub fn add(&mut self, exchange: &Exchange, zero_ok: bool) -> Option<Line> {
        let ticks = (exchange.done_ns / TICK_NS).saturating_sub(exchange.began_ns() / TICK_NS);
        let (status, bytes) = match exchange.end {
            End::Answered { status, .. } => (status, exchange.body_bytes),
            End::Lost(Loss::Protocol) => (NOT_HTTP, 0),
            End::Lost(_) => {
                self.failed += 1;
                return None;
            }
        };
        if status == NOT_HTTP {
            self.hits += 1;
            self.failed += 1;
            self.ticks += ticks;
            return Some(Line { status, ticks, bytes: 0 });
        }
        if bytes == 0 && !zero_ok {
            self.failed += 1;
            return None;
        }
        self.bytes += bytes;
        self.ticks += ticks;
        self.longest = self.longest.max(ticks);
        self.shortest = Some(self.shortest.map_or(ticks, |least| least.min(ticks)));
        self.okay += u64::from(status < 400 || status == 401 || status == 407);
        if status == 408 || (500..510).contains(&status) {
            self.failed += 1;
        } else {
            self.hits += 1;
        }
        Some(Line { status, ticks, bytes })
    }

    fn elapsed_s(&self) -> f64 {
        self.elapsed as f64 / 100.0
    }

    fn mb(&self) -> f64 {
        self.bytes as f64 / (1024.0 * 1024.0)
    }

    /// The report's lines: a label, the key in JSON, the figure and its unit. In this version, `Longest transaction` has no unit.
    fn rows(&self) -> [(&'static str, &'static str, String, &'static str); 12] {
        let share = |part: f64, whole: f64| format!("{:.2}", if whole > 0.0 { part / whole } else { 0.0 });
        let hundredths = |number: f64| format!("{number:.2}");
        let (hits, elapsed_s, mb) = (self.hits as f64, self.elapsed_s(), self.mb());
        let total_s = self.ticks as f64 / 100.0;
        let shortest = if self.okay > 0 { self.shortest.unwrap_or(0) } else { 0 };
        let availability = share(hits * 100.0, hits + self.failed as f64);
        [
            ("Transactions:\t\t", "\"transactions\":\t\t\t", self.hits.to_string(), " hits"),
            ("Availability:\t\t", "\"availability\":\t\t\t", availability, " %"),
            ("Elapsed time:\t\t", "\"elapsed_time\":\t\t\t", hundredths(elapsed_s), " secs"),
            ("Data transferred:\t", "\"data_transferred\":\t\t", hundredths(mb), " MB"),
            ("Response time:\t\t", "\"response_time\":\t\t", share(total_s, hits), " secs"),
            ("Transaction rate:\t", "\"transaction_rate\":\t\t", share(hits, elapsed_s), " trans/sec"),
            ("Throughput:\t\t", "\"throughput\":\t\t\t", share(mb, elapsed_s), " MB/sec"),
            ("Concurrency:\t\t", "\"concurrency\":\t\t\t", share(total_s, elapsed_s), ""),
            ("Successful transactions:", "\"successful_transactions\":\t", self.okay.to_string(), ""),
            ("Failed transactions:\t", "\"failed_transactions\":\t\t", self.failed.to_string(), ""),
            (
                "Longest transaction:\t",
                "\"longest_transaction\":\t\t",
                hundredths(self.longest as f64 / 100.0),
                "",
            ),
            (
                "Shortest transaction:\t",
                "\"shortest_transaction\":\t\t",
                hundredths(shortest as f64 / 100.0),
                "",
            ),
        ]
    }

    /// The report as text.
    pub fn text(&self) -> String {
        let rows: String =
            self.rows().map(|(label, _, figure, unit)| format!("{label}{figure:>12}{unit}\n")).concat();
        format!("\n{rows} \n")
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let rows = self.rows().map(|(_, key, figure, _)| format!("\t{key}{figure:>12}"));
        format!("{{{}\n}}\n", rows.join(",\n"))
    }

    /// The line of the log, with the data in whole MB.
    pub fn log_line(&self, date: &str) -> String {
        let over = |part: f64, whole: f64| match part / whole {
            x if x.is_nan() => "-nan".to_owned(),
            x if x.is_infinite() => "inf".to_owned(),
            x => format!("{x:.2}"),
        };
        let (hits, mb) = (self.hits as f64, self.mb().floor());
        let total_s = self.ticks as f64 / 100.0;
        format!(
            "{date},{:7},{:11.2},{:12},{:>11},{:>12},{:>12},{:>12},{:8},{:8}\n",
            self.hits,
            self.elapsed_s(),
            mb,
            over(total_s, hits),
            over(hits, self.elapsed_s()),
            over(mb, self.elapsed_s()),
            over(total_s, self.elapsed_s()),
            self.okay,
            self.failed
        )
    }
}

/// The first line of a log.
pub const LOG_HEAD: &str = "      Date & Time,  Trans,  Elap Time,  Data Trans,  Resp Time,  Trans Rate,  Throughput,  Concurrent,    OKAY,   Failed\n";

/// The colour of a status, as a terminal's escape code.
pub fn color(status: u16) -> u8 {
    match status {
        150 | 200..=206 | 226 => 34,
        300..=307 => 36,
        400..=417 => 35,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::Sums;

    #[test]
    fn the_log_has_whole_megabytes() {
        let sums = Sums { hits: 1639, okay: 1639, ticks: 88, bytes: 19_668, elapsed: 91, ..Sums::default() };
        assert_eq!(
            sums.log_line("2026-11-21 13:47:45"),
            "2026-11-21 13:47:45,   1639,       0.91,           0,       0.00,     1801.10,        0.00,        0.97,    1639,       0\n"
        );
        assert!(Sums::default().log_line("").contains("-nan"));
    }
}
