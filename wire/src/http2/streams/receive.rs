//! What comes on streams: heads, bodies, trailers, and ends.

use super::Streams;
use crate::Head;
use crate::client_session::{Event, Hearer};
use crate::http2::answer::AnswerFields;
use crate::http2::frame::{DataPart, ErrorCode, FrameError, append_window_update};
use crate::http2::shared::{Http2Shared, RECEIVE_WINDOW};

const TOO_SHORT: &str = "a body that is shorter than its head announces";

impl Streams {
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
        let has_head = self.open[place].has_head;
        let fields = match shared.known(block, has_head) {
            Some(fields) if !H::HEARS_FIELDS => fields,
            _ => self.read_fields(place, block, shared, hearer)?,
        };
        if has_head {
            return Ok(self.on_trailers(place, fields, ends_stream, out));
        }
        if !fields.is_head() || fields.is_interim() && ends_stream {
            return Ok(Some(self.fail(place, FrameError::protocol("fields that no answer may have"), out)));
        }
        if fields.is_interim() {
            self.idle.count()?;
            return Ok(None);
        }
        let has_no_body = matches!(fields.status, 204 | 304) || hearer.is_head(place);
        let length = fields.length.filter(|_| !has_no_body).or((has_no_body || ends_stream).then_some(0));
        if ends_stream && length != Some(0) {
            return Ok(Some(self.fail(place, FrameError::protocol(TOO_SHORT), out)));
        }
        self.idle.clear();
        let stream = &mut self.open[place];
        (stream.has_head, stream.length) = (true, length);
        if ends_stream {
            (self.ended, self.grpc_status) = (id, fields.grpc_status);
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
            shared.remember(block, self.open[place].has_head, fields);
        }
        Ok(fields)
    }

    #[inline]
    fn on_trailers(
        &mut self,
        place: usize,
        fields: AnswerFields,
        ends_stream: bool,
        out: &mut Vec<u8>,
    ) -> Option<Event<'static>> {
        let stream = &self.open[place];
        let is_short = stream.length.is_some_and(|length| length != stream.body);
        if !ends_stream || !fields.is_trailers() {
            return Some(self.fail(place, FrameError::protocol("trailers that no answer may have"), out));
        }
        if is_short {
            return Some(self.fail(place, FrameError::protocol(TOO_SHORT), out));
        }
        (self.ended, self.grpc_status) = (stream.id, fields.grpc_status);
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
        let wrong = match stream.length {
            _ if !stream.has_head => Some("a body before its head"),
            Some(length) if announced > length => Some("a body that is longer than its head allows"),
            Some(length) if announced < length && data.ends_stream => Some(TOO_SHORT),
            _ => None,
        };
        if let Some(what) = wrong {
            return Ok(Some(self.fail(place, FrameError::protocol(what), out)));
        }
        stream.body = so_far;
        stream.received += data.counted;
        if data.ends_stream && data.rest == 0 {
            (self.ended, self.grpc_status) = (stream.id, None);
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
}
