//! The figure that a column has, by its heading, and the values of its cells. A figure without a unit or with more than
//! one meaning is not guessed.

use super::rate::{self, Rate};
use crate::statistic::statistic;
use crate::text::lines::plain;
use crate::text::units::{bytes, many, nanoseconds, split, time_ns};

/// The figure of a column.
#[derive(Clone, Debug, PartialEq)]
pub struct Metric {
    /// Its name among a reading's figures; for errors, their kind.
    pub name: String,
    /// How it is counted.
    pub kind: Kind,
    /// Its unit, if the heading has one.
    pub unit: String,
    /// The time over which it was counted, if the heading has it: "Requests in 1m".
    pub duration_ns: Option<f64>,
}

/// How a figure is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Per second.
    Rate,
    /// Bytes, or bytes per second.
    Bytes,
    /// A time.
    Time,
    /// A number of times.
    Count,
    /// A number of errors.
    Errors,
}

/// The figure that a column's heading means, if that is unambiguous.
pub fn of_head(head: &str) -> Option<Metric> {
    if head.len() > 80 {
        return None;
    }
    let written = plain(head);
    let head = without_remark(&written.to_lowercase());
    let (base, brackets) = head.split_once(['(', '[']).unwrap_or((&head, ""));
    let unit = brackets.trim_end_matches([')', ']', ' ']);
    // Only capitals tell bytes from bits.
    let as_written =
        written.split_once(['(', '[']).and_then(|(_, unit_written)| unit_written.get(..unit.len()));
    let bytes_unit = as_written.filter(|written| written.to_lowercase() == unit).unwrap_or(unit);
    let tight: String = head.split_whitespace().collect();
    let words: Vec<&str> = head
        .split(|c: char| !c.is_alphanumeric() && c != '%' && c != '.')
        .filter(|word| !word.is_empty())
        .collect();
    let stats = || words.iter().filter_map(|word| statistic_in(word));
    // "Mean p99" is of the percentile.
    let stat = stats().find(|name| name.starts_with('p')).or_else(|| stats().next());
    let metric = |name: &str, kind| {
        let unit = match kind {
            _ if statistic_in(unit).is_some() => "",
            Kind::Bytes => bytes_unit,
            _ => unit,
        };
        let duration_ns = base.split_once(" in ").and_then(|(_, time)| time_ns(time.trim()));
        Some(Metric { name: name.to_owned(), kind, unit: unit.to_owned(), duration_ns })
    };
    let has = |words: &[&str]| words.iter().any(|word| tight.contains(word));
    if let Some(rate) = rate::in_head(&head) {
        let Rate::Whole(factor) = rate else { return None };
        let mut metric =
            metric("rate_per_s", Kind::Rate).filter(|_| matches!(stat.as_deref(), None | Some("mean")))?;
        if !factor.is_empty() {
            factor.clone_into(&mut metric.unit);
        }
        return Some(metric);
    }
    if has(&["timeout"]) {
        return metric("timeout", Kind::Errors);
    }
    if has(&["error"]) {
        return metric(base.trim(), Kind::Errors);
    }
    if has(&["transfer/s", "transferrate", "throughput"]) {
        return metric("received_bytes_per_s", Kind::Bytes);
    }
    if let Some((name, kind)) = of_count(base.trim()) {
        return metric(name, kind);
    }
    // "p99" and "max" alone mean latency; in a sentence they may mean anything.
    let is_of_time = has(&["latency", "responsetime", "timeperrequest"]) || words.len() <= 2;
    let stat = stat.filter(|_| is_of_time)?;
    metric(&format!("latency_ns_{stat}"), Kind::Time)
}

/// The statistic that a word of a heading names. A bare number names none, and `100%` may be the whole of anything.
fn statistic_in(word: &str) -> Option<String> {
    let is_name = word != "100%" && word.contains(|c: char| c.is_alphabetic() || c == '%');
    statistic(word).filter(|_| is_name)
}

/// A heading without a remark such as `(higher is better)`, which is no unit.
fn without_remark(head: &str) -> String {
    let split = |word: &&str| head.split_once(format!("{word} is better").as_str());
    let Some((before, after)) =
        ["higher", "lower", "more", "less", "bigger", "smaller"].iter().find_map(split)
    else {
        return head.to_owned();
    };
    let before = before.trim_end_matches(|c| " ([,;:-–—".contains(c));
    format!("{before}{}", after.trim_start_matches([')', ']']))
}

