//! What a session knows beside the frame that is being read, and what each frame changes in it.

use super::head::ParsedHead;
use super::recall::{Routed, ServerShared};
use super::streams::{Stream, Streams};
use super::{MAX_OPEN_STREAMS, RECEIVE_WINDOW, ServerEvent};
use crate::RequestHead;
use crate::http2::frame::{
    DataPart, ErrorCode, FrameError, IdleFrames, MAX_IDLE_FRAMES, MAX_STREAM, Parameter, SettingsPayload,
    append_ping_ack, append_reset, append_settings_ack, append_window_update,
};
use crate::http2::hpack::HpackDecoder;

/// What is known beside the frame that is being read.
#[derive(Debug)]
pub struct State<W> {
    pub hpack: HpackDecoder,
    pub streams: Streams<W>,
    /// The highest stream that was opened.
    pub last: u32,
    /// The stream of the last request, where no body follows: it is not in the list unless it has to wait.
    pub whole: u32,
    /// No stream above this one is answered.
    pub end: u32,
    /// The stream that was reset last: what the client had sent by then is no error.
    pub reset: u32,
    /// The number of the remembered block that means the same here, by this connection's table.
    pub known: u32,
    /// The bytes of DATA that the client may still send.
    pub receive_window: u32,
    pub idle_frames: IdleFrames,
    /// The requests that were given up, less those that were answered.
    pub cancelled: u32,
}

impl<W> Default for State<W> {
    fn default() -> Self {
        Self {
            hpack: HpackDecoder::default(),
            streams: Streams::default(),
            last: 0,
            whole: 0,
            end: MAX_STREAM,
            reset: 0,
            known: 0,
            receive_window: RECEIVE_WINDOW,
            idle_frames: IdleFrames::default(),
            cancelled: 0,
        }
    }
}

impl<W> State<W> {
    /// Whether this number can be that of a new stream that is answered.
    #[inline]
    pub fn may_open(&self, stream: u32) -> bool {
        !stream.is_multiple_of(2)
            && stream > self.last
            && stream <= self.end
            && self.streams.count() < MAX_OPEN_STREAMS
    }

    /// Begins a stream with a request that has no body.
    #[inline]
    pub fn begin_whole<'a, R>(&mut self, stream: u32, route: R) -> ServerEvent<'a, R> {
        self.idle_frames.clear();
        (self.last, self.whole) = (stream, stream);
        ServerEvent::Request { stream, route, has_body: false, expects_continue: false }
    }

    /// The stream with this number, which is put into the list if it is that of the last request.
    pub fn open_stream(&mut self, stream: u32) -> Option<&mut Stream<W>> {
        if self.whole == stream {
            self.whole = 0;
            self.streams.open(stream, 0, None, true);
        }
        self.streams.get(stream)
    }

