//! Turns the bytes of a file into clean text: whatever its encoding and line breaks, without a terminal's escape sequences, and
//! without the separators between thousands that are spaces.

use std::borrow::Cow;

/// The text of a file, and whether some bytes fit no encoding that a computer would choose by itself. `None`: it is not text.
pub fn decode(bytes: Vec<u8>) -> Option<(String, bool)> {
    match bytes.get(..2) {
        Some([0xff, 0xfe]) => return Some(utf16(&bytes[2..], u16::from_le_bytes)),
        Some([0xfe, 0xff]) => return Some(utf16(&bytes[2..], u16::from_be_bytes)),
        _ => {}
    }
    if bytes.contains(&0) {
        // Of UTF-16, ASCII text has every other byte 0.
        let zeros = |parity: usize| bytes.iter().skip(parity).step_by(2).filter(|byte| **byte == 0).count();
        let half = bytes.len() / 2;
        return match (zeros(0), zeros(1)) {
            (0, little) if little * 2 > half => Some(utf16(&bytes, u16::from_le_bytes)),
            (big, 0) if big * 2 > half => Some(utf16(&bytes, u16::from_be_bytes)),
            _ => None,
        };
    }
    match String::from_utf8(bytes) {
        Ok(text) => Some((text, false)),
        // Windows and old terminals write µ and other letters so.
        Err(error) => Some((latin1(error.as_bytes()), true)),
    }
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> (String, bool) {
    let units = bytes.chunks_exact(2).map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    let is_broken = bytes.len() % 2 == 1 || text.contains(char::REPLACEMENT_CHARACTER);
    (text, is_broken)
}

/// The text, in which bytes that are not UTF-8 are letters of Latin-1.
fn latin1(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        let letter = |byte: &u8| if *byte >= 0xa0 { char::from(*byte) } else { char::REPLACEMENT_CHARACTER };
        text.extend(chunk.invalid().iter().map(letter));
    }
    text
}

/// The text with a line feed as its only line break, without escape sequences, other control characters and special spaces.
pub fn clean(source: &str) -> Cow<'_, str> {
    let is_special = |c: char| (c.is_control() && c != '\n' && c != '\t') || is_space(c) || c == '\u{feff}';
    if !source.contains(is_special) && !source.contains("^[[") && !has_bare_colours(source) {
        return Cow::Borrowed(source);
    }
    let text = without_sequences(source);
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match c {
            '\r' if text[at + 1..].starts_with('\n') => {}
            // A bar that is drawn again and again.
            '\r' => out.push('\n'),
            '\n' | '\t' => out.push(c),
            '\u{feff}' => {}
            c if is_space(c) => {
                if !(out.ends_with(|c: char| c.is_ascii_digit()) && is_thousand(&text[at + c.len_utf8()..])) {
                    out.push(' ');
                }
            }
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Spaces that are no ASCII: pages and languages separate words, and thousands, by them.
fn is_space(c: char) -> bool {
    matches!(c, '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}')
}

/// Whether the text begins with exactly three digits.
fn is_thousand(text: &str) -> bool {
    text.bytes().take_while(u8::is_ascii_digit).count() == 3
}

/// Whether a terminal's colours lost their escape characters, as in text that was copied.
fn has_bare_colours(source: &str) -> bool {
    !source.contains('\x1b') && ["[0m", "[39m"].iter().any(|end| source.matches(end).nth(1).is_some())
}

/// Removes escape sequences: `ESC [ … m` and others, titles of windows, and what is left of colours in copied text.
fn without_sequences(source: &str) -> String {
    let caret = source.replace("^[[", "\x1b[");
    let is_bare = has_bare_colours(&caret);
    let mut out = String::with_capacity(caret.len());
    let mut rest = caret.as_str();
    while let Some(at) = rest.find(if is_bare { '[' } else { '\x1b' }) {
        out.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        rest = if is_bare {
            let after = rest.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
            let shown = after.strip_prefix('m').filter(|_| after.len() < rest.len());
            if shown.is_none() {
                out.push('[');
            }
            shown.unwrap_or(rest)
        } else if let Some(sequence) = rest.strip_prefix('[') {
            let after = sequence.trim_start_matches(|c: char| ('\x20'..='\x3f').contains(&c));
            after.strip_prefix(|c: char| ('\x40'..='\x7e').contains(&c)).unwrap_or(after)
        } else if let Some(title) = rest.strip_prefix(']') {
            let end = title.find(['\x07', '\x1b', '\n']).unwrap_or(title.len());
            title[end..].trim_start_matches('\x07')
        } else {
            rest.strip_prefix(|c: char| c.is_ascii_graphic()).unwrap_or(rest)
        };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{clean, decode};

    #[test]
    fn every_encoding_of_one_text() {
        let text = "p50 3µs\n";
        let units: Vec<u16> = text.encode_utf16().collect();
        let little: Vec<u8> = units.iter().flat_map(|unit| unit.to_le_bytes()).collect();
        let big: Vec<u8> = units.iter().flat_map(|unit| unit.to_be_bytes()).collect();
        let files = [
            (text.as_bytes().to_vec(), false),
            ([&[0xff, 0xfe], &little[..]].concat(), false),
            ([&[0xfe, 0xff], &big[..]].concat(), false),
            (little, false),
            (big, false),
            (b"p50 3\xb5s\n".to_vec(), true),
        ];
        for (bytes, is_odd) in files {
            assert_eq!(decode(bytes.clone()), Some((text.to_owned(), is_odd)), "{bytes:x?}");
        }
        assert_eq!(decode(b"a\0\0\0b\0c".to_vec()), None);
        assert_eq!(decode(Vec::new()), Some((String::new(), false)));
    }

    #[test]
    fn what_a_terminal_or_a_page_adds_is_gone() {
        let cases = [
            ("\u{feff}a\r\nb\rc\n", "a\nb\nc\n"),
            ("\x1b[1;32mSum:\x1b[0m\x1b[2K\x1b[?25l ok", "Sum: ok"),
            ("\x1b]0;title\x07x \x1b(By", "x By"),
            ("^[[90mx^[[39m", "x"),
            ("[90mx[39m [31my[39m [z]", "x y [z]"),
            ("rate(x[5m]) [0m]", "rate(x[5m]) [0m]"),
            ("12\u{202f}345\u{a0}req/s 1\u{a0}ms", "12345 req/s 1 ms"),
            ("a\x08b\0", "a\u{fffd}b\u{fffd}"),
            ("a\tb", "a\tb"),
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b]", ""),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text:?}");
        }
    }
}
