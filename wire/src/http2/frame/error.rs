//! Why streams and connections end.

use crate::http2::hpack::HpackError;
use std::fmt;

/// Why a stream or a connection ended (RFC 9113 section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCode(pub u32);

impl ErrorCode {
    #![expect(missing_docs, reason = "the names are the specification's")]
    pub const NO_ERROR: Self = Self(0);
    pub const PROTOCOL_ERROR: Self = Self(1);
    pub const INTERNAL_ERROR: Self = Self(2);
    pub const FLOW_CONTROL_ERROR: Self = Self(3);
    pub const SETTINGS_TIMEOUT: Self = Self(4);
    pub const STREAM_CLOSED: Self = Self(5);
    pub const FRAME_SIZE_ERROR: Self = Self(6);
    pub const REFUSED_STREAM: Self = Self(7);
    pub const CANCEL: Self = Self(8);
    pub const COMPRESSION_ERROR: Self = Self(9);
    pub const CONNECT_ERROR: Self = Self(10);
    pub const ENHANCE_YOUR_CALM: Self = Self(11);
    pub const INADEQUATE_SECURITY: Self = Self(12);
    pub const HTTP_1_1_REQUIRED: Self = Self(13);
}

impl ErrorCode {
    /// The name that the specification gives it.
    pub fn name(self) -> Option<&'static str> {
        CODE_NAMES.get(self.0 as usize).copied()
    }
}

/// The names of the codes from 0 on.
const CODE_NAMES: [&str; 14] = [
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
];

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => f.write_str(name),
            None => write!(f, "error {:#x}", self.0),
        }
    }
}

/// An error that ends the connection: what GOAWAY says, and what the peer did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} ({code})")]
pub struct FrameError {
    /// The reason.
    pub code: ErrorCode,
    /// The cause, in words.
    pub what: Cause,
}

/// What the peer did, in words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cause {
    /// Something with frames or streams.
    #[error("{0}")]
    Frame(&'static str),
    /// Something with header fields.
    #[error(transparent)]
    Fields(#[from] HpackError),
}

impl FrameError {
    /// An error with this reason and this cause.
    pub fn new(code: ErrorCode, what: &'static str) -> Self {
        Self { code, what: Cause::Frame(what) }
    }

    /// An error with the reason that fits most.
    pub fn protocol(what: &'static str) -> Self {
        Self::new(ErrorCode::PROTOCOL_ERROR, what)
    }
}

impl From<HpackError> for FrameError {
    fn from(error: HpackError) -> Self {
        let code = match error {
            HpackError::TooLong | HpackError::TooMany => ErrorCode::ENHANCE_YOUR_CALM,
            _ => ErrorCode::COMPRESSION_ERROR,
        };
        Self { code, what: Cause::Fields(error) }
    }
}

pub fn size_error(what: &'static str) -> FrameError {
    FrameError::new(ErrorCode::FRAME_SIZE_ERROR, what)
}

#[cold]
pub fn wrong_length() -> FrameError {
    size_error("a frame whose length does not fit its type")
}

#[cold]
pub fn window_error() -> FrameError {
    FrameError::new(ErrorCode::FLOW_CONTROL_ERROR, "a window of more than 2^31 - 1 bytes")
}

#[cold]
pub fn padding_error() -> FrameError {
    FrameError::protocol("padding that is longer than its frame")
}
