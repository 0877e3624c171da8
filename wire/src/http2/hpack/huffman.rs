//! The Huffman code (RFC 7541 appendix B). It is canonical: the lengths of the codes say all, so the tables are made from them when the
//! program is compiled.

use super::error::HpackError;

/// The number of bits of each symbol's code: the 256 bytes, then the end of string.
const LENGTHS: [u8; 257] = [
    13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28,
    28, 28, 28, 28, 28, 28, 6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6,
    6, 6, 7, 8, 15, 6, 12, 10, 13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7,
    8, 13, 19, 13, 14, 6, 15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7,
    15, 11, 14, 13, 28, 20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24,
    23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24, 22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23,
    23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23, 26, 26, 20, 19, 22, 23, 22, 25, 26,
    26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27, 20, 24, 20,
    21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27,
    27, 27, 26, 30,
];

const END_OF_STRING: u16 = 256;
const LONGEST: usize = 30;

/// The number of bits that are looked up at once. The codes of almost all bytes that fields consist of are no longer.
const SHORT: u32 = 8;

struct Code {
    /// The code of each symbol, in its lowest bits.
    codes: [u32; 257],
    /// The symbols in the order of their codes.
    ordered: [u16; 257],
    /// By length: the first code of that length, at the top of 32 bits; the code that follows the last one, likewise; and the position of
    /// the first one's symbol among the ordered ones.
    lengths: [(u32, u64, u16); LONGEST + 1],
    /// By the next bits: the symbol whose code they begin with, and its length; 0 where the code is longer.
    short: [(u8, u8); 1 << SHORT],
}

static CODE: Code = Code::new();

impl Code {
    const fn new() -> Self {
        let mut code = Self {
            codes: [0; 257],
            ordered: [0; 257],
            lengths: [(0, 0, 0); LONGEST + 1],
            short: [(0, 0); 1 << SHORT],
        };
        let (mut next, mut position, mut length) = (0_u64, 0, 1);
        while length <= LONGEST {
            let first = next;
            code.lengths[length].2 = position as u16;
            let mut symbol = 0;
            while symbol < LENGTHS.len() {
                if LENGTHS[symbol] as usize == length {
                    code.codes[symbol] = next as u32;
                    code.ordered[position] = symbol as u16;
                    if length as u32 <= SHORT {
                        let free = SHORT - length as u32;
                        let mut at = (next as usize) << free;
                        while at < (next as usize + 1) << free {
                            code.short[at] = (symbol as u8, length as u8);
                            at += 1;
                        }
                    }
                    next += 1;
                    position += 1;
                }
                symbol += 1;
            }
            code.lengths[length].0 = (first << (32 - length)) as u32;
            code.lengths[length].1 = next << (32 - length);
            next <<= 1;
            length += 1;
        }
        code
    }
}

/// Decodes a string, and appends it to `out`.
pub fn huffman_decode(input: &[u8], out: &mut Vec<u8>) -> Result<(), HpackError> {
    // No code has fewer than 5 bits.
    out.reserve(input.len() * 8 / 5);
    let (mut rest, mut bits, mut held) = (input, 0_u64, 0_u32);
    loop {
        // The next bits are at the top of 64, with zeros behind.
        if held < 32 {
            if let Some((four, behind)) = rest.split_first_chunk() {
                bits |= u64::from(u32::from_be_bytes(*four)) << (32 - held);
                (rest, held) = (behind, held + 32);
            } else {
                for byte in std::mem::take(&mut rest) {
                    bits |= u64::from(*byte) << (56 - held);
                    held += 8;
                }
            }
        }
        let (symbol, length) = CODE.short[(bits >> (64 - SHORT)) as usize];
        let (symbol, length) = match u32::from(length) {
            0 => long_code((bits >> 32) as u32),
            length => (u16::from(symbol), length),
        };
        if length > held {
            return is_padding(bits, held).then_some(()).ok_or(HpackError::Huffman);
        }
        if symbol == END_OF_STRING {
            return Err(HpackError::Huffman);
        }
        out.push(symbol as u8);
        bits <<= length;
        held -= length;
    }
}

