//! Frames (RFC 9113 sections 4 and 6): their parts, how they are read and how they are written.

mod data;
mod error;
mod flood;
mod reader;
mod settings;
mod writer;

pub use data::DataPart;
pub(super) use error::window_error;
pub use error::{Cause, ErrorCode, FrameError};
pub use flood::IdleFrames;
pub use reader::{Frame, FrameReader};
pub use settings::{Parameter, SettingsPayload};
pub use writer::{
    append_block, append_data, append_frame_head, append_goaway, append_ping_ack, append_reset,
    append_settings, append_settings_ack, append_window_update,
};

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
