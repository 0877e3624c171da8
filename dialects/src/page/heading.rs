//! Finds the headings of a page, and chooses a report's name from the headings above it.
//!
//! The name is the nearest heading that distinguishes the report from others. A heading that is repeated above
//! other reports ("result", "run") does not, and neither does a heading above all reports. If a heading is above
//! several reports, the next heading that distinguishes them is added.

use crate::text::lines::{Line, lines, plain};
use std::collections::BTreeMap;
use std::ops::Range;

/// The longest heading, in bytes; anything longer is text.
const LONGEST: usize = 120;

/// On a page without marked headings, a line of at most this many words may be a heading.
const WORDS: usize = 6;

/// How programs begin lines about what they do.
const PROGRESS: &[&str] =
    &["Running ", "Starting ", "Warming ", "Waiting ", "Benchmarking ", "Synchronizing ", "Finished "];

/// A heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Where it begins, in bytes.
    pub at: usize,
    /// The level: 1 to 6, or 7 for a line in bold.
    pub level: usize,
    /// Its text.
    pub text: String,
}

/// The headings of a page. `is_command` recognises command lines, which are not headings even if they begin with
/// `#`. Lines in `taken`, which are known to be something else, are left out.
pub fn headings(text: &str, taken: &[Range<usize>], is_command: impl Fn(&str) -> bool) -> Vec<Heading> {
    let mut all = Vec::new();
    let mut before: [Option<Line>; 2] = [None, None];
    for line in lines(text) {
        let found =
            marked(&line).filter(|(_, text)| !is_command(text)).map(|(level, text)| (line.at, level, text));
        let found = found.or_else(|| underlined(before, &line));
        if let Some((at, level, text)) = found {
            let text = plain(text);
            if !text.is_empty() && text.len() <= LONGEST {
                all.push(Heading { at, level, text });
            }
        }
        before = [before[1], Some(line)];
    }
    without_taken(all, taken)
}

/// Leaves out headings that begin in one of these ranges; both are in the order of the page.
fn without_taken(mut headings: Vec<Heading>, taken: &[Range<usize>]) -> Vec<Heading> {
    let mut taken = taken.iter().peekable();
    headings.retain(|heading| {
        while taken.next_if(|range| range.end <= heading.at).is_some() {}
        taken.peek().is_none_or(|range| heading.at < range.start)
    });
    headings
}

/// Reads `## Name`, `##Name` or `**Name**`.
fn marked<'t>(line: &Line<'t>) -> Option<(usize, &'t str)> {
    let bare = line.text.trim();
    if line.is_code || bare.len() > 2 * LONGEST {
        return None;
    }
    if bare.len() > 4
        && bare.starts_with("**")
        && bare.find("**") == Some(0)
        && bare[2..].find("**") == Some(bare.len() - 4)
    {
        return Some((7, &bare[2..bare.len() - 2]));
    }
    let text = bare.trim_start_matches('#');
    let level = bare.len() - text.len();
    let is_heading = text.starts_with([' ', '\t']) || text.starts_with(char::is_alphanumeric);
    ((1..=6).contains(&level) && is_heading).then(|| (level, text.trim_end_matches('#').trim()))
}

/// Reads a paragraph of one line above a line of `=` or `-`.
fn underlined<'t>(before: [Option<Line<'t>>; 2], line: &Line) -> Option<(usize, usize, &'t str)> {
    let rule = line.text.trim();
    let mark = rule.chars().next().filter(|mark| rule.len() >= 2 && ['=', '-'].contains(mark))?;
    let above = before[1].filter(|above| !above.text.trim().is_empty() && !above.is_code && !line.is_code)?;
    let is_alone = before[0].is_none_or(|line| line.text.trim().is_empty());
    let is_rule = rule.chars().all(|c| c == mark);
    (is_alone && is_rule && above.text.len() <= 2 * LONGEST).then_some((
        above.at,
        if mark == '=' { 1 } else { 2 },
        above.text,
    ))
}

/// Finds headings on a page that has no marked ones, such as extracted text. A heading is a line of at most [`WORDS`] words that begins
/// with a capital or a digit and does not end like a sentence. Lines in `taken`, which are known to be something else, are left out. All
/// headings have level 1.
pub fn unmarked(text: &str, taken: &[Range<usize>]) -> Vec<Heading> {
    let mut all = Vec::new();
    for line in lines(text) {
        let bare = line.text.trim();
        let words = if bare.len() <= LONGEST { bare.split_whitespace().count() } else { usize::MAX };
        let is_one = words <= WORDS
            && !line.is_code
            && bare.starts_with(|c: char| c.is_uppercase() || c.is_ascii_digit())
            && !bare.contains(['|', ':', '=', '`', '$', '\t'])
            // Columns.
            && !bare.contains("  ")
            && !PROGRESS.iter().any(|verb| bare.starts_with(verb))
            && bare.ends_with(|c: char| c.is_alphanumeric() || c == ')')
            && bare.chars().any(char::is_alphabetic);
        if is_one {
            all.push(Heading { at: line.at, level: 1, text: plain(bare) });
        }
    }
    without_taken(all, taken)
}

