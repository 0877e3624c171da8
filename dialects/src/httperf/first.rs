//! The first reply as it was received: the size of its head, its body, and what follows its last chunk.

use crate::message::{self, Chunked, find};

/// A reply, or the part of it that was kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct First<'a> {
    /// The bytes of its head, including the blank line.
    pub head: usize,
    /// Its body: one piece, or one piece per chunk with the line break that follows it.
    pub pieces: Vec<&'a [u8]>,
    /// The bytes after the last chunk; 0 if the body is not chunked.
    pub footer: Option<usize>,
}

/// The least that follows the last chunk: a blank line.
const LEAST_FOOTER: usize = 2;

impl<'a> First<'a> {
    /// Parses a reply; `None` if its head is incomplete. The kept bytes may continue with the next reply.
    pub fn of(bytes: &'a [u8]) -> Option<Self> {
        let head = find(bytes, b"\r\n\r\n")? + 4;
        let field = |name: &str| message::field(&bytes[..head], name);
        let body = &bytes[head..];
        if field("transfer-encoding").is_none_or(|coding| !coding.eq_ignore_ascii_case("chunked")) {
            let length = field("content-length").and_then(|length| length.parse::<usize>().ok());
            let body = &body[..body.len().min(length.unwrap_or(body.len()))];
            return Some(Self { head, pieces: vec![body], footer: None });
        }
        let Chunked { pieces, footer } = message::chunked(body);
        Some(Self { head, pieces, footer: Some(footer.map_or(LEAST_FOOTER, |footer| footer.len())) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_taken_apart() {
        let plain = First::of(b"HTTP/1.1 200 OK\r\nContent-length: 2\r\n\r\nhiHTTP/1.1").unwrap();
        assert_eq!(plain, First { head: 38, pieces: vec![b"hi"], footer: None });
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n3;x\r\nabc\r\n0\r\n\r\nHTTP";
        assert_eq!(
            First::of(chunked).unwrap(),
            First { head: 47, pieces: vec![b"hi\r\n", b"abc\r\n"], footer: Some(2) }
        );
        let trailer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX-A: b\r\n\r\n";
        assert_eq!(First::of(trailer).unwrap().footer, Some(10));
    }

    #[test]
    fn whatever_was_kept_is_no_trouble() {
        let chunked =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nhi\r\n0\r\nX\r\n\r\n";
        for end in 0..=chunked.len() {
            assert_eq!(First::of(&chunked[..end]).is_some(), end >= 47);
        }
        assert_eq!(First::of(b"\xff\r\n\r\n").map(|first| first.head), Some(5));
    }
}
