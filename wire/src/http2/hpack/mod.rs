//! HPACK: header fields, compressed (RFC 7541). The decoder knows all of it; the encoder uses no dynamic table.

mod decoder;
mod dynamic;
mod encoder;
mod error;
mod fixed;
mod huffman;
mod integer;

pub use decoder::{Decoded, HpackDecoder, MAX_DECODED_BYTES};
pub use encoder::{NO_DYNAMIC_TABLE, write_field, write_status};
pub use error::HpackError;
pub use huffman::{huffman_decode, huffman_encode, huffman_length};

/// The size of a dynamic table unless a peer's SETTINGS say otherwise (RFC 9113 section 6.5.2).
pub const DEFAULT_TABLE_BYTES: u16 = 4096;

/// What each field counts beside its name and its value, in tables and in lists (RFC 7541 section 4.1).
pub const FIELD_OVERHEAD_BYTES: usize = 32;
