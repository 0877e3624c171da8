//! Reads wrk's and wrk2's reports in any text. They are read word by word, so lost line breaks and indentation do
//! not matter. A value that the end of the text may have cut is left out.
//!
//! Besides drome's own names: `thread_rate_per_s_…` is the rate of one thread, `…_within_sd_share` the share within
//! one standard deviation of the mean, `planned_duration_ns` the requested duration.

use super::units::{read_bytes, read_metric, read_time_ns};
use super::words::{Word, Words};
use crate::Found;
use model::Reading;

/// How many unknown words in a report are searched for its next line.
const LOOK_AHEAD_WORDS: usize = 48;

/// The smallest time that is printed: 0.01 µs.
const LAST_DIGIT_NS: f64 = 10.0;

/// How near above the report the command line must be, in bytes.
const LOOK_BACK_BYTES: usize = 1000;

/// Finds the reports of a tool, `wrk` or `wrk2`.
pub fn find(text: &str, tool: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    let mut from = 0;
    while let Some(begin) = next_begin(text, from) {
        let (report, end) = Report::read(text, begin, from);
        from = end.max(begin + 1);
        found.extend(report);
    }
    found.retain(|report| report.reading.tool == tool);
    found
}

/// Where the next report may begin.
fn next_begin(text: &str, from: usize) -> Option<usize> {
    let rest = &text[from..];
    // Both are searched at once: one after the other, a text with many of one and none of the other would be
    // searched again and again.
    let mut at = 0;
    while let Some(n) = rest[at..].find("ing ") {
        let head = &rest[..at + n];
        if head.ends_with("Runn") || head.ends_with("Mak") {
            return Some(from + head.rfind(['R', 'M'])?);
        }
        at += n + 4;
    }
    None
}

/// The parts of a report, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
enum Part {
    #[default]
    Head,
    Stats,
    Distribution,
    Uncorrected,
    Totals,
    Rate,
    Over,
}

/// A report that is being read.
struct Report<'t> {
    words: Words<'t>,
    reading: Reading,
    part: Part,
    is_wrk2: bool,
    strange: Vec<String>,
}

impl<'t> Report<'t> {
    /// The report that begins here, if there is one, and where to continue. Its command line does not begin before
    /// `floor`.
    fn read(text: &'t str, begin: usize, floor: usize) -> (Option<Found>, usize) {
        let words = Words::new(text, begin);
        let mut report = Self {
            words,
            reading: Reading::of("wrk"),
            part: Part::Head,
            is_wrk2: false,
            strange: Vec::new(),
        };
        if !report.begins() {
            return (None, begin + 1);
        }
        report.command(text, begin, floor);
        let mut end = report.words.end();
        while report.part != Part::Over {
            let before = report.words.clone();
            if report.item() || report.skips_strange(&before) {
                end = report.words.end();
            } else {
                break;
            }
        }
        if report.is_wrk2 {
            "wrk2".clone_into(&mut report.reading.tool);
        }
        (Some(Found { at: begin..end, reading: report.reading, strange: report.strange }), end)
    }

    /// Reads `Running 10s test @ URL`, or `Making 1000 requests to URL` of the oldest versions.
    fn begins(&mut self) -> bool {
        let line = [self.words.next(), self.words.next(), self.words.next(), self.words.next()];
        let [Some(verb), Some(amount), Some(what), Some(to)] = line.map(|word| word.map(|w| w.text)) else {
            return false;
        };
        let is_ours = match (verb, what, to) {
            ("Running", "test", "@") => {
                planned_ns(amount).map(|ns| self.reading.set("planned_duration_ns", ns))
            }
            ("Making", "requests", "to") => amount.parse().ok().map(|n: u64| {
                self.reading.set("planned_requests", n as f64);
            }),
            _ => None,
        };
        let Some(url) = self.words.next().filter(|url| is_ours.is_some() && url.text.contains("://")) else {
            return false;
        };
        self.reading.url = Some(url.text.to_owned());
        true
    }

    /// The command line directly above the report or, in a text without line breaks, directly before it.
    fn command(&mut self, text: &str, begin: usize, floor: usize) {
        let mut from = begin.saturating_sub(LOOK_BACK_BYTES).max(floor);
        while !text.is_char_boundary(from) {
            from += 1;
        }
        let above = &text[from..begin];
        let is_rule = |line: &str| line.trim().bytes().all(|b| b"-=_*".contains(&b));
        let is_fence = |line: &str| is_rule(line) || line.trim().starts_with("```");
        let Some(line) = above.lines().rev().find(|line| !is_fence(line)) else { return };
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let name_of = |word: &str| word.rsplit('/').next().map(|name| name == "wrk" || name == "wrk2");
        let is_call = |at: usize| {
            let prompts = |word: &&str| matches!(word.chars().last(), Some('$' | '#' | '%' | '>' | '❯'));
            name_of(words[at]) == Some(true) && (at == 0 || prompts(&words[at - 1]))
        };
        let Some(at) = (0..words.len()).rev().find(|at| is_call(*at)) else { return };
        let call = &words[at..];
        if !call.iter().any(|word| word.contains("://")) {
            return;
        }
        let mut options = call.iter().zip(call.iter().skip(1).chain(std::iter::once(&"")));
        let rate = options.find_map(|(option, next)| match option.strip_prefix("-R") {
            Some("") => Some(*next),
            None if *option == "--rate" => Some(*next),
            None => option.strip_prefix("--rate="),
            rate => rate,
        });
        self.is_wrk2 = call[0].ends_with("wrk2") || rate.is_some();
        if let Some(rate) = rate.and_then(super::units::scan_metric) {
            self.reading.set("offered_rate_per_s", rate as f64);
        }
        self.reading.command = Some(call.join(" "));
    }

