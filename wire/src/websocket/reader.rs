//! Frames in; the parts of messages out, and answers to control frames. The same for both sides.

use super::WebSocketError;
use super::frame::{FrameStart, LONGEST_START_BYTES, Mask, Opcode, append_frame, apply_mask};
use super::utf8::Utf8Check;
use crate::WireError;

/// The mask of every frame that a client sends. RFC 6455 section 5.3 wants a new one for each frame that nobody can foresee, so that a
/// script in a browser can't choose which bytes pass through proxies. Here nobody is kept from choosing them, and a server has the same
/// work with any mask that is not zero.
pub const CLIENT_MASK: Mask = [0xd7, 0x5b, 0x2e, 0x91];

/// Reads the frames of one WebSocket.
#[derive(Debug, Default)]
pub struct MessageReader {
    /// Whether it is the server that reads.
    is_server: bool,
    state: State,
    /// The frame that is being read, or was last.
    is_final: bool,
    mask: Mask,
    /// The message that is being read, or was last.
    is_text: bool,
    /// Whether further fragments must follow.
    is_fragmented: bool,
    utf8: Utf8Check,
    /// The start of a frame whose rest has not come.
    held: [u8; LONGEST_START_BYTES],
    held_bytes: usize,
    /// The payload of a control frame, as far as it has come.
    control: Vec<u8>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before a frame, or within its start.
    #[default]
    Start,
    /// In the payload of a frame of a message, of which this many bytes are still to come.
    Payload(u64),
    /// The same of a control frame.
    Control(Opcode, usize),
    /// Nothing is read any more.
    Closed,
}

/// What was read.
#[derive(Debug)]
pub enum MessagePart<'a> {
    /// A frame of a message begins.
    Start(FrameStart),
    /// Bytes of the payload, as they came; never empty. The mask begins at the first one.
    Payload(&'a [u8], Mask),
    /// The message is whole.
    End,
    /// The peer has closed, with this code; it has been answered.
    Close(Option<u16>),
}

impl MessageReader {
    /// A reader of what a client says.
    pub fn of_server() -> Self {
        Self { is_server: true, ..Self::default() }
    }

    /// Whether nothing more is said.
    #[inline]
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// Whether it is within a message, or a frame.
    pub fn is_partial(&self) -> bool {
        self.is_fragmented || self.held_bytes > 0 || !matches!(self.state, State::Start | State::Closed)
    }

    /// Whether it is within a frame of a message.
    pub fn is_in_message_frame(&self) -> bool {
        matches!(self.state, State::Payload(left) if left > 0)
    }

    /// The bytes to come of a payload that need not be looked at.
    #[inline]
    pub fn skippable(&self) -> Option<u64> {
        match self.state {
            State::Payload(left) if !self.is_text && !self.is_server => Some(left),
            _ => None,
        }
    }

    /// Counts bytes of that payload that passed unread.
    pub fn skip(&mut self, bytes: u64) {
        if let State::Payload(left) = &mut self.state {
            *left = left.saturating_sub(bytes);
        }
    }

