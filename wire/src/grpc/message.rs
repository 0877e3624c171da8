//! Messages as they are sent: with a prefix. And what can be wrong with them.

use crate::http2::hpack::write_field;
use crate::{RequestHead, WireError};

/// The bytes before a message: whether it is compressed, and its length.
pub const PREFIX_BYTES: usize = 5;

/// Why what came is no answer to a unary call, or why a message can't be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GrpcError {
    /// A request's message is longer than its prefix can say.
    #[error("a message of 4 GiB or more")]
    TooLong,
    /// The answer ended without trailers, or they say nothing of success.
    #[error("no grpc-status at the end of the answer")]
    NoStatus,
    /// Success without a message.
    #[error("grpc-status 0 and no message")]
    NoMessage,
    /// The answer ended within its message.
    #[error("grpc-status 0 and a message that is shorter than its prefix announces")]
    Short,
    /// More bytes came than one message has.
    #[error("grpc-status 0 and more than one message")]
    Excess,
    /// The first byte of the prefix is 1.
    #[error("a compressed message, although no compression was offered")]
    Compressed,
    /// The first byte of the prefix is neither 0 nor 1.
    #[error("a message whose prefix begins with neither 0 nor 1")]
    Flag,
}

/// Writes the prefix of the message behind it.
pub fn write_prefix(body: &mut [u8]) -> Result<(), WireError> {
    let length = u32::try_from(body.len() - PREFIX_BYTES).map_err(|_| WireError::Grpc(GrpcError::TooLong))?;
    body[1..PREFIX_BYTES].copy_from_slice(&length.to_be_bytes());
    Ok(())
}

/// Whether these bytes are exactly one message, uncompressed, with its prefix.
pub fn is_message(bytes: &[u8]) -> bool {
    match bytes.split_first_chunk::<PREFIX_BYTES>() {
        Some(([0, length @ ..], message)) => message.len() == u32::from_be_bytes(*length) as usize,
        _ => false,
    }
}

/// Adds the fields that a call has beside those of the request.
pub fn write_fields(block: &mut Vec<u8>, head: &RequestHead<'_>) {
    if !head.fields().any(|(name, _)| name.eq_ignore_ascii_case("content-type")) {
        write_field(block, b"content-type", b"application/grpc");
    }
    write_field(block, b"te", b"trailers");
}
