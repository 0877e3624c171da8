//! What the server says about the connection, and the bytes that may be sent on it and on its streams.

use super::{Stream, Streams};
use crate::client_session::Event;
use crate::http2::frame::{
    FrameError, MAX_WINDOW, Parameter, SettingsPayload, append_data, append_ping_ack, append_settings_ack,
    window_error,
};
use crate::http2::hpack::DEFAULT_TABLE_BYTES;
use crate::http2::shared::Http2Shared;

impl Streams {
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
        self.limit.get_or_insert(u32::MAX);
        for parameter in payload.parameters() {
            match parameter? {
                Parameter::HeaderTableSize(size) => {
                    self.announces_table |= size < u32::from(DEFAULT_TABLE_BYTES);
                }
                Parameter::EnablePush(true) => {
                    return Err(FrameError::protocol("SETTINGS_ENABLE_PUSH of a server is 1"));
                }
                Parameter::MaxConcurrentStreams(most) => self.limit = Some(most),
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
                _ if increment == 0 => {
                    return Ok(Some(self.fail(place, FrameError::protocol("WINDOW_UPDATE of 0"), out)));
                }
                None => return Ok(Some(self.fail(place, window_error(), out))),
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
pub fn send_body(stream: &mut Stream, window: &mut i32, max_frame: u32, body: &[u8], out: &mut Vec<u8>) {
    while stream.unsent > 0 {
        let most = (*window).min(stream.window).clamp(0, max_frame as i32);
        let count = stream.unsent.min(most as usize);
        let bytes = body
            .get(body.len().wrapping_sub(stream.unsent)..)
            .and_then(|rest| rest.get(..count))
            .unwrap_or_default();
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

const _: () = assert!(MAX_WINDOW == i32::MAX as u32);