    /// Reads the next line, or part of a line, if it is known.
    fn item(&mut self) -> bool {
        let before = self.words.clone();
        let Some(first) = self.words.next() else { return false };
        let is_known = match first.text {
            "Thread" => self.thread_line(),
            "Latency" if self.words.skips(&["Distribution"]) => self.distribution(),
            "Latency" => self.moments("latency_ns", read_time_ns),
            "Req/Sec" | "Req/sec" => self.moments("thread_rate_per_s", read_metric),
            "Detailed" => self.words.skips(&["Percentile", "spectrum:"]),
            "Value" => self.words.skips(&["Percentile", "TotalCount", "1/(1-Percentile)"]),
            "Socket" => self.socket_errors(),
            "Non-2xx" => self.non_2xx(),
            "Requests/sec:" => self.last("rate_per_s", Part::Rate, read_metric),
            "Transfer/sec:" => self.last("received_bytes_per_s", Part::Over, read_bytes),
            text if text.starts_with("#[") => self.words.skips_to_bracket(&first),
            text if text.len() > 9 && text.bytes().all(|b| b == b'-') => self.part >= Part::Distribution,
            text if text.ends_with('%') => self.percentile(&first),
            _ => self.number_line(&first),
        };
        if !is_known {
            self.words = before;
        }
        is_known
    }

    /// Reads `Thread Stats …`, the head of the table, or wrk2's `Thread calibration: …`.
    fn thread_line(&mut self) -> bool {
        if self.words.skips(&["Stats", "Avg", "Stdev", "Max", "+/-", "Stdev"]) {
            return true;
        }
        if !self.words.skips(&["calibration:", "mean", "lat.:"]) {
            return false;
        }
        self.is_wrk2 = true;
        let _ = self.words.next();
        // Some versions put a space before the unit.
        let _ = self.words.skips(&["usec,"]);
        if self.words.skips(&["rate", "sampling", "interval:"]) {
            let _ = self.words.next();
            let _ = self.words.skips(&["msec"]);
        }
        true
    }

    /// Reads mean, standard deviation, maximum, and the share within one standard deviation.
    fn moments(&mut self, name: &str, read: fn(&str) -> Option<f64>) -> bool {
        if self.part > Part::Stats {
            return false;
        }
        // Only wrk2 prints unknown means and deviations.
        let is_unknown = |word: &str| word.trim_start_matches('-').starts_with("nan").then_some(());
        if self.words.value(is_unknown).is_some() {
            (self.is_wrk2, self.part) = (true, Part::Stats);
            let label = if name == "latency_ns" { "Latency" } else { "Req/Sec" };
            self.strange.push(format!("{label}: nan (no figure)"));
            return (0..3).all(|_| self.words.next().is_some());
        }
        let mut is_any = false;
        for moment in ["mean", "sd", "max"] {
            let Some(value) = self.words.value(read) else { return is_any };
            self.reading.set_measured(&format!("{name}_{moment}"), value, LAST_DIGIT_NS);
            self.part = Part::Stats;
            is_any = true;
        }
        let within = |word: &str| word.strip_suffix('%')?.parse::<f64>().ok();
        if let Some(percent) = self.words.value(within).filter(|percent| percent.is_finite()) {
            self.reading.set(&format!("{name}_within_sd_share"), percent / 100.0);
        }
        true
    }

    /// Reads the heading of the percentiles; wrk2's names the latency.
    fn distribution(&mut self) -> bool {
        if self.part >= Part::Totals {
            return false;
        }
        self.part = Part::Distribution;
        if self.words.skips(&["(HdrHistogram", "-"]) {
            self.is_wrk2 = true;
            let is_uncorrected = self.words.next().is_some_and(|word| word.text == "Uncorrected");
            if is_uncorrected {
                self.part = Part::Uncorrected;
            }
            let until = if is_uncorrected { "account))" } else { "Latency)" };
            return (0..9).any(|_| self.words.next().is_some_and(|word| word.text == until));
        }
        true
    }