    /// Handles a block of header fields: of a new request, or behind the body of an open one.
    pub fn head<'a, R: Clone>(
        &mut self,
        shared: &mut ServerShared<R>,
        stream: u32,
        block: &[u8],
        ends_stream: bool,
        out: &mut Vec<u8>,
        route: impl FnOnce(&RequestHead<'_>) -> Routed<R>,
    ) -> Result<Option<ServerEvent<'a, R>>, FrameError> {
        if stream.is_multiple_of(2) {
            return Err(FrameError::protocol("a request on a stream with an even number"));
        }
        let decoded = shared.fields.decode(&mut self.hpack, block)?;
        if !decoded.keeps_table {
            self.known = 0;
        }
        if stream <= self.last {
            let are_trailers = decoded.excess.is_none() && shared.fields.are_trailers();
            return self.trailers(are_trailers, stream, ends_stream, out);
        }
        if !self.may_open(stream) {
            self.last = stream;
            if stream <= self.end {
                self.idle_frames.count()?;
                append_reset(out, stream, ErrorCode::REFUSED_STREAM);
            }
            return Ok(None);
        }
        self.last = stream;
        if decoded.excess.is_some() {
            self.idle_frames.clear();
            if ends_stream {
                self.whole = stream;
            } else {
                self.streams.open(stream, RECEIVE_WINDOW, None, false);
            }
            return Ok(Some(ServerEvent::TooLong { stream }));
        }
        let mut is_lasting = false;
        let parsed = shared.fields.parse(|head| {
            let routed = route(head);
            is_lasting = routed.is_lasting;
            routed.route
        });
        let parsed = parsed.filter(|parsed| !ends_stream || parsed.length.is_none_or(|length| length == 0));
        let Some(ParsedHead { route, length, expects_continue }) = parsed else {
            self.reset(stream, ErrorCode::PROTOCOL_ERROR, out);
            return Ok(None);
        };
        if ends_stream {
            if is_lasting && decoded.keeps_table {
                self.known = shared.remember(block, &route, decoded.is_fixed);
            }
            return Ok(Some(self.begin_whole(stream, route)));
        }
        self.idle_frames.clear();
        self.streams.open(stream, RECEIVE_WINDOW, length, false);
        Ok(Some(ServerEvent::Request { stream, route, has_body: true, expects_continue }))
    }

    /// Handles header fields on a stream that was opened before.
    fn trailers<'a, R>(
        &mut self,
        are_trailers: bool,
        stream: u32,
        ends_stream: bool,
        out: &mut Vec<u8>,
    ) -> Result<Option<ServerEvent<'a, R>>, FrameError> {
        let is_behind = stream < self.last;
        match self.streams.get(stream) {
            Some(open) if !open.has_ended => {
                if ends_stream && are_trailers {
                    return Ok(self.end_body(stream, &[], out));
                }
                self.reset(stream, ErrorCode::PROTOCOL_ERROR, out);
                Ok(None)
            }
            None if stream == self.reset => Ok(None),
            None if is_behind => Err(FrameError::protocol("a stream with a lower number than one before it")),
            _ => Err(FrameError::new(ErrorCode::STREAM_CLOSED, "header fields on a stream that has ended")),
        }
    }

    /// Handles bytes of a body.
    pub fn body<'a, R>(
        &mut self,
        part: DataPart<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Option<ServerEvent<'a, R>>, FrameError> {
        let DataPart { stream, bytes, rest, counted, ends_stream } = part;
        if stream > self.last || stream.is_multiple_of(2) {
            return Err(FrameError::protocol("DATA on a stream that is not open"));
        }
        self.receive_window = self.receive_window.checked_sub(counted).ok_or_else(excess)?;
        if self.receive_window <= RECEIVE_WINDOW / 2 {
            append_window_update(out, 0, RECEIVE_WINDOW - self.receive_window);
            self.receive_window = RECEIVE_WINDOW;
        }
        let Some(open) = self.streams.get(stream).filter(|open| !open.has_ended) else {
            // Said once a frame, of which this may be a later part.
            if counted > 0 || bytes.is_empty() {
                self.idle_frames.count()?;
                self.reset(stream, ErrorCode::STREAM_CLOSED, out);
            }
            return Ok(None);
        };
        if bytes.is_empty() && !ends_stream {
            self.idle_frames.count()?;
        } else {
            self.idle_frames.clear();
        }
        let Some(window) = open.receive_window.checked_sub(counted) else {
            self.reset(stream, ErrorCode::FLOW_CONTROL_ERROR, out);
            return Ok(None);
        };
        open.receive_window = window;
        if window <= RECEIVE_WINDOW / 2 && !ends_stream {
            append_window_update(out, stream, RECEIVE_WINDOW - window);
            open.receive_window = RECEIVE_WINDOW;
        }
        if let Some(missing) = &mut open.missing {
            // The whole frame has to fit, so that it does not matter how it was cut.
            let Some(missing_then) = missing.checked_sub(bytes.len() as u64).filter(|n| *n >= rest.into())
            else {
                self.reset(stream, ErrorCode::PROTOCOL_ERROR, out);
                return Ok(None);
            };
            *missing = missing_then;
        }
        if ends_stream && rest == 0 {
            return Ok(self.end_body(stream, bytes, out));
        }
        let is_wanted = !open.is_answered && !bytes.is_empty();
        Ok(is_wanted.then_some(ServerEvent::Body { stream, bytes, is_last: false }))
    }

    /// Handles the end of a body, whose last bytes these are.
    fn end_body<'a, R>(
        &mut self,
        stream: u32,
        bytes: &'a [u8],
        out: &mut Vec<u8>,
    ) -> Option<ServerEvent<'a, R>> {
        let open = self.streams.get(stream)?;
        if open.missing.is_some_and(|missing| missing > 0) {
            self.reset(stream, ErrorCode::PROTOCOL_ERROR, out);
            return None;
        }
        open.has_ended = true;
        let is_wanted = !open.is_answered;
        self.streams.remove_if_over(stream);
        is_wanted.then_some(ServerEvent::Body { stream, bytes, is_last: true })
    }

    /// Handles the end of a stream for which the client waits no longer.
    pub fn cancel(&mut self, stream: u32) -> Result<(), FrameError> {
        if stream > self.last || stream.is_multiple_of(2) {
            return Err(FrameError::protocol("RST_STREAM on a stream that is not open"));
        }
        if !self.streams.remove(stream) {
            return self.idle_frames.count();
        }
        self.cancelled += 1;
        if self.cancelled <= MAX_IDLE_FRAMES {
            return Ok(());
        }
        Err(FrameError::new(ErrorCode::ENHANCE_YOUR_CALM, "many more requests given up than answered"))
    }

    pub fn settings(&mut self, settings: SettingsPayload<'_>, out: &mut Vec<u8>) -> Result<(), FrameError> {
        self.idle_frames.count()?;
        for parameter in settings.parameters() {
            if let Parameter::InitialWindowSize(window) = parameter? {
                self.streams.set_initial_window(window)?;
            }
        }
        append_settings_ack(out);
        Ok(())
    }

    /// Handles `WINDOW_UPDATE`.
    pub fn widen(&mut self, stream: u32, increment: u32, out: &mut Vec<u8>) -> Result<(), FrameError> {
        if stream == 0 {
            if increment == 0 {
                return Err(FrameError::protocol("WINDOW_UPDATE of 0"));
            }
            return self.streams.widen(increment);
        }
        if stream > self.last || stream.is_multiple_of(2) {
            return Err(FrameError::protocol("WINDOW_UPDATE on a stream that is not open"));
        }
        let Some(open) = self.streams.get(stream) else { return Ok(()) };
        if increment == 0 {
            self.reset(stream, ErrorCode::PROTOCOL_ERROR, out);
        } else if open.widen(increment).is_err() {
            self.reset(stream, ErrorCode::FLOW_CONTROL_ERROR, out);
        }
        Ok(())
    }

    pub fn ping(&mut self, payload: [u8; 8], out: &mut Vec<u8>) -> Result<(), FrameError> {
        append_ping_ack(out, payload);
        self.idle_frames.count()
    }

    /// Ends a stream.
    pub fn reset(&mut self, stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
        self.streams.remove(stream);
        if self.whole == stream {
            self.whole = 0;
        }
        self.reset = stream;
        append_reset(out, stream, code);
    }
}

fn excess() -> FrameError {
    FrameError::new(ErrorCode::FLOW_CONTROL_ERROR, "more bytes than the window allows")
}
