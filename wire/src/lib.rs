//! HTTP as bytes ↔ events; no sockets. HTTP/1 both ways: answers for the load engine, requests for
//! the reference server. Any split of the same bytes gives the same events. Forms with files ([`multipart`]) are read whole.

mod chunked;
mod head;
pub mod multipart;
mod request;
mod response;

pub use request::{Request, RequestHead, RequestParser};
pub use response::{Event, Head, LastHead, ResponseParser};

/// A head (or the trailers of a chunked body) longer than this is refused.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// A request's target longer than this is refused. RFC 9112 section 3 wants 8000 at least; servers take 8 KB.
pub const MAX_TARGET_BYTES: usize = 8 * 1024;

/// A head with more fields than this is refused.
pub const MAX_HEAD_FIELDS: usize = 128;

/// The size of a chunk is written in no more digits: what fits into 64 bits, in hexadecimal.
pub const MAX_CHUNK_DIGITS: u8 = 16;

/// What is wrong with the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The head does not parse.
    #[error("malformed head: {0}")]
    Head(httparse::Error),
    /// The head does not end.
    #[error("a head of more than {MAX_HEAD_BYTES} bytes")]
    HeadTooLong,
    /// The head has too many fields.
    #[error("a head of more than {MAX_HEAD_FIELDS} fields")]
    TooManyFields,
    /// The request's target does not end.
    #[error("a target of more than {MAX_TARGET_BYTES} bytes")]
    TargetTooLong,
    /// A request of an HTTP that is not spoken here.
    #[error("neither HTTP/1.0 nor HTTP/1.1")]
    Version,
    /// A `Content-Length` that is no number, or two that differ.
    #[error("unusable Content-Length")]
    ContentLength,
    /// A chunk's size line or end is malformed.
    #[error("malformed chunk")]
    Chunk,
    /// A chunk's size has too many digits, leading zeros among them.
    #[error("a chunk's size of more than {MAX_CHUNK_DIGITS} digits")]
    ChunkSize,
    /// A switch of protocols that nobody asked for.
    #[error("unasked-for switch of protocols (101)")]
    Upgrade,
    /// The peer closed before the message was whole.
    #[error("closed before the answer was whole")]
    Truncated,
}
