//! HTTP messages as bytes.

use std::ops::Range;

/// Where these bytes begin.
pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The head of a message with its blank line, and what follows; all of it is head if that is incomplete.
pub fn head_and_body(message: &[u8]) -> (&[u8], &[u8]) {
    let end = find(message, b"\r\n\r\n").map_or(message.len(), |at| at + 4);
    message.split_at(end)
}

/// The value of a header field in the head of a message.
pub fn field(head: &[u8], name: &str) -> Option<String> {
    let head = String::from_utf8_lossy(head);
    let mut fields = head.lines().skip(1).filter_map(|line| line.split_once(':'));
    fields.find(|(given, _)| given.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim().to_owned())
}

/// A body in chunks, or the part of it that was kept.
pub struct Chunked<'a> {
    /// Each whole chunk, with the line break that follows it.
    pub pieces: Vec<&'a [u8]>,
    /// Where the last chunk's trailer fields and the blank line are; `None` if they are incomplete.
    pub footer: Option<Range<usize>>,
}

/// Takes a body in chunks apart.
pub fn chunked(body: &[u8]) -> Chunked<'_> {
    let (mut pieces, mut at) = (Vec::new(), 0);
    while let Some(end) = find(&body[at..], b"\r\n") {
        let line = String::from_utf8_lossy(&body[at..at + end]);
        let size = usize::from_str_radix(line.split(';').next().unwrap_or_default().trim(), 16);
        at += end + 2;
        let rest = &body[at..];
        match size {
            Ok(0) if rest.starts_with(b"\r\n") => return Chunked { pieces, footer: Some(at..at + 2) },
            Ok(0) => {
                let footer = find(rest, b"\r\n\r\n").map(|end| at..at + end + 4);
                return Chunked { pieces, footer };
            }
            Ok(size) if size.checked_add(2).is_some_and(|whole| rest.len() >= whole) => {
                pieces.push(&rest[..size + 2]);
                at += size + 2;
            }
            _ => break,
        }
    }
    Chunked { pieces, footer: None }
}
