//! Parses answers: bytes in, parts out. One parser per connection; it holds no memory unless a head was split.

use crate::body::Body;
use crate::chunked::{Chunked, Piece};
use crate::head::{Fields, Framing, Held, whole};
use crate::{WireError, start};
use httparse::{ParserConfig, Response};
use std::mem::MaybeUninit;

/// Reads the answers of one connection, one after the other.
#[derive(Debug, Default)]
pub struct ResponseParser {
    state: State,
    held: Held,
    keep_alive: bool,
    /// What said where the last answer's body ends; `None` before the first answer.
    ending: Option<Ending>,
}

/// What says where the body of an answer ends. In words: what is wrong where more bytes follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Ending {
    /// The request was a HEAD.
    #[error("an answer to HEAD has no body, but bytes followed")]
    Head,
    /// The status is one that has no body: 204 or 304.
    #[error("a {0} has no body, but bytes followed")]
    Status(u16),
    /// The `Content-Length`.
    #[error("longer than its Content-Length: {0} bytes announced, more received")]
    Length(u64),
    /// The last chunk.
    #[error("bytes followed the last chunk")]
    Chunked,
    /// The end of the connection.
    #[error("bytes followed the end of the connection")]
    Close,
    /// The start of another answer, although no request was left.
    #[error("another answer followed, which no request asked for")]
    Answer,
}

/// The part that is missing of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// All of it, but for interim answers.
    All,
    /// A part of its head, and everything behind.
    Head,
    /// A part of a body of known length.
    Length {
        /// That length.
        announced: u64,
    },
    /// The last chunk.
    LastChunk,
    /// The end of the connection, which ends the body.
    Close,
    /// The end of the stream, which ends the body.
    EndOfStream,
}

/// A part of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part<'a> {
    /// The head is complete. Informational answers (1xx) are passed over.
    Head(Head),
    /// Bytes of the body, with no coding left on them; never empty.
    Body(&'a [u8]),
    /// The end of the answer.
    End {
        /// Whether the connection can be used for another request.
        keep_alive: bool,
    },
}

/// The content of a head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The status; 0 where the protocol has none.
    pub status: u16,
    /// The body's length, where it is known beforehand.
    pub length: Option<u64>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    Body(Body),
}

/// The head that was read last, on whichever connection: servers send the same one again and again, which need not be parsed
/// again.
#[derive(Debug)]
pub struct LastHead {
    /// A whole head to its last byte; empty: none yet.
    bytes: Vec<u8>,
    parsed: Parsed,
}

/// The longest head that is remembered.
const LAST_HEAD_BYTES: usize = 1024;

impl Default for LastHead {
    fn default() -> Self {
        Self { bytes: Vec::with_capacity(LAST_HEAD_BYTES), parsed: (0, Framing::default()) }
    }
}

impl LastHead {
    /// Parses the head at the start of `bytes`, unless it is the known one.
    #[inline]
    fn parse(&mut self, bytes: &[u8]) -> Result<Option<(usize, Parsed)>, WireError> {
        let length = self.bytes.len();
        if length > 0 && bytes.len() >= length && bytes[..length] == self.bytes[..] {
            return Ok(Some((length, self.parsed)));
        }
        let parsed = parse(bytes, &mut |_, _| {})?;
        if let Some((length, parsed)) = parsed.filter(|(length, _)| *length <= LAST_HEAD_BYTES) {
            self.bytes.clear();
            self.bytes.extend_from_slice(&bytes[..length]);
            self.parsed = parsed;
        }
        Ok(parsed)
    }
}

impl ResponseParser {
    /// A parser at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is wrong with these bytes, which follow a whole answer to the last request; `None` where there was no answer.
    #[cold]
    pub fn excess(&self, bytes: &[u8]) -> Option<Ending> {
        self.ending.map(|ending| if start::is_answer(bytes) { Ending::Answer } else { ending })
    }

