//! Text from the other side, made fit for a terminal: without escape sequences and control characters, and of a bounded length.

use serde_json::Value;

/// The largest size of a text that is shown, in bytes.
pub const MOST_TEXT_BYTES: usize = 4096;

/// The text without escape sequences, control characters (except newlines and tabs) and marks that reorder text, and at most 4 KiB of it.
pub fn cleaned(text: &str) -> String {
    let mut clean = plain(text);
    if clean.len() > MOST_TEXT_BYTES {
        let end = (0..=MOST_TEXT_BYTES).rev().find(|end| clean.is_char_boundary(*end)).unwrap_or(0);
        clean.truncate(end);
    }
    clean
}

/// As [`cleaned`], but as one line.
pub fn line(text: &str) -> String {
    cleaned(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Cleans every text and every key in the JSON as [`cleaned`] does, but without its limit of length.
pub fn clean_json(value: &mut Value) {
    match value {
        Value::String(text) if has_control(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(clean_json),
        Value::Object(fields) => {
            if fields.keys().any(|key| has_control(key)) {
                *fields =
                    std::mem::take(fields).into_iter().map(|(key, value)| (plain(&key), value)).collect();
            }
            fields.values_mut().for_each(clean_json);
        }
        _ => {}
    }
}

fn has_control(text: &str) -> bool {
    text.chars().any(is_control)
}

fn is_control(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn plain(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' if chars.next_if_eq(&'[').is_some() => {
                skip_until(&mut chars, |c| ('@'..='~').contains(&c));
            }
            '\u{9b}' => skip_until(&mut chars, |c| ('@'..='~').contains(&c)),
            // An OSC sequence, such as one that sets a window's title, ends with BEL or with ST (ESC and a backslash).
            '\u{1b}' if chars.next_if_eq(&']').is_some() => {
                skip_until(&mut chars, |c| c == '\u{7}' || c == '\u{1b}');
                chars.next_if_eq(&'\\');
            }
            c if is_control(c) => {}
            c => clean.push(c),
        }
    }
    clean
}

/// Skips an escape sequence, which ends with its line at the latest.
fn skip_until(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, is_end: impl Fn(char) -> bool) {
    while let Some(c) = chars.next_if(|c| *c != '\n') {
        if is_end(c) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn escapes_and_control_characters_are_stripped_and_words_stay() {
        for (text, expected) in [
            ("plain ä\n\ttext", "plain ä\n\ttext"),
            ("\u{1b}[31mred\u{1b}[0m", "red"),
            ("a\u{1b}]0;title\u{7}b\u{1b}]2;x\u{1b}\\c", "abc"),
            ("a\rb\u{8}c\u{9b}2Jd\0", "abcd"),
            ("a\u{202e}b\u{2066}c", "abc"),
            ("a\u{61c}b\u{200e}c\u{200f}d", "abcd"),
            ("\u{1b}[never ends\nnext", "ever ends\nnext"),
            ("\u{1b}[1;2\nnext\u{1b}", "\nnext"),
        ] {
            assert_eq!(cleaned(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_text_is_bounded_and_whole_characters_stay() {
        let clean = cleaned(&"ä".repeat(5000).replacen('ä', "a", 1));
        assert_eq!(clean.len(), MOST_TEXT_BYTES - 1);
    }

    #[test]
    fn json_is_cleaned_in_values_and_in_names() {
        let mut value = json!({"a\u{1b}[1m": ["x\u{7}", {"b": "\u{1b}[2Jy"}], "n": 1});
        clean_json(&mut value);
        assert_eq!(value, json!({"a": ["x", {"b": "y"}], "n": 1}));
    }
}
