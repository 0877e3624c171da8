//! Reads oha's reports: the summary of several versions, and the JSON.

use crate::Found;
use crate::cursor::{Cursor, walk};
use crate::table::{bytes, nanoseconds};
use model::Reading;
use serde::Deserialize;
use std::collections::BTreeMap;

/// The first line of a summary.
const ANCHOR: &str = "Summary:";

/// The first key of the JSON.
const KEY: &str = "\"summary\"";

/// The summary's times, with parts of their names.
const TIMES: &[(&str, &str)] = &[
    ("Total:", "duration_ns"),
    ("Slowest:", "latency_ns_max"),
    ("Fastest:", "latency_ns_min"),
    ("Average:", "latency_ns_mean"),
];

/// The summary's sizes, which are those of bodies.
const SIZES: &[(&str, &str)] =
    &[("Total data:", "body_bytes"), ("Size/request:", "mean_body_bytes"), ("Size/sec:", "body_bytes_per_s")];

/// The headings of the summary's parts, and the part that each begins.
const PARTS: &[(&str, Part)] = &[
    ("Response time histogram (", Part::Some),
    ("Response time distribution (", Part::Some),
    ("Response time histogram:", Part::Some),
    ("Response time distribution:", Part::All),
    ("Latency distribution:", Part::All),
    ("Status code distribution:", Part::Status),
    ("Error distribution:", Part::Errors),
    ("Details (average, fastest, slowest)", Part::Some),
];

/// A part of the summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A part that is not kept.
    Some,
    /// The percentiles over all answers.
    All,
    Status,
    Errors,
}

/// All reports in a text.
pub fn read(text: &str) -> Vec<Found> {
    let mut found = summaries(text);
    found.extend(jsons(text));
    found.sort_by_key(|found| found.at.start);
    found
}

fn summaries(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (at, _) in text.match_indices(ANCHOR) {
        let mut cursor = Cursor::new(text, at + ANCHOR.len());
        // Other tools have a summary too, but only oha's begins with the success rate.
        if found.last().is_some_and(|before| before.at.end > at) || !cursor.eat("Success rate:") {
            continue;
        }
        let _ = cursor.eat("NaN%") || cursor.value().is_some();
        let mut reading = Reading::of("oha");
        let mut part = Part::Some;
        let take = |cursor: &mut Cursor| take(cursor, &mut reading, &mut part);
        let (end, strange) = walk(cursor, take, |rest| rest.starts_with(ANCHOR));
        counts(&mut reading);
        if !reading.figures.is_empty() {
            found.push(Found { at: at..end, reading, strange });
        }
    }
    found
}

/// The counts of answers and errors, from the summary's parts.
fn counts(reading: &mut Reading) {
    if !reading.status.is_empty() {
        reading.set("completed", reading.status.values().sum::<u64>() as f64);
    }
    if !reading.errors.is_empty() {
        reading.set("failed", reading.errors.values().sum::<u64>() as f64);
    }
}

fn take(cursor: &mut Cursor, reading: &mut Reading, part: &mut Part) -> bool {
    if let Some((_, name)) = TIMES.iter().find(|(label, _)| cursor.eat(label)) {
        return time(cursor, reading, name);
    }
    if cursor.eat("Requests/sec:") {
        return cursor.number().map(|rate| reading.set("rate_per_s", rate)).is_some();
    }
    if let Some((_, name)) = SIZES.iter().find(|(label, _)| cursor.eat(label)) {
        return size(cursor, reading, name);
    }
    if let Some((heading, begun)) = PARTS.iter().find(|(heading, _)| cursor.eat(heading)) {
        if heading.ends_with('(') || heading.starts_with("Details") {
            cursor.line();
        }
        *part = *begun;
        return true;
    }
    if cursor.eat("DNS+dialup:") || cursor.eat("DNS+dialup") {
        return ["mean", "min", "max"].iter().all(|name| {
            let is_there = time(cursor, reading, &format!("connect_ns_{name}"));
            cursor.eat(",");
            is_there
        });
    }
    if cursor.eat("DNS-lookup:") || cursor.eat("DNS-lookup") {
        return (0..3).all(|_| {
            let is_there = time(cursor, &mut Reading::default(), "");
            cursor.eat(",");
            is_there
        });
    }
    match part {
        Part::Status if cursor.eat("[") => status(cursor, reading),
        Part::Errors if cursor.eat("[") => error(cursor, reading),
        Part::All | Part::Some => percentile(cursor, reading, *part == Part::All) || bar(cursor),
        _ => false,
    }
}

/// Reads a number and a unit after a space, such as `0.0123 secs`. NaN is unknown.
fn time(cursor: &mut Cursor, reading: &mut Reading, name: &str) -> bool {
    if cursor.eat("NaN") || cursor.eat("-inf") || cursor.eat("inf") {
        let _ = unit(cursor);
        return true;
    }
    let Some((n, glued)) = cursor.value() else { return false };
    let unit = if glued.is_empty() { unit(cursor) } else { glued };
    match nanoseconds(unit) {
        Some(factor) => reading.set(name, n * factor),
        None => return false,
    }
    true
}

fn size(cursor: &mut Cursor, reading: &mut Reading, name: &str) -> bool {
    if cursor.eat("NaN") {
        return true;
    }
    let Some((n, glued)) = cursor.value() else { return false };
    let unit = if glued.is_empty() { unit(cursor) } else { glued };
    let Some(factor) = bytes(unit) else { return false };
    reading.set(name, n * factor);
    true
}

/// The next word, if it is short.
fn unit<'t>(cursor: &mut Cursor<'t>) -> &'t str {
    let rest = cursor.blanks().rest();
    let end = rest.find(|c: char| !c.is_alphabetic()).unwrap_or(rest.len());
    cursor.at += end;
    &rest[..end]
}