/// The symbol of more than eight bits with which these bits begin, and the length of its code.
#[cold]
fn long_code(bits: u32) -> (u16, u32) {
    for (length, (first, end, position)) in CODE.lengths.iter().enumerate().skip(SHORT as usize + 1) {
        if u64::from(bits) < *end && bits >= *first {
            let nth = (bits - first) >> (32 - length);
            return (CODE.ordered[usize::from(*position) + nth as usize], length as u32);
        }
    }
    (END_OF_STRING, LONGEST as u32)
}

/// Whether the last bits are the start of the end of string, and fewer than eight (RFC 7541 section 5.2).
fn is_padding(bits: u64, held: u32) -> bool {
    held < 8 && bits.leading_ones() >= held
}

/// The number of bytes of a string in this code.
pub fn huffman_length(bytes: &[u8]) -> usize {
    bytes.iter().map(|byte| usize::from(LENGTHS[usize::from(*byte)])).sum::<usize>().div_ceil(8)
}

/// Appends a string in this code to `out`.
pub fn huffman_encode(bytes: &[u8], out: &mut Vec<u8>) {
    let (mut bits, mut held) = (0_u64, 0_u32);
    for byte in bytes {
        let length = u32::from(LENGTHS[usize::from(*byte)]);
        bits = bits << length | u64::from(CODE.codes[usize::from(*byte)]);
        held += length;
        while held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
        }
    }
    if held > 0 {
        out.push((bits << (8 - held)) as u8 | 0xff >> held);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(input: &[u8]) -> Result<Vec<u8>, HpackError> {
        let mut out = Vec::new();
        huffman_decode(input, &mut out).map(|()| out)
    }

    #[test]
    fn the_code_is_complete_and_some_of_it_is_as_printed() {
        let kraft: u64 = LENGTHS.iter().map(|length| 1_u64 << (LONGEST - usize::from(*length))).sum();
        assert_eq!(kraft, 1 << LONGEST);
        // RFC 7541 appendix B.
        for (symbol, code) in
            [(b'0', 0), (b'a', 3), (b'&', 0xf8), (b'X', 0xfc), (0, 0x1ff8), (255, 0x3ff_ffee)]
        {
            assert_eq!(CODE.codes[usize::from(symbol)], code, "{symbol}");
        }
        assert_eq!(CODE.codes[usize::from(END_OF_STRING)], 0x3fff_ffff);
    }

    #[test]
    fn every_byte_comes_back() {
        let all: Vec<u8> = (0..=255).collect();
        let mut coded = Vec::new();
        huffman_encode(&all, &mut coded);
        assert_eq!(coded.len(), huffman_length(&all));
        assert_eq!(decoded(&coded), Ok(all));
    }

    #[test]
    fn padding_is_less_than_a_byte_of_ones() {
        assert_eq!(decoded(&[0b0001_1111]), Ok(b"a".to_vec()));
        assert_eq!(decoded(&[]), Ok(Vec::new()));
        // A zero among it; a byte of it; more of it; the end of string.
        for bad in [&[0b0001_1110][..], &[0xff], &[0b0001_1111, 0xff], &[0xff, 0xff, 0xff, 0xff], &[0xff; 8]]
        {
            assert_eq!(decoded(bad), Err(HpackError::Huffman), "{bad:?}");
        }
    }

    proptest! {
        #[test]
        fn strings_come_back(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let mut coded = Vec::new();
            huffman_encode(&bytes, &mut coded);
            prop_assert_eq!(coded.len(), huffman_length(&bytes));
            prop_assert_eq!(decoded(&coded), Ok(bytes));
        }

        #[test]
        fn what_decodes_is_what_would_be_encoded(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(out) = decoded(&bytes) {
                let mut coded = Vec::new();
                huffman_encode(&out, &mut coded);
                prop_assert_eq!(coded, bytes);
            }
        }
    }
}
