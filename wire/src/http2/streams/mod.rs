//! The streams of a client's connection, in the order in which they were begun, and the bytes that may be sent on them.

mod flow;
mod receive;

use super::frame::{
    DEFAULT_WINDOW, ErrorCode, FrameError, IdleFrames, MAX_FRAME_BYTES, MAX_STREAM, append_reset,
};
use super::hpack::HpackDecoder;
use super::shared::Http2Shared;
use crate::client_session::Event;
use crate::grpc::status::GrpcStatus;
use crate::{Missing, WireError};
use flow::send_body;
use std::collections::VecDeque;

/// The most streams that are open before the server has said how many it takes: RFC 9113 section 6.5.2 asks servers for no fewer.
const STREAMS_AT_FIRST: u32 = 100;

/// A request without a whole answer.
#[derive(Clone, Copy, Debug)]
struct Stream {
    id: u32,
    /// The request's index among the shared ones.
    ask: u32,
    /// The bytes of its body that have not been sent.
    unsent: usize,
    /// The bytes that may be sent now. SETTINGS can make it negative.
    window: i32,
    /// The bytes that came since the last `WINDOW_UPDATE`.
    received: u32,
    has_head: bool,
    /// The length of the answer's body, where it is known.
    length: Option<u64>,
    /// The part of it that came.
    body: u64,
}

/// All of a connection but its frames.
#[derive(Debug)]
pub struct Streams {
    open: VecDeque<Stream>,
    decoder: HpackDecoder,
    next_id: u32,
    /// The stream whose answer is whole, which has not been told yet; 0: none.
    ended: u32,
    /// The `grpc-status` with which a stream last ended.
    grpc_status: Option<GrpcStatus>,
    /// The last stream on which frames may come although it is closed, because we have closed it.
    cancelled: u32,
    /// The last stream that the server looks at, once it has said so.
    last_taken: Option<u32>,
    /// Its reason.
    reason: Option<ErrorCode>,
    /// As the server's SETTINGS say; `None` before them.
    limit: Option<u32>,
    max_frame: u32,
    initial_window: i32,
    /// The bytes that may be sent on the connection.
    window: i32,
    /// The bytes that came on it since the last `WINDOW_UPDATE`.
    received: u32,
    /// Before the next block of header fields the server must be told that its dynamic table stays empty.
    announces_table: bool,
    idle: IdleFrames,
}

impl Default for Streams {
    fn default() -> Self {
        Self {
            open: VecDeque::new(),
            decoder: HpackDecoder::default(),
            next_id: 1,
            ended: 0,
            grpc_status: None,
            cancelled: 0,
            last_taken: None,
            reason: None,
            limit: None,
            max_frame: MAX_FRAME_BYTES as u32,
            initial_window: DEFAULT_WINDOW as i32,
            window: DEFAULT_WINDOW as i32,
            received: 0,
            announces_table: false,
            idle: IdleFrames::default(),
        }
    }
}

impl Streams {
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    pub fn is_closing(&self) -> bool {
        self.last_taken.is_some() || self.next_id > MAX_STREAM
    }

    /// The reason that the server gave for the end of the connection.
    pub fn reason(&self) -> Option<ErrorCode> {
        self.reason
    }

    /// The `grpc-status` in the last header fields of the stream whose end was told last.
    pub fn grpc_status(&self) -> Option<GrpcStatus> {
        self.grpc_status
    }

    pub fn room(&self) -> usize {
        if self.is_closing() {
            return 0;
        }
        let left = (MAX_STREAM - self.next_id) / 2 + 1;
        let most = self.limit.unwrap_or(STREAMS_AT_FIRST) as usize;
        most.saturating_sub(self.open.len()).min(left as usize)
    }

    /// The most streams that the server takes, if it has said so.
    pub fn max_open(&self) -> Option<usize> {
        self.limit.filter(|most| *most < u32::MAX).map(|most| most as usize)
    }

    pub fn missing(&self) -> Missing {
        match self.open.front() {
            Some(Stream { has_head: true, length: Some(announced), .. }) => {
                Missing::Length { announced: *announced }
            }
            Some(Stream { has_head: true, .. }) => Missing::EndOfStream,
            _ => Missing::All,
        }
    }

