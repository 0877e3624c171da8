//! Reads a text word by word, because a report may have lost its line breaks.

/// A position in a text.
#[derive(Clone)]
pub struct Words<'t> {
    text: &'t str,
    at: usize,
}

/// A word.
#[derive(Clone, Copy)]
pub struct Word<'t> {
    /// The word's text.
    pub text: &'t str,
    /// Whether the text ends with it, so that it may be cut off.
    pub is_last: bool,
}

impl<'t> Words<'t> {
    /// The words from a position on.
    pub fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// The end of the last word.
    pub fn end(&self) -> usize {
        self.at
    }

    /// The text from here to a later position.
    pub fn until(&self, there: &Self) -> &'t str {
        &self.text[self.at..there.at]
    }

    /// The next word.
    pub fn next(&mut self) -> Option<Word<'t>> {
        let rest = &self.text[self.at..];
        let begin = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let word = &rest[begin..];
        let length = word.find(|c: char| c.is_ascii_whitespace()).unwrap_or(word.len());
        self.at += begin + length;
        Some(Word { text: &word[..length], is_last: self.at == self.text.len() })
    }

    /// Skips these words, if they come next.
    pub fn skips(&mut self, words: &[&str]) -> bool {
        let before = self.at;
        let are_next = words.iter().all(|word| self.next().is_some_and(|next| next.text == *word));
        if !are_next {
            self.at = before;
        }
        are_next
    }

    /// Skips up to the end of a bracket.
    pub fn skips_to_bracket(&mut self, first: &Word<'_>) -> bool {
        first.text.ends_with(']') || (0..8).any(|_| self.next().is_some_and(|word| word.text.ends_with(']')))
    }

    /// The next word as a value, if `read` accepts it and the end of the text can't have cut it short.
    pub fn value<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let before = self.at;
        let word = self.next();
        let is_sure = |word: &Word<'_>| !word.is_last || is_whole(word.text);
        let value = word.filter(is_sure).and_then(|word| read(word.text));
        if value.is_none() {
            self.at = before;
        }
        value
    }

    /// Like [`Words::value`], for a figure that is printed with two decimals: without a unit, it counts as complete once it has both
    /// decimals, even at the very end of the text.
    pub fn decimals<T>(&mut self, read: impl Fn(&str) -> Option<T>) -> Option<T> {
        let next = self.clone().next()?;
        let digits = next.text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let has_both = digits.len() > 3 && digits.as_bytes()[digits.len() - 3] == b'.';
        if has_both && digits.len() == next.text.len() {
            let value = read(next.text)?;
            self.next();
            return Some(value);
        }
        self.value(read)
    }

    /// The next word, if it is a count, with or without a comma after it.
    pub fn count(&mut self) -> Option<u64> {
        self.value(|word| word.trim_end_matches(',').parse().ok())
    }
}

/// Whether a value at the very end of a text is certainly complete: `12.92m` may have been `12.92ms`, and a number
/// may have had more digits or a unit.
fn is_whole(word: &str) -> bool {
    word.ends_with(['s', 'h', '%', 'B', ',', 'k'])
}
