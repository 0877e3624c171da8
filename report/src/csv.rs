//! Lines of CSV (RFC 4180, but with a line feed as the end of a line). Every field reads back unchanged, but for characters that act on
//! a terminal, and an apostrophe before what a spreadsheet would take for a formula.

use crate::records::Records;
use model::text::is_unprintable;

impl Records {
    /// The header and the rows, separated by commas.
    pub fn csv(&self) -> String {
        self.lines(line)
    }
}

/// One line. A field with a comma, a quote or a line break is quoted.
fn line(fields: &[String]) -> String {
    fields.iter().map(|field| quoted(field)).collect::<Vec<_>>().join(",") + "\n"
}

/// A field that does nothing where it is shown: a character that acts on a terminal is replaced, and what a spreadsheet would take for
/// a formula begins with an apostrophe, as OWASP advises. Numbers are left alone.
pub(crate) fn inert(field: &str) -> String {
    let shown = |c: char| match c {
        '\t' | '\n' | '\r' => c,
        c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    let is_formula = field.starts_with(['=', '+', '-', '@', '\t', '\r']) && field.parse::<f64>().is_err();
    let mark = if is_formula { "'" } else { "" };
    mark.chars().chain(field.chars().map(shown)).collect()
}

fn quoted(field: &str) -> String {
    let field = &inert(field);
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A strict reader: section 2 of RFC 4180 as a machine with two states.
    fn read(text: &str) -> Vec<Vec<String>> {
        let (mut lines, mut line, mut field) = (Vec::new(), Vec::new(), String::new());
        let mut chars = text.chars().peekable();
        let (mut is_quoted, mut was_quoted) = (false, false);
        while let Some(c) = chars.next() {
            match c {
                '"' if is_quoted && chars.peek() == Some(&'"') => field.push(chars.next().unwrap()),
                '"' if is_quoted => (is_quoted, was_quoted) = (false, true),
                c if is_quoted => field.push(c),
                '"' => {
                    assert!(field.is_empty() && !was_quoted, "a quote within a field: {text:?}");
                    is_quoted = true;
                }
                ',' | '\n' => {
                    line.push(std::mem::take(&mut field));
                    was_quoted = false;
                    if c == '\n' {
                        lines.push(std::mem::take(&mut line));
                    }
                }
                c => {
                    assert!(!was_quoted && c != '\r', "{text:?}");
                    field.push(c);
                }
            }
        }
        assert!(!is_quoted && field.is_empty() && line.is_empty(), "the last line has its end: {text:?}");
        lines
    }

    #[test]
    fn nothing_in_a_field_acts() {
        let cases = [
            ("=1+1", "'=1+1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("-x", "'-x"),
            ("-1.5", "-1.5"),
            ("+2e3", "+2e3"),
            ("a=b", "a=b"),
            ("\u{1b}[2Ja\u{202e}b\u{0}", "\u{fffd}[2Ja\u{fffd}b\u{fffd}"),
        ];
        for (field, expected) in cases {
            assert_eq!(line(&[field.to_owned()]), format!("{expected}\n"));
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            table in prop::collection::vec(prop::collection::vec("[a,\"\r\n é]{0,6}", 3), 0..5)
        ) {
            let text: String = table.iter().map(|row| line(row)).collect();
            let inert: Vec<Vec<String>> = table.iter().map(|row| row.iter().map(|field| inert(field)).collect()).collect();
            prop_assert_eq!(read(&text), inert);
        }
    }
}
