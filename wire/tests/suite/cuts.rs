//! What each of many answers means, alone and with another one behind it; however its bytes are cut.

use crate::oracle::{Seen, check_requests, check_responses, read_responses};
use proptest::prelude::*;

/// An answer that is as it should be.
const GOOD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

/// The head up to its last field.
const OK: &str = "HTTP/1.1 200 OK\r\n";

/// What is expected: of the answer alone, its connection ended after it; and with [`GOOD`] behind it.
type Row = (&'static str, &'static str, &'static str);

/// Fields and body after [`OK`].
const AFTER_OK: &[Row] = &[
    ("Content-Length: 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5, 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5,5 ,\t5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\nContent-Length: 5, 05\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length:\r\n 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\n \r\n\t\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5,\r\n 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\n 5\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: 5, 6\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: 5,\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: 5\r\nContent-Length: 6, 5\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: +5\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: -5\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length: 0x5\r\n\r\nhello", LENGTH, LENGTH),
    ("Content-Length:\r\n\r\nhello", LENGTH, LENGTH),
    ("X-Long: one\r\n  two\r\n\tthree\r\nContent-Length: 5\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\nX-Long: one\r\n two\r\n\r\nhello", "200 hello", "200 hello, 200 ok"),
    ("Transfer-Encoding:\r\n chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 x", "200 x, 200 ok"),
    (
        "Connection: keep-alive,\r\n close\r\nContent-Length: 1\r\n\r\nx",
        "200 x closes",
        "200 x closes, 200 ok",
    ),
    (" X: y\r\nContent-Length: 1\r\n\r\nx", NAME, NAME),
    ("X-Empty:\r\nX-Blank: \r\nContent-Length: 1\r\n\r\nx", "200 x", "200 x, 200 ok"),
    (
        "Connection:\r\nTransfer-Encoding:\r\nContent-Length: 1\r\n\r\nx",
        "200 x closes",
        "200 x closes, 200 ok",
    ),
    ("Content-Length : 1\r\n\r\nx", NAME, NAME),
    ("X-Text: gr\u{fc}n\r\nContent-Length: 1\r\n\r\nx", "200 x", "200 x, 200 ok"),
    (
        "X-Nul: a\0b\r\nContent-Length: 1\r\n\r\nx",
        "malformed head: invalid header value",
        "malformed head: invalid header value",
    ),
    (
        "X-Cr: a\rb\r\nContent-Length: 1\r\n\r\nx",
        "malformed head: invalid header value",
        "malformed head: invalid header value",
    ),
    (
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
        "200 x closes",
        "200 x closes, 200 ok",
    ),
    ("Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 x", "200 x, 200 ok"),
    ("Transfer-Encoding: chunked,\r\n\r\n1\r\nx\r\n0\r\n\r\n", "200 x", "200 x, 200 ok"),
    (
        "Transfer-Encoding: chunked\r\n\r\n1;a=\"b\"\r\nx\r\n0;last\r\nTrail: er\r\n\r\n",
        "200 x",
        "200 x, 200 ok",
    ),
    ("Transfer-Encoding: chunked\r\n\r\n1\nx\n0\n\n", "200 x", "200 x, 200 ok"),
    (
        "Transfer-Encoding: chunked\r\n\r\n1\r\nxy\r\n0\r\n\r\n",
        "200 x, malformed chunk",
        "200 x, malformed chunk",
    ),
    (
        "Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\nmore",
        "200 x, bytes followed the last chunk",
        "200 x, bytes followed the last chunk",
    ),
    ("Content-Length: 5\r\n\r\nhello\r\n", "200 hello", "200 hello, 200 ok"),
    ("Content-Length: 5\r\n\r\nhello\n\r\n\n", "200 hello", "200 hello, 200 ok"),
    (
        "Content-Length: 5\r\n\r\nhelloEXTRA",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
    ),
    (
        "Content-Length: 5\r\n\r\nhelloHTML",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
    ),
    (
        "Content-Length: 5\r\n\r\nhello\r\nEXTRA",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
        "200 hello, longer than its Content-Length: 5 bytes announced, more received",
    ),
    (
        "Content-Length: 5\r\n\r\nhell",
        "200 hell, closed before the answer was whole",
        "200 hellH, longer than its Content-Length: 5 bytes announced, more received",
    ),
    ("Content-Length: 5\r\nhello", "closed before the answer was whole", NAME),
    ("Content-Length: 5\n\nhello", "200 hello", "200 hello, 200 ok"),
    (
        "\r\nuntil the end",
        "200 until the end closes",
        "200 until the endHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok closes",
    ),
];

/// Whole answers.
const WHOLE: &[Row] = &[
    ("HTTP/1.1 999 Denied\r\nContent-Length: 1\r\n\r\nx", "999 x", "999 x, 200 ok"),
    ("HTTP/1.1 200\r\nContent-Length: 1\r\n\r\nx", "200 x", "200 x, 200 ok"),
    (
        "HTTP/1.1 20 OK\r\nContent-Length: 1\r\n\r\nx",
        "malformed head: invalid response status",
        "malformed head: invalid response status",
    ),
    (
        "HTTP/2 200\r\nContent-Length: 1\r\n\r\nx",
        "malformed head: invalid HTTP version",
        "malformed head: invalid HTTP version",
    ),
    ("HTTP/1.1 204 No Content\r\n\r\n", "204", "204, 200 ok"),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204", "204, 200 ok"),
    (
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        "204, a 204 has no body, but bytes followed",
        "204, a 204 has no body, but bytes followed",
    ),
    (
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n\r\nhello",
        "304, a 304 has no body, but bytes followed",
        "304, a 304 has no body, but bytes followed",
    ),
    (
        "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "200 x",
        "200 x, 200 ok",
    ),
    (
        "HTTP/1.1 100 Continue\r\n\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        "200 x",
        "200 x, 200 ok",
    ),
    (
        "HTTP/1.1 100 Continue\r\n\r\nhello",
        "the bytes are not an HTTP/1 answer",
        "the bytes are not an HTTP/1 answer",
    ),
    (
        "HTTP/1.1 101 Switching\r\n\r\n",
        "unrequested switch of protocols (101)",
        "unrequested switch of protocols (101)",
    ),
    ("\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx", "200 x", "200 x, 200 ok"),
    (
        "\0\0\u{12}\u{4}\0\0\0\0\0\0\u{3}\0\0\0d",
        "the server speaks HTTP/2, which was not requested",
        "the server speaks HTTP/2, which was not requested",
    ),
    (
        "\u{15}\u{3}\u{1}\0\u{2}\u{2}F",
        "the server speaks TLS: write https:// in the URL",
        "the server speaks TLS: write https:// in the URL",
    ),
    ("hello", "the bytes are not an HTTP/1 answer", "the bytes are not an HTTP/1 answer"),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx", "200 x", "200 x, 200 ok"),
    (
        "HTTP/1.0 200 OK\r\nConnection: close, keep-alive\r\nContent-Length: 1\r\n\r\nx",
        "200 x closes",
        "200 x closes, 200 ok",
    ),
    (
        "HTTP/1.0 200 OK\r\n\r\nx",
        "200 x closes",
        "200 xHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok closes",
    ),
    ("", "", "200 ok"),
];

const LENGTH: &str = "invalid Content-Length";
const NAME: &str = "malformed head: invalid header name";

/// The answers, and how they end, in words.
fn told(bytes: &[u8], head_only: bool) -> String {
    let read = read_responses(&[bytes], head_only, false, &mut None);
    let mut told = String::new();
    for event in &read.events {
        match event {
            Seen::Head(head) if told.is_empty() => told = head.status.to_string(),
            Seen::Head(head) => told += &format!(", {}", head.status),
            Seen::Body(body) => told += &format!(" {}", String::from_utf8_lossy(body)),
            Seen::End(true) => {}
            Seen::End(false) => told += " closes",
        }
    }
    if read.closed == Some(Ok(true)) {
        told += " closes";
    }
    let error = read.error.or(read.closed.and_then(Result::err)).map(|error| error.to_string());
    [told, error.unwrap_or_default()]
        .into_iter()
        .filter(|part| !part.is_empty())
        .collect::<Vec<_>>()
        .join(", ")
}

#[test]
fn each_answer_means_the_same_however_it_is_cut() {
    let after_ok = AFTER_OK.iter().map(|(rest, alone, followed)| (format!("{OK}{rest}"), *alone, *followed));
    let whole = WHOLE.iter().map(|(bytes, alone, followed)| ((*bytes).to_owned(), *alone, *followed));
    for (answer, alone, followed) in after_ok.chain(whole) {
        // Each character is one byte.
        let bytes = |text: &str| text.chars().map(|c| c as u8).collect::<Vec<_>>();
        for (bytes, expected) in [(bytes(&answer), alone), (bytes(&format!("{answer}{GOOD}")), followed)] {
            assert_eq!(told(&bytes, false), expected, "{answer:?}");
            check_responses(&bytes);
        }
    }
}

#[test]
fn an_answer_to_head_has_no_body_and_says_so() {
    let bytes = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    assert_eq!(told(bytes, true), "200, an answer to HEAD has no body, but bytes followed");
    assert_eq!(told(&bytes[..bytes.len() - 5], true), "200");
}

/// Pieces of answers, right and wrong.
fn piece() -> impl Strategy<Value = &'static [u8]> {
    let pieces: &[&[u8]] = &[
        b"HTTP/1.1 200 OK\r\n",
        b"GET / HTTP/1.1\r\n",
        b"POST /x HTTP/1.0\n",
        b"GET / HTTP/2",
        b"HTTP/1.1 204 No\n",
        b"HTTP/1.1 100 Go\r\n\r\n",
        b"HTTP/1.",
        b"HTTP/",
        b"H",
        b"Content-Length: 5\r\n",
        b"Content-Length: ",
        b"5",
        b",",
        b"Transfer-Encoding: chunked\r\n",
        b"Connection: close",
        b"\r\n",
        b"\r\n\r\n",
        b"\n",
        b"\r",
        b" ",
        b"\t",
        b":",
        b"X",
        b"\0",
        b"\xff",
        b"hello",
        b"5\r\nhello\r\n",
        b"0\r\n",
        b"\x15\x03",
        b"\0\0\x12\x04\0\0\0\0\0",
    ];
    prop::sample::select(pieces.to_vec())
}

proptest! {
    #[test]
    fn any_pieces_mean_the_same_however_they_are_cut(pieces in prop::collection::vec(piece(), 0..14)) {
        check_responses(&pieces.concat());
        check_requests(&pieces.concat());
    }
}