/// For each position, in the page's order, the indices of the headings above it, nearest first. Normally only the
/// last heading of a level counts; with `flat`, all since the previous position count.
pub fn above(headings: &[Heading], places: &[usize], flat: bool) -> Vec<Vec<usize>> {
    let mut next = 0;
    let mut open: Vec<usize> = Vec::new();
    let mut all = Vec::new();
    for place in places {
        if flat && headings.get(next).is_some_and(|heading| heading.at < *place) {
            open.clear();
        }
        while let Some(heading) = headings.get(next).filter(|heading| heading.at < *place) {
            if !flat {
                open.retain(|over| headings[*over].level < heading.level);
            }
            open.push(next);
            next += 1;
        }
        // A page of nothing but headings must not make this list long.
        all.push(open.iter().rev().take(8).copied().collect());
    }
    all
}

/// The name of each position, from the headings above it.
pub fn titles(headings: &[Heading], above: &[Vec<usize>], spares_common: bool) -> Vec<Option<String>> {
    let key = |index: usize| headings[index].text.to_lowercase();
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for index in above.iter().flatten() {
        *places.entry(*index).or_default() += 1;
    }
    let mut texts: BTreeMap<String, usize> = BTreeMap::new();
    for index in places.keys() {
        *texts.entry(key(*index)).or_default() += 1;
    }
    let tells = |index: usize| {
        let is_common = spares_common && above.len() > 1 && places[&index] == above.len();
        texts[&key(index)] == 1 && !is_common
    };
    let title = |own: &Vec<usize>| {
        let chosen = own.iter().position(|index| tells(*index))?;
        let name = &headings[own[chosen]].text;
        let is_shared = places[&own[chosen]] > 1;
        let more =
            own[..chosen].iter().rev().filter(|_| is_shared).map(|index| headings[*index].text.as_str());
        Some([name.as_str()].into_iter().chain(more).collect::<Vec<_>>().join(", "))
    };
    above.iter().map(title).collect()
}

#[cfg(test)]
mod tests {
    use super::{above, headings, titles, unmarked};

    fn titles_at_x(text: &str) -> Vec<Option<String>> {
        let places: Vec<usize> = text.match_indices("\nx").map(|(at, _)| at + 1).collect();
        let found = headings(text, &[], |line| line.starts_with("ab -"));
        titles(&found, &above(&found, &places, false), true)
    }

    fn some(names: &[&str]) -> Vec<Option<String>> {
        names.iter().map(|name| Some((*name).to_owned())).collect()
    }

    #[test]
    fn headings_of_every_form() {
        let text = "One\n===\n\n##Two\n# ab -n 1\n#!/bin/sh\n#[Mean\n    # code\n```\n# code\n```\n\nThree\n---\n**Four**\na\nb\n---\n| x |\n## Five ##\n";
        let found = headings(text, &[], |line| line.starts_with("ab -"));
        let result: Vec<(usize, &str)> = found.iter().map(|h| (h.level, h.text.as_str())).collect();
        assert_eq!(result, [(1, "One"), (2, "Two"), (2, "Three"), (7, "Four"), (2, "Five")]);
    }

    #[test]
    fn the_name_is_the_heading_that_changes() {
        let page = "# Page\n## Nginx\n### result\nx\n## Go\n### run\nno\n### result\nx\n";
        assert_eq!(titles_at_x(page), some(&["Nginx", "Go"]));
        let page = "# Page\n## Nginx\n### few\nx\n### many\nx\n## Go\n### few\nx\n### many\nx\n";
        assert_eq!(titles_at_x(page), some(&["Nginx, few", "Nginx, many", "Go, few", "Go, many"]));
        assert_eq!(titles_at_x("# Page\nx\nx\n"), [None, None], "what is above all of them names none");
        assert_eq!(titles_at_x("# Page\nx\n"), some(&["Page"]));
        assert_eq!(titles_at_x("\nx\n"), [None]);
    }

    #[test]
    fn a_page_without_marks() {
        let text = "Some words that make a sentence, and end.\nPong Benchmark\nFine.\nThe Numbers\nRunning warm-up 1\nBenchX-8   10   2 ns/op\nx\nFile Benchmark\nThe Numbers\nx\n";
        let found = unmarked(text, &[]);
        let places: Vec<usize> = text.match_indices("\nx").map(|(at, _)| at + 1).collect();
        let result = titles(&found, &above(&found, &places, true), false);
        assert_eq!(result, some(&["Pong Benchmark", "File Benchmark"]));
    }
}
