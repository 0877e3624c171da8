//! Requests as HTTP/2 writes them: encoded once, the same on every connection, but for the stream's number.

use super::fields::is_of_connection;
use super::frame::{FRAME_HEAD_BYTES, MAX_FRAME_BYTES, append_block};
use super::hpack::{NO_DYNAMIC_TABLE, write_field};
use crate::grpc::message::{PREFIX_BYTES, write_fields, write_prefix};
use crate::{RequestHead, RequestParser, WireError};

/// A request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedRequest {
    /// Its header fields.
    block: Vec<u8>,
    /// The same in frames, on stream 0.
    frames: Vec<u8>,
    body: Vec<u8>,
}

impl EncodedRequest {
    /// Encodes a request that is written as HTTP/1. Fields that belong to a connection have no place in HTTP/2 (RFC 9113 section 8.2.2),
    /// and chunks are joined.
    pub fn from_http1(request: &[u8], is_https: bool) -> Result<Self, WireError> {
        Self::encode(request, Vec::new(), |head| encode_head(head, is_https, false))
    }

    /// The same for a call of gRPC, whose message is the request's body. Method and length do not matter.
    pub fn grpc(request: &[u8], is_https: bool) -> Result<Self, WireError> {
        let mut encoded =
            Self::encode(request, vec![0; PREFIX_BYTES], |head| encode_head(head, is_https, true))?;
        write_prefix(&mut encoded.body)?;
        Ok(encoded)
    }

    /// `body`: what comes before the request's own.
    fn encode(
        request: &[u8],
        mut body: Vec<u8>,
        block: impl FnOnce(&RequestHead<'_>) -> Vec<u8>,
    ) -> Result<Self, WireError> {
        let (mut parser, mut input) = (RequestParser::new(), request);
        let Some(parsed) = parser.next(&mut input, block)? else {
            return Err(WireError::Truncated);
        };
        if !parser.body(&mut input, |piece| body.extend_from_slice(piece))? {
            return Err(WireError::Truncated);
        }
        let (block, mut frames) = (parsed.route, Vec::new());
        append_block(&mut frames, 0, &block, body.is_empty());
        Ok(Self { block, frames, body })
    }

    /// The body.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Appends the head. `announces_table`: the peer has to be told that its dynamic table stays empty.
    #[inline]
    pub fn append_head(&self, out: &mut Vec<u8>, stream: u32, announces_table: bool) {
        if announces_table {
            let block = [&[NO_DYNAMIC_TABLE], &self.block[..]].concat();
            return append_block(out, stream, &block, self.body.is_empty());
        }
        let start = out.len();
        out.extend_from_slice(&self.frames);
        // All frames but the last are of the same length.
        for frame in out[start..].chunks_mut(FRAME_HEAD_BYTES + MAX_FRAME_BYTES) {
            frame[FRAME_HEAD_BYTES - 4..FRAME_HEAD_BYTES].copy_from_slice(&stream.to_be_bytes());
        }
    }
}

fn encode_head(head: &RequestHead<'_>, is_https: bool, is_grpc: bool) -> Vec<u8> {
    let mut block = Vec::new();
    write_field(&mut block, b":method", if is_grpc { b"POST" } else { head.method.as_bytes() });
    write_field(&mut block, b":scheme", if is_https { b"https" } else { b"http" });
    let host = head.fields().find(|(name, _)| name.eq_ignore_ascii_case("host"));
    if let Some((_, host)) = host {
        write_field(&mut block, b":authority", host);
    }
    write_field(&mut block, b":path", head.target.as_bytes());
    let of_connection: Vec<&[u8]> = head
        .fields()
        .filter(|(name, _)| name.eq_ignore_ascii_case("connection"))
        .flat_map(|(_, value)| value.split(|byte| *byte == b',').map(<[u8]>::trim_ascii))
        .collect();
    for (name, value) in head.fields() {
        let name = name.to_ascii_lowercase();
        let is_kept = match &*name {
            "host" | "http2-settings" => false,
            name if is_of_connection(name.as_bytes()) => false,
            "te" | "content-length" if is_grpc => false,
            "te" => value.eq_ignore_ascii_case(b"trailers"),
            name => !of_connection.iter().any(|other| other.eq_ignore_ascii_case(name.as_bytes())),
        };
        if is_kept {
            write_field(&mut block, name.as_bytes(), value);
        }
    }
    if is_grpc {
        write_fields(&mut block, head);
    }
    block
}
