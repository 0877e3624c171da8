//! Reads frames, however their bytes were cut. Payloads of DATA are passed in place, piece by piece; of any other frame the part that has
//! arrived is held, and so is a block of header fields until it is whole. Nothing is held, and no memory used, unless a frame was split.

use super::data::{Data, DataPart};
use super::error::{padding_error, size_error, wrong_length};
use super::{ErrorCode, FRAME_HEAD_BYTES, FrameError, FrameHead, MAX_CONTINUATIONS, MAX_FRAME_BYTES};
use super::{SettingsPayload, flag, kind};
use crate::http2::hpack::{HpackError, MAX_DECODED_BYTES};
use std::ops::Range;

/// The most memory that is kept for the next frame that is split.
const KEPT_BYTES: usize = 1024;

/// Reads the frames of one direction of one connection, of which the first must be SETTINGS.
#[derive(Debug, Default)]
pub struct FrameReader {
    /// The head of a frame that is not whole: its first bytes; all of them where the payload is awaited.
    head: [u8; FRAME_HEAD_BYTES],
    head_length: u8,
    has_begun: bool,
    /// What is held has been passed on and can go.
    is_used_up: bool,
    /// A block of header fields that awaits CONTINUATION, then what has arrived of the payload of the frame that is not whole.
    held: Vec<u8>,
    block: Option<Block>,
    data: Data,
}

/// A block of header fields that is not whole.
#[derive(Clone, Copy, Debug)]
struct Block {
    stream: u32,
    ends_stream: bool,
    continuations: u8,
    /// Its bytes so far.
    length: usize,
}

/// Where a payload is.
#[derive(Clone, Copy)]
enum Payload<'a> {
    InPlace(&'a [u8]),
    Held,
}

