//! Turns the pieces of a report into figures, with drome's names and units.

use super::lines::{Field, PATIENCE};
use crate::Found;
use crate::failures;
use model::Reading;

/// Nanoseconds in a millisecond, and in a second.
const MS: f64 = 1e6;
const SECOND: f64 = 1e9;

/// The bytes of a KB in ab's rates.
const KB: f64 = 1024.0;

/// A report that is being read.
#[derive(Debug)]
pub struct Draft {
    /// The field that was read last.
    pub last: Field,
    /// Unknown text since then.
    pub pending: Vec<String>,
    start: usize,
    end: usize,
    reading: Reading,
    strange: Vec<String>,
    host: Option<String>,
    port: Option<u64>,
    path: Option<String>,
    is_tls: bool,
}

impl Draft {
    /// A report of which nothing has been read.
    pub fn new(start: usize, command: Option<String>) -> Self {
        Self {
            last: Field::Banner,
            pending: Vec::new(),
            start,
            end: start,
            reading: Reading { command, ..Reading::of("ab") },
            strange: Vec::new(),
            host: None,
            port: None,
            path: None,
            is_tls: false,
        }
    }

    /// Notes that a piece was understood, up to this position. So the unknown text before it belongs to the report.
    pub fn understood(&mut self, field: Field, end: usize) {
        if field != Field::Aside {
            self.last = field;
        }
        self.end = end;
        self.strange.append(&mut self.pending);
    }

    /// Reads a piece's value. Returns how much of it was understood; `None` if it is malformed.
    pub fn take(&mut self, field: Field, piece: &str, value: &str) -> Option<usize> {
        match field {
            Field::Banner => self.version(value),
            Field::Notice | Field::Doubt | Field::Aside => Some(value.trim_end().len()),
            Field::Progress if piece.starts_with('.') => Some(0),
            Field::Progress => quantity(value, &["requests"]).map(|(_, used)| used),
            Field::Benchmarking => {
                let end = value.find(PATIENCE)? + PATIENCE.len();
                Some(end + value[end..].len() - value[end..].trim_start_matches('.').len())
            }
            Field::Software | Field::Hostname | Field::Path | Field::Tls => {
                let text = value.trim();
                let place = match field {
                    Field::Software => &mut self.reading.server,
                    Field::Hostname => &mut self.host,
                    Field::Path => &mut self.path,
                    _ => {
                        self.is_tls = true;
                        return Some(value.trim_end().len());
                    }
                };
                *place = Some(text.to_owned());
                Some(value.trim_end().len())
            }
            Field::Kinds => self.kinds(value),
            Field::PerRequest => self.per_request(value),
            Field::Transfer => {
                self.figure("received_bytes_per_s", KB, value, &["[Kbytes/sec] received", "kb/s received"])
            }
            Field::Times => header(value),
            Field::Connect => self.row("connect_ns", value),
            Field::Processing => self.row("service_ns", value),
            Field::Waiting => self.row("first_byte_ns", value),
            Field::Total => self.row("latency_ns", value),
            Field::Percentiles => {
                // This is "… served within a certain time (ms)", followed by the first percentile if line breaks
                // were lost.
                let end = value.find("(ms)").map_or(value.trim_end().len(), |at| at + "(ms)".len());
                Some(end + self.percentiles(&value[end..]).unwrap_or(0))
            }
            Field::Abort => self.abort(piece, value),
            _ => self.count(field, value),
        }
    }

    /// Reads text without a label: a table's head, percentiles, rates of sent bytes.
    pub fn more(&mut self, text: &str) -> Option<usize> {
        match self.last {
            Field::Times => header(text).filter(|used| *used > 0),
            Field::Percentiles => self.percentiles(text),
            Field::Transfer => {
                let (value, used) = quantity(text, &["kb/s sent", "kb/s total"])?;
                let name = text[..used].ends_with("sent").then_some("sent_bytes_per_s");
                if let Some(name) = name {
                    self.reading.set(name, value * KB);
                }
                text[..used].contains("kb/s").then_some(used)
            }
            _ => None,
        }
    }

