//! A client's WebSocket: each request is a message, and its answer is the next message of the server.

use super::frame::{Opcode, append_frame};
use super::handshake::{UpgradeFields, UpgradeRequest};
use super::reader::{CLIENT_MASK, MessagePart, MessageReader};
use super::{WebSocketError, close_code};
use crate::client_session::{ClientSession, Event, Hearer, RequestBytes};
use crate::{Head, Missing, Part, RequestParser, ResponseParser, WireError};

/// A connection that speaks WebSocket. Its messages are as good as answers of HTTP: `Head` is the start of a message, with its length if it
/// is not fragmented, `Body` its payload, `End` its end. If text is not UTF-8, how much of it came before the error depends on the cuts.
#[derive(Debug, Default)]
pub struct WebSocket {
    phase: Phase,
    handshake: ResponseParser,
    reader: MessageReader,
    /// The number of messages sent that have not come back.
    open: usize,
    /// Whether the last message has been sent.
    is_last: bool,
    /// The message that is being read.
    message: Option<Head>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    /// The connection has not been opened.
    #[default]
    Before,
    /// The handshake has not been answered.
    Opening,
    /// Messages are sent.
    Open,
}

/// What all connections of a thread share.
#[derive(Debug)]
pub struct WebSocketShared {
    /// `None`: there is no request.
    handshake: Option<UpgradeRequest>,
    /// The messages, as frames with their mask.
    frames: Vec<Vec<u8>>,
}

impl WebSocketShared {
    /// Adds the message that is the body of this request, which must open the same WebSocket as the others.
    fn add(&mut self, request: &[u8]) -> Result<(), WireError> {
        let (mut parser, mut input, mut message) = (RequestParser::new(), request, Vec::new());
        let parsed = parser.next(&mut input, |head| {
            // The last one counts: it can be added to fields of a user's choice.
            let types = head.fields().filter(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            let is_text = types.last().is_some_and(|(_, value)| has_prefix(value, b"text/"));
            (UpgradeRequest::new(head), if is_text { Opcode::Text } else { Opcode::Binary })
        })?;
        let is_whole = parser.body(&mut input, |bytes| message.extend_from_slice(bytes))?;
        let Some(parsed) = parsed.filter(|_| is_whole) else { return Err(WireError::Truncated) };
        let (handshake, opcode) = parsed.route;
        let handshake = handshake.map_err(WireError::WebSocket)?;
        if opcode == Opcode::Text && std::str::from_utf8(&message).is_err() {
            return Err(WireError::WebSocket(WebSocketError::Text));
        }
        if *self.handshake.get_or_insert_with(|| handshake.clone()) != handshake {
            return Err(WireError::WebSocket(WebSocketError::Requests));
        }
        let mut frame = Vec::new();
        append_frame(&mut frame, opcode, &message, Some(CLIENT_MASK));
        self.frames.push(frame);
        Ok(())
    }
}

fn has_prefix(value: &[u8], prefix: &[u8]) -> bool {
    value.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

impl WebSocket {
    /// Reads the answer to the handshake. False: it is not whole.
    #[cold]
    fn is_opened(&mut self, shared: &WebSocketShared, input: &mut &[u8]) -> Result<bool, WireError> {
        let mut fields = UpgradeFields::default();
        let part = self.handshake.next_with(input, false, |name, value| {
            if let Some(request) = &shared.handshake {
                fields.take(request, name, value);
            }
        });
        match part {
            // What is an error in HTTP is what was asked for here: the switch of protocols, whose head has been read.
            Err(WireError::Upgrade) => fields.check().map_err(WireError::WebSocket)?,
            Ok(Some(Part::Head(head))) => {
                return Err(WireError::WebSocket(WebSocketError::Status(head.status)));
            }
            Ok(_) => return Ok(false),
            Err(error) => return Err(error),
        }
        self.phase = Phase::Open;
        Ok(true)
    }

    /// Ends a message. After the last one it closes, as the server can't know that it was.
    #[inline]
    fn end(&mut self, out: &mut Vec<u8>) -> Event<'static> {
        self.open -= 1;
        self.message = None;
        let keep_alive = self.open > 0 || !self.is_last;
        if !keep_alive {
            self.reader.close(Some(close_code::NORMAL), out);
        }
        Event::End { place: 0, keep_alive, is_early: false, failure: None }
    }
}

impl<'p> ClientSession<'p> for WebSocket {
    type Shared = WebSocketShared;

