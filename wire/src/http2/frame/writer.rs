//! Writes frames. Lengths and numbers are the caller's to get right.

use super::{ErrorCode, MAX_FRAME_BYTES, Parameter, flag, kind};

/// Appends the head of a frame.
pub fn append_frame_head(out: &mut Vec<u8>, length: usize, kind: u8, flags: u8, stream: u32) {
    out.extend_from_slice(&(length as u32).to_be_bytes()[1..]);
    out.extend_from_slice(&[kind, flags]);
    out.extend_from_slice(&stream.to_be_bytes());
}

/// Appends SETTINGS.
pub fn append_settings(out: &mut Vec<u8>, parameters: &[Parameter]) {
    append_frame_head(out, 6 * parameters.len(), kind::SETTINGS, 0, 0);
    for parameter in parameters {
        let (number, value) = parameter.parts();
        out.extend_from_slice(&number.to_be_bytes());
        out.extend_from_slice(&value.to_be_bytes());
    }
}

/// Appends the answer to SETTINGS.
pub fn append_settings_ack(out: &mut Vec<u8>) {
    append_frame_head(out, 0, kind::SETTINGS, flag::ACK, 0);
}

/// Appends the answer to a PING.
pub fn append_ping_ack(out: &mut Vec<u8>, payload: [u8; 8]) {
    append_frame_head(out, payload.len(), kind::PING, flag::ACK, 0);
    out.extend_from_slice(&payload);
}

/// Appends `WINDOW_UPDATE`: the peer may send this number of further bytes, at least 1, on the stream, or on the connection: 0.
pub fn append_window_update(out: &mut Vec<u8>, stream: u32, increment: u32) {
    append_frame_head(out, 4, kind::WINDOW_UPDATE, 0, stream);
    out.extend_from_slice(&increment.to_be_bytes());
}

/// Appends `RST_STREAM`.
pub fn append_reset(out: &mut Vec<u8>, stream: u32, code: ErrorCode) {
    append_frame_head(out, 4, kind::RST_STREAM, 0, stream);
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends GOAWAY. `last`: the last stream of the peer that was looked at.
pub fn append_goaway(out: &mut Vec<u8>, last: u32, code: ErrorCode) {
    append_frame_head(out, 8, kind::GOAWAY, 0, 0);
    out.extend_from_slice(&last.to_be_bytes());
    out.extend_from_slice(&code.0.to_be_bytes());
}

/// Appends a block of header fields: HEADERS, and CONTINUATION for what does not fit into one frame of the default length.
pub fn append_block(out: &mut Vec<u8>, stream: u32, block: &[u8], ends_stream: bool) {
    let (mut rest, mut next, mut flags) =
        (block, kind::HEADERS, if ends_stream { flag::END_STREAM } else { 0 });
    loop {
        let (fragment, behind) = rest.split_at(rest.len().min(MAX_FRAME_BYTES));
        if behind.is_empty() {
            flags |= flag::END_HEADERS;
        }
        append_frame_head(out, fragment.len(), next, flags, stream);
        out.extend_from_slice(fragment);
        if behind.is_empty() {
            return;
        }
        (rest, next, flags) = (behind, kind::CONTINUATION, 0);
    }
}

/// Appends DATA.
pub fn append_data(out: &mut Vec<u8>, stream: u32, bytes: &[u8], ends_stream: bool) {
    append_frame_head(out, bytes.len(), kind::DATA, if ends_stream { flag::END_STREAM } else { 0 }, stream);
    out.extend_from_slice(bytes);
}