    #[inline]
    pub fn begin(&mut self, shared: &mut Http2Shared, ask: usize, out: &mut Vec<u8>) {
        let Some(request) = shared.requests.get(ask) else { return };
        let id = self.next_id;
        self.next_id += 2;
        request.append_head(out, id, std::mem::take(&mut self.announces_table));
        let mut stream = Stream {
            id,
            ask: ask as u32,
            unsent: request.body().len(),
            window: self.initial_window,
            received: 0,
            has_head: false,
            length: None,
            body: 0,
        };
        if stream.unsent > 0 {
            send_body(&mut stream, &mut self.window, self.max_frame, request.body(), out);
            shared.held_back += u64::from(stream.unsent > 0);
        }
        self.open.push_back(stream);
    }

    /// The end of a stream that is known already: of a whole answer, or of a request that the server says it has not looked at.
    #[inline]
    pub fn next_end(&mut self, out: &mut Vec<u8>) -> Option<Event<'static>> {
        if self.ended > 0 {
            let ended = std::mem::take(&mut self.ended);
            if let Some(place) = self.place(ended)
                && let Some(stream) = self.open.remove(place)
            {
                let is_early = stream.unsent > 0;
                if is_early {
                    // The answer did not wait for the body, which nobody needs now.
                    self.close(stream.id, ErrorCode::CANCEL, out);
                }
                return Some(Event::End { place, keep_alive: !self.is_closing(), is_early, failure: None });
            }
        }
        let last_taken = self.last_taken?;
        let refused = self.open.pop_back_if(|stream| stream.id > last_taken)?;
        self.cancelled = self.cancelled.max(refused.id);
        Some(Event::Refused(self.open.len()))
    }

    pub fn cancel(&mut self, place: usize, out: &mut Vec<u8>) {
        if let Some(stream) = self.open.remove(place)
            && (self.ended != stream.id || stream.unsent > 0)
        {
            self.close(stream.id, ErrorCode::CANCEL, out);
        }
    }

    /// Tells the server that nothing is wanted on a stream any more.
    fn close(&mut self, stream: u32, code: ErrorCode, out: &mut Vec<u8>) {
        append_reset(out, stream, code);
        self.cancelled = self.cancelled.max(stream);
    }

    /// Gives up the request at this place, because the server breaks the rules on its stream.
    #[cold]
    fn fail(&mut self, place: usize, error: FrameError, out: &mut Vec<u8>) -> Event<'static> {
        if let Some(stream) = self.open.remove(place) {
            self.close(stream.id, error.code, out);
        }
        Event::Malformed(place, WireError::Frame(error))
    }

    #[inline]
    fn place(&self, stream: u32) -> Option<usize> {
        if self.open.front().is_some_and(|first| first.id == stream) {
            return Some(0);
        }
        self.open.binary_search_by_key(&stream, |open| open.id).ok()
    }

    /// The place of a stream on which a frame came; `None`: it is closed.
    #[inline]
    fn known_place(&self, stream: u32) -> Result<Option<usize>, FrameError> {
        let place = self.place(stream);
        if place.is_none() && (stream >= self.next_id || stream.is_multiple_of(2)) {
            return Err(FrameError::protocol("a frame on a stream that was not opened"));
        }
        Ok(place)
    }

    /// The same of a frame that the server may not send on a stream that it has closed.
    #[inline]
    fn open_place(&self, stream: u32) -> Result<Option<usize>, FrameError> {
        let place = self.known_place(stream)?;
        if place.is_none() && stream > self.cancelled {
            return Err(FrameError::new(
                ErrorCode::STREAM_CLOSED,
                "a frame on a stream that the server has ended",
            ));
        }
        Ok(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_ends_with_its_last_stream() {
        let get = b"GET / HTTP/1.1\r\n\r\n";
        let request = crate::RequestBytes { request: get, last: get, is_encrypted: false };
        let mut shared = Http2Shared::of(&[request], crate::http2::EncodedRequest::from_http1).unwrap();
        let mut out = Vec::new();
        let mut streams = Streams { next_id: MAX_STREAM - 2, ..Streams::default() };
        for room in [2, 1, 0] {
            assert_eq!((streams.room(), streams.is_closing()), (room, room == 0));
            if room > 0 {
                streams.begin(&mut shared, 0, &mut out);
            }
        }
        assert_eq!(
            streams.open.iter().map(|stream| stream.id).collect::<Vec<_>>(),
            [MAX_STREAM - 2, MAX_STREAM]
        );
    }
}