    const IN_ORDER: bool = true;
    const IS_AGREED_ON: bool = false;

    /// Each request is one of HTTP/1 whose body is the message. It is text if the request's last `Content-Type` begins with `text/`, else
    /// binary. Target and fields, but for those of the body, are those of the handshake, and must be the same in all requests; method and
    /// `last` do not matter.
    fn shared(requests: Vec<RequestBytes<'p>>) -> Result<Self::Shared, WireError> {
        let mut shared = WebSocketShared { handshake: None, frames: Vec::with_capacity(requests.len()) };
        requests.iter().try_for_each(|request| shared.add(request.request))?;
        Ok(shared)
    }

    fn open(&mut self, shared: &mut Self::Shared, out: &mut Vec<u8>) {
        self.phase = Phase::Opening;
        out.extend_from_slice(shared.handshake.as_ref().map_or(&[], |request| &request.bytes));
    }

    /// Any number, but none while the handshake is not answered.
    #[inline]
    fn room(&self) -> usize {
        if self.phase == Phase::Opening || self.reader.is_closed() { 0 } else { usize::MAX }
    }

    #[inline]
    fn begin(&mut self, shared: &mut Self::Shared, ask: usize, is_last: bool, out: &mut Vec<u8>) {
        self.open += 1;
        self.is_last = is_last;
        out.extend_from_slice(&shared.frames[ask]);
    }

    #[inline]
    fn next<'a, H: Hearer>(
        &mut self,
        shared: &mut Self::Shared,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        _: &mut H,
    ) -> Result<Option<Event<'a>>, WireError> {
        if self.phase != Phase::Open && !self.is_opened(shared, input)? {
            return Ok(None);
        }
        loop {
            let Some(part) = self.reader.next(input, out)? else { return Ok(None) };
            match part {
                MessagePart::Start(start) if start.opcode == Opcode::Continuation => {}
                MessagePart::Start(_) if self.open == 0 => {
                    self.reader.close(Some(close_code::NORMAL), out);
                    return Err(WireError::Unasked);
                }
                MessagePart::Start(start) => {
                    let length = start.is_final.then_some(start.length);
                    let head = Head { status: 0, length };
                    self.message = Some(head);
                    return Ok(Some(Event::Head(0, head)));
                }
                MessagePart::Payload(bytes, _) => {
                    return match self.reader.check(bytes) {
                        Ok(()) => Ok(Some(Event::Body(0, bytes))),
                        Err(error) => Err(self.reader.fail(error, out)),
                    };
                }
                MessagePart::End => return Ok(Some(self.end(out))),
                MessagePart::Close(_) if self.open == 0 => {}
                MessagePart::Close(code) => {
                    let code = code.unwrap_or(close_code::NONE);
                    return Err(WireError::WebSocket(WebSocketError::Closed(code)));
                }
            }
        }
    }

    fn cancel(&mut self, _: usize, _: &mut Vec<u8>) -> bool {
        false
    }

    #[inline]
    fn is_closing(&self) -> bool {
        self.reader.is_closed()
    }

    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError> {
        let is_partial = !self.handshake.is_idle() || self.reader.is_partial();
        if is_partial { Err(WireError::Truncated) } else { Ok(None) }
    }

    fn missing(&self) -> Missing {
        match self.message {
            Some(Head { length: Some(announced), .. }) => Missing::Length { announced },
            Some(_) => Missing::LastChunk,
            None if self.reader.is_partial() => Missing::Head,
            None => self.handshake.missing(),
        }
    }

    #[inline]
    fn skippable(&self) -> Option<u64> {
        self.reader.skippable()
    }

    fn skip(&mut self, bytes: u64) {
        self.reader.skip(bytes);
    }
}