    /// Returns the next part; takes its bytes off `input`. `None`: all of `input` is used up. Answers to control frames are
    /// appended to `out`; so is a close frame before an error, after which nothing more is read.
    #[inline]
    pub fn next<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MessagePart<'a>>, WireError> {
        self.advance(input, out).map_err(|error| self.fail(error, out))
    }

    #[inline]
    fn advance<'a>(
        &mut self,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
    ) -> Result<Option<MessagePart<'a>>, WebSocketError> {
        loop {
            match self.state {
                State::Start => {
                    let Some(start) = self.start(input)? else { return Ok(None) };
                    self.mask = start.mask.unwrap_or_default();
                    if start.opcode.is_control() {
                        self.state = State::Control(start.opcode, start.length as usize);
                        continue;
                    }
                    self.begin(start)?;
                    return Ok(Some(MessagePart::Start(start)));
                }
                State::Payload(0) => {
                    self.state = State::Start;
                    if self.is_final {
                        return Ok(Some(MessagePart::End));
                    }
                }
                State::Payload(_) if input.is_empty() => return Ok(None),
                State::Payload(left) => {
                    let bytes = take(input, usize::try_from(left).unwrap_or(usize::MAX));
                    self.state = State::Payload(left - bytes.len() as u64);
                    let mask = self.mask;
                    if (bytes.len() as u64) < left {
                        self.mask.rotate_left(bytes.len() % mask.len());
                    }
                    return Ok(Some(MessagePart::Payload(bytes, mask)));
                }
                State::Control(opcode, left) => {
                    let bytes = take(input, left);
                    self.control.extend_from_slice(bytes);
                    self.state = State::Control(opcode, left - bytes.len());
                    if bytes.len() < left {
                        return Ok(None);
                    }
                    self.state = State::Start;
                    let code = self.answer(opcode, out)?;
                    self.control.clear();
                    if self.is_closed() {
                        return Ok(Some(MessagePart::Close(code)));
                    }
                }
                State::Closed => {
                    *input = &[];
                    return Ok(None);
                }
            }
        }
    }

    /// Takes the start of a frame off `input`. `None`: it is not whole, and what there is of it is held.
    #[inline]
    fn start(&mut self, input: &mut &[u8]) -> Result<Option<FrameStart>, WebSocketError> {
        if self.held_bytes == 0
            && let Some((length, start)) = FrameStart::parse(input, self.is_server)?
        {
            *input = &input[length..];
            return Ok(Some(start));
        }
        while let [byte, rest @ ..] = *input {
            self.held[self.held_bytes] = *byte;
            self.held_bytes += 1;
            *input = rest;
            if let Some((_, start)) = FrameStart::parse(&self.held[..self.held_bytes], self.is_server)? {
                self.held_bytes = 0;
                return Ok(Some(start));
            }
        }
        Ok(None)
    }

    /// Begins a frame of a message.
    #[inline]
    fn begin(&mut self, start: FrameStart) -> Result<(), WebSocketError> {
        let is_continuation = start.opcode == Opcode::Continuation;
        if is_continuation != self.is_fragmented {
            let is_new = !is_continuation;
            return Err(if is_new {
                WebSocketError::UnfinishedMessage
            } else {
                WebSocketError::NothingToContinue
            });
        }
        if !is_continuation {
            self.is_text = start.opcode == Opcode::Text;
            self.utf8 = Utf8Check::default();
        }
        self.is_final = start.is_final;
        self.is_fragmented = !start.is_final;
        self.state = State::Payload(start.length);
        if start.length == 0 { self.check(&[]) } else { Ok(()) }
    }

    /// Checks the payload of the part that was returned last, without its mask: whether it goes on as text does, if it must be text.
    #[inline]
    pub fn check(&mut self, payload: &[u8]) -> Result<(), WebSocketError> {
        if !self.is_text {
            return Ok(());
        }
        let is_end = self.is_final && self.state == State::Payload(0);
        let is_text = self.utf8.take(payload) && (!is_end || self.utf8.is_whole());
        if is_text { Ok(()) } else { Err(WebSocketError::Text) }
    }

    /// Answers a control frame. Returns the code of a close frame.
    #[cold]
    fn answer(&mut self, opcode: Opcode, out: &mut Vec<u8>) -> Result<Option<u16>, WebSocketError> {
        apply_mask(&mut self.control, self.mask);
        match opcode {
            Opcode::Ping => append_frame(out, Opcode::Pong, &self.control, self.answer_mask()),
            Opcode::Close => {
                let code = close_code(&self.control)?;
                self.close(code, out);
                return Ok(code);
            }
            _ => {}
        }
        Ok(None)
    }

    /// Says that nothing more is said.
    #[cold]
    pub fn close(&mut self, code: Option<u16>, out: &mut Vec<u8>) {
        let payload = code.map(u16::to_be_bytes);
        append_frame(out, Opcode::Close, payload.as_ref().map_or(&[], |code| &code[..]), self.answer_mask());
        self.state = State::Closed;
    }

    /// Closes because of an error.
    #[cold]
    pub fn fail(&mut self, error: WebSocketError, out: &mut Vec<u8>) -> WireError {
        self.close(Some(error.close_code()), out);
        WireError::WebSocket(error)
    }

    /// Stops reading without a word.
    #[cold]
    pub fn abandon(&mut self) {
        self.state = State::Closed;
    }

    fn answer_mask(&self) -> Option<Mask> {
        (!self.is_server).then_some(CLIENT_MASK)
    }
}

/// Takes the first bytes off `input`: `most`, or all there are.
#[inline]
fn take<'a>(input: &mut &'a [u8], most: usize) -> &'a [u8] {
    let (bytes, rest) = input.split_at(most.min(input.len()));
    *input = rest;
    bytes
}

/// The code in the payload of a close frame, if it has one (RFC 6455 sections 5.5.1 and 7.4; 1012 to 1014 were registered later).
fn close_code(payload: &[u8]) -> Result<Option<u16>, WebSocketError> {
    let Some((code, reason)) = payload.split_first_chunk() else {
        return if payload.is_empty() { Ok(None) } else { Err(WebSocketError::CloseLength) };
    };
    let code = u16::from_be_bytes(*code);
    if !matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999) {
        return Err(WebSocketError::CloseCode(code));
    }
    if std::str::from_utf8(reason).is_err() {
        return Err(WebSocketError::CloseReason);
    }
    Ok(Some(code))
}
