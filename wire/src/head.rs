//! Heads that arrive in pieces, and the header fields that frame a message.

use crate::{MAX_HEAD_BYTES, MAX_HEAD_FIELDS, WireError};
use httparse::{Header, Status};
use std::mem::MaybeUninit;

/// The most bytes of a head that are looked at: enough to see that it is too long.
const MOST_HELD: usize = MAX_HEAD_BYTES + 4;

/// Room for the fields of one head; never read before the parser has written it.
pub type Fields<'b> = [MaybeUninit<Header<'b>>; MAX_HEAD_FIELDS];

/// Bytes of a head that is not yet whole. Empty, and without memory, unless a head was split.
#[derive(Debug, Default)]
pub struct Held(Vec<u8>);

impl Held {
    /// Whether a part of a head waits for the rest.
    pub fn is_partial(&self) -> bool {
        !self.0.is_empty()
    }

    /// Whether a part of a head waits and not even its first line is complete.
    pub fn is_in_first_line(&self) -> bool {
        self.is_partial() && memchr::memchr(b'\n', &self.0).is_none()
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Runs `parse` over the head at the start of what was held plus `input`, and takes its bytes off `input`.
    /// `None`: the head is not whole yet and all of `input` is held. An error counts when `check` finds it in whole lines, too: what is wrong
    /// in a line is told at the line's end, so that it does not matter how the bytes were cut.
    #[inline]
    pub fn take<T>(
        &mut self,
        input: &mut &[u8],
        parse: impl FnOnce(&[u8]) -> Result<Option<(usize, T)>, WireError>,
        check: impl FnOnce(&[u8]) -> Result<(), WireError>,
    ) -> Result<Option<T>, WireError> {
        let before = self.0.len();
        if before == 0 {
            let bytes = &input[..input.len().min(MOST_HELD)];
            match parse(bytes) {
                Ok(Some((length, parsed))) => {
                    *input = &input[length..];
                    return Ok(Some(parsed));
                }
                Ok(None) => {}
                Err(_) => check(whole_lines(bytes))?,
            }
            return self.hold(input);
        }
        // A head can only become whole with a line feed: without one there is no need to look at it again.
        let has_line_end = memchr::memchr(b'\n', input).is_some();
        let room = MOST_HELD.saturating_sub(before).min(input.len());
        if !has_line_end {
            return self.hold(input);
        }
        self.0.extend_from_slice(&input[..room]);
        match parse(&self.0) {
            Ok(Some((length, parsed))) => {
                *input = &input[length - before..];
                self.0.clear();
                return Ok(Some(parsed));
            }
            Ok(None) => {}
            Err(_) => check(whole_lines(&self.0))?,
        }
        *input = &input[room..];
        self.bounded()
    }

    fn hold<T>(&mut self, input: &mut &[u8]) -> Result<Option<T>, WireError> {
        let room = MOST_HELD.saturating_sub(self.0.len()).min(input.len());
        self.0.extend_from_slice(&input[..room]);
        *input = &input[room..];
        self.bounded()
    }

    fn bounded<T>(&self) -> Result<Option<T>, WireError> {
        if self.0.len() > MAX_HEAD_BYTES { Err(WireError::HeadTooLong) } else { Ok(None) }
    }
}

fn whole_lines(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1)]
}

/// The length of a parsed head; `None` when it is not whole.
pub fn whole(status: httparse::Result<usize>) -> Result<Option<usize>, WireError> {
    match status {
        Ok(Status::Complete(length)) if length > MAX_HEAD_BYTES => Err(WireError::HeadTooLong),
        Ok(Status::Complete(length)) => Ok(Some(length)),
        Ok(Status::Partial) => Ok(None),
        Err(httparse::Error::TooManyHeaders) => Err(WireError::TooManyFields),
        Err(error) => Err(WireError::Head(error)),
    }
}

/// The framing fields of a head: how the message ends and what happens to the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Framing {
    /// The `Content-Length`.
    pub length: Option<u64>,
    /// Whether `Transfer-Encoding` ends with `chunked`.
    pub chunked: bool,
    /// Whether there is a `Transfer-Encoding` that names a coding.
    pub encoded: bool,
    /// Whether there is an `Expect: 100-continue`.
    pub expects_continue: bool,
    /// Whether the connection outlives the message, as far as the head says (RFC 9112 section 9.3).
    pub keep_alive: bool,
}

impl Framing {
    /// Reads the framing fields; `minor` is the version's second digit.
    pub fn of(fields: &[Header<'_>], minor: u8) -> Result<Self, WireError> {
        let mut framing = Self { keep_alive: minor >= 1, ..Self::default() };
        let (mut has_coding, mut closes) = (false, false);
        for field in fields {
            // The length of the name decides almost always; only then is it compared.
            match field.name.len() {
                14 if field.name.eq_ignore_ascii_case("content-length") => {
                    // Equal values, in one line or several, are one (RFC 9110 section 8.6).
                    for value in tokens(field.value) {
                        let length = number(value).ok_or(WireError::ContentLength)?;
                        if framing.length.is_some_and(|other| other != length) {
                            return Err(WireError::ContentLength);
                        }
                        framing.length = Some(length);
                    }
                }
                17 if field.name.eq_ignore_ascii_case("transfer-encoding") => {
                    has_coding = true;
                    // Empty elements of a list are none (RFC 9110 section 5.6.1).
                    if let Some(last) = tokens(field.value).filter(|token| !token.is_empty()).last() {
                        framing.encoded = true;
                        framing.chunked = last.eq_ignore_ascii_case(b"chunked");
                    }
                }
                10 if field.name.eq_ignore_ascii_case("connection") => {
                    for token in tokens(field.value) {
                        if token.eq_ignore_ascii_case(b"close") {
                            closes = true;
                        } else if minor == 0 && token.eq_ignore_ascii_case(b"keep-alive") {
                            framing.keep_alive = true;
                        }
                    }
                }
                6 if field.name.eq_ignore_ascii_case("expect") => {
                    framing.expects_continue |=
                        minor >= 1 && tokens(field.value).any(|t| t.eq_ignore_ascii_case(b"100-continue"));
                }
                _ => {}
            }
        }
        // Sender and receiver may disagree on where the message ends if there is a `Transfer-Encoding` beside a `Content-Length`, or in
        // HTTP/1.0. The connection must not be used again then (RFC 9112 section 6.1).
        let is_ambiguous = has_coding && (framing.length.is_some() || minor == 0);
        // `close` wins over `keep-alive`, whichever comes first (RFC 9112 section 9.3).
        framing.keep_alive &= !is_ambiguous && !closes;
        Ok(framing)
    }
}

/// Parses digits only: no sign, no white space within (RFC 9110 section 8.6).
pub fn number(value: &[u8]) -> Option<u64> {
    let value = value.trim_ascii();
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |n, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

fn tokens(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii)
}
