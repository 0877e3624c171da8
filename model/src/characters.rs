//! Characters of foreign text that do something instead of being shown. Whatever shows or stores such text asks here.

/// Whether a character acts on a terminal, or on the order in which others are shown, instead of being shown.
pub fn is_unprintable(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// The character, or what stands for one that acts instead of being shown; line breaks and tabs stay.
pub fn printable(c: char) -> char {
    if is_unprintable(c) && c != '\n' && c != '\t' { char::REPLACEMENT_CHARACTER } else { c }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_on_a_terminal_or_turns_text_around_is_replaced_and_all_else_stays() {
        let shown: String =
            "a\u{1b}[2J\u{9b}\u{7f}\0b\u{202e}\u{2066}\u{61c}é\n\t\u{a0}".chars().map(printable).collect();
        assert_eq!(shown, "a\u{fffd}[2J\u{fffd}\u{fffd}\u{fffd}b\u{fffd}\u{fffd}\u{fffd}é\n\t\u{a0}");
        assert!(is_unprintable('\n') && is_unprintable('\t') && !is_unprintable(' '));
    }
}