    /// Whether these bytes, which come while no request is in flight, are a 408, with which a server may say that it closes an idle
    /// connection (RFC 9110 section 15.5.9): it answers nothing. Servers send it in one piece; cut within its first twelve bytes it is
    /// not known.
    pub fn ends_idle(bytes: &[u8]) -> bool {
        start::is_answer(bytes) && bytes.get(8..12) == Some(b" 408")
    }

    /// The part that is missing of the answer that is being read.
    pub fn missing(&self) -> Missing {
        match (self.state, self.ending) {
            (State::Head, _) if self.held.is_partial() => Missing::Head,
            (State::Body(Body::Sized(_)), Some(Ending::Length(announced))) => Missing::Length { announced },
            (State::Head | State::Body(Body::Sized(_)), _) => Missing::All,
            (State::Body(Body::Chunked(_)), _) => Missing::LastChunk,
            (State::Body(Body::UntilClose), _) => Missing::Close,
        }
    }

    /// Skips empty lines, if it is between two answers: they belong to neither.
    #[inline]
    pub fn skip_empty_lines(&self, input: &mut &[u8]) {
        if self.is_idle() {
            start::skip_empty_lines(input);
        }
    }

    /// Whether it is between two answers: no byte of the next has been read.
    pub fn is_idle(&self) -> bool {
        self.state == State::Head && !self.held.is_partial()
    }

    /// Whether the head of the next answer is not whole.
    #[inline]
    pub fn awaits_head(&self) -> bool {
        self.state == State::Head
    }

    /// The number of bytes of a body of known length that are still to come; `None` outside of such a body.
    pub fn body_left(&self) -> Option<u64> {
        match self.state {
            State::Body(Body::Sized(left)) => Some(left),
            _ => None,
        }
    }

    /// Counts bytes of the body that passed unread; no more than [`Self::body_left`] count.
    pub fn skip(&mut self, bytes: u64) {
        if let State::Body(Body::Sized(left)) = &mut self.state {
            *left = left.saturating_sub(bytes);
        }
    }

