//! Characters of texts that anyone may have written.

/// Whether a character acts on a terminal, or on the order in which others are shown, instead of being shown.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The character, or what stands for one that acts instead of being shown; line breaks and tabs stay.
pub fn printable(c: char) -> char {
    if is_unprintable(c) && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}
