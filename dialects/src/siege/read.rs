//! Finds siege's reports in any text: with tabs and line breaks as siege writes it, on one line as after extraction
//! from HTML, or as JSON. siege writes times in seconds up to its version 4.1.3 and in milliseconds in 4.1.7. If the report has no
//! units, they are inferred from its own figures; if that is impossible, times stay unknown.

use super::head::head;
use crate::Found;
use crate::failures;
use crate::scan::Scan;
use model::Reading;

/// The kind of a line's figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Row {
    /// A count or share without a unit.
    Plain(&'static str),
    /// The duration of the run.
    Elapsed,
    /// Bytes of bodies, or bytes per second.
    Bytes(&'static str),
    /// The time of a transaction.
    Time(&'static str),
    /// Answers with status 200, in old versions and in debug mode.
    Ok,
}

/// The lines, in the order in which siege writes them, and their keys in JSON.
const ROWS: &[(&str, &str, Row)] = &[
    ("Transactions:", "transactions", Row::Plain("completed")),
    ("Availability:", "availability", Row::Plain("availability_percent")),
    ("Elapsed time:", "elapsed_time", Row::Elapsed),
    ("Data transferred:", "data_transferred", Row::Bytes("body_bytes")),
    ("Response time:", "response_time", Row::Time("latency_ns_mean")),
    ("Transaction rate:", "transaction_rate", Row::Plain("rate_per_s")),
    ("Throughput:", "throughput", Row::Bytes("body_bytes_per_s")),
    ("Concurrency:", "concurrency", Row::Plain("concurrency")),
    ("Successful transactions:", "successful_transactions", Row::Plain("successful")),
    ("HTTP OK received:", "http_ok_received", Row::Ok),
    ("Status code 200:", "", Row::Ok),
    ("Code 200 (okays):", "", Row::Ok),
    ("Failed transactions:", "failed_transactions", Row::Plain("failed")),
    ("Longest transaction:", "longest_transaction", Row::Time("latency_ns_max")),
    ("Shortest transaction:", "shortest_transaction", Row::Time("latency_ns_min")),
];

/// The units that a figure may have, and their factors to drome's units.
const UNITS: &[(&str, f64)] = &[
    ("hits", 1.0),
    ("%", 1.0),
    ("trans/sec", 1.0),
    ("MB/sec", MIB),
    ("KB/sec", 1024.0),
    ("bytes/sec", 1.0),
    ("MB", MIB),
    ("KB", 1024.0),
    ("GB", MIB * 1024.0),
    ("bytes", 1.0),
    ("secs", 1e9),
    ("sec", 1e9),
    ("ms", 1e6),
];

/// The bytes of siege's MB.
const MIB: f64 = 1024.0 * 1024.0;

/// The largest number of unknown lines between two lines of a report; after more, the report has ended.
const STRANGE_LINES: usize = 3;

/// The reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(anchor) = next_anchor(text, from) {
        let report = match anchor {
            Anchor::Text(at) => lines(text, at),
            Anchor::Json(at) => json(text, at),
        };
        let Some((values, end, strange)) = report else {
            from = anchor.at() + 1;
            continue;
        };
        let start = anchor.start(text, from);
        let mut reading = figures(&values);
        let start = head(text, from..start, &mut reading);
        found.push(Found { at: start..end, reading, strange });
        from = end;
    }
    found
}

#[derive(Clone, Copy)]
enum Anchor {
    Text(usize),
    Json(usize),
}

impl Anchor {
    fn at(self) -> usize {
        match self {
            Self::Text(at) | Self::Json(at) => at,
        }
    }

    /// A JSON report begins with its brace.
    fn start(self, text: &str, floor: usize) -> usize {
        match self {
            Self::Text(at) => at,
            Self::Json(at) => {
                let before = text[floor..at].trim_end();
                if before.ends_with('{') { floor + before.len() - 1 } else { at }
            }
        }
    }
}

/// Where the next report may begin. Both labels contain `ransactions`, so one search finds either.
fn next_anchor(text: &str, from: usize) -> Option<Anchor> {
    const COMMON: &str = "ransactions";
    let mut at = from;
    loop {
        at += text.get(at..)?.find(COMMON)?;
        let (before, after) = (&text[from..at], &text[at + COMMON.len()..]);
        if before.ends_with('T') && after.starts_with(':') {
            return Some(Anchor::Text(at - 1));
        }
        if before.ends_with("\"t") && after.starts_with('"') {
            return Some(Anchor::Json(at - 2));
        }
        at += COMMON.len();
    }
}

/// A line of the report: its figure, and its unit if it has one.
#[derive(Clone, Copy, Debug)]
struct Value {
    row: Row,
    number: f64,
    /// The factor of its unit, if it has a unit.
    unit: Option<f64>,
}

/// The figures of a report's lines, where the lines end, and the unknown lines among them.
type Lines = (Vec<Value>, usize, Vec<String>);

fn lines(text: &str, at: usize) -> Option<Lines> {
    let mut scan = Scan::new(text, at);
    let mut values: Vec<Value> = Vec::new();
    let (mut strange, mut end) = (Vec::new(), at);
    let mut has_hits = false;
    loop {
        let mut ahead = scan;
        let mut skipped = Vec::new();
        let value = loop {
            ahead.blanks();
            if let Some(value) = value(&mut ahead, &mut has_hits) {
                break Some(value);
            }
            if values.is_empty() || skipped.len() == STRANGE_LINES || ahead.rest().is_empty() {
                break None;
            }
            let Some(line) = ahead.line() else { break None };
            skipped.push(line.to_owned());
        };
        match value {
            Some(value) if !is_again(&values, value) => {
                strange.append(&mut skipped);
                values.push(value);
                (scan, end) = (ahead, ahead.at);
            }
            _ => break,
        }
        if value.is_some_and(|v| v.row == Row::Time("latency_ns_min")) {
            break;
        }
    }
    // Another tool may count transactions too.
    (has_hits || values.len() > 1).then_some((values, end, strange))
}

