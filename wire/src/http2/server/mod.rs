//! The server's side of one connection: bytes → requests by stream; answers → frames, under the client's windows. No sockets, no clock.

mod head;
mod recall;
mod state;
mod streams;

pub use recall::{Routed, ServerShared};
pub use streams::{AnswerBody, BodyEnd, Part};

use super::frame::{
    DEFAULT_WINDOW, ErrorCode, Frame, FrameError, FrameReader, MAX_STREAM, PREFACE, Parameter, append_block,
    append_frame_head, append_goaway, append_reset, append_settings, append_window_update, flag, kind,
};
use super::hpack::write_status;
use crate::{MAX_HEAD_BYTES, RequestHead};
use state::State;

/// The most streams that a client may have open. A stream counts only while its body arrives or its answer waits for the client, so that this
/// bounds memory, and is no bound for any load that is driven with small answers. RFC 9113 section 6.5.2 advises at least 100.
pub const MAX_OPEN_STREAMS: usize = 1024;

/// The bytes of bodies that a client may send ahead, on one stream and on all together. A caller that does not read for a while has to
/// hold no more.
pub const RECEIVE_WINDOW: u32 = 512 * 1024;

/// What came from the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerEvent<'a, R> {
    /// A request. If no body follows, it has to be answered, held or reset before the next event is asked for.
    Request {
        /// Its stream.
        stream: u32,
        /// The caller's value.
        route: R,
        /// Whether a body follows.
        has_body: bool,
        /// Whether the client waits for `100 Continue` before it sends the body.
        expects_continue: bool,
    },
    /// A request whose header fields are too many or too long, and were dropped. It has to be answered before the next event is asked for;
    /// no body is passed on.
    TooLong {
        /// Its stream.
        stream: u32,
    },
    /// Bytes of the body of a request that is being held.
    Body {
        /// Its stream.
        stream: u32,
        /// The bytes; empty at most at the end.
        bytes: &'a [u8],
        /// Whether the body is whole.
        is_last: bool,
    },
}

/// The session of a connection. The caller keeps a `W` for each open stream.
#[derive(Debug)]
pub struct ServerSession<W> {
    /// How many bytes of the preface have come.
    preface: u8,
    frames: FrameReader,
    state: State<W>,
}

impl<W> Default for ServerSession<W> {
    fn default() -> Self {
        Self { preface: 0, frames: FrameReader::default(), state: State::default() }
    }
}

impl<W: Clone> ServerSession<W> {
    /// A session of whose preface this number of bytes has come.
    pub fn with_preface(preface: u8) -> Self {
        Self { preface, ..Self::default() }
    }

    /// Writes what opens the connection.
    pub fn open(&self, out: &mut Vec<u8>) {
        append_settings(
            out,
            &[
                Parameter::MaxConcurrentStreams(MAX_OPEN_STREAMS as u32),
                Parameter::InitialWindowSize(RECEIVE_WINDOW),
                Parameter::MaxHeaderListSize(MAX_HEAD_BYTES as u32),
            ],
        );
        append_window_update(out, 0, RECEIVE_WINDOW - DEFAULT_WINDOW);
    }

