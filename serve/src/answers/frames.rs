//! Answers as frames of HTTP/2. Their heads are those of HTTP/1, field by field, so that both say the same.

use crate::answers::date::DATE_BYTES;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use wire::http2::frame::{FRAME_HEAD_BYTES, append_block, append_data, flag};
use wire::http2::hpack::{write_field, write_status};
use wire::http2::server::BodyEnd;

/// The field `date` up to its value: its name by its index in the static table, then the length of the value, which is not compressed, so
/// that another one can be written over it (RFC 7541 sections 6.2.2 and 5.2).
const DATE_FIELD: [u8; 3] = [0x0f, 0x12, DATE_BYTES as u8];

/// The longest name of a field in an answer.
const MAX_NAME_BYTES: usize = 32;

/// The place of the stream's number in the head of a frame, and that of the flags.
const STREAM_AT: usize = 5;
const FLAGS_AT: usize = 4;

/// The field `grpc-status: 0`, with neither table nor Huffman's code.
const GRPC_OK: &[u8] = b"\0\x0bgrpc-status\x010";

/// The body of an answer.
#[derive(Clone, Debug)]
pub enum Body {
    /// In memory.
    Bytes(Arc<[u8]>),
    /// A piece of a file, from this offset on.
    File(Arc<OwnedFd>, u64),
}

/// An answer that is ready but for the number of its stream.
#[derive(Clone, Debug)]
pub struct ReadyFrames {
    /// HEADERS, and DATA if the body is in one piece with them.
    bytes: Vec<u8>,
    /// The length of HEADERS.
    headers_bytes: usize,
    date_at: usize,
}

impl ReadyFrames {
    /// The frames for a head of HTTP/1; those for the body are made when they are sent if it is `shared`, or else are made here.
    pub fn from_http1(head: &[u8], body: &[u8], has_shared_body: bool) -> Self {
        let (mut block, mut bytes) = (Vec::new(), Vec::new());
        let (date_at, _) = append_fields(head, true, false, &mut block);
        append_block(&mut bytes, 0, &block, body.is_empty() && !has_shared_body);
        let headers_bytes = bytes.len();
        if !body.is_empty() {
            append_data(&mut bytes, 0, body, true);
        }
        Self { bytes, headers_bytes, date_at: FRAME_HEAD_BYTES + date_at }
    }

    /// Writes a date over the last one.
    pub fn set_date(&mut self, date: &[u8; DATE_BYTES]) {
        if let Some(place) = self.bytes.get_mut(self.date_at..self.date_at + DATE_BYTES) {
            place.copy_from_slice(date);
        }
    }

    /// The block of header fields.
    pub fn block(&self) -> &[u8] {
        self.bytes.get(FRAME_HEAD_BYTES..self.headers_bytes).unwrap_or_default()
    }

    /// The body that is in one piece with the head.
    pub fn body(&self) -> &[u8] {
        self.bytes.get(self.headers_bytes + FRAME_HEAD_BYTES..).unwrap_or_default()
    }

    /// Appends all of it, on this stream.
    #[inline]
    pub fn append(&self, stream: u32, head_only: bool, out: &mut Vec<u8>) {
        let start = out.len();
        let length = if head_only { self.headers_bytes } else { self.bytes.len() };
        out.extend_from_slice(&self.bytes[..length]);
        let id = stream.to_be_bytes();
        let added = &mut out[start..];
        added[STREAM_AT..FRAME_HEAD_BYTES].copy_from_slice(&id);
        if head_only {
            added[FLAGS_AT] |= flag::END_STREAM;
        } else if length > self.headers_bytes {
            let at = self.headers_bytes + STREAM_AT;
            added[at..at + id.len()].copy_from_slice(&id);
        }
    }
}

/// Appends the fields of an answer of HTTP/1 to a block. Returns its body, and what follows that. The `Grpc-Status` of an answer with a body
/// is 0, and becomes its trailers.
pub fn translate<'a>(answer: &'a [u8], keeps_length: bool, block: &mut Vec<u8>) -> (&'a [u8], BodyEnd) {
    let end = memchr::memmem::find(answer, b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let (head, body) = answer.split_at(end);
    let (_, end) = append_fields(head, keeps_length, !body.is_empty(), block);
    (body, end)
}

/// Appends the fields of a head of HTTP/1 to a block, less what HTTP/2 does not allow (RFC 9113 section 8.2.2). Returns the place of the date,
/// and what follows the body.
fn append_fields(head: &[u8], keeps_length: bool, has_body: bool, block: &mut Vec<u8>) -> (usize, BodyEnd) {
    let mut lines = head.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii);
    let status = lines.next().and_then(|line| str::from_utf8(line.get(9..12)?).ok()?.parse().ok());
    write_status(block, status.unwrap_or(500));
    let (mut date_at, mut end) = (0, BodyEnd::Nothing);
    for line in lines {
        let Some(colon) = memchr::memchr(b':', line) else { continue };
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        let mut small = [0; MAX_NAME_BYTES];
        let Some(small) = small.get_mut(..name.len()) else { continue };
        small.copy_from_slice(name);
        small.make_ascii_lowercase();
        match &*small {
            b"connection" => {}
            b"content-length" if !keeps_length => {}
            b"grpc-status" if has_body => end = BodyEnd::Trailers(GRPC_OK),
            b"date" if value.len() == DATE_BYTES => {
                block.extend_from_slice(&DATE_FIELD);
                date_at = block.len();
                block.extend_from_slice(value);
            }
            name => write_field(block, name, value),
        }
    }
    (date_at, end)
}
