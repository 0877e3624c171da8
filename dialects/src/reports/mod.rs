//! One scanner for the reports of many tools. A tool's report is data: the templates of its lines, with the figure that each field
//! is. So a report may be indented, quoted, wrapped or on one line, and a new tool needs no code of its own.
//!
//! In a template, a space matches any white space and what pages and tables put beside words, `…` matches dots, and `{name:kind}` is
//! a field. Kinds are those of [`Kind`](field::Kind); without a kind, the field is a number. A field without a name is not kept. `*` in
//! a name is the key that the line has named before, such as a percentile; `&` is what the section's heading named; a `+` before a name
//! adds to the figure, and a `=` replaces it. Forms of one line are separated by `¦`; the first that matches counts.

pub(crate) mod ab;
mod called;
mod field;
mod h2load;
mod json;
mod own_tools;
mod parts;
mod tools;
pub(crate) mod wrk;

use crate::Found;
use called::Called;
use field::Taken;
use model::Reading;
use parts::{Beginnings, Form, Seen};
use std::collections::BTreeMap;

/// The lines of a report, in any order; the first that matches counts.
pub type Lines = &'static [(Role, &'static str)];

/// The report of one tool.
pub struct Format {
    /// The tool.
    pub tool: &'static str,
    /// The lines of its report.
    pub lines: Lines,
    /// How other lines of it begin, which have no figure that is kept; after a `…`, what they have anywhere.
    pub ignores: &'static [&'static str],
    /// How the tool's command line is found before its report.
    pub called: Called,
    /// Adds what follows from the figures. Returns whether the report is the tool's.
    pub complete: fn(&mut Draft) -> bool,
}

/// What a line says about where a report begins and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A report begins with it.
    Begins,
    /// Like `Begins`, and only this tool has it.
    Opens,
    /// A report may begin with several of it.
    Leads,
    /// Only this tool has it, or has it so. Without such a line, there is no report.
    Telling,
    /// Like `Telling`, but it may occur several times.
    Repeats,
    /// It occurs once in a report; a second one begins another report.
    Once,
    /// It may occur several times, and begins none.
    Often,
    /// Like `Often`, but only with nothing unknown before it: other texts may have it too.
    Row,
    /// It occurs once in a report, and begins none.
    Part,
    /// Like `Part`, but only after the line above it in the list.
    Follows,
    /// Like `Once`. The unknown lines after it are details of a figure that another line has, such as the causes of errors.
    Details,
}

/// All reports of a tool in a text, in order, without the text around them. Nothing ambiguous is guessed.
pub fn read(text: &str, tool: &str) -> Vec<Found> {
    let bare = if tool == "ab" { ab::without_tags(text) } else { text.into() };
    // wrk's format is wrk2's as well, and tells whose a report is.
    let of = if tool == "wrk2" { "wrk" } else { tool };
    let formats = tools::FORMATS.iter().chain(own_tools::FORMATS).filter(|format| format.tool == of);
    let mut found: Vec<Found> = formats.flat_map(|format| format.read(&bare)).collect();
    found.retain(|found| found.reading.tool == tool);
    found.extend(json::read(text, tool));
    found.sort_by_key(|found| found.at.start);
    found
}

/// The largest number of unknown lines between two lines of one report.
const MOST_BETWEEN: usize = 8;

/// A report that is being read.
pub struct Draft {
    /// Its figures.
    pub reading: Reading,
    /// Words of it that are no figures, by name.
    pub texts: BTreeMap<String, String>,
    /// The command line as the tool itself repeats it, or as it was given.
    pub called: Option<String>,
    /// Lines that are not understood.
    pub strange: Vec<String>,
    lines: Lines,
    start: usize,
    end: usize,
    columns: Vec<Option<String>>,
    /// What `&` stands for.
    section: String,
    /// How often each of the lines was read.
    seen: Vec<usize>,
    /// The line that was read last.
    last: Option<usize>,
}

