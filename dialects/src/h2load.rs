//! Reads h2load's reports, in the form of nghttp2 1.0 and later: times and sizes have units.

use crate::Found;
use crate::cursor::{Cursor, walk};
use crate::failures;
use crate::table::{bytes, nanoseconds};
use model::Reading;

/// The beginning of the line with the result.
const ANCHOR: &str = "finished in ";

/// The beginning of the first line, which weighttp has too.
const START: &str = "starting benchmark...";

/// The largest distance between the first line and the result, in bytes.
const PREAMBLE_BYTES: usize = 32 * 1024;

/// Lines without results.
const KNOWN: &[&str] = &[
    START,
    "spawning thread",
    "Application protocol:",
    "progress:",
    "Warm-up",
    "Main benchmark",
    "Stopped all clients",
    "TLS Protocol:",
    "Cipher:",
    "Server Temp Key:",
    "UDP datagram",
    "Process Request Failure:",
];

/// Rows of the table: how they begin, and their figures. Later versions use the shorter words.
const ROWS: &[(&str, &str)] = &[
    ("time for request:", "latency_ns"),
    ("time for connect:", "connect_ns"),
    ("time to 1st byte:", "first_byte_ns"),
    ("request     :", "latency_ns"),
    ("connect     :", "connect_ns"),
    ("TTFB        :", "first_byte_ns"),
    ("req/s           :", ""),
    ("req/s       :", ""),
];

/// The columns of the table, with the table's names and drome's.
const COLUMNS: &[(&str, &str)] = &[
    ("+/- sd", ""),
    ("min", "min"),
    ("max", "max"),
    ("median", "p50"),
    ("p95", "p95"),
    ("p99", "p99"),
    ("mean", "mean"),
    ("sd", "sd"),
];

/// All reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (anchor, _) in text.match_indices(ANCHOR) {
        let from = found.last().map_or(0, |before| before.at.end);
        if anchor >= from
            && let Some(report) = report(text, from, anchor)
        {
            found.push(report);
        }
    }
    found
}

fn report(text: &str, from: usize, anchor: usize) -> Option<Found> {
    let mut reading = Reading::of("h2load");
    let mut cursor = Cursor::new(text, anchor);
    finished(&mut cursor, &mut reading)?;
    let start = preamble(text, from, anchor, &mut reading);
    let mut columns = Vec::new();
    let mut odd = Vec::new();
    let take = |cursor: &mut Cursor| {
        let before = reading.get("received_bytes");
        let is_known = part(cursor, &mut reading, &mut columns);
        let (total, body) = (reading.get("received_bytes"), reading.get("body_bytes"));
        if before.is_none() && total < body {
            odd.push("traffic: the total is less than its part, the data".to_owned());
        }
        is_known
    };
    let (end, mut strange) = walk(cursor, take, |rest| rest.starts_with(START) || rest.starts_with(ANCHOR));
    strange.append(&mut odd);
    Some(Found { at: start..end, reading, strange })
}

/// Reads `finished in 186.17ms, 1074.30 req/s, 110.21KB/s`; weighttp's form is different.
fn finished(cursor: &mut Cursor, reading: &mut Reading) -> Option<()> {
    cursor.eat(ANCHOR);
    let (time, unit) = cursor.value()?;
    let duration_ns = time * nanoseconds(unit)?;
    if !cursor.eat(",") {
        return None;
    }
    let rate = cursor.number().filter(|_| cursor.eat("req/s"))?;
    reading.set("duration_ns", duration_ns);
    reading.set("rate_per_s", rate);
    if cursor.eat(",")
        && let Some((n, unit)) = cursor.value()
        && let Some(factor) = bytes(unit)
    {
        reading.set("received_bytes_per_s", n * factor);
    }
    Some(())
}

