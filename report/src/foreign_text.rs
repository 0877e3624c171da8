//! Text that anyone may have written, for Markdown on GitHub. It is shown as inline code, the one place in which GitHub does not
//! interpret HTML, links, images, names of people, numbers of issues, commits, addresses, emoji and formulas.

use crate::units::UNKNOWN;

/// Characters that are invisible, or that change the order in which others are shown: joiners, marks of direction, tags, fillers.
const UNSEEN: &[std::ops::RangeInclusive<char>] = &[
    '\u{ad}'..='\u{ad}',
    '\u{34f}'..='\u{34f}',
    '\u{61c}'..='\u{61c}',
    '\u{115f}'..='\u{1160}',
    '\u{17b4}'..='\u{17b5}',
    '\u{180b}'..='\u{180f}',
    '\u{200b}'..='\u{200f}',
    '\u{202a}'..='\u{202e}',
    '\u{2060}'..='\u{206f}',
    '\u{2800}'..='\u{2800}',
    '\u{3164}'..='\u{3164}',
    '\u{fe00}'..='\u{fe0f}',
    '\u{feff}'..='\u{feff}',
    '\u{ffa0}'..='\u{ffa0}',
    '\u{fff0}'..='\u{fffb}',
    '\u{1d173}'..='\u{1d17a}',
    '\u{e0000}'..='\u{e0fff}',
];

/// The text as inline code on one line. It has no backquote, so nothing in it ends the code, and no bar, so nothing in it ends the
/// cell of a table.
pub fn code(text: &str) -> String {
    format!("`{}`", inert(text))
}

/// The same without the marks of code.
pub fn inert(text: &str) -> String {
    let harmless = harmless(text);
    let shown = harmless.trim();
    if shown.is_empty() { UNKNOWN.to_owned() } else { shown.to_owned() }
}

/// The text on one line. Every character that is invisible, or has a meaning in a table or to inline code, is replaced.
pub fn harmless(text: &str) -> String {
    let replaced = |c: char| match c {
        '`' => '\'',
        '|' => '¦',
        c if c.is_whitespace() => ' ',
        c if c.is_control() || UNSEEN.iter().any(|range| range.contains(&c)) => '\u{fffd}',
        c => c,
    };
    text.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_code_or_the_line() {
        let cases = [
            ("nginx 1.22", "`nginx 1.22`"),
            ("a`b``c", "`a'b''c`"),
            ("a|b\\|c\\", "`a¦b\\¦c\\`"),
            ("\n```\n</details>\r\n", "`''' </details>`"),
            ("a\u{202e}b\u{0}c\u{1b}[2J\u{2028}d", "`a\u{fffd}b\u{fffd}c\u{fffd}[2J d`"),
            (" \t ", "`–`"),
            ("", "`–`"),
        ];
        for (text, expected) in cases {
            assert_eq!(code(text), expected, "{text:?}");
        }
    }
}
