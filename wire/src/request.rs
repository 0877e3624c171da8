//! Parses requests, for the reference server. Bodies are passed over unless they are asked for.

use crate::body::Body;
use crate::chunked::{Chunked, Piece};
use crate::head::{Fields, Framing, Held, whole};
use crate::{MAX_TARGET_BYTES, WireError};
use httparse::{Header, ParserConfig};
use std::mem::MaybeUninit;

/// Reads the requests of one connection, one after the other.
#[derive(Debug, Default)]
pub struct RequestParser {
    held: Held,
    /// The rest of the last request's body, which is read before the next head.
    body: Option<Body>,
}

/// A request's head, borrowed from the input: as it came, nothing copied.
#[derive(Clone, Copy, Debug)]
pub struct RequestHead<'a> {
    /// The method, as written.
    pub method: &'a str,
    /// The target, as written: nothing is decoded.
    pub target: &'a str,
    /// The first digit of the version: 1 or 2.
    pub major: u8,
    /// The second digit of the version: 0 or 1.
    pub minor: u8,
    pub(crate) fields: &'a [Header<'a>],
}

impl<'a> RequestHead<'a> {
    /// The fields in their order: names as written, values without the white space around them.
    pub fn fields(&self) -> impl Iterator<Item = (&'a str, &'a [u8])> + use<'a> {
        self.fields.iter().map(|field| (field.name, field.value))
    }
}

/// A request whose head is complete; `route` is what the caller made of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<R> {
    /// The caller's value.
    pub route: R,
    /// Whether the connection can be used for another request.
    pub keep_alive: bool,
    /// Whether the request was HTTP/1.0: a connection that stays open must then be announced.
    pub http10: bool,
    /// Whether the client waits for `100 Continue`, or for the answer, before it sends the body.
    pub expects_continue: bool,
}

impl RequestParser {
    /// A parser at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether it is between two requests: no byte of the next has been read, and none of the last one's body is missing.
    pub fn is_idle(&self) -> bool {
        !self.held.is_partial() && matches!(self.body, None | Some(Body::Sized(0)))
    }

    /// Returns the next request, once its head is complete; takes its bytes off `input`. `None` when all of `input`
    /// is used up. `route` is called with the head, and its result becomes [`Request::route`]. Errors: the bytes are not HTTP/1, or exceed
    /// a bound; where the next request begins is then unknown.
    pub fn next<R>(
        &mut self,
        input: &mut &[u8],
        route: impl FnOnce(&RequestHead<'_>) -> R,
    ) -> Result<Option<Request<R>>, WireError> {
        if !self.body(input, |_| {})? || input.is_empty() {
            return Ok(None);
        }
        // No line end may follow what begins like this: a TLS handshake, for example.
        if !self.held.is_partial() && input[0].is_ascii_control() && !matches!(input[0], b'\r' | b'\n') {
            return Err(WireError::Head(httparse::Error::Token));
        }
        let (request, framing) = match self.held.take(
            input,
            |bytes| parse(bytes, route),
            |bytes| parse(bytes, |_| ()).map(drop),
        ) {
            Ok(Some(parsed)) => parsed,
            Ok(None) => return Ok(None),
            Err(WireError::HeadTooLong) if self.held.is_in_first_line() => {
                return Err(WireError::TargetTooLong);
            }
            Err(error) => return Err(error),
        };
        self.body = Some(match framing {
            Framing { chunked: true, .. } => Body::Chunked(Chunked::new()),
            // A body in a coding that is not known has no known end (RFC 9112 section 6.3).
            Framing { encoded: true, .. } => return Err(WireError::ContentLength),
            Framing { length, .. } => Body::Sized(length.unwrap_or(0)),
        });
        Ok(Some(request))
    }

    /// Whether the head that was refused is the first line of HTTP/2's preface (RFC 9113 section 3.4): the number of its bytes that came
    /// before `input`, of which nothing has been taken.
    pub fn http2_preface(&self, input: &[u8]) -> Option<u8> {
        const FIRST_LINE: &[u8] = b"PRI * HTTP/2.0\r\n";
        let held = self.held.bytes();
        if held.is_empty() {
            return input.starts_with(FIRST_LINE).then_some(0);
        }
        // What is held ends with the beginning of `input`.
        let is_rest =
            |before: &u8| held.get(usize::from(*before)..).is_some_and(|rest| input.starts_with(rest));
        (0..FIRST_LINE.len() as u8).find(is_rest).filter(|_| held.starts_with(FIRST_LINE))
    }

    /// Takes what has arrived of the last request's body off `input`, and passes it to `take`. False: the rest has not arrived yet.
    pub fn body(&mut self, input: &mut &[u8], mut take: impl FnMut(&[u8])) -> Result<bool, WireError> {
        while let Some(body) = &mut self.body {
            match body.next(input)? {
                Some(Piece::Data(piece)) => take(piece),
                Some(Piece::End) => self.body = None,
                None => return Ok(false),
            }
        }
        Ok(true)
    }
}

type Parsed<R> = (usize, (Request<R>, Framing));

fn parse<R>(bytes: &[u8], route: impl FnOnce(&RequestHead<'_>) -> R) -> Result<Option<Parsed<R>>, WireError> {
    let mut fields: Fields<'_> = [const { MaybeUninit::uninit() }; _];
    let mut head = httparse::Request::new(&mut []);
    let parsed = ParserConfig::default().parse_request_with_uninit_headers(&mut head, bytes, &mut fields);
    if parsed == Err(httparse::Error::Version) && names_other_version(bytes) {
        return Err(WireError::Version);
    }
    let Some(length) = whole(parsed)? else {
        return Ok(None);
    };
    let minor = head.version.unwrap_or(0);
    let framing = Framing::of(head.headers, minor)?;
    let (method, target) = (head.method.unwrap_or(""), head.path.unwrap_or(""));
    if target.len() > MAX_TARGET_BYTES {
        return Err(WireError::TargetTooLong);
    }
    let route = route(&RequestHead { method, target, major: 1, minor, fields: head.headers });
    let has_body = framing.encoded || framing.length.is_some_and(|length| length > 0);
    let request = Request {
        route,
        keep_alive: framing.keep_alive,
        http10: minor == 0,
        expects_continue: framing.expects_continue && has_body,
    };
    Ok(Some((length, (request, framing))))
}

/// Whether the first line is that of a request of an unknown version. What follows the version does not matter, because it may
/// not have arrived yet.
fn names_other_version(bytes: &[u8]) -> bool {
    let line = bytes.trim_ascii_start().split(|byte| *byte == b'\n').next().unwrap_or_default();
    let version = line.split(|byte| *byte == b' ').nth(2);
    version.is_some_and(|version| version.starts_with(b"HTTP/"))
}
