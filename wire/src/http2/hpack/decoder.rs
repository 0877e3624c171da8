//! Decodes blocks of header fields. Nothing is allocated for a block: fields are borrowed from it, from a table, or from memory that the
//! caller lends.

use super::FIELD_OVERHEAD_BYTES;
use super::dynamic::DynamicTable;
use super::error::HpackError;
use super::fixed::{FIXED, fixed_field};
use super::huffman::huffman_decode;
use super::integer::read_integer;
use crate::{MAX_HEAD_BYTES, MAX_HEAD_FIELDS};
use std::ops::Range;

/// Reads the blocks of one direction of one connection, in their order.
#[derive(Debug, Default)]
pub struct HpackDecoder {
    table: DynamicTable,
}

/// The most bytes of fields that are decoded of one block, in order to read the next one: what is beyond [`MAX_HEAD_BYTES`] goes nowhere.
pub const MAX_DECODED_BYTES: usize = 4 * MAX_HEAD_BYTES;

/// What a whole block was like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Whether the block neither used nor changed the dynamic table: the same bytes always mean the same fields then.
    pub is_fixed: bool,
    /// Whether it did not change the dynamic table: the same bytes mean the same until another block does.
    pub keeps_table: bool,
    /// What was too much, so that not all fields were passed on.
    pub excess: Option<HpackError>,
}

/// A string of a field.
enum Text<'a> {
    Block(&'a [u8]),
    Scratch(Range<usize>),
}

impl<'a> Text<'a> {
    fn bytes<'s>(&self, scratch: &'s [u8]) -> &'s [u8]
    where
        'a: 's,
    {
        match self {
            Self::Block(bytes) => bytes,
            Self::Scratch(range) => scratch.get(range.clone()).unwrap_or_default(),
        }
    }
}

impl HpackDecoder {
    /// A decoder whose SETTINGS announced this size of the dynamic table.
    pub fn with_limit(limit: u16) -> Self {
        Self { table: DynamicTable::with_limit(limit) }
    }

    /// Calls `field` with the name and the value of each field. `scratch`: memory to work in; its content means nothing. Too many fields, or
    /// too long ones, are an error.
    #[inline]
    pub fn decode(
        &mut self,
        block: &[u8],
        scratch: &mut Vec<u8>,
        field: impl FnMut(&[u8], &[u8]),
    ) -> Result<Decoded, HpackError> {
        let decoded = self.decode_some(block, scratch, field)?;
        decoded.excess.map_or(Ok(decoded), Err)
    }

    /// The same, but what is too much is left out, so that further blocks can be read; up to [`MAX_DECODED_BYTES`].
    #[inline]
    pub fn decode_some(
        &mut self,
        mut block: &[u8],
        scratch: &mut Vec<u8>,
        mut field: impl FnMut(&[u8], &[u8]),
    ) -> Result<Decoded, HpackError> {
        let (mut is_fixed, mut keeps_table, mut count, mut size) = (true, true, 0, 0);
        let mut excess = None;
        while let Some((&first, rest)) = block.split_first() {
            block = rest;
            if first >> 5 == 0b001 {
                let max_size = read_integer(first, 5, &mut block)?;
                (is_fixed, keeps_table) = (false, false);
                if count > 0 || !self.table.resize(max_size) {
                    return Err(HpackError::TableSize);
                }
                continue;
            }
            count += 1;
            if count > MAX_HEAD_FIELDS {
                excess = excess.or(Some(HpackError::TooMany));
            }
            let mut visit = |name: &[u8], value: &[u8]| {
                size += name.len() + value.len() + FIELD_OVERHEAD_BYTES;
                if size > MAX_HEAD_BYTES {
                    excess = excess.or(Some(HpackError::TooLong));
                }
                if size > MAX_DECODED_BYTES {
                    return Err(HpackError::TooLong);
                }
                if excess.is_none() {
                    field(name, value);
                }
                Ok(())
            };
            if first >= 0x80 {
                let index = read_integer(first, 7, &mut block)?;
                is_fixed &= index <= FIXED.len();
                let (name, value) = self.get(index)?;
                visit(name, value)?;
            } else {
                is_fixed &= self.literal(first, &mut block, scratch, visit)?;
                keeps_table &= first & 0x40 == 0;
            }
        }
        Ok(Decoded { is_fixed, keeps_table, excess })
    }

    /// Reads a field whose value is written out. True: it has nothing to do with the dynamic table.
    fn literal(
        &mut self,
        first: u8,
        block: &mut &[u8],
        scratch: &mut Vec<u8>,
        mut visit: impl FnMut(&[u8], &[u8]) -> Result<(), HpackError>,
    ) -> Result<bool, HpackError> {
        let is_inserted = first & 0x40 != 0;
        let index = read_integer(first, if is_inserted { 6 } else { 4 }, block)?;
        scratch.clear();
        let name = if index == 0 {
            read_text(block, scratch)?
        } else {
            // Copied, because the entry may have to go for the one that takes its name.
            scratch.extend_from_slice(self.get(index)?.0);
            Text::Scratch(0..scratch.len())
        };
        let value = read_text(block, scratch)?;
        let (name, value) = (name.bytes(scratch), value.bytes(scratch));
        visit(name, value)?;
        if is_inserted {
            self.table.insert(name, value);
        }
        Ok(!is_inserted && index <= FIXED.len())
    }

    #[inline]
    fn get(&self, index: usize) -> Result<(&[u8], &[u8]), HpackError> {
        let field = match index.checked_sub(FIXED.len() + 1) {
            None => fixed_field(index),
            Some(index) => self.table.get(index),
        };
        field.ok_or(HpackError::Index)
    }
}

/// Reads a string; one in Huffman's code is appended to `scratch`.
fn read_text<'a>(block: &mut &'a [u8], scratch: &mut Vec<u8>) -> Result<Text<'a>, HpackError> {
    let (&first, rest) = block.split_first().ok_or(HpackError::Truncated)?;
    *block = rest;
    let length = read_integer(first, 7, block)?;
    let (bytes, rest) = block.split_at_checked(length).ok_or(HpackError::Truncated)?;
    *block = rest;
    if first < 0x80 {
        return Ok(Text::Block(bytes));
    }
    let start = scratch.len();
    huffman_decode(bytes, scratch)?;
    Ok(Text::Scratch(start..scratch.len()))
}