    /// Returns the next part; takes its bytes off `input`. `None` when all of `input` is used up.
    /// `head_only`: the request was a HEAD, so its answer has no body. Errors: the bytes are not HTTP/1, or exceed a bound; where the next
    /// answer begins is then unknown.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8], head_only: bool) -> Result<Option<Part<'a>>, WireError> {
        self.next_with(input, head_only, |_, _| {})
    }

    /// As `next`; calls `field` for each field of the head: its name as written, its value without the white space around it.
    pub fn next_with<'a>(
        &mut self,
        input: &mut &'a [u8],
        head_only: bool,
        mut field: impl FnMut(&str, &[u8]),
    ) -> Result<Option<Part<'a>>, WireError> {
        self.advance(input, head_only, |bytes| parse(bytes, &mut field))
    }

    /// As `next`, with the head that was read last on this connection or another one like it.
    #[inline]
    pub fn next_after<'a>(
        &mut self,
        input: &mut &'a [u8],
        head_only: bool,
        last: &mut LastHead,
    ) -> Result<Option<Part<'a>>, WireError> {
        self.advance(input, head_only, |bytes| last.parse(bytes))
    }

    #[inline]
    fn advance<'a>(
        &mut self,
        input: &mut &'a [u8],
        head_only: bool,
        parse: impl FnMut(&[u8]) -> Result<Option<(usize, Parsed)>, WireError>,
    ) -> Result<Option<Part<'a>>, WireError> {
        let State::Body(body) = &mut self.state else { return self.head(input, head_only, parse) };
        Ok(match body.next(input)? {
            Some(Piece::Data(data)) => Some(Part::Body(data)),
            Some(Piece::End) => Some(self.end()),
            None => None,
        })
    }

    /// Handles the close by the peer, which ends an answer that lasts until then. `None`: it closed between two answers.
    pub fn closed(&mut self) -> Result<Option<Part<'static>>, WireError> {
        match self.state {
            State::Body(Body::UntilClose) => Ok(Some(self.end())),
            State::Head if !self.held.is_partial() => Ok(None),
            _ => Err(WireError::Truncated),
        }
    }

    fn end(&mut self) -> Part<'static> {
        self.state = State::Head;
        Part::End { keep_alive: self.keep_alive }
    }

    fn head<'a>(
        &mut self,
        input: &mut &'a [u8],
        head_only: bool,
        mut parse: impl FnMut(&[u8]) -> Result<Option<(usize, Parsed)>, WireError>,
    ) -> Result<Option<Part<'a>>, WireError> {
        loop {
            self.skip_empty_lines(input);
            if input.is_empty() {
                return Ok(None);
            }
            let check = |bytes: &[u8]| self::parse(bytes, &mut |_, _| {}).map(drop);
            let (status, framing) = match self.held.take(input, &mut parse, check) {
                Ok(Some(parsed)) => parsed,
                Ok(None) => return self.check_start(self.held.bytes()).map(|()| None),
                Err(error) => {
                    let bytes = if self.held.is_partial() { self.held.bytes() } else { *input };
                    return Err(self.check_line(bytes).err().unwrap_or(error));
                }
            };
            match status {
                101 => return Err(WireError::Upgrade),
                100..200 => {
                    // What follows belongs to the answer that it announces.
                    self.ending = None;
                    continue;
                }
                _ => {}
            }
            // RFC 9112 section 6.3, in its order.
            let ending = match framing {
                _ if head_only => Ending::Head,
                _ if status == 204 || status == 304 => Ending::Status(status),
                Framing { chunked: true, .. } => Ending::Chunked,
                Framing { encoded: false, length: Some(n), .. } => Ending::Length(n),
                _ => Ending::Close,
            };
            self.ending = Some(ending);
            self.keep_alive = framing.keep_alive && ending != Ending::Close;
            self.state = State::Body(match ending {
                Ending::Head | Ending::Status(_) => Body::Sized(0),
                Ending::Length(n) => Body::Sized(n),
                Ending::Chunked => Body::Chunked(Chunked::new()),
                Ending::Close | Ending::Answer => Body::UntilClose,
            });
            return Ok(Some(Part::Head(Head { status, length: self.body_left() })));
        }
    }

    /// Checks the first line of a wrong head. Once it has ended, it can begin nothing else, whatever follows it.
    #[cold]
    fn check_line(&self, bytes: &[u8]) -> Result<(), WireError> {
        let Some(end) = memchr::memchr(b'\n', bytes) else { return self.check_start(bytes) };
        self.check_start(&bytes[..=end])?;
        let other = self.ending.map_or(WireError::NotHttp, WireError::Excess);
        if start::is_answer(bytes) { Ok(()) } else { Err(other) }
    }

    /// Checks the first bytes of a head that is not whole.
    #[cold]
    fn check_start(&self, bytes: &[u8]) -> Result<(), WireError> {
        start::check(bytes).map_err(|error| self.ending.map_or(error, WireError::Excess))
    }
}

type Parsed = (u16, Framing);

/// Parses a head, and calls `field` for each field unless the answer is an interim one. A switch of protocols is none: no other answer
/// follows it.
fn parse(bytes: &[u8], field: &mut impl FnMut(&str, &[u8])) -> Result<Option<(usize, Parsed)>, WireError> {
    let mut fields: Fields<'_> = [const { MaybeUninit::uninit() }; _];
    let mut head = Response::new(&mut []);
    let mut config = ParserConfig::default();
    // A folded line stands for spaces (RFC 9112 section 5.2); a value is split at white space of any kind.
    config.allow_obsolete_multiline_headers_in_responses(true);
    let parsed = config.parse_response_with_uninit_headers(&mut head, bytes, &mut fields);
    let Some(length) = whole(parsed)? else {
        return Ok(None);
    };
    let (framing, status) = (Framing::of(head.headers, head.version.unwrap_or(0))?, head.code.unwrap_or(0));
    if !(100..200).contains(&status) || status == 101 {
        head.headers.iter().for_each(|header| field(header.name, header.value));
    }
    Ok(Some((length, (status, framing))))
}
