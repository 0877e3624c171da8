//! siege's figures and how it prints them. Its clock counts hundredths of a second: a transaction's time is the
//! number of ticks between its beginning and end.

use model::{End, Exchange, Loss};
use std::fmt::Write;

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

    /// The figures, in the order of the report.
    pub fn figures(&self) -> Figures {
        let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
        let (hits, elapsed_s) = (self.hits as f64, self.elapsed as f64 / 100.0);
        let (total_s, mb) = (self.ticks as f64 / 100.0, self.bytes as f64 / (1024.0 * 1024.0));
        Figures {
            availability: over(hits * 100.0, hits + self.failed as f64),
            elapsed_s,
            mb,
            response_s: over(total_s, hits),
            rate_per_s: over(hits, elapsed_s),
            mb_per_s: over(mb, elapsed_s),
            concurrency: over(total_s, elapsed_s),
            longest_s: self.longest as f64 / 100.0,
            shortest_s: if self.okay > 0 { self.shortest.unwrap_or(0) as f64 / 100.0 } else { 0.0 },
        }
    }

    /// The report as text. In this version, `Longest transaction` has no unit.
    pub fn text(&self) -> String {
        let f = self.figures();
        let mut text = String::new();
        let _ = write!(
            text,
            "\nTransactions:\t\t{:12} hits\nAvailability:\t\t{:12.2} %\nElapsed time:\t\t{:12.2} secs\n\
             Data transferred:\t{:12.2} MB\nResponse time:\t\t{:12.2} secs\n\
             Transaction rate:\t{:12.2} trans/sec\nThroughput:\t\t{:12.2} MB/sec\nConcurrency:\t\t{:12.2}\n\
             Successful transactions:{:12}\nFailed transactions:\t{:12}\nLongest transaction:\t{:12.2}\n\
             Shortest transaction:\t{:12.2}\n \n",
            self.hits,
            f.availability,
            f.elapsed_s,
            f.mb,
            f.response_s,
            f.rate_per_s,
            f.mb_per_s,
            f.concurrency,
            self.okay,
            self.failed,
            f.longest_s,
            f.shortest_s
        );
        text
    }

    /// The report as JSON.
    pub fn json(&self) -> String {
        let f = self.figures();
        format!(
            "{{\t\"transactions\":\t\t\t{:12},\n\t\"availability\":\t\t\t{:12.2},\n\t\"elapsed_time\":\t\t\t{:12.2},\n\
             \t\"data_transferred\":\t\t{:12.2},\n\t\"response_time\":\t\t{:12.2},\n\
             \t\"transaction_rate\":\t\t{:12.2},\n\t\"throughput\":\t\t\t{:12.2},\n\t\"concurrency\":\t\t\t{:12.2},\n\
             \t\"successful_transactions\":\t{:12},\n\t\"failed_transactions\":\t\t{:12},\n\
             \t\"longest_transaction\":\t\t{:12.2},\n\t\"shortest_transaction\":\t\t{:12.2}\n}}\n",
            self.hits,
            f.availability,
            f.elapsed_s,
            f.mb,
            f.response_s,
            f.rate_per_s,
            f.mb_per_s,
            f.concurrency,
            self.okay,
            self.failed,
            f.longest_s,
            f.shortest_s
        )
    }

    /// The line of the log, with the data in whole MB.
    pub fn log_line(&self, date: &str) -> String {
        let f = self.figures();
        let over = |part: f64, whole: f64| match part / whole {
            x if x.is_nan() => "-nan".to_owned(),
            x if x.is_infinite() => "inf".to_owned(),
            x => format!("{x:.2}"),
        };
        let (hits, mb) = (self.hits as f64, f.mb.floor());
        let total_s = self.ticks as f64 / 100.0;
        format!(
            "{date},{:7},{:11.2},{:12},{:>11},{:>12},{:>12},{:>12},{:8},{:8}\n",
            self.hits,
            f.elapsed_s,
            mb,
            over(total_s, hits),
            over(hits, f.elapsed_s),
            over(mb, f.elapsed_s),
            over(total_s, f.elapsed_s),
            self.okay,
            self.failed
        )
    }
}

/// The figures of the report that are not counts.
#[derive(Clone, Copy, Debug)]
pub struct Figures {
    availability: f64,
    elapsed_s: f64,
    mb: f64,
    response_s: f64,
    rate_per_s: f64,
    mb_per_s: f64,
    concurrency: f64,
    longest_s: f64,
    shortest_s: f64,
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

/// A moment in UTC, such as `2026-11-21 13:47:45`, and its day of the week.
pub fn moment(unix_s: u64) -> (&'static str, String) {
    const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
    let (days, second) = (unix_s / 86_400, unix_s % 86_400);
    // The civil date from days: eras of 400 years, with years that begin in March, so that leap days come last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let day = of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let text = format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02}",
        second / 3600,
        second / 60 % 60,
        second % 60
    );
    (DAYS[(days % 7) as usize], text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_those_of_the_calendar() {
        for (unix_s, day, text) in [
            (0, "Thu", "1970-01-01 00:00:00"),
            (951_782_399, "Mon", "2000-02-28 23:59:59"),
            (951_782_400, "Tue", "2000-02-29 00:00:00"),
            (1_795_268_865, "Sat", "2026-11-21 13:47:45"),
            (4_107_542_399, "Sun", "2100-02-28 23:59:59"),
            (4_107_542_400, "Mon", "2100-03-01 00:00:00"),
        ] {
            assert_eq!(moment(unix_s), (day, text.to_owned()));
        }
    }

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