    /// The reading; `None` if there are neither figures nor failures nor the tool's banner, because then it was not a report.
    pub fn finish(mut self) -> Option<Found> {
        if let (Some(host), Some(path)) = (&self.host, &self.path)
            && !host.is_empty()
            && path.starts_with('/')
        {
            let (scheme, usual) = if self.is_tls { ("https", 443) } else { ("http", 80) };
            let host = if host.contains(':') { format!("[{host}]") } else { host.clone() };
            self.reading.url = self.port.map(|port| {
                let port = if port == usual { String::new() } else { format!(":{port}") };
                format!("{scheme}://{host}{port}{path}")
            });
        }
        // An answer with another status mostly has another length, too.
        failures::add_statuses(&mut self.reading, Some("length"));
        let has_figures = !self.reading.figures.is_empty() || !self.reading.errors.is_empty();
        let is_report = has_figures || self.reading.version.is_some();
        is_report.then_some(Found { at: self.start..self.end, reading: self.reading, strange: self.strange })
    }

    fn version(&mut self, value: &str) -> Option<usize> {
        let version = value.split_whitespace().next()?;
        self.reading.version = Some(version.to_owned());
        Some(value.trim_end().len())
    }

    fn figure(&mut self, name: &str, unit: f64, value: &str, units: &[&str]) -> Option<usize> {
        let (figure, used) = quantity(value, units)?;
        self.reading.set(name, figure * unit);
        Some(used)
    }

    /// Reads the fields that are a number.
    fn count(&mut self, field: Field, value: &str) -> Option<usize> {
        let bytes: &[&str] = &["bytes"];
        match field {
            Field::Port => {
                let (port, used) = quantity(value, &[])?;
                self.port = Some(port as u64);
                Some(used)
            }
            Field::Length if value.trim_start().starts_with("Variable") => Some(value.trim_end().len()),
            Field::Length => self.figure("document_bytes", 1.0, value, bytes),
            Field::Concurrency => self.figure("connections", 1.0, value, &[]),
            Field::Taken => self.figure("duration_ns", SECOND, value, &["seconds"]),
            Field::Complete => self.figure("completed", 1.0, value, &[]),
            Field::Failed => self.figure("failed", 1.0, value, &[]),
            Field::KeepAlive => self.figure("kept_alive", 1.0, value, &[]),
            Field::Received => self.figure("received_bytes", 1.0, value, bytes),
            Field::Sent => self.figure("sent_bytes", 1.0, value, bytes),
            Field::Body => self.figure("body_bytes", 1.0, value, bytes),
            Field::Rate => self.figure("rate_per_s", 1.0, value, &["[#/sec] (mean)", "[#/sec]"]),
            Field::Write => {
                let (count, used) = quantity(value, &[])?;
                self.error("write", count);
                Some(used)
            }
            Field::Non2xx => {
                let (count, used) = quantity(value, &[])?;
                self.reading.status.insert("non-2xx".to_owned(), count as u64);
                Some(used)
            }
            _ => None,
        }
    }

    fn error(&mut self, kind: &str, count: f64) {
        if count > 0.0 {
            self.reading.errors.insert(kind.to_owned(), count as u64);
        }
    }

    /// Reads `0, Receive: 1, Length: 2, Exceptions: 3)`, after `(Connect:`.
    fn kinds(&mut self, value: &str) -> Option<usize> {
        let (inner, _) = value.split_once(')')?;
        for (index, part) in inner.split(',').enumerate() {
            let (kind, count) = if index == 0 { ("connect", part) } else { part.split_once(':')? };
            let (count, _) = quantity(count, &[])?;
            self.error(&kind.trim().to_ascii_lowercase(), count);
        }
        Some(inner.len() + 1)
    }

