//! Reads a page's prose where that is simple and unambiguous: the sentence that introduces a report, memory as
//! `top` prints it, and the subject of a table's figures.

use crate::text::command::FoundCommand;
use crate::text::lines::{Line, lines, plain};
use crate::text::units::{bytes, split};
use std::collections::BTreeSet;
use std::ops::Range;

/// The longest sentence, in bytes.
const LONGEST: usize = 300;

/// A remark with figures about the report before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// The remark's text.
    pub words: String,
    /// The figures in it.
    pub figures: Vec<(&'static str, f64)>,
}

/// For each report, the sentence directly above it that ends with a colon. All are `None` unless every report has a different one.
pub fn introductions(text: &str, reports: &[Range<usize>], commands: &[FoundCommand]) -> Vec<Option<String>> {
    let mut all: Vec<Option<String>> = vec![None; reports.len()];
    let mut paragraph = String::new();
    let (mut next, mut is_open, mut commands) = (0, false, commands.iter().peekable());
    for line in lines(text) {
        while reports.get(next).is_some_and(|report| report.start < line.at + line.whole.len()) {
            let is_one = paragraph.ends_with(':') && paragraph.len() <= LONGEST;
            all[next] = is_one.then(|| plain(paragraph.trim_end_matches(':')));
            paragraph.clear();
            next += 1;
        }
        let is_within = next > 0 && line.at < reports[next - 1].end;
        let is_command =
            commands.next_if(|command| command.at == line.at).is_some() && is_bare_command(&line);
        let bare = line.text.trim();
        if is_within || is_command || line.is_fence {
            continue;
        }
        if bare.is_empty() {
            is_open = false;
            continue;
        }
        if !is_open {
            paragraph.clear();
        }
        is_open = true;
        if paragraph.len() <= LONGEST {
            paragraph.push_str(if paragraph.is_empty() { "" } else { " " });
            paragraph.extend(bare.chars().take(LONGEST));
        }
    }
    let different: BTreeSet<&String> = all.iter().flatten().collect();
    let is_told_apart = different.len() == all.len();
    if is_told_apart && reports.len() > 1 { all } else { vec![None; reports.len()] }
}

/// Whether a command line is on a line of its own, not in a sentence.
fn is_bare_command(line: &Line) -> bool {
    !line.text.contains('`')
}

/// For each report, the remarks between it and the next one.
pub fn remarks(text: &str, reports: &[Range<usize>]) -> Vec<Vec<Remark>> {
    let mut all = vec![Vec::new(); reports.len()];
    let mut next = 0;
    for line in lines(text) {
        while reports.get(next).is_some_and(|report| report.end <= line.at) {
            next += 1;
        }
        let is_within = reports.get(next).is_some_and(|report| report.start < line.at + line.whole.len());
        if next == 0 || is_within || line.text.len() > LONGEST {
            continue;
        }
        let figures = memory(line.text);
        if !figures.is_empty() {
            all[next - 1].push(Remark { words: plain(line.text), figures });
        }
    }
    all
}

/// Reads `38.0m VIRT, 2.5m RES`, as `top` prints memory.
fn memory(line: &str) -> Vec<(&'static str, f64)> {
    let words: Vec<&str> =
        line.split([' ', ',', '.', ';', '(', ')']).filter(|word| !word.is_empty()).collect();
    if !words.iter().any(|word| ["VIRT", "RES", "RSS"].contains(word)) {
        return Vec::new();
    }
    let words: Vec<&str> =
        line.split_whitespace().map(|word| word.trim_matches([',', '.', ';', '(', ')'])).collect();
    let pairs = words.windows(2).filter_map(|pair| {
        let name = match pair[1] {
            "VIRT" => "virtual_bytes",
            "RES" | "RSS" => "rss_bytes",
            _ => return None,
        };
        let (number, unit) = split(pair[0])?;
        Some((name, number * bytes(unit)?))
    });
    pairs.collect()
}

/// Where the page says that its figures are requests per second.
pub fn metrics(text: &str) -> Vec<usize> {
    const WORDS: &[&str] = &[
        "requests per second",
        "responses per second",
        "requests/second",
        "responses/second",
        "requests/sec",
        "req/s",
        "requests/s",
        "replies per second",
        "replies/s",
    ];
    let says = |line: &Line| {
        let line: String = line.text.chars().take(4 * LONGEST).collect::<String>().to_lowercase();
        WORDS.iter().any(|words| line.contains(words))
    };
    lines(text).filter(says).map(|line| line.at).collect()
}

#[cfg(test)]
mod tests {
    use super::{introductions, memory, remarks};

    fn xs(text: &str) -> Vec<std::ops::Range<usize>> {
        text.match_indices("XX").map(|(at, _)| at..at + 2).collect()
    }

    #[test]
    fn sentences_above() {
        let text = "Below is\nthe [first](u):\n\n```\nXX\n```\n\nAnd more.\n\nThe `second` one:\nXX\nend\n";
        let result = introductions(text, &xs(text), &[]);
        assert_eq!(result, [Some("Below is the first".to_owned()), Some("The second one".to_owned())]);
        for text in ["One:\nXX\nXX\n", "One:\nXX\nOne:\nXX\n", "One.\nXX\nTwo:\nXX\n", "XX"] {
            assert!(introductions(text, &xs(text), &[]).iter().all(Option::is_none), "{text}");
        }
    }

    #[test]
    fn memory_in_words() {
        let text =
            "1m RES\nXX\nThe footprint of `a` is 38.0m VIRT, 2.5m RES.\nno\nXX\n(629m  VIRT, 50m RSS)\n";
        let result = remarks(text, &xs(text));
        let mib = 1_048_576.0;
        assert_eq!(result[0][0].figures, [("virtual_bytes", 38.0 * mib), ("rss_bytes", 2.5 * mib)]);
        assert_eq!(result[0][0].words, "The footprint of a is 38.0m VIRT, 2.5m RES.");
        assert_eq!((result[0].len(), result[1][0].figures.len()), (1, 2));
        for line in ["some RES", "5 RES", "5x RES", "RES 5m", ""] {
            assert_eq!(memory(line), [], "{line}");
        }
    }
}
