//! The first bytes of an answer: whether they can begin one, decided as soon as they can't, however they were cut.

use crate::WireError;

/// How every answer begins.
const HTTP: &[u8] = b"HTTP/";

/// The length of the parts of other protocols that are recognised.
const TLS_BYTES: usize = 3;
const HTTP2_BYTES: usize = 9;

/// Skips empty lines before an answer: any CR and LF. RFC 9112 section 2.2 asks this of servers only, but some servers end a body with
/// an empty line that is not announced, and whether it comes with the body or later is chance.
pub fn skip_empty_lines(input: &mut &[u8]) {
    while let [b'\r' | b'\n', rest @ ..] = *input {
        *input = rest;
    }
}

/// Checks the first bytes of what is to be an answer. `Ok`: they begin one, or too few have arrived to tell.
pub fn check(bytes: &[u8]) -> Result<(), WireError> {
    let shared = bytes.len().min(HTTP.len());
    if bytes[..shared] == HTTP[..shared] {
        return Ok(());
    }
    match bytes {
        _ if is_http2(bytes) => may_be(bytes, HTTP2_BYTES, WireError::Http2),
        _ if is_tls(bytes) => may_be(bytes, TLS_BYTES, WireError::Tls),
        _ => Err(WireError::NotHttp),
    }
}

/// Checks the first bytes of what is to be a server's HTTP/2, as `check` does. What it does not know is left to the reader of frames.
pub fn check_http2(bytes: &[u8]) -> Result<(), WireError> {
    match bytes {
        _ if is_answer(bytes) => Err(WireError::Http1),
        _ if is_tls(bytes) => may_be(bytes, TLS_BYTES, WireError::Tls),
        _ => Ok(()),
    }
}

/// Whether the bytes certainly begin an answer.
pub fn is_answer(bytes: &[u8]) -> bool {
    bytes.starts_with(HTTP)
}

fn may_be(bytes: &[u8], length: usize, error: WireError) -> Result<(), WireError> {
    if bytes.len() < length { Ok(()) } else { Err(error) }
}

/// Whether the bytes agree, as far as they go, with the head of a SETTINGS frame, which is the first of every HTTP/2 server (RFC 9113
/// sections 3.4 and 4.1): a length below 256, the type 4, no flags, the stream 0.
fn is_http2(bytes: &[u8]) -> bool {
    let expected: [Option<u8>; HTTP2_BYTES] =
        [Some(0), Some(0), None, Some(4), Some(0), Some(0), Some(0), Some(0), Some(0)];
    bytes.iter().zip(expected).all(|(byte, expected)| expected.is_none_or(|expected| expected == *byte))
}

/// Whether the bytes agree, as far as they go, with the head of a TLS record (RFC 8446 section 5.1).
fn is_tls(bytes: &[u8]) -> bool {
    let expected = [20..=23, 3..=3, 0..=4];
    bytes.iter().zip(expected).all(|(byte, expected)| expected.contains(byte))
}