/// Finds where the report begins, and reads its beginning.
fn preamble(text: &str, from: usize, anchor: usize, reading: &mut Reading) -> usize {
    let low =
        (anchor.saturating_sub(PREAMBLE_BYTES).max(from)..=anchor).find(|at| text.is_char_boundary(*at));
    let Some(low) = low else { return anchor };
    let Some(start) = text[low..anchor].rfind(START).map(|at| low + at) else { return anchor };
    let (mut threads, mut clients) = (0, 0.0);
    for (at, words) in text[start..anchor].match_indices("spawning thread #") {
        let mut cursor = Cursor::new(&text[..anchor], start + at + words.len());
        let _ = cursor.value();
        if cursor.eat(":")
            && let Some(n) = cursor.number()
            && cursor.eat("total client(s)")
        {
            threads += 1;
            clients += n;
        }
    }
    if threads > 0 {
        reading.set("threads", f64::from(threads));
        reading.set("connections", clients);
    }
    start
}

/// Reads a part of the report after its first line.
fn part(cursor: &mut Cursor, reading: &mut Reading, columns: &mut Vec<&'static str>) -> bool {
    if cursor.eat("requests:") {
        return requests(cursor, reading);
    }
    if cursor.eat("status codes:") {
        for class in ["2xx", "3xx", "4xx", "5xx"] {
            let Some(n) = cursor.number().filter(|_| cursor.eat(class)) else { break };
            if n > 0.0 {
                reading.status.insert(class.to_owned(), n as u64);
            }
            cursor.eat(",");
        }
        return true;
    }
    if cursor.eat("traffic:") {
        return traffic(cursor, reading);
    }
    if cursor.rest().starts_with("min ") {
        while let Some((_, name)) = COLUMNS.iter().find(|(head, _)| cursor.eat(head)) {
            columns.push(name);
        }
        return true;
    }
    if let Some((_, of)) = ROWS.iter().find(|(label, _)| cursor.eat(label)) {
        row(cursor, reading, columns, of);
        return true;
    }
    let is_known = KNOWN.iter().any(|known| cursor.rest().starts_with(known));
    is_known && !cursor.line().is_empty()
}

fn requests(cursor: &mut Cursor, reading: &mut Reading) -> bool {
    let parts = ["total", "started", "done", "succeeded", "failed", "errored", "timeout"];
    let mut failures = Vec::new();
    for part in parts {
        let Some(n) = cursor.number().filter(|_| cursor.eat(part)) else { break };
        cursor.eat(",");
        match part {
            "total" => reading.set("requests", n),
            "started" => reading.set("sent", n),
            "succeeded" => reading.set("completed", n),
            "failed" => reading.set("failed", n),
            _ => {}
        }
        if ["failed", "errored", "timeout"].contains(&part) {
            failures.push((part, n));
        }
    }
    failures::add_nested(reading, &failures);
    true
}

/// Reads `20.52KB (21010) total, 29.69KB (30400) headers (space savings 0.00%), 1.35MB (1413200) data`.
fn traffic(cursor: &mut Cursor, reading: &mut Reading) -> bool {
    for (part, name) in [("total", "received_bytes"), ("headers", "head_bytes"), ("data", "body_bytes")] {
        let Some(_) = cursor.value() else { break };
        let exact = cursor.eat("(").then(|| cursor.number()).flatten();
        let is_whole = cursor.eat(")") && cursor.eat(part);
        let Some(exact) = exact.filter(|_| is_whole) else { break };
        reading.set(name, exact);
        if cursor.eat("(space savings") {
            let _ = cursor.value();
            cursor.eat(")");
        }
        cursor.eat(",");
    }
    true
}

/// Reads a row, in its columns' order. If the largest value is 0, nothing was timed.
fn row(cursor: &mut Cursor, reading: &mut Reading, columns: &[&str], of: &str) {
    let mut values = Vec::new();
    for column in columns {
        let Some((n, unit)) = cursor.value() else { break };
        let value = nanoseconds(unit).map(|factor| (n * factor, factor));
        values.extend(value.filter(|_| !column.is_empty() && !of.is_empty()).map(|value| (column, value)));
    }
    let is_timed = values.iter().any(|(_, (value, _))| *value > 0.0);
    values
        .iter()
        .filter(|_| is_timed)
        .for_each(|(column, (value, unit))| reading.set_measured(&format!("{of}_{column}"), *value, *unit));
}

