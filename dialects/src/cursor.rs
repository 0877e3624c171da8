//! A position in a text, for readers of reports. Known pieces are read one by one, wherever lines break; unknown
//! lines between them are skipped.

use crate::table::split;

/// A position in a text.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    /// The position, in bytes.
    pub at: usize,
}

impl<'t> Cursor<'t> {
    pub fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    pub fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips spaces, line breaks, and the marks of quotations and code.
    pub fn blanks(&mut self) -> &mut Self {
        self.at =
            self.text.len() - self.rest().trim_start_matches([' ', '\t', '\r', '\n', '>', '`', '~']).len();
        self
    }

    /// Skips these words, if they come next after spaces.
    pub fn eat(&mut self, words: &str) -> bool {
        let mut next = *self;
        let is_next = next.blanks().rest().starts_with(words);
        if is_next {
            self.at = next.at + words.len();
        }
        is_next
    }

    /// Reads a number and its unit, with or without a space between them, up to a space, a comma or a bracket.
    pub fn value(&mut self) -> Option<(f64, &'t str)> {
        let mut next = *self;
        let rest = next.blanks().rest();
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let (number, _) = split(&rest[..digits])?;
        let unit =
            rest[digits..].split([' ', '\t', '\r', '\n', ',', ')', ']', '(', ':', '|']).next().unwrap_or("");
        self.at = next.at + digits + unit.len();
        Some((number, unit))
    }

    /// Reads a number without a unit.
    pub fn number(&mut self) -> Option<f64> {
        let mut next = *self;
        let (number, unit) = next.value()?;
        if !unit.is_empty() {
            return None;
        }
        *self = next;
        Some(number)
    }

    /// Skips the rest of the line and returns it; of a line that is too long for a report, only a part.
    pub fn line(&mut self) -> &'t str {
        const LONGEST: usize = 1000;
        let rest = self.rest();
        let end = rest.char_indices().take(LONGEST).find(|(_, c)| *c == '\n').map(|(at, _)| at);
        let end = end.or_else(|| rest.char_indices().nth(LONGEST).map(|(at, _)| at));
        let line = &rest[..end.unwrap_or(rest.len())];
        self.at += line.len();
        line.trim()
    }
}

/// Reads piece after piece: `take` reads a known one. Returns where the last one ended, and the lines that were
/// skipped before it. The parts of one report have only a few such lines between them.
pub(crate) fn walk<'t>(
    start: Cursor<'t>,
    mut take: impl FnMut(&mut Cursor<'t>) -> bool,
    is_next: impl Fn(&str) -> bool,
) -> (usize, Vec<String>) {
    const MOST_BETWEEN: usize = 12;
    const LONGEST: usize = 200;
    let (mut cursor, mut end) = (start, start.at);
    let (mut strange, mut passed): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
    while passed.len() <= MOST_BETWEEN {
        let before = *cursor.blanks();
        if cursor.rest().is_empty() || is_next(cursor.rest()) {
            break;
        }
        if take(&mut cursor) && cursor.at > before.at {
            end = cursor.at;
            strange.append(&mut passed);
        } else {
            cursor = before;
            passed.push(cursor.line().chars().take(LONGEST).collect());
        }
    }
    (end, strange)
}