/// A frame; of DATA a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frame<'a, 'h> {
    /// Bytes of a body.
    Data(DataPart<'a>),
    /// A whole block of header fields, however many frames it took.
    Headers {
        /// The stream.
        stream: u32,
        /// The block.
        block: &'h [u8],
        /// Whether nothing follows on the stream.
        ends_stream: bool,
    },
    /// The end of a stream, for this reason.
    Reset(u32, ErrorCode),
    /// Parameters.
    Settings(SettingsPayload<'h>),
    /// The peer uses our parameters.
    SettingsAck,
    /// A PING, to be answered with the same.
    Ping([u8; 8]),
    /// The end of the connection: no stream above this one is looked at.
    GoAway(u32, ErrorCode),
    /// This number of further bytes, which may be 0, can be sent on this stream or on the connection.
    WindowUpdate(u32, u32),
    /// A frame that means nothing here: an answer to PING, PRIORITY, an unknown type.
    Ignored,
}

impl FrameReader {
    /// Whether no frame has been read yet.
    pub fn is_at_start(&self) -> bool {
        !self.has_begun
    }

    /// The bytes of a head that is not whole, then those of `input`, as far as they make a head; their number.
    pub fn peek_head(&self, input: &[u8]) -> ([u8; FRAME_HEAD_BYTES], usize) {
        let (mut head, before) = (self.head, usize::from(self.head_length));
        let free = head.get_mut(before..).unwrap_or_default();
        let count = free.len().min(input.len());
        free[..count].copy_from_slice(&input[..count]);
        (head, before + count)
    }

    /// Returns the next frame, or the next part of one; takes its bytes off `input`. `None`: all of `input` is used up.
    /// Errors: where the next frame begins does not matter any more.
    #[inline]
    pub fn next<'a: 'h, 'h>(&'h mut self, input: &mut &'a [u8]) -> Result<Option<Frame<'a, 'h>>, FrameError> {
        if self.is_used_up {
            self.release();
        }
        loop {
            if self.data.is_pending() {
                match self.data.next(input)? {
                    Some(part) => return Ok(Some(Frame::Data(part))),
                    None if input.is_empty() => return Ok(None),
                    None => {}
                }
            }
            let Some(head) = self.take_head(input)? else { return Ok(None) };
            if head.kind == kind::DATA {
                self.data = Data::from_head(head)?;
                self.head_length = 0;
                continue;
            }
            let Some(payload) = self.take_payload(head, input) else { return Ok(None) };
            self.head_length = 0;
            let Some((head, payload)) = self.join_block(head, payload)? else { continue };
            return match payload {
                Payload::InPlace(payload) => parse(head, payload),
                Payload::Held => {
                    self.is_used_up = true;
                    parse(head, &self.held)
                }
            }
            .map(Some);
        }
    }

    #[cold]
    fn release(&mut self) {
        self.is_used_up = false;
        self.held.clear();
        self.held.shrink_to(KEPT_BYTES);
    }

    /// Takes the head of the next frame, unless it was taken already.
    #[inline]
    fn take_head(&mut self, input: &mut &[u8]) -> Result<Option<FrameHead>, FrameError> {
        if self.head_length == 0
            && let Some((head, rest)) = input.split_first_chunk()
        {
            // It is kept only where the payload has to be awaited.
            (self.head, *input) = (*head, rest);
        } else {
            let (head, length) = self.peek_head(input);
            *input = &input[length - usize::from(self.head_length)..];
            (self.head, self.head_length) = (head, length as u8);
            if length < FRAME_HEAD_BYTES {
                return Ok(None);
            }
        }
        self.head_length = FRAME_HEAD_BYTES as u8;
        let head = FrameHead::from_bytes(self.head);
        self.check(head)?;
        self.has_begun = true;
        Ok(Some(head))
    }

    /// Checks what a head can be wrong about by itself, and whether it may come now.
    fn check(&self, head: FrameHead) -> Result<(), FrameError> {
        if !self.has_begun && (head.kind != kind::SETTINGS || head.has(flag::ACK)) {
            return Err(FrameError::protocol("the first frame is not SETTINGS"));
        }
        if head.length > MAX_FRAME_BYTES {
            return Err(size_error("a frame of more than 16,384 bytes"));
        }
        match &self.block {
            Some(block) if head.kind != kind::CONTINUATION || head.stream != block.stream => {
                return Err(FrameError::protocol("another frame within a block of header fields"));
            }
            None if head.kind == kind::CONTINUATION => {
                return Err(FrameError::protocol("CONTINUATION without HEADERS"));
            }
            Some(block) if block.continuations == MAX_CONTINUATIONS => {
                let what = "a block of header fields in too many frames";
                return Err(FrameError::new(ErrorCode::ENHANCE_YOUR_CALM, what));
            }
            Some(block) if block.length + head.length > MAX_DECODED_BYTES => {
                return Err(HpackError::TooLong.into());
            }
            _ => {}
        }
        let (has_wrong_length, is_of_connection) = match head.kind {
            kind::DATA | kind::HEADERS | kind::CONTINUATION => (false, false),
            kind::PRIORITY => (head.length != 5, false),
            kind::RST_STREAM => (head.length != 4, false),
            kind::SETTINGS if head.has(flag::ACK) => (head.length != 0, true),
            kind::SETTINGS => (!head.length.is_multiple_of(6), true),
            kind::PING => (head.length != 8, true),
            kind::GOAWAY => (head.length < 8, true),
            kind::WINDOW_UPDATE => return if head.length == 4 { Ok(()) } else { Err(wrong_length()) },
            kind::PUSH_PROMISE => return Err(FrameError::protocol("PUSH_PROMISE, which is not allowed")),
            _ => return Ok(()),
        };
        if is_of_connection != (head.stream == 0) {
            let what = if is_of_connection {
                "a frame of the connection on a stream"
            } else {
                "a frame without a stream"
            };
            return Err(FrameError::protocol(what));
        }
        if has_wrong_length { Err(wrong_length()) } else { Ok(()) }
    }

    /// Takes the payload. `None`: the rest has not arrived.
    #[inline]
    fn take_payload<'a>(&mut self, head: FrameHead, input: &mut &'a [u8]) -> Option<Payload<'a>> {
        let before = self.held.len() - self.block.map_or(0, |block| block.length);
        if before == 0
            && self.block.is_none()
            && let Some((payload, rest)) = input.split_at_checked(head.length)
        {
            *input = rest;
            return Some(Payload::InPlace(payload));
        }
        let wanted = head.length - before;
        let (bytes, rest) = input.split_at(wanted.min(input.len()));
        *input = rest;
        self.held.extend_from_slice(bytes);
        (bytes.len() == wanted).then_some(Payload::Held)
    }

    /// Joins the parts of a block, and takes padding and priority off them. `None`: it awaits CONTINUATION. Other frames pass as they are.
    #[inline]
    fn join_block<'a>(
        &mut self,
        head: FrameHead,
        payload: Payload<'a>,
    ) -> Result<Option<(FrameHead, Payload<'a>)>, FrameError> {
        match (head.kind, &mut self.block) {
            (kind::CONTINUATION, Some(block)) => {
                block.continuations += 1;
                block.length = self.held.len();
                if !head.has(flag::END_HEADERS) {
                    return Ok(None);
                }
                let flags = if block.ends_stream { flag::END_STREAM } else { 0 };
                self.block = None;
                Ok(Some((FrameHead { kind: kind::HEADERS, flags, ..head }, Payload::Held)))
            }
            (kind::HEADERS, _) => {
                let is_whole = head.has(flag::END_HEADERS);
                match payload {
                    Payload::InPlace(payload) => {
                        let fragment = &payload[fragment(head, payload)?];
                        if is_whole {
                            return Ok(Some((head, Payload::InPlace(fragment))));
                        }
                        self.held.extend_from_slice(fragment);
                    }
                    Payload::Held => {
                        let fragment = fragment(head, &self.held)?;
                        self.held.truncate(fragment.end);
                        self.held.drain(..fragment.start);
                        if is_whole {
                            return Ok(Some((head, Payload::Held)));
                        }
                    }
                }
                let (ends_stream, length) = (head.has(flag::END_STREAM), self.held.len());
                self.block = Some(Block { stream: head.stream, ends_stream, continuations: 0, length });
                Ok(None)
            }
            _ => Ok(Some((head, payload))),
        }
    }
}

