//! The chunked transfer coding (RFC 9112 section 7.1), a byte at a time between the data.

use crate::{MAX_CHUNK_DIGITS, MAX_HEAD_BYTES, WireError};

/// The position of the reader in a chunked body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunked {
    at: At,
    /// The size of the chunk: first as read so far, then what is left of it.
    size: u64,
    /// The number of digits of that size read so far; leading zeros count.
    digits: u8,
    /// The number of bytes of size lines' extensions and of trailers, which are bounded together.
    extra: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    /// Before the first digit of a size.
    SizeStart,
    Size,
    Extension,
    SizeEnd,
    Data,
    DataCr,
    DataLf,
    /// At the start of a trailer line, or of the empty line that ends the body.
    Trailer,
    TrailerLine,
    LastLf,
}

/// A piece of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Bytes of the body; never empty.
    Data(&'a [u8]),
    /// The end of the body.
    End,
}

impl Chunked {
    /// A reader at the start of a body.
    pub fn new() -> Self {
        Self { at: At::SizeStart, size: 0, digits: 0, extra: 0 }
    }

    /// The next piece; `None` when all of `input` is used up.
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, WireError> {
        while let Some((&byte, rest)) = input.split_first() {
            if self.at == At::Data {
                let n = usize::try_from(self.size).unwrap_or(usize::MAX).min(input.len());
                let (data, rest) = input.split_at(n);
                *input = rest;
                self.size -= n as u64;
                if self.size == 0 {
                    self.at = At::DataCr;
                }
                return Ok(Some(Piece::Data(data)));
            }
            *input = rest;
            if self.step(byte)? {
                return Ok(Some(Piece::End));
            }
        }
        Ok(None)
    }

    /// Takes one byte that is not data. True: the body is whole.
    fn step(&mut self, byte: u8) -> Result<bool, WireError> {
        self.at = match (self.at, byte) {
            (At::SizeStart | At::Size, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => {
                if self.digits == MAX_CHUNK_DIGITS {
                    return Err(WireError::ChunkSize);
                }
                let digit = (byte as char).to_digit(16).map_or(0, u64::from);
                self.size = self.size << 4 | digit;
                self.digits += 1;
                At::Size
            }
            (At::Size | At::Extension, b'\r') => At::SizeEnd,
            (At::Size | At::Extension | At::SizeEnd, b'\n') => {
                if self.size == 0 {
                    At::Trailer
                } else {
                    At::Data
                }
            }
            (At::Size, b';' | b' ' | b'\t') | (At::Extension, _) => self.count(At::Extension)?,
            (At::DataCr, b'\r') => At::DataLf,
            (At::DataCr | At::DataLf, b'\n') => {
                self.digits = 0;
                At::SizeStart
            }
            (At::Trailer, b'\r') => At::LastLf,
            (At::Trailer | At::LastLf, b'\n') => return Ok(true),
            (At::TrailerLine, b'\n') => At::Trailer,
            (At::Trailer | At::TrailerLine, _) => self.count(At::TrailerLine)?,
            _ => return Err(WireError::Chunk),
        };
        Ok(false)
    }

    fn count(&mut self, at: At) -> Result<At, WireError> {
        self.extra += 1;
        if self.extra > MAX_HEAD_BYTES { Err(WireError::ChunkExtra) } else { Ok(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(mut input: &[u8]) -> Result<(Vec<u8>, bool, usize), WireError> {
        let (mut chunked, mut body) = (Chunked::new(), Vec::new());
        while let Some(piece) = chunked.next(&mut input)? {
            match piece {
                Piece::Data(data) => body.extend_from_slice(data),
                Piece::End => return Ok((body, true, input.len())),
            }
        }
        Ok((body, false, 0))
    }

    #[test]
    fn extensions_and_trailers_are_passed_over() {
        let input = b"4;a=b\r\nWiki\r\n5 \r\npedia\r\n0\r\nX: y\r\nZ: w\r\n\r\nNEXT";
        assert_eq!(read(input), Ok((b"Wikipedia".to_vec(), true, 4)));
    }

    #[test]
    fn what_is_malformed_is_refused() {
        for bad in [&b"\r\n"[..], b"g\r\n", b"-1\r\n", b"1\r\nab", b"1\rx", b"0\r\n\rx"] {
            assert_eq!(read(bad), Err(WireError::Chunk), "{}", String::from_utf8_lossy(bad));
        }
        let endless = [b"1;".as_slice(), &[b'x'; MAX_HEAD_BYTES + 1]].concat();
        assert_eq!(read(&endless), Err(WireError::ChunkExtra));
    }
}
