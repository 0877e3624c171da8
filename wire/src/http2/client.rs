//! A client's connection. Frames in; requests, and what flow control asks for, out.

use super::frame::{
    DEFAULT_WINDOW, ErrorCode, Frame, FrameError, FrameReader, PREFACE, Parameter, append_goaway,
    append_settings, append_window_update,
};
use super::request::EncodedRequest;
use super::shared::{Http2Shared, RECEIVE_WINDOW};
use super::streams::Streams;
use crate::client_session::{ClientSession, Event, Hearer, RequestBytes};
use crate::grpc::status::GrpcStatus;
use crate::{Missing, WireError, start};

/// One connection.
#[derive(Debug, Default)]
pub struct Http2 {
    reader: FrameReader,
    streams: Streams,
}

impl Http2 {
    /// The `grpc-status` in the last header fields of the answer whose end was told last.
    pub(crate) fn grpc_status(&self) -> Option<GrpcStatus> {
        self.streams.grpc_status()
    }
}

impl<'p> ClientSession<'p> for Http2 {
    type Shared = Http2Shared;

    const IN_ORDER: bool = false;
    const IS_AGREED_ON: bool = true;

    fn shared(requests: Vec<RequestBytes<'p>>) -> Result<Http2Shared, WireError> {
        Http2Shared::of(&requests, EncodedRequest::from_http1)
    }

    fn reason(number: u32) -> &'static str {
        ErrorCode(number).name().unwrap_or("an unknown reason")
    }

    fn open(&mut self, _: &mut Http2Shared, out: &mut Vec<u8>) {
        out.extend_from_slice(PREFACE);
        append_settings(out, &[Parameter::EnablePush(false), Parameter::InitialWindowSize(RECEIVE_WINDOW)]);
        append_window_update(out, 0, RECEIVE_WINDOW - DEFAULT_WINDOW);
    }

    fn room(&self) -> usize {
        self.streams.room()
    }

    fn max_open(&self) -> Option<usize> {
        self.streams.max_open()
    }

    fn take_held_back(shared: &mut Http2Shared) -> u64 {
        std::mem::take(&mut shared.held_back)
    }

    /// Begins the request. Nothing is said with the last one: the server learns that it was when the connection closes.
    #[inline]
    fn begin(&mut self, shared: &mut Http2Shared, ask: usize, _is_last: bool, out: &mut Vec<u8>) {
        self.streams.begin(shared, ask, out);
    }

    #[inline]
    fn next<'a, H: Hearer>(
        &mut self,
        shared: &mut Http2Shared,
        input: &mut &'a [u8],
        out: &mut Vec<u8>,
        hearer: &mut H,
    ) -> Result<Option<Event<'a>>, WireError> {
        if self.reader.is_at_start() {
            let (head, length) = self.reader.peek_head(input);
            start::check_http2(&head[..length])?;
        }
        loop {
            if let Some(event) = self.streams.next_end(out) {
                return Ok(Some(event));
            }
            let handled = match self.reader.next(input) {
                Ok(None) => return Ok(None),
                Ok(Some(frame)) => on_frame(&mut self.streams, frame, shared, out, hearer),
                Err(error) => Err(error),
            };
            match handled {
                Ok(None) => {}
                Ok(event) => return Ok(event),
                Err(error) => {
                    // The server opened no stream.
                    append_goaway(out, 0, error.code);
                    return Err(WireError::Frame(error));
                }
            }
        }
    }

    fn cancel(&mut self, place: usize, out: &mut Vec<u8>) -> bool {
        self.streams.cancel(place, out);
        true
    }

    fn is_closing(&self) -> bool {
        self.streams.is_closing()
    }

    fn closed(&mut self) -> Result<Option<Event<'static>>, WireError> {
        match self.streams.reason() {
            _ if self.streams.is_empty() => Ok(None),
            Some(code) if code != ErrorCode::NO_ERROR => Err(WireError::GoAway(code)),
            _ if self.reader.is_at_start() => Err(WireError::NoHttp2),
            _ => Err(WireError::Truncated),
        }
    }

    fn missing(&self) -> Missing {
        self.streams.missing()
    }
}

#[inline]
fn on_frame<'a>(
    streams: &mut Streams,
    frame: Frame<'a, '_>,
    shared: &mut Http2Shared,
    out: &mut Vec<u8>,
    hearer: &mut impl Hearer,
) -> Result<Option<Event<'a>>, FrameError> {
    match frame {
        Frame::Headers { stream, block, ends_stream } => {
            streams.on_headers((stream, block, ends_stream), shared, out, hearer)
        }
        Frame::Data(data) => streams.on_data(data, out),
        Frame::WindowUpdate(stream, increment) => streams.on_window_update(stream, increment, shared, out),
        Frame::Reset(stream, code) => streams.on_reset(stream, code),
        Frame::Settings(payload) => streams.on_settings(payload, shared, out).map(|()| None),
        Frame::Ping(payload) => streams.on_ping(payload, out).map(|()| None),
        Frame::GoAway(last, code) => streams.on_go_away(last, code).map(|()| None),
        Frame::SettingsAck | Frame::Ignored => streams.on_idle().map(|()| None),
    }
}
