//! The parameters of SETTINGS (RFC 9113 section 6.5.2).

use super::{ErrorCode, FrameError, MAX_FRAME_BYTES, MAX_WINDOW};

/// A parameter that is known, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// The largest dynamic table that the peer's decoder may be made to have.
    HeaderTableSize(u32),
    /// Whether the peer takes pushed streams.
    EnablePush(bool),
    /// The most streams that may be open at once.
    MaxConcurrentStreams(u32),
    /// The window of each stream: at most [`MAX_WINDOW`].
    InitialWindowSize(u32),
    /// The longest payload of a frame: 2^14 to 2^24 − 1.
    MaxFrameSize(u32),
    /// The longest list of header fields, as a piece of advice.
    MaxHeaderListSize(u32),
}

impl Parameter {
    /// The parameter with this number; `None`: an unknown one, which means nothing. Errors: a value that is not allowed.
    fn from_parts(number: u16, value: u32) -> Result<Option<Self>, FrameError> {
        Ok(Some(match number {
            1 => Self::HeaderTableSize(value),
            2 if value > 1 => return Err(FrameError::protocol("SETTINGS_ENABLE_PUSH is neither 0 nor 1")),
            2 => Self::EnablePush(value == 1),
            3 => Self::MaxConcurrentStreams(value),
            4 if value > MAX_WINDOW => {
                let what = "SETTINGS_INITIAL_WINDOW_SIZE is above 2^31 - 1";
                return Err(FrameError::new(ErrorCode::FLOW_CONTROL_ERROR, what));
            }
            4 => Self::InitialWindowSize(value),
            5 if !(MAX_FRAME_BYTES as u32..1 << 24).contains(&value) => {
                return Err(FrameError::protocol("SETTINGS_MAX_FRAME_SIZE is not within 2^14 and 2^24 - 1"));
            }
            5 => Self::MaxFrameSize(value),
            6 => Self::MaxHeaderListSize(value),
            _ => return Ok(None),
        }))
    }

    /// The number and the value.
    pub fn parts(self) -> (u16, u32) {
        match self {
            Self::HeaderTableSize(value) => (1, value),
            Self::EnablePush(is_enabled) => (2, u32::from(is_enabled)),
            Self::MaxConcurrentStreams(value) => (3, value),
            Self::InitialWindowSize(value) => (4, value),
            Self::MaxFrameSize(value) => (5, value),
            Self::MaxHeaderListSize(value) => (6, value),
        }
    }
}

/// The parameters of one frame, whose length fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsPayload<'h>(pub(super) &'h [u8]);

impl SettingsPayload<'_> {
    /// The parameters that are known, in their order.
    pub fn parameters(&self) -> impl Iterator<Item = Result<Parameter, FrameError>> {
        self.0.as_chunks::<6>().0.iter().filter_map(|[a, b, c, d, e, f]| {
            Parameter::from_parts(u16::from_be_bytes([*a, *b]), u32::from_be_bytes([*c, *d, *e, *f]))
                .transpose()
        })
    }
}
