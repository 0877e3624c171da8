//! Integers with a prefix of N bits (RFC 7541 section 5.1).

use super::error::HpackError;

/// The most bytes behind the prefix: four carry 28 bits, more than any length that is taken here.
const MOST_BYTES: u32 = 4;

/// Reads an integer whose first byte is `first`, and takes the further bytes off `input`. `bits`: the length of the prefix, 1 to 8.
#[inline]
pub fn read_integer(first: u8, bits: u32, input: &mut &[u8]) -> Result<usize, HpackError> {
    let most = (1_usize << bits) - 1;
    let prefix = usize::from(first) & most;
    if prefix < most { Ok(prefix) } else { read_rest(most, input) }
}

fn read_rest(mut value: usize, input: &mut &[u8]) -> Result<usize, HpackError> {
    for n in 0..MOST_BYTES {
        let (&byte, rest) = input.split_first().ok_or(HpackError::Truncated)?;
        *input = rest;
        value += usize::from(byte & 0x7f) << (7 * n);
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(HpackError::Integer)
}

/// Writes an integer below 2^28. `first`: the bits of the first byte before the prefix.
pub fn write_integer(out: &mut Vec<u8>, first: u8, bits: u32, value: usize) {
    let most = (1_usize << bits) - 1;
    if value < most {
        out.push(first | value as u8);
        return;
    }
    out.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_come_back_in_every_prefix() {
        for bits in 1..=8 {
            for value in (0..600).chain([16_383, 16_384, (1 << 28) - 1]) {
                let mut out = Vec::new();
                write_integer(&mut out, 0, bits, value);
                let mut rest = &out[1..];
                assert_eq!((read_integer(out[0], bits, &mut rest), rest.len()), (Ok(value), 0));
            }
        }
    }

    #[test]
    fn examples_of_the_specification() {
        // RFC 7541 appendix C.1.
        for (bits, value, bytes) in [(5, 10, &[10][..]), (5, 1337, &[31, 154, 10]), (8, 42, &[42])] {
            let mut out = Vec::new();
            write_integer(&mut out, 0, bits, value);
            assert_eq!(out, bytes);
        }
    }

    #[test]
    fn integers_without_end_are_refused() {
        assert_eq!(read_integer(0x1f, 5, &mut &[0x80; 3][..]), Err(HpackError::Truncated));
        assert_eq!(read_integer(0x1f, 5, &mut &[0x80; 9][..]), Err(HpackError::Integer));
        assert_eq!(read_integer(0x1f, 5, &mut &[0xff, 0xff, 0xff, 0x7f][..]), Ok((1 << 28) - 1 + 31));
    }
}