/// The figure that a column's heading means, if the whole heading names a count or memory; "requests in …" may be followed by a time.
fn of_count(head: &str) -> Option<(&'static str, Kind)> {
    match head {
        "failed" | "failed requests" | "failures" => Some(("failed", Kind::Count)),
        "connections" | "concurrency" | "clients" => Some(("connections", Kind::Count)),
        "threads" => Some(("threads", Kind::Count)),
        "rss" | "res" => Some(("rss_bytes", Kind::Bytes)),
        "requests" | "request" | "total requests" | "completed" | "completed requests"
        | "complete requests" | "transactions" => Some(("completed", Kind::Count)),
        _ if head.starts_with("request in ") || head.starts_with("requests in ") => {
            Some(("completed", Kind::Count))
        }
        _ => None,
    }
}

/// A value, and that of its last digit.
pub type Measured = (f64, f64);

impl Metric {
    /// The value of a cell: `Ok(None)` if it is empty, `Err` with the reason if it is not understood.
    pub fn value(&self, cell: &str, has_decimal_commas: bool) -> Result<Option<Measured>, &'static str> {
        let swapped = |c: char| match c {
            ',' => '.',
            '.' => ',',
            c => c,
        };
        let cell = plain(cell);
        let cell = if has_decimal_commas { cell.chars().map(swapped).collect() } else { cell };
        if ["", "-", "–", "—", "?", "n/a", "N/A", "null"].contains(&cell.as_str()) {
            return Ok(None);
        }
        let (number, unit) = split(without_comparison(&cell)).ok_or("not a number")?;
        let decimals = cell.bytes().skip_while(|b| *b != b'.').skip(1).take_while(u8::is_ascii_digit).count();
        let unit = if unit.is_empty() { self.unit.as_str() } else { unit };
        let factor = match self.kind {
            Kind::Rate | Kind::Count | Kind::Errors => many(unit),
            Kind::Bytes | Kind::Time if unit.is_empty() => return Err("no unit"),
            Kind::Bytes => bytes(unit),
            Kind::Time => nanoseconds(unit),
        };
        let factor = factor.ok_or("an unknown unit")?;
        Ok(Some((number * factor, factor * 10_f64.powi(-i32::try_from(decimals).unwrap_or(0)))))
    }
}

/// The cell without what compares it with other cells, or says how sure it is: `(100.0%)`, `(1.64x)`, `± 3`.
fn without_comparison(cell: &str) -> &str {
    let cell =
        ["±", "+/-"].iter().find_map(|mark| cell.split_once(mark)).map_or(cell, |(value, _)| value).trim();
    let bracket = cell.strip_suffix([')', ']']).and_then(|open| open.rsplit_once(['(', '[']));
    match bracket {
        Some((value, inner)) if inner.chars().all(|c| c.is_ascii_digit() || " .,+-−±%x×".contains(c)) => {
            value.trim()
        }
        _ => cell,
    }
}