/// Reads `99.90% in 0.0123 secs`.
fn percentile(cursor: &mut Cursor, reading: &mut Reading, is_kept: bool) -> bool {
    let mut next = *cursor;
    let Some((share, "%")) = next.value() else { return false };
    if !next.eat("in") {
        return false;
    }
    *cursor = next;
    let mut other = Reading::default();
    let kept = if is_kept { reading } else { &mut other };
    time(cursor, kept, &format!("latency_ns_{}", name_of(share)))
}

/// The name of a percentile: `p99`, `p999`, `p9999`.
fn name_of(share: f64) -> String {
    format!("p{share}").replace('.', "")
}

/// Reads `0.001 ms [29] |■■■`.
fn bar(cursor: &mut Cursor) -> bool {
    let is_bar = cursor.value().is_some_and(|(_, glued)| {
        if glued.is_empty() && !cursor.rest().trim_start().starts_with('[') {
            let _ = unit(cursor);
        }
        cursor.eat("[") && cursor.number().is_some() && cursor.eat("]") && cursor.eat("|")
    });
    if is_bar {
        let rest = cursor.rest();
        cursor.at += rest.len() - rest.trim_start_matches(['■', '∎', ' ']).len();
    }
    is_bar
}

/// Reads `[200] 1000 responses`.
fn status(cursor: &mut Cursor, reading: &mut Reading) -> bool {
    let Some(code) = cursor.number().filter(|_| cursor.eat("]")) else { return false };
    let Some(n) = cursor.number().filter(|_| cursor.eat("responses")) else { return false };
    reading.status.insert(format!("{code:.0}"), n as u64);
    true
}

/// Reads `[10] connection closed before message completed`.
fn error(cursor: &mut Cursor, reading: &mut Reading) -> bool {
    let Some(n) = cursor.number().filter(|_| cursor.eat("]")) else { return false };
    let what = cursor.line();
    reading.errors.insert(what.chars().take(200).collect(), n as u64);
    !what.is_empty()
}

/// The keys of the JSON that are kept. All are optional, because a version may have fewer.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Json {
    summary: Summary,
    #[serde(default)]
    latency_percentiles: BTreeMap<String, Option<f64>>,
    #[serde(default)]
    first_byte_percentiles: BTreeMap<String, Option<f64>>,
    details: Option<Details>,
    #[serde(default)]
    status_code_distribution: BTreeMap<String, u64>,
    #[serde(default)]
    error_distribution: BTreeMap<String, u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Summary {
    total: Option<f64>,
    slowest: Option<f64>,
    fastest: Option<f64>,
    average: Option<f64>,
    requests_per_sec: Option<f64>,
    total_data: Option<f64>,
    size_per_request: Option<f64>,
    size_per_sec: Option<f64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(rename = "DNSDialup")]
    dns_dialup: Option<Triple>,
    first_byte: Option<Triple>,
}

#[derive(Deserialize)]
struct Triple {
    average: Option<f64>,
    fastest: Option<f64>,
    slowest: Option<f64>,
}

fn jsons(text: &str) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (key, _) in text.match_indices(KEY) {
        let before = text[..key].trim_end_matches([' ', '\t', '\r', '\n']);
        let is_taken = found.last().is_some_and(|before| before.at.end > key);
        if is_taken || !before.ends_with('{') || !text[key + KEY.len()..].trim_start().starts_with(':') {
            continue;
        }
        let start = before.len() - 1;
        let mut stream = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Json>();
        if let Some(Ok(json)) = stream.next()
            && json.summary.requests_per_sec.is_some()
        {
            let at = start..start + stream.byte_offset();
            found.push(Found { at, reading: of_json(json), strange: Vec::new() });
        }
    }
    found
}

fn of_json(json: Json) -> Reading {
    let mut reading = Reading::of("oha");
    let s = &json.summary;
    let triple = |of: Option<&Triple>| of.map_or([None; 3], |t| [t.average, t.fastest, t.slowest]);
    let [connect, first_byte] = [
        json.details.as_ref().and_then(|d| d.dns_dialup.as_ref()),
        json.details.as_ref().and_then(|d| d.first_byte.as_ref()),
    ]
    .map(triple);
    let mut times = vec![
        ("duration_ns".to_owned(), s.total),
        ("latency_ns_max".to_owned(), s.slowest),
        ("latency_ns_min".to_owned(), s.fastest),
        ("latency_ns_mean".to_owned(), s.average),
    ];
    for (of, values) in [("connect_ns", connect), ("first_byte_ns", first_byte)] {
        times.extend(
            ["mean", "min", "max"].iter().zip(values).map(|(name, value)| (format!("{of}_{name}"), value)),
        );
    }
    for (of, all) in
        [("latency_ns", &json.latency_percentiles), ("first_byte_ns", &json.first_byte_percentiles)]
    {
        times.extend(all.iter().map(|(p, value)| (format!("{of}_{}", p.replace('.', "")), *value)));
    }
    times.iter().for_each(|(name, s)| s.iter().for_each(|s| reading.set(name, s * 1e9)));
    let others = [
        ("rate_per_s", s.requests_per_sec),
        ("body_bytes", s.total_data),
        ("mean_body_bytes", s.size_per_request),
        ("body_bytes_per_s", s.size_per_sec),
    ];
    others.iter().for_each(|(name, value)| value.iter().for_each(|value| reading.set(name, *value)));
    reading.status = json.status_code_distribution;
    reading.errors = json.error_distribution;
    counts(&mut reading);
    reading
}

#[cfg(test)]
mod tests;
