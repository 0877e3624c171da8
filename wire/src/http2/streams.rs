//! The streams of a client's connection, in the order in which they were begun, and the bytes that may be sent on them.

use super::answer::AnswerFields;
use super::client::{Http2Shared, RECEIVE_WINDOW};
use super::frame::{
    DEFAULT_WINDOW, DataPart, ErrorCode, FrameError, IdleFrames, MAX_FRAME_BYTES, MAX_STREAM, MAX_WINDOW,
    Parameter, SettingsPayload, append_data, append_ping_ack, append_reset, append_settings_ack,
    append_window_update,
};
use super::hpack::{DEFAULT_TABLE_BYTES, HpackDecoder};
use crate::session::{Event, Hearer};
use crate::{Head, Missing};
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
    /// The bytes that came since the last WINDOW_UPDATE.
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
    /// The last stream on which frames may come although it is closed, because we have closed it.
    cancelled: u32,
    /// The last stream that the server looks at, once it has said so.
    last_taken: Option<u32>,
    /// Its reason.
    reason: Option<ErrorCode>,
    /// As the server's SETTINGS say; `None` before them.
    max_streams: Option<u32>,
    max_frame: u32,
    initial_window: i32,
    /// The bytes that may be sent on the connection.
    window: i32,
    /// The bytes that came on it since the last WINDOW_UPDATE.
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
            cancelled: 0,
            last_taken: None,
            reason: None,
            max_streams: None,
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

    pub fn room(&self) -> usize {
        if self.is_closing() {
            return 0;
        }
        let left = (MAX_STREAM - self.next_id) / 2 + 1;
        let most = self.max_streams.unwrap_or(STREAMS_AT_FIRST) as usize;
        most.saturating_sub(self.open.len()).min(left as usize)
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
    pub fn begin(&mut self, shared: &Http2Shared, ask: usize, out: &mut Vec<u8>) {
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
                if stream.unsent > 0 {
                    // The answer did not wait for the body, which nobody needs now.
                    self.close(stream.id, ErrorCode::CANCEL, out);
                }
                return Some(Event::End { place, keep_alive: !self.is_closing() });
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
    fn fail(&mut self, place: usize, code: ErrorCode, out: &mut Vec<u8>) -> Event<'static> {
        if let Some(stream) = self.open.remove(place) {
            self.close(stream.id, code, out);
        }
        Event::Reset(place, code.0)
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

    #[inline]
    pub fn on_headers<H: Hearer>(
        &mut self,
        (id, block, ends_stream): (u32, &[u8], bool),
        shared: &mut Http2Shared,
        out: &mut Vec<u8>,
        hearer: &mut H,
    ) -> Result<Option<Event<'static>>, FrameError> {
        let Some(place) = self.open_place(id)? else {
            self.decoder.decode(block, &mut shared.scratch, |_, _| {})?;
            self.idle.count()?;
            return Ok(None);
        };
        let fields = match shared.known(block) {
            Some(fields) if !H::HEARS_FIELDS => fields,
            _ => self.read_fields(place, block, shared, hearer)?,
        };
        let has_head = self.open[place].has_head;
        if has_head {
            return Ok(self.on_trailers(place, fields, ends_stream, out));
        }
        if !fields.is_head() || fields.is_interim() && ends_stream {
            return Ok(Some(self.fail(place, ErrorCode::PROTOCOL_ERROR, out)));
        }
        if fields.is_interim() {
            self.idle.count()?;
            return Ok(None);
        }
        let has_no_body = matches!(fields.status, 204 | 304) || hearer.is_head(place);
        let length = fields.length.filter(|_| !has_no_body).or((has_no_body || ends_stream).then_some(0));
        if ends_stream && length != Some(0) {
            return Ok(Some(self.fail(place, ErrorCode::PROTOCOL_ERROR, out)));
        }
        self.idle.clear();
        let stream = &mut self.open[place];
        (stream.has_head, stream.length) = (true, length);
        if ends_stream {
            self.ended = id;
        }
        Ok(Some(Event::Head(place, Head { status: fields.status, length })))
    }

    fn read_fields<H: Hearer>(
        &mut self,
        place: usize,
        block: &[u8],
        shared: &mut Http2Shared,
        hearer: &mut H,
    ) -> Result<AnswerFields, FrameError> {
        let mut fields = AnswerFields::default();
        let decoded = self.decoder.decode(block, &mut shared.scratch, |name, value| {
            if fields.read(name, value) && H::HEARS_FIELDS && !fields.is_interim() {
                hearer.field(place, name, value.trim_ascii());
            }
        })?;
        if decoded.is_fixed && !H::HEARS_FIELDS {
            shared.remember(block, fields);
        }
        Ok(fields)
    }

    #[cold]
    fn on_trailers(
        &mut self,
        place: usize,
        fields: AnswerFields,
        ends_stream: bool,
        out: &mut Vec<u8>,
    ) -> Option<Event<'static>> {
        let stream = &self.open[place];
        let is_short = stream.length.is_some_and(|length| length != stream.body);
        if !ends_stream || !fields.is_trailers() || is_short {
            return Some(self.fail(place, ErrorCode::PROTOCOL_ERROR, out));
        }
        self.ended = stream.id;
        None
    }

    #[inline]
    pub fn on_data<'a>(
        &mut self,
        data: DataPart<'a>,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'a>>, FrameError> {
        let place = self.open_place(data.stream)?;
        self.received += data.counted;
        if self.received > RECEIVE_WINDOW / 2 {
            append_window_update(out, 0, std::mem::take(&mut self.received));
        }
        let Some(place) = place else { return Ok(None) };
        let stream = &mut self.open[place];
        let so_far = stream.body + data.bytes.len() as u64;
        let announced = so_far + u64::from(data.rest);
        let fits =
            stream.length.is_none_or(|length| announced == length || announced < length && !data.ends_stream);
        if !fits || !stream.has_head {
            return Ok(Some(self.fail(place, ErrorCode::PROTOCOL_ERROR, out)));
        }
        stream.body = so_far;
        stream.received += data.counted;
        if data.ends_stream && data.rest == 0 {
            self.ended = stream.id;
        } else if stream.received > RECEIVE_WINDOW / 2 {
            append_window_update(out, stream.id, std::mem::take(&mut stream.received));
        }
        if data.bytes.is_empty() {
            self.idle.count()?;
            return Ok(None);
        }
        self.idle.clear();
        Ok(Some(Event::Body(place, data.bytes)))
    }

    pub fn on_reset(&mut self, stream: u32, code: ErrorCode) -> Result<Option<Event<'static>>, FrameError> {
        let Some(place) = self.known_place(stream)? else {
            self.idle.count()?;
            return Ok(None);
        };
        self.open.remove(place);
        if code == ErrorCode::REFUSED_STREAM {
            return Ok(Some(Event::Refused(place)));
        }
        Ok(Some(Event::Reset(place, code.0)))
    }

    pub fn on_go_away(&mut self, last: u32, code: ErrorCode) -> Result<(), FrameError> {
        // A server may first announce the end, and later say which stream was the last.
        self.last_taken = Some(self.last_taken.map_or(last, |before| before.min(last)));
        self.reason = self.reason.filter(|reason| *reason != ErrorCode::NO_ERROR).or(Some(code));
        self.idle.count()
    }

    pub fn on_ping(&mut self, payload: [u8; 8], out: &mut Vec<u8>) -> Result<(), FrameError> {
        append_ping_ack(out, payload);
        self.idle.count()
    }

    /// A frame came that brings nothing.
    pub fn on_idle(&mut self) -> Result<(), FrameError> {
        self.idle.count()
    }

    pub fn on_settings(
        &mut self,
        payload: SettingsPayload<'_>,
        shared: &Http2Shared,
        out: &mut Vec<u8>,
    ) -> Result<(), FrameError> {
        self.max_streams.get_or_insert(u32::MAX);
        for parameter in payload.parameters() {
            match parameter? {
                Parameter::HeaderTableSize(size) => {
                    self.announces_table |= size < u32::from(DEFAULT_TABLE_BYTES);
                }
                Parameter::EnablePush(true) => {
                    return Err(FrameError::protocol("SETTINGS_ENABLE_PUSH of a server is 1"));
                }
                Parameter::MaxConcurrentStreams(most) => self.max_streams = Some(most),
                Parameter::InitialWindowSize(size) => self.resize_windows(size as i32)?,
                Parameter::MaxFrameSize(size) => self.max_frame = size,
                Parameter::EnablePush(false) | Parameter::MaxHeaderListSize(_) => {}
            }
        }
        append_settings_ack(out);
        self.send_bodies(shared, out);
        self.idle.count()
    }

    fn resize_windows(&mut self, size: i32) -> Result<(), FrameError> {
        let change = i64::from(size) - i64::from(self.initial_window);
        self.initial_window = size;
        for stream in &mut self.open {
            stream.window = i32::try_from(i64::from(stream.window) + change).map_err(|_| window_error())?;
        }
        Ok(())
    }

    pub fn on_window_update(
        &mut self,
        stream: u32,
        increment: u32,
        shared: &Http2Shared,
        out: &mut Vec<u8>,
    ) -> Result<Option<Event<'static>>, FrameError> {
        let before = out.len();
        if stream == 0 {
            if increment == 0 {
                return Err(FrameError::protocol("WINDOW_UPDATE of 0"));
            }
            self.window = widened(self.window, increment).ok_or_else(window_error)?;
            self.send_bodies(shared, out);
        } else if let Some(place) = self.known_place(stream)? {
            let open = &mut self.open[place];
            match widened(open.window, increment) {
                _ if increment == 0 => return Ok(Some(self.fail(place, ErrorCode::PROTOCOL_ERROR, out))),
                None => return Ok(Some(self.fail(place, ErrorCode::FLOW_CONTROL_ERROR, out))),
                Some(window) => open.window = window,
            }
            let body = shared.requests.get(open.ask as usize).map_or(&[][..], |request| request.body());
            send_body(open, &mut self.window, self.max_frame, body, out);
        }
        if out.len() > before {
            self.idle.clear();
            return Ok(None);
        }
        self.idle.count().map(|()| None)
    }

    /// Sends what may be sent of all bodies; those that were begun first go first.
    fn send_bodies(&mut self, shared: &Http2Shared, out: &mut Vec<u8>) {
        for stream in self.open.iter_mut().filter(|stream| stream.unsent > 0) {
            let body = shared.requests.get(stream.ask as usize).map_or(&[][..], |request| request.body());
            send_body(stream, &mut self.window, self.max_frame, body, out);
        }
    }
}

