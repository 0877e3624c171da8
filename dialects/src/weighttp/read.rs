//! Reads weighttp's reports in any text.

use crate::Found;
use crate::failures;
use crate::template::{self, Report, Sight};
use model::Reading;

/// The lines in order: at the start, during the run, and at the end. The first line is from later versions, the
/// second from 0.3.
const LINES: &[&str] = &[
    "weighttp {} - a lightweight and simple webserver benchmarking tool",
    "weighttp - a lightweight and simple webserver benchmarking tool",
    "starting benchmark...",
    "\u{1}spawning thread #{}: {} concurrent requests, {} total requests",
    "\u{1}progress: {}% done",
    "finished in {} sec, {} millisec and {} microsec, {} req/s, {} kbyte/s",
    "requests: {} total, {} started, {} done, {} succeeded, {} failed, {} errored",
    "status codes: {} 2xx, {} 3xx, {} 4xx, {} 5xx",
    "traffic: {} bytes total, {} bytes http, {} bytes data",
];

const VERSION: usize = 0;
const SPAWNING: usize = 3;
const FINISHED: usize = 5;
const REQUESTS: usize = 6;
const STATUS: usize = 7;
const TRAFFIC: usize = 8;

/// The longest command line with its prompt, and its largest distance from the report, in bytes.
const NEAR_BYTES: usize = 2048;

/// All reports in a text. A report without figures is ignored.
pub fn read(text: &str) -> Vec<Found> {
    let mut after = 0;
    let mut found = Vec::new();
    for report in template::reports(text, LINES) {
        if !report.sights.iter().any(|sight| sight.line >= FINISHED && sight.values.len() >= 3) {
            continue;
        }
        let command = command(text, after, report.at.start);
        after = report.at.end;
        found.push(of(text, report, command));
    }
    found
}

fn of(text: &str, report: Report, command: Option<std::ops::Range<usize>>) -> Found {
    let mut reading = Reading::of("weighttp");
    let spawned: Vec<&Sight> = report.sights.iter().filter(|sight| sight.line == SPAWNING).collect();
    if !spawned.is_empty() {
        reading.set("threads", spawned.len() as f64);
        reading.set("connections", spawned.iter().filter_map(|sight| sight.get(1)).sum());
    }
    for sight in &report.sights {
        set(&mut reading, sight, &text[sight.at.clone()]);
    }
    let start = command.as_ref().map_or(report.at.start, |command| command.start);
    reading.command = command.map(|command| text[command].to_owned());
    reading.url = reading.command.as_deref().and_then(url);
    Found { at: start..report.at.end, reading, strange: report.strange }
}

fn set(reading: &mut Reading, sight: &Sight, text: &str) {
    let mut figures = |names: &[(&str, f64)]| {
        for (nth, (name, unit)) in names.iter().enumerate().filter(|(_, (name, _))| !name.is_empty()) {
            sight.get(nth).into_iter().for_each(|value| reading.set(name, value * unit));
        }
    };
    match sight.line {
        VERSION => reading.version = text.split_whitespace().nth(1).map(str::to_owned),
        FINISHED => {
            figures(&[
                ("", 1.0),
                ("", 1.0),
                ("", 1.0),
                ("rate_per_s", 1.0),
                ("received_bytes_per_s", 1024.0),
            ]);
            if let (Some(s), Some(ms), Some(us)) = (sight.get(0), sight.get(1), sight.get(2)) {
                reading.set("duration_ns", s * 1e9 + ms * 1e6 + us * 1e3);
            }
        }
        REQUESTS => {
            figures(&[("requests", 1.0), ("sent", 1.0), ("", 1.0), ("completed", 1.0), ("failed", 1.0)]);
            let failures = [("failed", sight.get(4)), ("errored", sight.get(5))];
            let failures = failures.map(|(kind, count)| (kind, count.unwrap_or(0.0)));
            failures::add_nested(reading, &failures);
        }
        STATUS => counts(&mut reading.status, sight, &["2xx", "3xx", "4xx", "5xx"]),
        TRAFFIC => figures(&[("received_bytes", 1.0), ("head_bytes", 1.0), ("body_bytes", 1.0)]),
        _ => {}
    }
}

fn counts(to: &mut std::collections::BTreeMap<String, u64>, sight: &Sight, names: &[&str]) {
    for (nth, name) in names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
        if let Some(n) = sight.get(nth).filter(|n| *n > 0.0) {
            to.insert((*name).to_owned(), n as u64);
        }
    }
}

/// The command line directly before the report, at the beginning of a line or after a prompt.
fn command(text: &str, from: usize, to: usize) -> Option<std::ops::Range<usize>> {
    const NAME: &str = "weighttp ";
    let low = (to.saturating_sub(NEAR_BYTES).max(from)..=to).find(|at| text.is_char_boundary(*at))?;
    let at = low + text[low..to].rfind(NAME)?;
    let line = text[at..to].lines().next()?.trim_end();
    let before = text[low..at].trim_end_matches(['.', '/']).rsplit('\n').next()?;
    let before = before.trim_end_matches([' ', '\t']);
    let is_first = before.trim_matches(['>', '`', ' ', '\t', '*', '|']).is_empty();
    let is_prompted = before.ends_with(['$', '#', '%', '>', '`']);
    let is_near = template::between(&text[at + line.len()..to]).is_some_and(|rest| rest.is_empty());
    let has_options = line[NAME.len()..].trim_start().starts_with('-');
    (has_options && (is_first || is_prompted) && is_near).then(|| at..at + line.len())
}

/// The URL: the word with a scheme, or the last word.
fn url(command: &str) -> Option<String> {
    let bare = |word: &str| word.trim_matches(['\'', '"', '`']).to_owned();
    let mut words = command.split_whitespace().map(bare).filter(|word| !word.is_empty());
    let last = words.clone().next_back().filter(|word| word.contains(['/', ':', '.']));
    words.find(|word| word.starts_with("http://") || word.starts_with("https://")).or(last)
}
