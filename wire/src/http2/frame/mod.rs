//! Frames (RFC 9113 sections 4 and 6): their parts, how they are read and how they are written.

mod data;
mod flood;
mod reader;
mod settings;
mod writer;

pub use data::DataPart;
pub use flood::IdleFrames;
pub use reader::{Frame, FrameReader};
pub use settings::{Parameter, SettingsPayload};
pub use writer::{
    append_block, append_data, append_frame_head, append_goaway, append_ping_ack, append_reset,
    append_settings, append_settings_ack, append_window_update,
};

use std::fmt;

/// The first bytes of a client (RFC 9113 section 3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The length of a frame's head.
pub const FRAME_HEAD_BYTES: usize = 9;

/// The longest payload of a frame, unless SETTINGS say otherwise; what this crate accepts always.
pub const MAX_FRAME_BYTES: usize = 16_384;

/// The bytes that may be sent on a stream, and on a connection, before SETTINGS or `WINDOW_UPDATE` say otherwise.
pub const DEFAULT_WINDOW: u32 = 65_535;

/// The largest window.
pub const MAX_WINDOW: u32 = (1 << 31) - 1;

/// The largest number of a stream.
pub const MAX_STREAM: u32 = (1 << 31) - 1;

/// The most frames of CONTINUATION for one block of header fields.
pub const MAX_CONTINUATIONS: u8 = 64;

/// The most frames in a row that bring nothing: [`IdleFrames`].
pub const MAX_IDLE_FRAMES: u32 = 4096;

/// The types of frames (RFC 9113 section 6).
pub mod kind {
    #![expect(missing_docs, reason = "the names are the specification's")]
    pub const DATA: u8 = 0;
    pub const HEADERS: u8 = 1;
    pub const PRIORITY: u8 = 2;
    pub const RST_STREAM: u8 = 3;
    pub const SETTINGS: u8 = 4;
    pub const PUSH_PROMISE: u8 = 5;
    pub const PING: u8 = 6;
    pub const GOAWAY: u8 = 7;
    pub const WINDOW_UPDATE: u8 = 8;
    pub const CONTINUATION: u8 = 9;
}

/// The flags of frames.
pub mod flag {
    #![expect(missing_docs, reason = "the names are the specification's")]
    pub const ACK: u8 = 1;
    pub const END_STREAM: u8 = 1;
    pub const END_HEADERS: u8 = 4;
    pub const PADDED: u8 = 8;
    pub const PRIORITY: u8 = 32;
}

/// The head of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameHead {
    /// The length of the payload.
    pub length: usize,
    /// The type.
    pub kind: u8,
    /// The flags.
    pub flags: u8,
    /// The stream; 0: the connection.
    pub stream: u32,
}

impl FrameHead {
    /// Reads a head.
    #[inline]
    pub fn from_bytes(bytes: [u8; FRAME_HEAD_BYTES]) -> Self {
        let [high, middle, low, kind, flags, stream @ ..] = bytes;
        let length = u32::from_be_bytes([0, high, middle, low]) as usize;
        Self { length, kind, flags, stream: u32::from_be_bytes(stream) & MAX_STREAM }
    }

    /// Whether this flag is set.
    #[inline]
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }
}

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
    Fields(#[from] super::hpack::HpackError),
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

impl From<super::hpack::HpackError> for FrameError {
    fn from(error: super::hpack::HpackError) -> Self {
        use super::hpack::HpackError::{TooLong, TooMany};
        let code = match error {
            TooLong | TooMany => ErrorCode::ENHANCE_YOUR_CALM,
            _ => ErrorCode::COMPRESSION_ERROR,
        };
        Self { code, what: Cause::Fields(error) }
    }
}