    /// Reads `50% 635.91us`, or wrk2's `50.000% 0.85ms`.
    fn percentile(&mut self, first: &Word<'t>) -> bool {
        if !matches!(self.part, Part::Distribution | Part::Uncorrected) {
            return false;
        }
        let Some(name) = first.text.strip_suffix('%').and_then(percentile_name) else { return false };
        let of = if self.part == Part::Uncorrected { "service_ns" } else { "latency_ns" };
        match self.words.value(read_time_ns) {
            Some(ns) if name == "max" && self.part == Part::Distribution => {
                // The table above has this value too.
                self.reading.figures.entry("latency_ns_max".to_owned()).or_insert(ns);
            }
            Some(ns) => self.reading.set_measured(&format!("{of}_{name}"), ns, LAST_DIGIT_NS),
            None => return false,
        }
        true
    }

    /// Reads lines that begin with a number: threads and connections, a row of the spectrum, and the totals.
    fn number_line(&mut self, first: &Word<'t>) -> bool {
        let Ok(number) = first.text.parse::<f64>() else { return false };
        if self.words.skips(&["threads", "and"]) {
            let connections =
                self.words.value(|word| word.parse::<u64>().ok()).filter(|_| self.part == Part::Head);
            let Some(connections) = connections.filter(|_| self.words.skips(&["connections"])) else {
                return false;
            };
            self.reading.set("threads", number);
            self.reading.set("connections", connections as f64);
            return true;
        }
        if self.words.skips(&["requests", "in"]) {
            self.reading.set("completed", number);
            self.part = Part::Totals;
            if let Some(ns) = self.words.value(|word| read_time_ns(word.strip_suffix(',')?)) {
                self.reading.set("duration_ns", ns);
                if let Some(bytes) = self.words.value(read_bytes) {
                    self.reading.set("received_bytes", bytes);
                    self.words.skips(&["read"]);
                }
            }
            return true;
        }
        let is_number = |word: Option<Word<'_>>| word.is_some_and(|w| w.text.parse::<f64>().is_ok());
        let is_row = matches!(self.part, Part::Distribution | Part::Uncorrected) && first.text.contains('.');
        is_row && (0..3).all(|_| is_number(self.words.next()))
    }

    /// Reads `connect 0, read 3, write 0, timeout 1`.
    fn socket_errors(&mut self) -> bool {
        if self.part != Part::Totals || !self.words.skips(&["errors:"]) {
            return false;
        }
        for kind in ["connect", "read", "write", "timeout"] {
            if !self.words.skips(&[kind]) {
                break;
            }
            let Some(n) = self.words.count() else { break };
            self.reading.errors.insert(kind.to_owned(), n);
        }
        true
    }

    fn non_2xx(&mut self) -> bool {
        if self.part != Part::Totals || !self.words.skips(&["or", "3xx", "responses:"]) {
            return false;
        }
        if let Some(n) = self.words.count() {
            self.reading.errors.insert("status".to_owned(), n);
        }
        true
    }

    /// Reads the two lines at the end. Other tools have similar lines, but not after wrk's totals.
    fn last(&mut self, name: &str, part: Part, read: fn(&str) -> Option<f64>) -> bool {
        let value = self.words.decimals(read).filter(|_| self.part >= Part::Totals);
        self.part = if value.is_some() { part } else { self.part };
        value.is_some_and(|value| {
            self.reading.set(name, value);
            true
        })
    }

    /// Skips unknown text, if the report continues after it.
    fn skips_strange(&mut self, before: &Words<'t>) -> bool {
        for _ in 0..LOOK_AHEAD_WORDS {
            let here = self.words.clone();
            let Some(word) = self.words.next() else { break };
            if word.text == "Running" {
                break;
            }
            if here.end() == before.end() || !is_label(word.text) {
                continue;
            }
            self.words = here.clone();
            if self.item() {
                let between = before.until(&here);
                self.strange.extend(
                    between.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned),
                );
                return true;
            }
            self.words.next();
        }
        self.words = before.clone();
        false
    }
}

/// Words that begin a line of a report, and rarely anything else.
fn is_label(word: &str) -> bool {
    let labels =
        ["Thread", "Latency", "Req/Sec", "Req/sec", "Socket", "Non-2xx", "Requests/sec:", "Transfer/sec:"];
    labels.contains(&word) || word.bytes().all(|b| b.is_ascii_digit())
}

/// The requested duration, in whole seconds, minutes or hours.
fn planned_ns(word: &str) -> Option<f64> {
    let unit = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let number: f64 = word.strip_suffix(unit)?.parse().ok()?;
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return None,
    };
    Some(number * seconds * 1e9)
}

/// The name of a percentile: 99.9 is `p999`, 100 is `max`.
fn percentile_name(percent: &str) -> Option<String> {
    let (whole, part) = percent.split_once('.').unwrap_or((percent, ""));
    let is_number = |digits: &str| digits.bytes().all(|b| b.is_ascii_digit());
    if whole.is_empty() || whole.len() > 3 || !is_number(whole) || !is_number(part) {
        return None;
    }
    Some(if whole == "100" { "max".to_owned() } else { format!("p{whole}{}", part.trim_end_matches('0')) })
}
