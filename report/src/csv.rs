//! Lines of CSV (RFC 4180, but with a line feed as the end of a line). Every field reads back unchanged.

/// One line. A field with a comma, a quote or a line break is quoted.
pub fn line<S: AsRef<str>>(fields: impl IntoIterator<Item = S>) -> String {
    let fields: Vec<String> = fields.into_iter().map(|field| quoted(field.as_ref())).collect();
    fields.join(",") + "\n"
}

fn quoted(field: &str) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
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

    proptest! {
        #[test]
        fn what_is_written_is_read(
            table in prop::collection::vec(prop::collection::vec("[a,\"\r\n é]{0,6}", 3), 0..5)
        ) {
            let text: String = table.iter().map(line).collect();
            prop_assert_eq!(read(&text), table);
        }
    }
}
