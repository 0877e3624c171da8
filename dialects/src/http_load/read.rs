//! Reads `http_load`'s report in any text, with line breaks or with spaces in their place.

use crate::Found;
use crate::failures;
use crate::scan::{self, Scan};
use model::Reading;
use std::ops::Range;

/// The part of the first line that distinguishes it from other tools' lines.
const FIRST: &str = "# fetches, # max parallel, # bytes, in # seconds";

/// The other lines, as `http_load` writes them, and the names of their numbers with factors to drome's units.
const LINES: &[(&str, &[(&str, f64)])] = &[
    ("# mean bytes/connection", &[("mean_body_bytes", 1.0)]),
    ("# fetches/sec, # bytes/sec", &[("rate_per_s", 1.0), ("body_bytes_per_s", 1.0)]),
    (
        "msecs/connect: # mean, # max, # min",
        &[("connect_ns_mean", 1e6), ("connect_ns_max", 1e6), ("connect_ns_min", 1e6)],
    ),
    (
        "msecs/first-response: # mean, # max, # min",
        &[("first_byte_ns_mean", 1e6), ("first_byte_ns_max", 1e6), ("first_byte_ns_min", 1e6)],
    ),
    ("HTTP response codes:", &[]),
];

/// The errors, in `http_load`'s words.
const ERRORS: &[(&str, &str)] = &[
    ("# timeouts", "timeouts"),
    ("# bad byte counts", "bad byte counts"),
    ("# bad checksums", "bad checksums"),
];

/// The largest number of unknown lines between two lines of a report; after more, the report has ended.
const STRANGE_LINES: usize = 3;

/// The reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    const ANCHOR: &str = " fetches,";
    let mut found: Vec<Found> = Vec::new();
    let mut from = 0;
    while let Some(anchor) = text.get(from..).and_then(|rest| rest.find(ANCHOR)).map(|at| from + at) {
        let floor = found.last().map_or(0, |report| report.at.end);
        let digits = text[floor..anchor].bytes().rev().take_while(u8::is_ascii_digit).count();
        from = anchor + ANCHOR.len();
        let mut scan = Scan::new(text, anchor - digits);
        let Some(numbers) = scan.template(FIRST) else { continue };
        let mut reading = Reading::of("http_load");
        let names = [("completed", 1.0), ("connections", 1.0), ("body_bytes", 1.0), ("duration_ns", 1e9)];
        for ((name, unit), number) in names.iter().zip(numbers) {
            reading.set(name, number * unit);
        }
        let strange = rest_of_report(&mut scan, &mut reading);
        // An answer with another status mostly has another length, too.
        failures::add_statuses(&mut reading, Some("bad byte counts"));
        let start = head(text, floor..anchor - digits, &mut reading);
        from = scan.at;
        found.push(Found { at: start..scan.at, reading, strange });
    }
    found
}

/// Reads the lines after the first, as far as they go. Returns the unknown lines between known ones.
fn rest_of_report(scan: &mut Scan<'_>, reading: &mut Reading) -> Vec<String> {
    let mut strange = Vec::new();
    let mut ahead = *scan;
    let mut skipped = Vec::new();
    loop {
        ahead.blanks();
        if line(&mut ahead, reading) {
            strange.append(&mut skipped);
            *scan = ahead;
            continue;
        }
        // Another report begins, or there are too many unknown lines.
        if skipped.len() == STRANGE_LINES || ahead.rest().is_empty() || { ahead }.template(FIRST).is_some() {
            return strange;
        }
        let Some(line) = ahead.line() else { return strange };
        skipped.push(line.to_owned());
    }
}

/// Reads one line, if the reading does not have it yet.
fn line(scan: &mut Scan<'_>, reading: &mut Reading) -> bool {
    let mut here = *scan;
    if let Some(numbers) = here.template("code # -- #") {
        let [code, n] = numbers[..] else { return false };
        let is_new = reading.status.insert(format!("{code:03}"), n as u64).is_none();
        *scan = here;
        return is_new;
    }
    for (template, kind) in ERRORS {
        if let Some(numbers) = here.template(template) {
            reading.errors.insert((*kind).to_owned(), numbers.first().copied().unwrap_or_default() as u64);
            *scan = here;
            return true;
        }
    }
    for (template, names) in LINES {
        if let Some(numbers) = here.template(template) {
            for ((name, unit), number) in names.iter().zip(numbers) {
                // Its clock has microseconds.
                reading.set_measured(name, number * unit, 1e3);
            }
            *scan = here;
            return true;
        }
    }
    false
}

/// Reads the command line directly before the report. Returns where it, or else the report, begins.
fn head(text: &str, before: Range<usize>, reading: &mut Reading) -> usize {
    for line in scan::lines_before(text, before.end, before.start) {
        let printed = &text[line.clone()];
        if let Some(command) = scan::command(printed, "http_load") {
            reading.command = Some(command.to_owned());
            reading.url = scan::url(command).map(str::to_owned);
            return line.start;
        }
        if !is_own(printed) {
            break;
        }
    }
    before.end
}

/// Whether `http_load` writes such a line before its report.
fn is_own(line: &str) -> bool {
    const ENDS: &[&str] = &[": timed out", ": byte count wrong", ": checksum wrong", " current"];
    let line = line.trim().trim_start_matches(['>', ' ']);
    line.is_empty() || line.starts_with("```") || ENDS.iter().any(|end| line.ends_with(end))
}
