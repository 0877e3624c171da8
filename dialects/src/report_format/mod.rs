//! One scanner for the reports of many tools. A tool's report is data: the templates of its lines, with the figure that each field
//! is. So a report may be indented, quoted, wrapped or on one line, and a new tool needs no code of its own.
//!
//! In a template, a space matches any white space and what pages and tables put beside words, `…` matches dots, and `{name:kind}` is
//! a field. Kinds are those of [`Kind`]; without a kind, the field is a number. A field without a name is not kept. `*` in a name is
//! the key that the line has named before, such as a percentile.

mod field;
mod json;
mod parts;
mod tools;

use crate::Found;
use crate::failures;
use field::Taken;
use model::Reading;
use parts::{Beginnings, Line, Seen};
use tools::Complete;

/// The report of one tool.
pub struct Format {
    /// The tool.
    pub tool: &'static str,
    /// The lines of its report, in any order; the first that matches counts.
    pub lines: &'static [(Role, &'static str)],
    /// How other lines of it begin, which have no figure that is kept.
    pub ignores: &'static [&'static str],
    /// Adds what follows from the figures. Returns whether the report is the tool's.
    pub complete: Complete,
}

/// What a line says about where a report begins and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A report begins with it.
    Begins,
    /// Only this tool has it, or has it so. Without such a line, there is no report.
    Telling,
    /// Like `Telling`, but it may occur several times.
    Repeats,
    /// It occurs once in a report; a second one begins another report.
    Once,
    /// It may occur several times, and begins none.
    Often,
    /// Like `Once`. The unknown lines after it are details of a figure that another line has, such as the causes of errors.
    Details,
}

/// All reports of a tool in a text, in order.
pub fn read(text: &str, tool: &str) -> Vec<Found> {
    let formats = tools::FORMATS.iter().filter(|format| format.tool == tool);
    let mut found: Vec<Found> = formats.flat_map(|format| format.read(text)).collect();
    found.extend(json::read(text, tool));
    found.sort_by_key(|found| found.at.start);
    found
}

/// The largest number of unknown lines between two lines of one report.
const MOST_BETWEEN: usize = 8;

/// A report that is being read.
struct Draft {
    start: usize,
    end: usize,
    reading: Reading,
    strange: Vec<String>,
    columns: Vec<Option<String>>,
    seen: Vec<bool>,
    /// The line that was read last.
    last: Option<usize>,
}

impl Format {
    fn read(&self, text: &str) -> Vec<Found> {
        let lines: Vec<Line> = self.lines.iter().map(|(_, template)| Line::new(template)).collect();
        let is_sign = |role: Role| matches!(role, Role::Telling | Role::Repeats);
        let mut signs = self.lines.iter().zip(&lines).filter(|((role, _), _)| is_sign(*role));
        // Most texts have no report of most tools; a search for a few words is fast.
        if !signs.any(|(_, line)| text.contains(line.longest_words())) {
            return Vec::new();
        }
        let beginnings = Beginnings::of(&lines, |line| self.lines[line].0 != Role::Often);
        let (mut found, mut open): (Vec<Found>, Option<Draft>) = (Vec::new(), None);
        let mut at = 0;
        while at < text.len() {
            let columns = open.as_ref().map_or(&[][..], |draft| &draft.columns);
            let beginnings = if open.is_some() { &beginnings.any } else { &beginnings.first };
            let Some(seen) = parts::next(text, at, &lines, beginnings, columns) else { break };
            at = seen.end.max(at + 1);
            let role = self.lines[seen.line].0;
            let goes_on = open.as_ref().is_some_and(|draft| draft.goes_on(role, seen.line));
            let strange = open
                .as_ref()
                .filter(|_| goes_on)
                .and_then(|draft| self.between(text.get(draft.end..seen.start)?, self.has_details(draft)));
            if let (Some(draft), Some(strange)) = (&mut open, strange) {
                draft.strange.extend(strange);
                draft.take(text, seen);
                continue;
            }
            found.extend(open.take().and_then(|draft| self.finished(draft)));
            if role != Role::Often {
                let mut draft = Draft::new(self.tool, seen.start, lines.len());
                draft.take(text, seen);
                open = Some(draft);
            }
        }
        found.extend(open.and_then(|draft| self.finished(draft)));
        found
    }

    /// The report, if it is certainly the tool's and has a figure.
    fn finished(&self, mut draft: Draft) -> Option<Found> {
        let is_its = self
            .lines
            .iter()
            .zip(&draft.seen)
            .any(|((role, _), seen)| *seen && matches!(role, Role::Telling | Role::Repeats));
        if !is_its {
            return None;
        }
        let has = |words: &str| {
            self.lines.iter().zip(&draft.seen).any(|((_, line), seen)| *seen && line.starts_with(words))
        };
        let is_its = (self.complete)(&mut draft.reading, &has);
        failures::add_statuses(&mut draft.reading, None);
        let Draft { start, end, reading, strange, .. } = draft;
        is_its.then_some(Found { at: start..end, reading, strange })
    }

