//! What can be wrong with a block of header fields.

use crate::{MAX_HEAD_BYTES, MAX_HEAD_FIELDS};

/// An error in a block. No further block of the connection can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HpackError {
    /// The block ends within a field.
    #[error("a block of header fields that ends within a field")]
    Truncated,
    /// An integer with too many bytes.
    #[error("an integer of too many bytes in header fields")]
    Integer,
    /// An index that no table has.
    #[error("an index beyond the tables of header fields")]
    Index,
    /// A string that is not in the Huffman code, or is not padded as it must be.
    #[error("malformed Huffman code in header fields")]
    Huffman,
    /// A new size of the dynamic table that is above its limit, or not at the start of a block.
    #[error("a size of the table of header fields that is not allowed here")]
    TableSize,
    /// The fields are too long.
    #[error("header fields of more than {MAX_HEAD_BYTES} bytes")]
    TooLong,
    /// There are too many fields.
    #[error("more than {MAX_HEAD_FIELDS} header fields")]
    TooMany,
}
