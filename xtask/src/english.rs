//! Phrases that readers found hard to understand, each with a replacement. They are refused in code, messages and
//! documentation.

use crate::files::files;
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// The refused phrases, in lower case and with single spaces, and their replacements.
const REFUSED: &[(&str, &str)] = &[
    ("no smaller difference is called", "differences below … are treated as noise"),
    ("as good as equal", "within 2 % of each other"),
    ("told apart", "no significant difference"),
    ("as you wished", "skipped"),
    ("is yours to install", "install … yourself"),
    ("is known to ±", "the widest interval is ±…"),
    ("out of reach of", "reaching … needs more than …"),
    ("that could be seen", "unchanged within error"),
    ("of which nothing can be said", "inconclusive"),
    ("what its folder says", "check every contender's answers"),
    ("who wants to connect", "new connections"),
    ("when this must be asked next", "returns the next deadline"),
    ("answers per second", "requests/s"),
    ("answers/s", "requests/s"),
    ("servers who", "servers which"),
    ("server who", "server which"),
    ("contender who", "contender which"),
    ("contenders who", "contenders which"),
    ("requests who", "requests which"),
    ("connection who", "connection which"),
    ("who keeps up", "a server that keeps up"),
];

/// Files that are not checked: recorded reports, which keep the words of the version that printed them; the
/// reference, which is generated from the code; the readers of other tools' reports and of drome's older ones, and
/// their test.
const EXEMPT: &[&str] = &["docs/studies", "docs/reference", "dialects", "app/tests/suite/import.rs"];

/// Lists every refused phrase that is used.
pub fn check(root: &Path, wrong: &mut Vec<String>) -> Result<()> {
    for file in checked(root)? {
        let text = fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
        let shown = file.strip_prefix(root).unwrap_or(&file).display().to_string();
        wrong.extend(
            found(&text).map(|(phrase, instead)| format!("{shown} says \"{phrase}\": write \"{instead}\"")),
        );
    }
    Ok(())
}

fn checked(root: &Path) -> Result<Vec<PathBuf>> {
    let mut all = files(root, "rs")?;
    all.extend(files(&root.join("docs"), "md")?);
    all.extend(["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"].map(|name| root.join(name)));
    let is_exempt = |file: &PathBuf| EXEMPT.iter().any(|path| file.starts_with(root.join(path)));
    all.retain(|file| file.is_file() && !is_exempt(file) && !file.ends_with("xtask/src/english.rs"));
    Ok(all)
}

/// The refused phrases in a text, wherever its lines break.
fn found(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let is_mark = |word: &&str| !matches!(*word, "//" | "///" | "//!" | "\\");
    let text = text.to_lowercase().split_whitespace().filter(is_mark).collect::<Vec<_>>().join(" ");
    // "a server whose" is fine where "a server who" is refused.
    let is_whole = |rest: &str| !rest.starts_with(char::is_alphabetic);
    REFUSED.iter().filter(move |(phrase, _)| {
        text.match_indices(phrase).any(|(at, _)| is_whole(&text[at + phrase.len()..]))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_is_found_across_lines_of_a_comment_and_in_capitals() {
        let phrases = |text: &str| found(text).map(|(phrase, _)| *phrase).collect::<Vec<_>>();
        assert_eq!(phrases("/// A and B are As good\n    /// as equal."), ["as good as equal"]);
        assert_eq!(phrases("A server whose answers are within 2 % of each other."), Vec::<&str>::new());
    }

    #[test]
    fn this_project_has_none_of_them() {
        let mut wrong = Vec::new();
        check(&crate::root(), &mut wrong).unwrap();
        assert_eq!(wrong, Vec::<String>::new());
    }
}
