//! A client's connection: each request is a message, and its answer is one message and the status behind it. All the rest is HTTP/2.

use super::message::{GrpcError, PREFIX_BYTES};
use super::status::GrpcStatus;
use crate::client_session::{ClientSession, Event, Hearer, RequestBytes};
use crate::http2::{EncodedRequest, Http2, Http2Shared};
use crate::{Head, Missing, WireError};
use std::collections::VecDeque;

/// A connection that speaks gRPC. The bodies of its events are messages without their prefixes; of an answer with another HTTP status than
/// 200, they are its body as it came. An answer that is not exactly one message, or does not say how the call went, is malformed.
#[derive(Debug, Default)]
pub struct Grpc {
    http2: Http2,
    /// What came for each request, by their places.
    answers: VecDeque<Answer>,
}

/// What has come for a request.
#[derive(Clone, Copy, Debug, Default)]
struct Answer {
    /// The status of HTTP.
    status: u16,
    prefix: [u8; PREFIX_BYTES],
    /// The number of bytes, the prefix among them.
    bytes: u64,
}

impl Answer {
    /// Takes in bytes of the body. Returns those of the message among them.
    #[inline]
    fn take<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        if self.status != 200 {
            return bytes;
        }
        let before = self.bytes;
        self.bytes += bytes.len() as u64;
        let mut message = bytes;
        if before < PREFIX_BYTES as u64 {
            let missing = &mut self.prefix[before as usize..];
            let (prefix, rest) = bytes.split_at(missing.len().min(bytes.len()));
            missing[..prefix.len()].copy_from_slice(prefix);
            message = rest;
        }
        let left = self.whole_bytes().saturating_sub(before.max(PREFIX_BYTES as u64));
        &message[..left.min(message.len() as u64) as usize]
    }

    /// The number of bytes of one message with its prefix, if that has come.
    #[inline]
    fn whole_bytes(&self) -> u64 {
        let [_, a, b, c, d] = self.prefix;
        PREFIX_BYTES as u64 + u64::from(u32::from_be_bytes([a, b, c, d]))
    }

    /// What is wrong with a whole answer, if the call did not fail.
    #[inline]
    fn check(&self) -> Result<(), GrpcError> {
        let whole = self.whole_bytes();
        match self.prefix[0] {
            _ if self.bytes == 0 => Err(GrpcError::NoMessage),
            _ if self.bytes < whole => Err(GrpcError::Short),
            1 => Err(GrpcError::Compressed),
            2.. => Err(GrpcError::Flag),
            0 if self.bytes > whole => Err(GrpcError::Excess),
            0 => Ok(()),
        }
    }

    /// The end of the answer that was at this place, with what it says of the call.
    #[inline]
    fn end(&self, end: Event<'static>, place: usize, status: Option<GrpcStatus>) -> Event<'static> {
        let malformed = |error| Event::Malformed(place, WireError::Grpc(error));
        match (status, end) {
            (Some(GrpcStatus::OK), _) if self.status == 200 => self.check().err().map_or(end, malformed),
            (Some(GrpcStatus::OK) | None, _) if self.status != 200 => end,
            (Some(_), Event::End { place, keep_alive, is_early, .. }) => {
                Event::End { place, keep_alive, is_early, failure: status }
            }
            _ => malformed(GrpcError::NoStatus),
        }
    }
}

impl<'p> ClientSession<'p> for Grpc {
    type Shared = Http2Shared;

    const IN_ORDER: bool = false;
    const IS_AGREED_ON: bool = true;

    fn shared(requests: Vec<RequestBytes<'p>>) -> Result<Http2Shared, WireError> {
        Http2Shared::of(&requests, EncodedRequest::grpc)
    }

    fn reason(number: u32) -> &'static str {
        Http2::reason(number)
    }

    fn open(&mut self, shared: &mut Http2Shared, out: &mut Vec<u8>) {
        self.http2.open(shared, out);
    }

    fn room(&self) -> usize {
        self.http2.room()
    }

    fn max_open(&self) -> Option<usize> {
        self.http2.max_open()
    }

    fn take_held_back(shared: &mut Http2Shared) -> u64 {
        Http2::take_held_back(shared)
    }

    #[inline]
    fn begin(&mut self, shared: &mut Http2Shared, ask: usize, is_last: bool, out: &mut Vec<u8>) {
        self.http2.begin(shared, ask, is_last, out);
        self.answers.push_back(Answer::default());
    }

    #[inline]
    fn next<'a, H: Hearer>(
        &mut self,
        shared: &mut Http2Shared,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        hearer: &mut H,
    ) -> Result<Option<Event<'a>>, WireError> {
        while let Some(event) = self.http2.next(shared, input, out, hearer)? {
            match event {
                Event::Head(place, Head { status, .. }) => {
                    if let Some(answer) = self.answers.get_mut(place) {
                        answer.status = status;
                    }
                    return Ok(Some(Event::Head(place, Head { status, length: None })));
                }
                Event::Body(place, bytes) => {
                    let message = self.answers.get_mut(place).map_or(bytes, |answer| answer.take(bytes));
                    if !message.is_empty() {
                        return Ok(Some(Event::Body(place, message)));
                    }
                }
                Event::End { place, keep_alive, is_early, .. } => {
                    let end = Event::End { place, keep_alive, is_early, failure: None };
                    let answer = self.answers.remove(place).unwrap_or_default();
                    return Ok(Some(answer.end(end, place, self.http2.grpc_status())));
                }
                Event::Refused(place) | Event::Reset(place, _) | Event::Malformed(place, _) => {
                    self.answers.remove(place);
                    return Ok(Some(event));
                }
            }
        }
        Ok(None)
    }

    fn cancel(&mut self, place: usize, out: &mut Vec<u8>) -> bool {
        self.answers.remove(place);
        self.http2.cancel(place, out)
    }

    fn is_closing(&self) -> bool {
        ClientSession::is_closing(&self.http2)
    }

    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError> {
        self.http2.closed()
    }

    fn missing(&self) -> Missing {
        self.http2.missing()
    }
}
