//! Requests, as the reference server reads them. Bodies are passed over.

use crate::WireError;
use crate::chunked::{Chunked, Piece};
use crate::head::{Fields, Framing, Held, whole};
use httparse::ParserConfig;
use std::mem::MaybeUninit;

/// Reads the requests of one connection, one after the other.
#[derive(Debug, Default)]
pub struct RequestParser {
    held: Held,
    body: Body,
}

/// What a request's head says; `route` is what the caller made of method and target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request<R> {
    /// The caller's.
    pub route: R,
    /// The connection can be used for another request.
    pub keep_alive: bool,
    /// The request was HTTP/1.0: a connection that stays open must be announced.
    pub http10: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Body {
    #[default]
    None,
    Sized(u64),
    Chunked(Chunked),
}

impl RequestParser {
    /// A parser at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next request, once its head is whole; takes its bytes off `input`. `None` when all of `input`
    /// is used up. `route` is given the method and the target.
    pub fn next<R>(
        &mut self,
        input: &mut &[u8],
        route: impl FnOnce(&str, &str) -> R,
    ) -> Result<Option<Request<R>>, WireError> {
        if !self.pass_over_body(input)? || input.is_empty() {
            return Ok(None);
        }
        let Some((request, framing)) = self.held.take(input, |bytes| parse(bytes, route))? else {
            return Ok(None);
        };
        self.body = match framing {
            Framing { chunked: true, .. } => Body::Chunked(Chunked::new()),
            // A body in a coding that is not known has no known end (RFC 9112 section 6.3).
            Framing { encoded: true, .. } => return Err(WireError::ContentLength),
            Framing { length, .. } => Body::Sized(length.unwrap_or(0)),
        };
        Ok(Some(request))
    }

    /// False: the rest of the body has not arrived yet.
    fn pass_over_body(&mut self, input: &mut &[u8]) -> Result<bool, WireError> {
        match &mut self.body {
            Body::None => {}
            Body::Sized(left) => {
                let n = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                *input = &input[n..];
                *left -= n as u64;
                if *left > 0 {
                    return Ok(false);
                }
            }
            Body::Chunked(chunked) => loop {
                match chunked.next(input)? {
                    Some(Piece::Data(_)) => {}
                    Some(Piece::End) => break,
                    None => return Ok(false),
                }
            },
        }
        self.body = Body::None;
        Ok(true)
    }
}

type Parsed<R> = (usize, (Request<R>, Framing));

fn parse<R>(bytes: &[u8], route: impl FnOnce(&str, &str) -> R) -> Result<Option<Parsed<R>>, WireError> {
    let mut fields: Fields<'_> = [const { MaybeUninit::uninit() }; _];
    let mut head = httparse::Request::new(&mut []);
    let parsed = ParserConfig::default().parse_request_with_uninit_headers(&mut head, bytes, &mut fields);
    let Some(length) = whole(parsed)? else {
        return Ok(None);
    };
    let minor = head.version.unwrap_or(0);
    let framing = Framing::of(head.headers, minor)?;
    let route = route(head.method.unwrap_or(""), head.path.unwrap_or(""));
    let request = Request { route, keep_alive: framing.keep_alive, http10: minor == 0 };
    Ok(Some((length, (request, framing))))
}