impl Format {
    fn read(&self, text: &str) -> Vec<Found> {
        let of_line = |(line, (_, template)): (usize, &(Role, &'static str))| {
            template.split(" ¦ ").map(|form| Form::new(line, form)).collect::<Vec<_>>()
        };
        let forms: Vec<Form> = self.lines.iter().enumerate().flat_map(of_line).collect();
        let mut signs = forms.iter().filter(|form| self.lines[form.line].0.is_sign());
        // Most texts have no report of most tools; a search for a few words is fast.
        if !signs.any(|form| text.contains(form.longest_words())) {
            return Vec::new();
        }
        let beginnings = Beginnings::of(&forms, |line| self.lines[line].0.may_begin());
        let (mut found, mut open): (Vec<Found>, Option<Draft>) = (Vec::new(), None);
        let mut at = 0;
        // The end of the report before.
        let mut floor = 0;
        while at < text.len() {
            let columns = open.as_ref().map_or(&[][..], |draft| &draft.columns);
            let beginnings = if open.is_some() { &beginnings.any } else { &beginnings.first };
            let Some(seen) = parts::next(text, at, &forms, beginnings, columns) else { break };
            at = seen.end.max(at + 1);
            let role = self.lines[seen.line].0;
            let goes_on = open.as_ref().is_some_and(|draft| draft.goes_on(role, seen.line));
            let strange = open
                .as_ref()
                .filter(|_| goes_on)
                .and_then(|draft| self.between(text.get(draft.end..seen.start)?, self.has_details(draft)));
            if role == Role::Row && strange.as_ref().is_some_and(|strange| !strange.is_empty()) {
                continue;
            }
            if let (Some(draft), Some(strange)) = (&mut open, strange) {
                draft.strange.extend(strange);
                draft.take(text, seen);
                continue;
            }
            if let Some(draft) = open.take() {
                let end = draft.end;
                found.extend(self.finished(text, floor, draft));
                floor = end;
            }
            if role.may_begin() {
                let mut draft = Draft::new(self, seen.start);
                draft.take(text, seen);
                open = Some(draft);
            }
        }
        found.extend(open.and_then(|draft| self.finished(text, floor, draft)));
        found
    }

    /// The report, if it is certainly the tool's. Its command line does not begin before `floor`.
    fn finished(&self, text: &str, floor: usize, mut draft: Draft) -> Option<Found> {
        let is_its = self.lines.iter().zip(&draft.seen).any(|((role, _), seen)| *seen > 0 && role.is_sign());
        if !is_its {
            return None;
        }
        self.called.look_up(text, floor, self, &mut draft);
        let is_its = (self.complete)(&mut draft);
        let Draft { start, end, reading, strange, .. } = draft;
        is_its.then_some(Found { at: start..end, reading, strange })
    }

    /// Whether a line of the tool has no figure that is kept.
    fn is_ignored(&self, line: &str) -> bool {
        self.ignores.iter().any(|words| match words.strip_prefix('…') {
            Some(inside) => line.contains(inside),
            None => line.starts_with(words),
        })
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
            let is_ignored = is_number || self.is_ignored(bare.trim_start_matches(['>', ' ']));
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

impl Role {
    /// Whether only the tool has such a line.
    fn is_sign(self) -> bool {
        matches!(self, Self::Telling | Self::Repeats | Self::Opens)
    }

    fn may_begin(self) -> bool {
        !matches!(self, Self::Often | Self::Row | Self::Part | Self::Follows)
    }
}

impl Draft {
    fn new(format: &Format, start: usize) -> Self {
        Self {
            reading: Reading::of(format.tool),
            texts: BTreeMap::new(),
            called: None,
            strange: Vec::new(),
            lines: format.lines,
            start,
            end: start,
            columns: Vec::new(),
            section: String::new(),
            seen: vec![0; format.lines.len()],
            last: None,
        }
    }

    /// How often lines were read whose templates begin with these words.
    pub fn count(&self, words: &str) -> usize {
        let of_line =
            |((_, line), seen): (&(Role, &str), &usize)| if line.starts_with(words) { *seen } else { 0 };
        self.lines.iter().zip(&self.seen).map(of_line).sum()
    }

    /// Whether such a line was read.
    pub fn has(&self, words: &str) -> bool {
        self.count(words) > 0
    }

    /// The number of different lines that were read.
    pub fn different(&self) -> usize {
        self.seen.iter().filter(|seen| **seen > 0).count()
    }

    fn goes_on(&self, role: Role, line: usize) -> bool {
        let is_new = self.seen[line] == 0;
        match role {
            Role::Begins | Role::Opens => false,
            Role::Leads => self.last.is_some_and(|last| self.lines[last].0 == Role::Leads),
            Role::Often | Role::Row | Role::Repeats => true,
            Role::Once | Role::Telling | Role::Details | Role::Part => is_new,
            Role::Follows => is_new && line.checked_sub(1).is_some_and(|above| self.seen[above] > 0),
        }
    }

    /// Takes a line's figures. What was read first counts: later lines may be of a part of the requests.
    fn take(&mut self, text: &str, seen: Seen) {
        self.end = seen.end;
        self.seen[seen.line] += 1;
        self.last = Some(seen.line);
        let mut is_odd = false;
        for (name, taken) in seen.fields {
            match taken {
                Taken::Columns(columns) => self.columns = columns,
                Taken::Section => self.section = name,
                _ if name.is_empty() => {}
                Taken::Odd => is_odd = true,
                Taken::Text(words) => self.take_text(name, words),
                Taken::Number { value, .. } if value < 0.0 => is_odd = true,
                Taken::Number { value, resolution } => self.take_number(&name, value, resolution),
            }
        }
        if is_odd {
            let line = text[seen.start..seen.end].split_whitespace().collect::<Vec<_>>().join(" ");
            self.strange.push(format!("{line} (no figure)"));
        }
    }

    fn take_number(&mut self, name: &str, value: f64, resolution: f64) {
        let reading = &mut self.reading;
        if let Some(name) = name.strip_prefix('+') {
            *reading.figures.entry(name.to_owned()).or_default() += value;
        } else if let Some(name) = name.strip_prefix('=') {
            reading.figures.remove(name);
            reading.below.remove(name);
            reading.set_measured(name, value, resolution);
        } else if !name.starts_with('&') || !self.section.is_empty() {
            set(reading, &name.replace('&', &self.section), value, resolution);
        }
    }

    fn take_text(&mut self, name: String, words: String) {
        match name.as_str() {
            "url" => self.reading.url = Some(words),
            "version" => self.reading.version = Some(words),
            "server" => self.reading.server = Some(words),
            // An error's number says the same as its words.
            "errors" => {
                let kind = words.split(" (").next().unwrap_or_default().trim();
                *self.reading.errors.entry(kind.to_owned()).or_default() += 1;
            }
            _ => _ = self.texts.insert(name, words),
        }
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

#[cfg(test)]
mod tests;
