//! The figure that a column has, by its heading, and the values of its cells. A figure without a unit or with more than
//! one meaning is not guessed.

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

/// Column headings of rates, without spaces.
const RATES: &[&str] = &[
    "req/s",
    "reqs/s",
    "request/s",
    "requests/s",
    "rps",
    "qps",
    "requestspersecond",
    "requestpersecond",
    "reqpersecond",
    "responses/s",
    "responsespersecond",
    "answers/s",
    "trans/s",
    "transactionrate",
    "hits/s",
];

/// Names of percentiles and other statistics in column headings, longer ones first.
const STATS: &[(&str, &str)] = &[
    ("p99.99", "p9999"),
    ("99.99%", "p9999"),
    ("p99.9", "p999"),
    ("99.9%", "p999"),
    ("p999", "p999"),
    ("p99", "p99"),
    ("99%", "p99"),
    ("99th", "p99"),
    ("p95", "p95"),
    ("95%", "p95"),
    ("95th", "p95"),
    ("p90", "p90"),
    ("90%", "p90"),
    ("90th", "p90"),
    ("p75", "p75"),
    ("75%", "p75"),
    ("p50", "p50"),
    ("50%", "p50"),
    ("median", "p50"),
    ("avg", "mean"),
    ("average", "mean"),
    ("mean", "mean"),
    ("stdev", "sd"),
    ("max", "max"),
    ("min", "min"),
];

/// The figure that a column's heading means, if that is unambiguous.
pub fn of_head(head: &str) -> Option<Metric> {
    if head.len() > 80 {
        return None;
    }
    let head = super::plain(head).to_lowercase();
    let (base, brackets) = head.split_once(['(', '[']).unwrap_or((&head, ""));
    let unit = brackets.trim_end_matches([')', ']', ' ']);
    let tight: String = head.split_whitespace().collect();
    let words: Vec<&str> = head
        .split(|c: char| !c.is_alphanumeric() && c != '%' && c != '.')
        .filter(|word| !word.is_empty())
        .collect();
    let stat = STATS.iter().find(|(word, _)| words.contains(word)).map(|(_, name)| *name);
    let metric = |name: &str, kind| {
        let unit = if STATS.iter().any(|(word, _)| *word == unit) { "" } else { unit };
        let duration_ns = base.split_once(" in ").and_then(|(_, time)| time_ns(time.trim()));
        Some(Metric { name: name.to_owned(), kind, unit: unit.to_owned(), duration_ns })
    };
    let has = |words: &[&str]| words.iter().any(|word| tight.contains(word));
    if has(RATES) {
        return if matches!(stat, None | Some("mean")) { metric("rate_per_s", Kind::Rate) } else { None };
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

impl Metric {
    /// The value of a cell: `Ok(None)` if it is empty, `Err` with the reason if it is not understood.
    pub fn value(&self, cell: &str) -> Result<Option<f64>, &'static str> {
        let cell = super::plain(cell);
        if ["", "-", "–", "—", "?", "n/a", "N/A", "null"].contains(&cell.as_str()) {
            return Ok(None);
        }
        let (number, unit) = split(&cell).ok_or("not a number")?;
        let unit = if unit.is_empty() { self.unit.as_str() } else { unit };
        let factor = match self.kind {
            Kind::Rate => many(unit.trim_end_matches("/sec").trim_end_matches("/s")),
            Kind::Count | Kind::Errors => many(unit),
            Kind::Bytes | Kind::Time if unit.is_empty() => return Err("no unit"),
            Kind::Bytes => bytes(unit),
            Kind::Time => nanoseconds(unit),
        };
        Ok(Some(number * factor.ok_or("an unknown unit")?))
    }
}

/// A number at the beginning, with or without commas between thousands, and what follows it.
pub fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.' && c != ',').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let is_grouped = number.split('.').next()?.split(',').skip(1).all(|group| group.len() == 3);
    let is_whole = number.split_once('.').is_none_or(|(_, decimals)| !decimals.contains(','));
    if !is_grouped || !is_whole || !number.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    Some((number.replace(',', "").parse().ok()?, unit.trim()))
}

/// Factors of 1,000 as wrk writes them.
fn many(unit: &str) -> Option<f64> {
    match unit.trim() {
        "" | "req" | "reqs" | "rps" | "requests" => Some(1.0),
        "k" | "K" => Some(1e3),
        "m" | "M" => Some(1e6),
        "G" => Some(1e9),
        _ => None,
    }
}

/// A KB is 1,024 bytes, as in all tools whose figures appear in such tables.
pub fn bytes(unit: &str) -> Option<f64> {
    let unit = unit.trim_end_matches("/sec").trim_end_matches("/s").trim();
    Some(match unit {
        "B" | "b" | "bytes" => 1.0,
        "KB" | "kb" | "K" | "k" | "KiB" | "kib" => 1024.0,
        "kB" => 1e3,
        "MB" | "mb" | "M" | "m" | "MiB" | "mib" => 1_048_576.0,
        "GB" | "gb" | "G" | "g" | "GiB" | "gib" => 1_073_741_824.0,
        _ => return None,
    })
}

/// Nanoseconds in a unit of time.
pub fn nanoseconds(unit: &str) -> Option<f64> {
    Some(match unit.trim() {
        "ns" => 1.0,
        "us" | "µs" | "μs" => 1e3,
        "ms" | "msec" | "msecs" | "milliseconds" => 1e6,
        "s" | "sec" | "secs" | "second" | "seconds" => 1e9,
        "m" | "min" | "mins" | "minute" | "minutes" => 60e9,
        "h" | "hour" | "hours" => 3600e9,
        _ => return None,
    })
}

/// A time with its unit.
pub fn time_ns(text: &str) -> Option<f64> {
    let (number, unit) = split(text)?;
    Some(number * nanoseconds(unit)?)
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
        } else if RATES.iter().any(|rate| word.starts_with(rate)) {
            all.push(("offered_rate_per_s", number));
        } else if let Some(ns) = nanoseconds(&unit) {
            all.push(("duration_ns", number * ns));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::{of_head, of_heading, split};

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
        ];
        for (head, cell, name, value) in cases {
            let metric = of_head(head).unwrap_or_else(|| panic!("{head}"));
            assert_eq!((metric.name.as_str(), metric.value(cell)), (name, Ok(Some(value))), "{head} {cell}");
        }
        assert_eq!(of_head("Request in 1m").unwrap().duration_ns, Some(60e9));
    }

    #[test]
    fn what_is_not_sure_is_not_guessed() {
        for head in ["Latency", "Req/Sec(max)", "server", "language", "stars", "", "version"] {
            assert_eq!(of_head(head), None, "{head}");
        }
        let value = |head: &str, cell: &str| of_head(head).unwrap().value(cell);
        assert_eq!(value("Transfer/Sec(avg)", "138.28"), Err("no unit"));
        assert_eq!(value("Latency(avg)", "5"), Err("no unit"));
        assert_eq!(value("Latency(avg)", "5 parsec"), Err("an unknown unit"));
        assert_eq!(value("Req/Sec", "≥ 24,472"), Err("not a number"));
        assert_eq!((value("Req/Sec", "–"), value("Req/Sec", "")), (Ok(None), Ok(None)));
        for text in ["1,04k", "1.2.3", "1.000,5", ".5", ",", "x", ""] {
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