/// The load that a heading describes: `1Thread, 100Connection, 1000Req/Sec (1minute)`.
pub fn of_heading(heading: &str) -> Vec<(&'static str, f64)> {
    let mut all = Vec::new();
    for part in heading.split([',', '(', ')', ';']).filter(|part| part.len() < 60) {
        let Some((number, unit)) = split(part) else { continue };
        let unit = unit.to_lowercase();
        let word: String = unit.split_whitespace().collect();
        if word.starts_with("thread") {
            all.push(("threads", number));
        } else if word.starts_with("connection") || word.starts_with("concurrent") {
            all.push(("connections", number));
        } else if rate::begins(&word) {
            all.push(("offered_rate_per_s", number));
        } else if let Some(ns) = nanoseconds(&unit) {
            all.push(("duration_ns", number * ns));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{of_head, of_heading};
    use crate::text::units::split;

    #[test]
    fn heads_and_their_cells() {
        let cases = [
            ("Req/Sec(avg)", "1.04k", "rate_per_s", 1040.0),
            ("Requests per second", "24,242", "rate_per_s", 24_242.0),
            ("**answers/s**", "17.6", "rate_per_s", 17.6),
            ("Transfer/Sec(avg)", "359.15KB", "received_bytes_per_s", 359.15 * 1024.0),
            ("Request in 1m", "59801", "completed", 59_801.0),
            ("Timeout error", "201", "timeout", 201.0),
            ("Latency(avg)", "1.98s", "latency_ns_mean", 1.98e9),
            ("Latency p99 (ms)", "12", "latency_ns_p99", 12e6),
            ("99.9%", "12us", "latency_ns_p999", 12e3),
            ("RSS", "2.5MB", "rss_bytes", 2.5 * 1_048_576.0),
            ("Connections", "10", "connections", 10.0),
            ("RPS", "25010 (100.0%)", "rate_per_s", 25_010.0),
            ("RPS", "41020 (1.64x)", "rate_per_s", 41_020.0),
            ("Requests/sec (higher is better)", "24101 (-45%)", "rate_per_s", 24_101.0),
            ("p99 [ms] (lower is better)", "1.5", "latency_ns_p99", 1.5e6),
            ("p99 latency, lower is better (ms)", "1.5", "latency_ns_p99", 1.5e6),
            ("RPS", "41.0k req/s ± 0.2k", "rate_per_s", 41_000.0),
            ("Requests per second", "1.2 Mreq/s", "rate_per_s", 1.2e6),
            ("req/s", "12 krps", "rate_per_s", 12_000.0),
            ("req/s", "12'345", "rate_per_s", 12_345.0),
            ("req/s", "12 345", "rate_per_s", 12_345.0),
            ("req/s", "1.234.567", "rate_per_s", 1_234_567.0),
            ("req/s", "12.345,67", "rate_per_s", 12_345.67),
            ("req/s", "12,345.67", "rate_per_s", 12_345.67),
            ("req/s", "345,6", "rate_per_s", 345.6),
            ("kreq/s", "1.5", "rate_per_s", 1500.0),
            ("kreq/s", "1.5k", "rate_per_s", 1500.0),
            ("Mrps", "1.5", "rate_per_s", 1.5e6),
            ("Throughput (k req/s)", "1.5", "rate_per_s", 1500.0),
            ("RPS (thousands)", "1.5", "rate_per_s", 1500.0),
            ("p99", "12 μs", "latency_ns_p99", 12e3),
            ("max", "2 h", "latency_ns_max", 7200e9),
            ("Transfer/sec", "3.5 MiB/s", "received_bytes_per_s", 3.5 * 1_048_576.0),
            ("Throughput", "800 Mbps", "received_bytes_per_s", 1e8),
            ("Throughput (Mbps)", "800", "received_bytes_per_s", 1e8),
            ("Throughput (KB/s)", "2", "received_bytes_per_s", 2048.0),
            ("THROUGHPUT [MB/s] (higher is better)", "2", "received_bytes_per_s", 2_097_152.0),
            ("Throughput", "1 GB per second", "received_bytes_per_s", 1_073_741_824.0),
        ];
        for (head, cell, name, value) in cases {
            let metric = of_head(head).unwrap_or_else(|| panic!("{head}"));
            let read = metric.value(cell, false).map(|read| read.map(|(value, _)| value));
            assert_eq!((metric.name.as_str(), read), (name, Ok(Some(value))), "{head} {cell}");
        }
        assert_eq!(of_head("Request in 1m").unwrap().duration_ns, Some(60e9));
    }

    #[test]
    fn what_is_not_sure_is_not_guessed() {
        for head in
            ["Latency", "Req/Sec(max)", "req/s/core", "Δ rps", "server", "language", "stars", "", "version"]
        {
            assert_eq!(of_head(head), None, "{head}");
        }
        let value = |head: &str, cell: &str| of_head(head).unwrap().value(cell, false);
        assert_eq!(value("Transfer/Sec(avg)", "138.28"), Err("no unit"));
        assert_eq!(value("Latency(avg)", "5"), Err("no unit"));
        assert_eq!(value("Latency(avg)", "5 parsec"), Err("an unknown unit"));
        assert_eq!(value("Req/Sec", "≥ 24,472"), Err("not a number"));
        assert_eq!((value("Req/Sec", "–"), value("Req/Sec", "")), (Ok(None), Ok(None)));
        assert_eq!(value("Req/Sec", "25010 (fast)"), Err("an unknown unit"));
        assert_eq!(value("Req/Sec", "NaN"), Err("not a number"));
        assert_eq!(value("Req/Sec", "-5"), Err("not a number"));
        for text in ["1.2.3", "1,2,3", "1,2345,678", "1.000,5.1", ".5", ",", "x", ""] {
            assert_eq!(split(text).map(|(n, _)| n), None, "{text}");
        }
    }

    #[test]
    fn load_in_a_heading() {
        let printed = of_heading("1Thread, 100Connection, 1000Req/Sec (1minute)");
        let expected =
            [("threads", 1.0), ("connections", 100.0), ("offered_rate_per_s", 1000.0), ("duration_ns", 60e9)];
        assert_eq!(printed, expected);
        assert_eq!(of_heading("The Numbers of 2011, part 2"), []);
    }
}
