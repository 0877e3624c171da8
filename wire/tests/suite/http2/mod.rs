//! HTTP/2: a client's connection. What servers send is put together from frames here.

mod client;
mod grpc;
mod misbehaving;
mod pieces;
mod requests;
mod server;

use crate::oracle::http2::{Session, Talk, Told, check_http2, shared, talk, written_frames};
use wire::Http2;
use wire::http2::frame::{ErrorCode, FRAME_HEAD_BYTES, Frame, FrameReader, append_frame_head, flag, kind};
use wire::http2::hpack::write_field;

/// A frame with any head, and with this payload.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    append_frame_head(&mut out, payload.len(), kind, flags, stream);
    [out, payload.to_vec()].concat()
}

pub fn settings(parameters: &[(u16, u32)]) -> Vec<u8> {
    let payload = parameters
        .iter()
        .flat_map(|(number, value)| number.to_be_bytes().into_iter().chain(value.to_be_bytes()));
    frame(kind::SETTINGS, 0, 0, &payload.collect::<Vec<_>>())
}

/// A block of these fields, one a line: `name value`.
pub fn block(fields: &str) -> Vec<u8> {
    let mut block = Vec::new();
    for line in fields.lines() {
        let (name, value) = line.trim_start().split_once(' ').unwrap();
        write_field(&mut block, name.as_bytes(), value.as_bytes());
    }
    block
}

/// HEADERS with these fields, whole.
pub fn head(stream: u32, fields: &str) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS, stream, &block(fields))
}

/// The same, with which the stream ends.
pub fn last_head(stream: u32, fields: &str) -> Vec<u8> {
    frame(kind::HEADERS, flag::END_HEADERS | flag::END_STREAM, stream, &block(fields))
}

pub fn data(stream: u32, bytes: &str) -> Vec<u8> {
    frame(kind::DATA, 0, stream, bytes.as_bytes())
}

pub fn last_data(stream: u32, bytes: &str) -> Vec<u8> {
    frame(kind::DATA, flag::END_STREAM, stream, bytes.as_bytes())
}

pub fn reset(stream: u32, code: ErrorCode) -> Vec<u8> {
    frame(kind::RST_STREAM, 0, stream, &code.0.to_be_bytes())
}

pub fn go_away(last: u32, code: ErrorCode) -> Vec<u8> {
    frame(kind::GOAWAY, 0, 0, &[last.to_be_bytes(), code.0.to_be_bytes()].concat())
}

pub fn window_update(stream: u32, increment: u32) -> Vec<u8> {
    frame(kind::WINDOW_UPDATE, 0, stream, &increment.to_be_bytes())
}

/// What a client that has begun a GET, a HEAD and a POST makes of these bytes, in words; behind `>` what it
/// writes besides requests.
pub fn told(bytes: &[u8]) -> String {
    told_to::<Http2>(&[0, 1, 2], bytes)
}

/// What a client of this protocol that has begun these requests makes of these bytes, in the same words.
pub fn told_to<S: Session>(asks: &[usize], bytes: &[u8]) -> String {
    let talk = talk::<S, false>(asks, &[bytes], &mut shared::<S>());
    let mut parts: Vec<String> = talk.events.iter().map(event_in_words).collect();
    let error = talk.error.or(talk.closed.and_then(Result::err));
    parts.extend(error.map(|error| error.to_string()));
    let written = written_in_words(&talk);
    if !written.is_empty() {
        parts.push(format!("> {written}"));
    }
    parts.join(", ")
}

fn event_in_words(told: &Told) -> String {
    match told {
        Told::Head(place, head) => match head.length {
            Some(length) => format!("{place}: {} of {length}", head.status),
            None => format!("{place}: {}", head.status),
        },
        Told::Field(..) => "a field".to_owned(),
        Told::Body(place, bytes) if bytes.len() > 20 => format!("{place}: {} bytes", bytes.len()),
        Told::Body(place, bytes) => format!("{place}: {}", String::from_utf8_lossy(bytes)),
        Told::End(place, keep_alive, is_early, failure) => {
            let (early, last) =
                (if *is_early { " early" } else { "" }, if *keep_alive { "" } else { " for good" });
            let failure = failure.map(|failure| format!(" with {failure}")).unwrap_or_default();
            format!("{place} ends{early}{last}{failure}")
        }
        Told::Refused(place) => format!("{place} refused"),
        Told::Reset(place, code) => format!("{place} reset: {code}"),
        Told::Malformed(place, error) => format!("{place} malformed: {error}"),
    }
}

/// The frames that a client wrote behind what it always writes, but for requests and answers to SETTINGS; the bytes of bodies where
/// they are not as many as a server takes without a word.
fn written_in_words(talk: &Talk) -> String {
    let frames = written_frames(&talk.written);
    let number = |payload: &[u8], at: usize| u32::from_be_bytes(payload[at..at + 4].try_into().unwrap());
    let (mut words, mut sent, mut pings) = (Vec::new(), 0, 0);
    // The first two open the connection.
    for (head, payload) in &frames[2..] {
        match head.kind {
            kind::RST_STREAM => {
                words.push(format!("RST_STREAM {} {}", head.stream, ErrorCode(number(payload, 0))));
            }
            kind::GOAWAY => {
                words.push(format!("GOAWAY {} {}", number(payload, 0), ErrorCode(number(payload, 4))));
            }
            kind::WINDOW_UPDATE => {
                words.push(format!("WINDOW_UPDATE {} {}", head.stream, number(payload, 0)));
            }
            kind::DATA => sent += head.length,
            kind::PING => pings += 1,
            _ => {}
        }
    }
    if pings > 0 {
        words.push(format!("{pings} answers to PING"));
    }
    if sent != 65_535 {
        words.push(format!("{sent} bytes"));
    }
    words.join(", ")
}

/// A row of a table: what is sent, and what comes of it in words.
pub type Row = (&'static str, Vec<Vec<u8>>, &'static str);

/// Checks rows, each as it is and cut everywhere.
pub fn check_rows(rows: Vec<Row>) {
    for (name, frames, expected) in rows {
        let bytes = frames.concat();
        assert_eq!(told(&bytes), expected, "{name}");
        if bytes.len() <= 4096 {
            check_http2(&bytes);
        }
    }
}