    /// Whether what follows now is details.
    fn has_details(&self, draft: &Draft) -> bool {
        draft.last.is_some_and(|line| self.lines[line].0 == Role::Details)
    }

    /// The unknown lines between two lines of one report, which are none if they are details; `None` if they show that the two belong
    /// to two reports.
    fn between(&self, text: &str, is_details: bool) -> Option<Vec<String>> {
        const LONGEST: usize = 200;
        let mut strange = Vec::new();
        for line in text.lines() {
            let bare = line.trim();
            let is_heading = bare.starts_with('#') && bare.trim_start_matches('#').starts_with(' ');
            if bare.starts_with("```") || is_heading {
                return None;
            }
            // A number without a label, such as what is left of a bar, says nothing.
            let is_number = bare.starts_with(|c: char| c.is_ascii_digit()) && !bare.contains(' ');
            let is_ignored = is_number || self.ignores.iter().any(|begin| bare.starts_with(begin));
            if bare.chars().any(char::is_alphabetic) && !is_ignored && !is_details {
                if strange.len() == MOST_BETWEEN {
                    return None;
                }
                strange.push(bare.chars().take(LONGEST).collect());
            }
        }
        Some(strange)
    }
}

impl Draft {
    fn new(tool: &str, start: usize, lines: usize) -> Self {
        Self {
            start,
            end: start,
            reading: Reading::of(tool),
            strange: Vec::new(),
            columns: Vec::new(),
            seen: vec![false; lines],
            last: None,
        }
    }

    fn goes_on(&self, role: Role, line: usize) -> bool {
        match role {
            Role::Begins => false,
            Role::Often | Role::Repeats => true,
            Role::Once | Role::Telling | Role::Details => !self.seen[line],
        }
    }

    /// Takes a line's figures. What was read first counts: later lines may be of a part of the requests.
    fn take(&mut self, text: &str, seen: Seen) {
        self.end = seen.end;
        self.seen[seen.line] = true;
        self.last = Some(seen.line);
        let mut is_odd = false;
        for (name, taken) in seen.fields {
            match taken {
                Taken::Columns(columns) => self.columns = columns,
                _ if name.is_empty() => {}
                Taken::Odd => is_odd = true,
                Taken::Text(words) => text_field(&mut self.reading, &name, words),
                Taken::Number { value, .. } if value < 0.0 => is_odd = true,
                Taken::Number { value, resolution } => set(&mut self.reading, &name, value, resolution),
            }
        }
        if is_odd {
            let line = text[seen.start..seen.end].split_whitespace().collect::<Vec<_>>().join(" ");
            self.strange.push(format!("{line} (no figure)"));
        }
    }
}

fn text_field(reading: &mut Reading, name: &str, words: String) {
    match name {
        "url" => reading.url = Some(words),
        "version" => reading.version = Some(words),
        _ => {}
    }
}

/// Sets a figure, a status or a kind of errors. A time of 0 is a time below what the report can show.
pub(crate) fn set(reading: &mut Reading, name: &str, value: f64, resolution: f64) {
    let count = value.min(u64::MAX as f64) as u64;
    match name.split_once('.') {
        Some(("status", code)) if count > 0 => *reading.status.entry(code.to_owned()).or_default() += count,
        Some(("errors", kind)) if count > 0 => *reading.errors.entry(kind.to_owned()).or_default() += count,
        Some(("status" | "errors", _)) => {}
        _ if reading.figures.contains_key(name) || reading.below.contains_key(name) => {}
        _ => reading.set_measured(name, value, resolution),
    }
}

/// The name of a statistic: `p99` for `p99`, `99%`, `99th`, `p(99)`; `mean` for `avg`. `None` for others, such as counts.
pub(crate) fn statistic(word: &str) -> Option<String> {
    let word = word.trim().to_ascii_lowercase();
    let known = match word.as_str() {
        "avg" | "average" | "mean" => "mean",
        "med" | "median" => "p50",
        "stdev" | "stddev" | "sd" => "sd",
        "min" | "fastest" => "min",
        "max" | "slowest" | "100" | "100%" | "p100" => "max",
        _ => "",
    };
    if !known.is_empty() {
        return Some(known.to_owned());
    }
    let digits = word.trim_start_matches('p').trim_start_matches('(');
    let digits = digits.trim_end_matches([')', '%']).trim_end_matches("th").replace('_', ".");
    if ["999", "9999", "99999"].contains(&digits.as_str()) {
        return Some(format!("p{digits}"));
    }
    let share: f64 = digits.parse().ok().filter(|share| (1.0..100.0).contains(share))?;
    // As a name, 2.5 % would be 25 %.
    (share >= 90.0 || share.fract() == 0.0).then(|| percentile(share))
}

/// `p99`, `p999` for 99.9, `p9999` for 99.99.
pub(crate) fn percentile(share: f64) -> String {
    format!("p{share}").replace('.', "")
}

#[cfg(test)]
mod tests;