#[cfg(test)]
mod tests {
    use super::read;

    /// Printed by h2load of nghttp2 1.52.0.
    const REPORT: &str = "starting benchmark...
spawning thread #0: 1 total client(s). 100 total requests
spawning thread #1: 3 total client(s). 100 total requests
Application protocol: http/1.1
progress: 100% done

finished in 186.17ms, 1074.30 req/s, 110.21KB/s
requests: 200 total, 200 started, 200 done, 190 succeeded, 10 failed, 0 errored, 0 timeout
status codes: 190 2xx, 0 3xx, 10 4xx, 0 5xx
traffic: 1.40MB (1468210) total, 29.69KB (30400) headers (space savings 0.00%), 1.35MB (1413200) data
                     min         max         mean         sd        +/- sd
time for request:      301us     20.36ms      3.50ms      3.25ms    90.00%
time for connect:       28us        85us        52us        24us    75.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :     269.37      306.50      279.44       18.05    75.00%
";

    #[test]
    fn a_whole_report() {
        for text in [REPORT.to_owned(), REPORT.replace('\n', " "), REPORT.replace('\n', "\r\n    ")] {
            let [found] = &read(&text)[..] else { panic!("{:?}", read(&text)) };
            let get = |name: &str| found.reading.get(name);
            let figures =
                ["rate_per_s", "connections", "threads", "completed", "failed", "received_bytes"].map(get);
            assert_eq!(figures, [1074.30, 4.0, 2.0, 190.0, 10.0, 1_468_210.0].map(Some));
            let close = |name: &str, value: f64| assert!((get(name).unwrap() - value).abs() < 1.0, "{name}");
            close("duration_ns", 186.17e6);
            close("latency_ns_min", 301e3);
            close("latency_ns_sd", 3.25e6);
            close("connect_ns_max", 85e3);
            assert_eq!((get("first_byte_ns_mean"), get("latency_ns_p99")), (None, None));
            assert_eq!((found.reading.status["4xx"], found.reading.errors["failed"]), (10, 10));
            assert_eq!(found.strange, Vec::<String>::new());
            assert!(found.at.start == 0 && text[found.at.end..].trim().is_empty());
        }
    }

    #[test]
    fn later_versions_have_more_columns() {
        let table =
            "              min         max         median       p95    p99    mean         sd        +/- sd
request     :  1us  9ms  2ms  3ms  4ms  5ms  6ms  90.00%\n";
        let found = read(&format!("finished in 1.00s, 5.00 req/s, 1B/s\n{table}"));
        let get = |name: &str| found[0].reading.get(name);
        let figures = ["latency_ns_min", "latency_ns_p50", "latency_ns_p99", "latency_ns_sd"].map(get);
        assert_eq!(figures, [1e3, 2e6, 4e6, 6e6].map(Some));
    }

    #[test]
    fn several_broken_and_strange_ones() {
        let broken = &REPORT[..REPORT.find(" succeeded").unwrap()];
        let odd = REPORT.replace("status codes", "Brand new: 7\nstatus codes");
        let text = format!("a\n{REPORT}b\n{odd}\n# c\n{broken}");
        let found = read(&text);
        assert_eq!(found.len(), 3);
        assert_eq!(found[1].strange, ["Brand new: 7"]);
        assert_eq!((found[2].reading.get("completed"), found[2].reading.get("sent")), (None, Some(200.0)));
        let weighttp = "finished in 1 sec, 2 millisec and 3 microsec, 100 req/s, 5 kbyte/s\n";
        for text in [
            weighttp,
            "finished in ",
            "finished in 5s",
            "finished in 5s, x",
            "",
            "finished in 1.2.3s, 4 req/s",
        ] {
            assert_eq!(read(text), [], "{text}");
        }
        let odd = REPORT.replace("(1468210)", "(21010)");
        assert!(read(&odd)[0].strange[0].starts_with("traffic"));
    }
}
