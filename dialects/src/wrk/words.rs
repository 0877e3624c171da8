//! A text word by word, as a report is read whose line breaks may be lost.

/// A place in a text.
#[derive(Clone)]
pub struct Words<'t> {
    text: &'t str,
    at: usize,
}

/// A word.
#[derive(Clone, Copy)]
pub struct Word<'t> {
    /// It.
    pub text: &'t str,
    /// The text ends with it: it may be cut.
    pub is_last: bool,
}

impl<'t> Words<'t> {
    /// From a place on.
    pub fn new(text: &'t str, at: usize) -> Self {
        Self { text, at }
    }

    /// The end of the last word.
    pub fn end(&self) -> usize {
        self.at
    }

    /// What stands between here and there.
    pub fn until(&self, there: &Self) -> &'t str {
        &self.text[self.at..there.at]
    }

    /// The next one.
    pub fn next(&mut self) -> Option<Word<'t>> {
        let rest = &self.text[self.at..];
        let begin = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let word = &rest[begin..];
        let length = word.find(|c: char| c.is_ascii_whitespace()).unwrap_or(word.len());
        self.at += begin + length;
        Some(Word { text: &word[..length], is_last: self.at == self.text.len() })
    }

    /// Goes past these words, if they are what comes next.
    pub fn skips(&mut self, words: &[&str]) -> bool {
        let before = self.at;
        let are_next = words.iter().all(|word| self.next().is_some_and(|next| next.text == *word));
        if !are_next {
            self.at = before;
        }
        are_next
    }

    /// Goes past a bracket's end.
    pub fn skips_to_bracket(&mut self, first: &Word<'_>) -> bool {
        first.text.ends_with(']') || (0..8).any(|_| self.next().is_some_and(|word| word.text.ends_with(']')))
    }

    /// The next word, if it is such a value; one that the end of the text may have cut is none.
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

    /// The next word, if it is a value that never has more than its two decimals and perhaps a unit.
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

    /// The next word, if it is a count, with a comma behind it or not.
    pub fn count(&mut self) -> Option<u64> {
        self.value(|word| word.trim_end_matches(',').parse().ok())
    }
}

/// Whether a value at the very end of a text is there to its last letter: `12.92m` may have been `12.92ms`, and a
/// number could have had more digits, or a unit.
fn is_whole(word: &str) -> bool {
    word.ends_with(['s', 'h', '%', 'B', ',', 'k'])
}
