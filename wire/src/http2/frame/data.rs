//! Reads frames of DATA, whose payload is passed in place.

use super::error::{padding_error, wrong_length};
use super::{FrameError, FrameHead, flag};

/// Bytes of a frame of DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataPart<'a> {
    /// The stream.
    pub stream: u32,
    /// The bytes; empty only where the frame has none.
    pub bytes: &'a [u8],
    /// The number of bytes that are still to come of the frame, without padding.
    pub rest: u32,
    /// The bytes of the frame that count for flow control, all with its first part; 0 with the others.
    pub counted: u32,
    /// Whether nothing follows this frame on the stream.
    pub ends_stream: bool,
}

/// What is still to come of a frame of DATA.
#[derive(Clone, Copy, Debug, Default)]
pub struct Data {
    stream: u32,
    /// Further bytes of the body.
    content: u32,
    /// Further bytes of padding.
    padding: u8,
    /// The length of the padding has not arrived.
    awaits_padding: bool,
    /// Not all that the frame says has been passed on.
    is_open: bool,
    ends_stream: bool,
    /// See [`DataPart::counted`].
    counted: u32,
}

impl Data {
    pub fn from_head(head: FrameHead) -> Result<Self, FrameError> {
        let awaits_padding = head.has(flag::PADDED);
        if awaits_padding && head.length == 0 {
            return Err(wrong_length());
        }
        Ok(Self {
            stream: head.stream,
            content: head.length as u32,
            padding: 0,
            awaits_padding,
            is_open: true,
            ends_stream: head.has(flag::END_STREAM),
            counted: head.length as u32,
        })
    }

    /// Whether something of the frame is still to come.
    #[inline]
    pub fn is_pending(&self) -> bool {
        self.is_open || self.padding > 0
    }

    /// The next part. `None`: the frame is over, unless `input` is empty.
    #[inline]
    pub fn next<'a>(&mut self, input: &mut &'a [u8]) -> Result<Option<DataPart<'a>>, FrameError> {
        if self.awaits_padding {
            let Some((&padding, rest)) = input.split_first() else { return Ok(None) };
            *input = rest;
            let content = (self.content - 1).checked_sub(u32::from(padding)).ok_or_else(padding_error)?;
            (self.awaits_padding, self.padding, self.content) = (false, padding, content);
        }
        if self.is_open {
            let (bytes, rest) = input.split_at(input.len().min(self.content as usize));
            if bytes.is_empty() && self.content > 0 {
                return Ok(None);
            }
            *input = rest;
            self.content -= bytes.len() as u32;
            self.is_open = self.content > 0;
            return Ok(Some(DataPart {
                stream: self.stream,
                bytes,
                rest: self.content,
                counted: std::mem::take(&mut self.counted),
                ends_stream: self.ends_stream,
            }));
        }
        let skipped = input.len().min(usize::from(self.padding));
        *input = &input[skipped..];
        self.padding -= skipped as u8;
        Ok(None)
    }
}
