//! The body of a message, request or answer, as it arrives.

use crate::WireError;
use crate::chunked::{Chunked, Piece};

/// What is still to come of a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// This number of bytes.
    Sized(u64),
    /// Chunks.
    Chunked(Chunked),
    /// Everything until the connection ends.
    UntilClose,
}

impl Body {
    /// The next piece; `None` when all of `input` is used up.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<Piece<'a>>, WireError> {
        match self {
            Self::Sized(0) => Ok(Some(Piece::End)),
            Self::Sized(_) | Self::UntilClose if input.is_empty() => Ok(None),
            Self::Sized(left) => {
                let n = usize::try_from(*left).unwrap_or(usize::MAX).min(input.len());
                let (data, rest) = input.split_at(n);
                *input = rest;
                *left -= n as u64;
                Ok(Some(Piece::Data(data)))
            }
            Self::Chunked(chunked) => chunked.next(input),
            Self::UntilClose => Ok(Some(Piece::Data(std::mem::take(input)))),
        }
    }
}