/// A report has each line once, so another first line begins another report.
fn is_again(values: &[Value], value: Value) -> bool {
    values.iter().any(|v| v.row == value.row)
}

/// Whether the end of the text may have cut a number short. All but counts have two decimals.
fn is_cut(scan: &Scan<'_>) -> bool {
    let has_both = scan.text[..scan.at].rfind('.').is_some_and(|point| point + 3 == scan.at);
    scan.rest().is_empty() && !has_both
}

/// Reads a label, a figure and a unit.
fn value(scan: &mut Scan<'_>, has_hits: &mut bool) -> Option<Value> {
    let mut here = *scan;
    let (_, _, row) = ROWS.iter().find(|(label, _, _)| here.word(label))?;
    here.blanks();
    let number = here.number().filter(|_| !is_cut(&here))?;
    let mut ahead = here;
    ahead.blanks();
    let unit = UNITS.iter().find(|(unit, _)| {
        let is_here = ahead.rest().starts_with(unit);
        let next = ahead.rest().get(unit.len()..).and_then(|rest| rest.chars().next());
        is_here && next.is_none_or(|c| !c.is_alphanumeric() && c != '/')
    });
    if let Some((unit, _)) = unit {
        *has_hits |= *unit == "hits";
        here.at = ahead.at + unit.len();
    }
    *scan = here;
    Some(Value { row: *row, number, unit: unit.map(|(_, factor)| *factor) })
}

/// Reads an object with siege's keys from its key `transactions` on; the others may follow in any order. Ends at the closing brace, or
/// before the first thing that does not fit: a repeated key, or a value that is not a number.
fn json(text: &str, at: usize) -> Option<Lines> {
    let mut scan = Scan::new(text, at);
    let (mut values, mut end, mut strange): Lines = (Vec::new(), at, Vec::new());
    while scan.word("\"") {
        let rest = scan.rest();
        let key = &rest[..rest.find(['"', '\n'])?];
        scan.at += key.len() + 1;
        scan.blanks();
        if !scan.word(":") {
            break;
        }
        scan.blanks();
        let Some(number) = scan.number().filter(|_| !is_cut(&scan)) else { break };
        match ROWS.iter().find(|(_, known, _)| *known == key) {
            Some((_, _, row)) if values.iter().any(|v: &Value| v.row == *row) => break,
            Some((_, _, row)) => values.push(Value { row: *row, number, unit: None }),
            None => strange.push(format!("\"{key}\": {number}")),
        }
        end = scan.at;
        scan.blanks();
        scan.word(",");
        scan.blanks();
    }
    if scan.word("}") {
        end = scan.at;
    }
    let has = |row| values.iter().any(|v: &Value| v.row == row);
    has(Row::Plain("availability_percent")).then_some((values, end, strange))
}

/// The figures with drome's names and units. siege writes 0 for what it could not measure; such figures are left
/// out.
fn figures(values: &[Value]) -> Reading {
    let mut reading = Reading::of("siege");
    let bare = |row| values.iter().find(|v| v.row == row).map(|v| v.number);
    let none_ended = bare(Row::Plain("completed")) == Some(0.0);
    let no_time = bare(Row::Elapsed) == Some(0.0);
    let time_unit = time_unit(values);
    for value in values {
        let Value { row, number, unit } = *value;
        match row {
            Row::Plain("rate_per_s" | "concurrency") | Row::Bytes("body_bytes_per_s") if no_time => {}
            Row::Plain(name) => reading.set(name, number),
            Row::Elapsed => reading.set("duration_ns", number * unit.unwrap_or(1e9)),
            Row::Bytes(name) => reading.set(name, number * unit.unwrap_or(MIB)),
            Row::Time(_) if none_ended => {}
            Row::Time(name) => {
                if let Some(unit) = unit.or(time_unit) {
                    // It prints hundredths.
                    reading.set_measured(name, number * unit, unit / 100.0);
                }
            }
            Row::Ok => {
                reading.status.insert("200".to_owned(), number as u64);
            }
        }
    }
    if let (Some(ended), Some(successful)) = (reading.get("completed"), reading.get("successful")) {
        failures::add_status(&mut reading, (ended - successful) as u64);
    }
    reading
}

/// The unit of times that have none. Longest and shortest have no unit up to 4.1.3, and in JSON none of the three
/// has. A unit at one of them applies to all. Otherwise concurrency = response time × rate shows whether times are
/// in seconds. If the figures are too coarse for that, the unit is unknown.
fn time_unit(values: &[Value]) -> Option<f64> {
    let find = |row| values.iter().find(|v| v.row == row);
    let response = find(Row::Time("latency_ns_mean"));
    if let Some(unit) = response.and_then(|v| v.unit) {
        return Some(unit);
    }
    let rate = find(Row::Plain("rate_per_s"))?.number;
    let concurrency = find(Row::Plain("concurrency"))?.number;
    let response = response?.number;
    // Each figure was rounded to hundredths.
    let fits = |per_s: f64| {
        let slack = (0.005 * rate + 0.005 * response) / per_s + 0.005;
        (response * rate / per_s - concurrency).abs() <= slack
    };
    match (fits(1.0), fits(1000.0)) {
        (true, false) => Some(1e9),
        (false, true) => Some(1e6),
        _ => None,
    }
}