/// The part of the payload of HEADERS that is neither padding nor priority.
#[inline]
fn fragment(head: FrameHead, payload: &[u8]) -> Result<Range<usize>, FrameError> {
    let (mut start, mut padding) = (0, 0);
    if head.has(flag::PADDED) {
        (start, padding) = (1, usize::from(*payload.first().ok_or_else(wrong_length)?));
    }
    if head.has(flag::PRIORITY) {
        let priority = payload.get(start..).and_then(<[u8]>::first_chunk).ok_or_else(wrong_length)?;
        check_priority(head.stream, *priority)?;
        start += priority.len();
    }
    let end = payload.len().checked_sub(padding).filter(|end| *end >= start).ok_or_else(padding_error)?;
    Ok(start..end)
}

/// Checks that a stream does not depend on itself, which RFC 7540 section 5.3.1 forbids; priorities mean nothing otherwise.
fn check_priority(stream: u32, [a, b, c, d, _]: [u8; 5]) -> Result<(), FrameError> {
    if u32::from_be_bytes([a & 0x7f, b, c, d]) == stream {
        return Err(FrameError::protocol("a stream that depends on itself"));
    }
    Ok(())
}

/// Reads a payload whose length fits.
#[inline]
fn parse(head: FrameHead, payload: &[u8]) -> Result<Frame<'static, '_>, FrameError> {
    let number = |at: usize| {
        payload.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_be_bytes(*bytes))
    };
    Ok(match head.kind {
        kind::HEADERS => {
            let ends_stream = head.has(flag::END_STREAM);
            Frame::Headers { stream: head.stream, block: payload, ends_stream }
        }
        kind::PRIORITY => {
            check_priority(head.stream, *payload.first_chunk().ok_or_else(wrong_length)?)?;
            Frame::Ignored
        }
        kind::RST_STREAM => Frame::Reset(head.stream, ErrorCode(number(0))),
        kind::SETTINGS if head.has(flag::ACK) => Frame::SettingsAck,
        kind::SETTINGS => Frame::Settings(SettingsPayload(payload)),
        kind::PING if !head.has(flag::ACK) => Frame::Ping(*payload.first_chunk().ok_or_else(wrong_length)?),
        kind::GOAWAY => Frame::GoAway(number(0) & super::MAX_STREAM, ErrorCode(number(4))),
        kind::WINDOW_UPDATE => Frame::WindowUpdate(head.stream, number(0) & super::MAX_WINDOW),
        _ => Frame::Ignored,
    })
}
