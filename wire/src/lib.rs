//! HTTP/1, HTTP/2, gRPC and WebSocket as bytes ↔ events; no sockets. A client's side is a [`ClientSession`], whatever the protocol; all but gRPC
//! have the server's side, too. Any split of the same bytes gives the same events.

mod body;
mod chunked;
mod client_session;
mod grpc;
mod head;
mod http1;
pub mod http2;
mod request;
mod response;
mod start;
pub mod websocket;

pub use client_session::{ClientSession, Event, Hearer, RequestBytes};
pub use grpc::{Grpc, GrpcError, GrpcStatus, is_message as is_grpc_message};
pub use http1::{Http1, Http1Shared};
pub use http2::{Http2, Http2Shared};
pub use request::{Request, RequestHead, RequestParser};
pub use response::{Ending, Head, LastHead, Missing, Part, ResponseParser};
pub use websocket::{WebSocket, WebSocketShared};

/// The longest head, or trailers of a chunked body; a longer one is refused.
pub const MAX_HEAD_BYTES: usize = 64 * 1024;

/// The longest target of a request; a longer one is refused. RFC 9112 section 3 wants 8000 at least; servers take 8 KB.
pub const MAX_TARGET_BYTES: usize = 8 * 1024;

/// The largest number of fields in a head; a head with more is refused.
pub const MAX_HEAD_FIELDS: usize = 128;

/// The largest number of digits of a chunk's size: what fits into 64 bits, in hexadecimal.
pub const MAX_CHUNK_DIGITS: u8 = 16;

/// An error in the bytes.
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
    /// A request of a version of HTTP that is not supported.
    #[error("neither HTTP/1.0 nor HTTP/1.1")]
    Version,
    /// A `Content-Length` that is not a number, or two that differ.
    #[error("invalid Content-Length")]
    ContentLength,
    /// A chunk's size line or end is malformed.
    #[error("malformed chunk")]
    Chunk,
    /// A chunk's size has too many digits, leading zeros among them.
    #[error("a chunk's size of more than {MAX_CHUNK_DIGITS} digits")]
    ChunkSize,
    /// What stands beside the chunks does not end.
    #[error("chunk extensions or trailers of more than {MAX_HEAD_BYTES} bytes")]
    ChunkExtra,
    /// A switch of protocols that was not requested.
    #[error("unrequested switch of protocols (101)")]
    Upgrade,
    /// What came for an answer is no HTTP.
    #[error("the bytes are not an HTTP/1 answer")]
    NotHttp,
    /// What came for an answer is a frame of HTTP/2.
    #[error("the server speaks HTTP/2, which was not requested")]
    Http2,
    /// What came for an answer is a record of TLS.
    #[error("the server speaks TLS: write https:// in the URL")]
    Tls,
    /// What came for an answer of HTTP/2 is one of HTTP/1.
    #[error("the server answers in HTTP/1: it does not speak HTTP/2 without TLS")]
    Http1,
    /// The server closed before it said anything.
    #[error("the server closed the connection without a word of HTTP/2, which it may not speak without TLS")]
    NoHttp2,
    /// The peer breaks the rules of HTTP/2, or exceeds a bound.
    #[error("HTTP/2: {0}")]
    Frame(http2::frame::FrameError),
    /// The peer ended an HTTP/2 connection before the answer was whole, for a reason that it gave.
    #[error("the server ended the connection with GOAWAY, {0}")]
    GoAway(http2::frame::ErrorCode),
    /// A WebSocket can't be opened, or can't go on.
    #[error("WebSocket: {0}")]
    WebSocket(websocket::WebSocketError),
    /// What came is no answer of gRPC, or a message can't be sent.
    #[error("gRPC: {0}")]
    Grpc(GrpcError),
    /// A whole answer is followed by bytes that can't begin another one.
    #[error("{0}")]
    Excess(Ending),
    /// Bytes came before any request.
    #[error("bytes that no request asked for")]
    Unasked,
    /// What came while no request was open is a 408, with which a server says that it closes an idle connection.
    #[error("the server closes the idle connection")]
    EndsIdle,
    /// The peer closed before the message was whole.
    #[error("closed before the answer was whole")]
    Truncated,
}
