//! Lines of tab-separated values. Nothing is quoted: tabs and line breaks within a field are escaped, so that a line is a row
//! and a tab ends a field for programs such as `cut` and `awk`. Every field reads back unchanged, but for what CSV changes too.

use crate::records::Records;

impl Records {
    /// The header and the rows, separated by tabs.
    pub fn tsv(&self) -> String {
        self.lines(line)
    }
}

/// One line. In a field, a tab is `\t`, a line break `\n` or `\r`, and a backslash `\\`.
fn line(fields: &[String]) -> String {
    fields.iter().map(|field| escaped(field)).collect::<Vec<_>>().join("\t") + "\n"
}

fn escaped(field: &str) -> String {
    crate::csv::inert(field)
        .replace('\\', r"\\")
        .replace('\t', r"\t")
        .replace('\n', r"\n")
        .replace('\r', r"\r")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<Vec<String>> {
        text.split_terminator('\n').map(|line| line.split('\t').map(unescaped).collect()).collect()
    }

    fn unescaped(field: &str) -> String {
        let (mut text, mut chars) = (String::new(), field.chars());
        while let Some(c) = chars.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            text.push(match chars.next() {
                Some('\\') => '\\',
                Some('t') => '\t',
                Some('n') => '\n',
                Some('r') => '\r',
                other => panic!("an unknown escape: {other:?} in {field:?}"),
            });
        }
        text
    }

    #[test]
    fn a_row_is_a_line_and_a_tab_ends_a_field() {
        assert_eq!(line(&["a", "", "b c"].map(str::to_owned)), "a\t\tb c\n");
        assert_eq!(line(&["a, \"b\"", "c\td\r\ne\\n"].map(str::to_owned)), "a, \"b\"\tc\\td\\r\\ne\\\\n\n");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            table in prop::collection::vec(prop::collection::vec("[atnr\\\\\t\r\n é]{0,6}", 3), 0..5)
        ) {
            let text: String = table.iter().map(|row| line(row)).collect();
            let inert: Vec<Vec<String>> =
                table.iter().map(|row| row.iter().map(|field| crate::csv::inert(field)).collect()).collect();
            prop_assert_eq!(read(&text), inert);
        }
    }
}
