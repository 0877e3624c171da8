//! Splits the bytes that a script wants to send at once into requests; several of them are a pipeline.

use crate::message::{self, find};

/// Why bytes are not a request, and where they stop being one.
#[derive(Debug, PartialEq, Eq)]
pub struct NoRequest {
    /// The message of wrk's parser.
    pub what: &'static str,
    /// From 1.
    pub line: usize,
    /// From 1.
    pub column: usize,
}

/// The methods that wrk's parser knows.
const METHODS: &[&str] = &[
    "DELETE",
    "GET",
    "HEAD",
    "POST",
    "PUT",
    "CONNECT",
    "OPTIONS",
    "TRACE",
    "COPY",
    "LOCK",
    "MKCOL",
    "MOVE",
    "PROPFIND",
    "PROPPATCH",
    "SEARCH",
    "UNLOCK",
    "BIND",
    "REBIND",
    "UNBIND",
    "ACL",
    "REPORT",
    "MKACTIVITY",
    "CHECKOUT",
    "MERGE",
    "M-SEARCH",
    "NOTIFY",
    "SUBSCRIBE",
    "UNSUBSCRIBE",
    "PATCH",
    "PURGE",
    "MKCALENDAR",
    "LINK",
    "UNLINK",
];

/// Splits bytes into requests, at least one, each with its body. Fails if the bytes are not complete requests.
pub fn split(bytes: &[u8]) -> Result<Vec<&[u8]>, NoRequest> {
    let mut pieces = Vec::new();
    let mut begin = 0;
    loop {
        let blank = bytes[begin..].iter().take_while(|b| matches!(b, b'\r' | b'\n')).count();
        if begin + blank == bytes.len() && begin > 0 {
            return Ok(pieces);
        }
        let head = begin + blank;
        if !may_be_method(&bytes[head..]) {
            return Err(at(bytes, head, "invalid HTTP method"));
        }
        let incomplete = || at(bytes, bytes.len(), "incomplete request");
        let length = find(&bytes[head..], b"\r\n\r\n").ok_or_else(incomplete)? + 4;
        let body = head + length;
        let length = body_length(&bytes[head..body], &bytes[body..]).ok_or_else(incomplete)?;
        let end = body.checked_add(length).filter(|end| *end <= bytes.len()).ok_or_else(incomplete)?;
        pieces.push(&bytes[head..end]);
        begin = end;
    }
}

/// Whether this begins with a method, or is the beginning of one.
fn may_be_method(bytes: &[u8]) -> bool {
    let length = bytes.iter().position(|b| *b == b' ').unwrap_or(bytes.len());
    let (word, is_cut) = (&bytes[..length], length == bytes.len());
    METHODS.iter().any(|method| method.as_bytes() == word || (is_cut && method.as_bytes().starts_with(word)))
}

fn body_length(head: &[u8], rest: &[u8]) -> Option<usize> {
    let field = |name: &str| message::field(head, name);
    if field("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return message::chunked(rest).footer.map(|footer| footer.end);
    }
    field("content-length").map_or(Some(0), |length| length.parse().ok())
}

fn at(bytes: &[u8], end: usize, what: &'static str) -> NoRequest {
    let read = &bytes[..end];
    let line = read.split(|b| *b == b'\n').count();
    let column = read.iter().rev().take_while(|b| **b != b'\n').count() + 1;
    NoRequest { what, line, column }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_come_apart_with_their_bodies() {
        let one = b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\na=b";
        let two = b"GET / HTTP/1.1\r\n\r\n";
        let three = b"PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n";
        let all = [&one[..], b"\r\n", two, three].concat();
        assert_eq!(split(&all), Ok(vec![&one[..], two, three]));
    }

    #[test]
    fn a_body_in_chunks_ends_after_its_last_chunk() {
        let post = "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n";
        let within = format!("{post}10\r\n\r\n0123456789abcd\r\n0\r\n\r\n");
        let trailer = format!("{post}1\r\na\r\n0\r\nX: y\r\n\r\n");
        let both = format!("{within}{trailer}");
        assert_eq!(split(both.as_bytes()), Ok(vec![within.as_bytes(), trailer.as_bytes()]));
        let cut = split(&both.as_bytes()[..both.len() - 2]);
        assert_eq!(cut.map_err(|no| no.what), Err("incomplete request"));
    }

    #[test]
    fn what_is_none_is_shown_where_it_ends() {
        let no = |what, line, column| Err(NoRequest { what, line, column });
        assert_eq!(split(b"GET / HTT"), no("incomplete request", 1, 10));
        assert_eq!(split(b""), no("incomplete request", 1, 1));
        assert_eq!(split(b"GET / HTTP/1.1\r\nA: b\r\n"), no("incomplete request", 3, 1));
        assert_eq!(split(b"POST / HTTP/1.1\r\nContent-Length: 9\r\n\r\na"), no("incomplete request", 4, 2));
        assert_eq!(split(b"FETCH / HTTP/1.1\r\n\r\n"), no("invalid HTTP method", 1, 1));
    }
}
