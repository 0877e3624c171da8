//! Encodes header fields without a dynamic table: the same fields are always the same bytes, on every connection.

use super::fixed::fixed_index;
use super::huffman::{huffman_encode, huffman_length};
use super::integer::write_integer;

/// At the start of a block: this encoder's dynamic table is empty and stays so. Must be written before the first block that follows a
/// SETTINGS with a smaller table than the default (RFC 7541 section 4.2), and may be written otherwise.
pub const NO_DYNAMIC_TABLE: u8 = 0x20;

/// Appends a field to a block. The name must be in small letters.
pub fn write_field(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    match fixed_index(name, value) {
        Some((index, true)) => return write_integer(out, 0x80, 7, index),
        Some((index, false)) => write_integer(out, 0, 4, index),
        None => {
            out.push(0);
            write_text(out, name);
        }
    }
    write_text(out, value);
}

/// Appends the field with which an answer begins.
pub fn write_status(out: &mut Vec<u8>, status: u16) {
    write_field(out, b":status", status.to_string().as_bytes());
}

/// Appends a string, in Huffman's code where that is shorter.
fn write_text(out: &mut Vec<u8>, text: &[u8]) {
    let length = huffman_length(text);
    if length < text.len() {
        write_integer(out, 0x80, 7, length);
        huffman_encode(text, out);
    } else {
        write_integer(out, 0, 7, text.len());
        out.extend_from_slice(text);
    }
}