    fn per_request(&mut self, value: &str) -> Option<usize> {
        let over_all = "[ms] (mean, across all concurrent requests)";
        let (time, used) = quantity(value, &[over_all, "[ms] (mean)"])?;
        let is_over_all = value[..used].ends_with(over_all);
        // Which of the two it is shows only at the end.
        if !is_over_all && !value[..used].ends_with("(mean)") {
            return None;
        }
        let name = if is_over_all { "time_per_request_over_all_ns" } else { "time_per_request_ns" };
        self.reading.set_measured(name, time * MS, MS / 1000.0);
        Some(used)
    }

    /// Reads a row of the table: five numbers, or three without deviations.
    fn row(&mut self, name: &str, value: &str) -> Option<usize> {
        let mut numbers = Vec::new();
        let mut at = 0;
        while let Some((number, used)) = quantity(&value[at..], &[])
            && numbers.len() < 5
        {
            numbers.push(number);
            at += used;
        }
        let columns: &[&str] = match numbers.len() {
            5 => &["min", "mean", "sd", "p50", "max"],
            3 => &["min", "mean", "max"],
            _ => return None,
        };
        for (column, number) in columns.iter().zip(numbers) {
            // Times are whole milliseconds, deviations have tenths.
            let last_digit = if *column == "sd" { MS / 10.0 } else { MS };
            self.reading.set_measured(&format!("{name}_{column}"), number * MS, last_digit);
        }
        Some(at)
    }

    /// Reads any number of percentiles, such as `50%  28`.
    fn percentiles(&mut self, text: &str) -> Option<usize> {
        let mut at = 0;
        while let Some((percent, ms, used)) = percentile(&text[at..]) {
            let name = if percent == 100.0 { "max".to_owned() } else { format!("p{percent}") };
            self.reading.set_measured(&format!("latency_ns_{name}"), ms * MS, MS);
            at += used;
        }
        (at > 0).then_some(at)
    }

    fn abort(&mut self, piece: &str, value: &str) -> Option<usize> {
        if piece.starts_with("Total of") {
            let (done, used) = quantity(value, &["requests completed"])?;
            self.reading.set("completed", done);
            return Some(used);
        }
        // The number that follows is the system's error number, and says the same as the text.
        let why = piece.rsplit_once(" (").map_or(piece, |(why, _)| why).trim();
        self.error(why, 1.0);
        Some(value.trim_end().len())
    }
}

/// The length of a text that consists of nothing but heads of a table's columns.
fn header(text: &str) -> Option<usize> {
    let is_head =
        |word| matches!(word, "min" | "mean[+/-sd]" | "mean" | "[+/-sd]" | "median" | "max" | "avg");
    text.split_whitespace().all(is_head).then(|| text.trim_end().len())
}

fn percentile(text: &str) -> Option<(f64, f64, usize)> {
    let at = text.len() - text.trim_start().len();
    let sign = at + text[at..].find(|c: char| !c.is_ascii_digit())?;
    let percent: f64 = text[at..sign].parse().ok().filter(|percent| *percent <= 100.0)?;
    let rest = text[sign..].strip_prefix('%')?;
    let units: &[&str] = &["(longest request)", "(last request)", "(total of all requests)", "(never)"];
    let (ms, used) = quantity(rest, units)?;
    Some((percent, ms, sign + 1 + used))
}

/// Reads a number, with or without one of these units, and returns it with the offset at which it ends. `None`: there is no number, or
/// other characters follow it directly, as in `12abc`.
fn quantity(text: &str, units: &[&str]) -> Option<(f64, usize)> {
    let start = text.len() - text.trim_start().len();
    let digits = text[start..].bytes().take_while(|b| b.is_ascii_digit() || *b == b'.').count();
    let end = start + digits;
    let number: f64 = text[start..end].parse().ok().filter(|number: &f64| number.is_finite())?;
    let rest = &text[end..];
    if rest.starts_with(|c: char| c.is_alphanumeric() || c == '%') {
        return None;
    }
    let blank = rest.len() - rest.trim_start().len();
    let unit = units.iter().find(|unit| rest[blank..].starts_with(**unit));
    Some((number, unit.map_or(end, |unit| end + blank + unit.len())))
}