    /// Returns the next event; takes its bytes off `input`. `None`: all of `input` is used up. What has to be said to the client is
    /// written to `out`, also the GOAWAY for an error. Errors: nothing more can be read from this connection, nor sent on it.
    #[inline]
    pub fn next<'a, R: Clone>(
        &mut self,
        shared: &mut ServerShared<R>,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        route: impl FnMut(&RequestHead<'_>) -> Routed<R>,
    ) -> Result<Option<ServerEvent<'a, R>>, FrameError> {
        let next = self.read(shared, input, out, route);
        if let Err(error) = &next {
            append_goaway(out, self.state.last, error.code);
        }
        next
    }

    #[inline]
    fn read<'a, R: Clone>(
        &mut self,
        shared: &mut ServerShared<R>,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        mut route: impl FnMut(&RequestHead<'_>) -> Routed<R>,
    ) -> Result<Option<ServerEvent<'a, R>>, FrameError> {
        if usize::from(self.preface) < PREFACE.len() {
            self.read_preface(input)?;
        }
        let state = &mut self.state;
        while let Some(frame) = self.frames.next(input)? {
            let event = match frame {
                Frame::Headers { stream, block, ends_stream } => {
                    if ends_stream
                        && let Some(route) = shared.recall(block, state.known)
                        && state.may_open(stream)
                    {
                        return Ok(Some(state.begin_whole(stream, route)));
                    }
                    state.head(shared, stream, block, ends_stream, out, &mut route)?
                }
                Frame::Data(part) => state.body(part, out)?,
                Frame::Reset(stream, _) => state.cancel(stream).map(|()| None)?,
                Frame::Settings(settings) => state.settings(settings, out).map(|()| None)?,
                Frame::WindowUpdate(stream, increment) => {
                    state.widen(stream, increment, out).map(|()| None)?
                }
                Frame::Ping(payload) => state.ping(payload, out).map(|()| None)?,
                Frame::SettingsAck | Frame::GoAway(..) | Frame::Ignored => {
                    state.idle_frames.count().map(|()| None)?
                }
            };
            if event.is_some() {
                return Ok(event);
            }
        }
        Ok(None)
    }

    #[cold]
    fn read_preface(&mut self, input: &mut &[u8]) -> Result<(), FrameError> {
        let expected = PREFACE.get(usize::from(self.preface)..).unwrap_or_default();
        let (bytes, rest) = input.split_at(expected.len().min(input.len()));
        if !expected.starts_with(bytes) {
            return Err(FrameError::protocol("not the preface of a client"));
        }
        (self.preface, *input) = (self.preface + bytes.len() as u8, rest);
        Ok(())
    }

    /// Takes the stream of the last request off the session, for a whole answer with a body of this length that the caller sends at once.
    /// False: it may not be sent at once, and nothing has changed.
    #[inline]
    pub fn take_whole(&mut self, stream: u32, length: u32) -> bool {
        let state = &mut self.state;
        if state.whole != stream || !state.streams.take_whole(length) {
            return false;
        }
        state.whole = 0;
        state.cancelled = state.cancelled.saturating_sub(1);
        true
    }

    /// Keeps a request that is not answered yet, with what the caller has to remember.
    pub fn hold(&mut self, stream: u32, work: W) {
        if let Some(stream) = self.state.open_stream(stream) {
            stream.work = Some(work);
        }
    }

    /// What the caller remembers of an open stream.
    pub fn work(&mut self, stream: u32) -> Option<&mut W> {
        self.state.streams.get(stream)?.work.as_mut()
    }

    /// What the caller remembers of all open streams.
    pub fn all_work(&self) -> impl Iterator<Item = &W> {
        self.state.streams.iter().filter_map(|stream| stream.work.as_ref())
    }

    /// Gives leave to send a body: `100 Continue`.
    pub fn say_continue(&mut self, stream: u32, out: &mut Vec<u8>) {
        let mut block = Vec::new();
        write_status(&mut block, 100);
        append_block(out, stream, &block, false);
    }

    /// Writes the head of an answer. Its body follows with [`ServerSession::next_part`]. The stream may be gone: then nothing is written.
    pub fn answer(&mut self, stream: u32, block: &[u8], body: AnswerBody, work: W, out: &mut Vec<u8>) {
        let state = &mut self.state;
        state.cancelled = state.cancelled.saturating_sub(1);
        if let Some(open) = state.open_stream(stream) {
            debug_assert!(
                body.length > 0 || !matches!(body.end, BodyEnd::Trailers(_)),
                "no body, but trailers"
            );
            append_block(out, stream, block, body.length == 0);
            open.answer(body, work);
            if body.length == 0 {
                open.work = None;
                state.streams.remove_if_over(stream);
            }
        }
    }

    /// Allows further bytes of the body of an answer to be sent. False: all of it is allowed now, or the stream is gone.
    pub fn allow(&mut self, stream: u32, bytes: u64) -> bool {
        self.state.streams.get(stream).is_some_and(|stream| stream.allow(bytes))
    }

    /// Ends a stream without an answer, or with no more of it.
    pub fn reset(&mut self, stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
        self.state.reset(stream, code, out);
    }

    /// Writes the head of the next DATA, whose bytes the caller has to append. `None`: nothing can be sent now. Behind it the caller
    /// appends what follows the body, with [`Part::append_end`].
    #[inline]
    pub fn next_part(&mut self, out: &mut Vec<u8>) -> Option<Part<W>> {
        let part = self.state.streams.next_part()?;
        self.state.idle_frames.clear();
        let ends = part.is_last && part.end == BodyEnd::Nothing;
        append_frame_head(out, part.length, kind::DATA, if ends { flag::END_STREAM } else { 0 }, part.stream);
        Some(part)
    }

    /// Whether a part of a body can be sent now.
    pub fn can_send(&self) -> bool {
        self.state.streams.can_send()
    }

    /// Whether no stream is open.
    pub fn is_idle(&self) -> bool {
        self.state.streams.count() == 0
    }

    /// Announces that the connection will end; what the client has sent until it reads that is still answered (RFC 9113 section 6.8).
    pub fn announce_end(&self, out: &mut Vec<u8>) {
        append_goaway(out, MAX_STREAM, ErrorCode::NO_ERROR);
    }

    /// Looks at no further request. `says_so`: with a GOAWAY.
    pub fn end(&mut self, says_so: bool, out: &mut Vec<u8>) {
        self.state.end = self.state.last;
        if says_so {
            append_goaway(out, self.state.last, ErrorCode::NO_ERROR);
        }
    }

    /// Whether no further request is looked at and every other one has its answer.
    pub fn is_over(&self) -> bool {
        self.state.end < MAX_STREAM && self.is_idle()
    }
}

impl<W> Part<W> {
    /// Appends what follows the body.
    pub fn append_end(&self, out: &mut Vec<u8>) {
        match self.end {
            BodyEnd::Trailers(block) if self.is_last => append_block(out, self.stream, block, true),
            BodyEnd::Reset if self.is_last => append_reset(out, self.stream, ErrorCode::INTERNAL_ERROR),
            _ => {}
        }
    }
}