/// Sends what may be sent of a body. `window`: of the connection.
fn send_body(stream: &mut Stream, window: &mut i32, max_frame: u32, body: &[u8], out: &mut Vec<u8>) {
    while stream.unsent > 0 {
        let most = (*window).min(stream.window).clamp(0, max_frame as i32);
        let count = stream.unsent.min(most as usize);
        let bytes =
            body.get(body.len() - stream.unsent..).and_then(|rest| rest.get(..count)).unwrap_or_default();
        if bytes.is_empty() {
            return;
        }
        stream.unsent -= count;
        append_data(out, stream.id, bytes, stream.unsent == 0);
        *window -= count as i32;
        stream.window -= count as i32;
    }
}

/// A window with a number of further bytes, unless it would be larger than any may be.
fn widened(window: i32, increment: u32) -> Option<i32> {
    window.checked_add(i32::try_from(increment).ok()?)
}

fn window_error() -> FrameError {
    FrameError::new(ErrorCode::FLOW_CONTROL_ERROR, "a window of more than 2^31 - 1 bytes")
}

const _: () = assert!(MAX_WINDOW == i32::MAX as u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_ends_with_its_last_stream() {
        let request = crate::http2::EncodedRequest::from_http1(b"GET / HTTP/1.1\r\n\r\n", false).unwrap();
        let (shared, mut out) = (Http2Shared::new(vec![request]), Vec::new());
        let mut streams = Streams { next_id: MAX_STREAM - 2, ..Streams::default() };
        for room in [2, 1, 0] {
            assert_eq!((streams.room(), streams.is_closing()), (room, room == 0));
            if room > 0 {
                streams.begin(&shared, 0, &mut out);
            }
        }
        assert_eq!(
            streams.open.iter().map(|stream| stream.id).collect::<Vec<_>>(),
            [MAX_STREAM - 2, MAX_STREAM]
        );
    }
}
