//! Messages and their frames: a length (u32, little-endian, of what follows), and the message as JSON. Any bytes can be read without a
//! panic, and memory is taken only for bytes that have arrived.

use crate::{Hello, text};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::io::Read;

/// The largest size of a frame from an agent, in bytes: 16 MiB.
pub const MOST_FRAME_BYTES: usize = 16 << 20;

/// The largest size of a frame to an agent, in bytes: 256 MiB. The bodies that a load sends and expects are in one request.
pub const MOST_REQUEST_BYTES: usize = 256 << 20;

/// The largest size of the first frame, in bytes. A login may print text before drome does; read as a length, the first four bytes of text
/// are always larger than this.
pub(crate) const MOST_HELLO_BYTES: usize = 64 << 10;

/// The size of the length at the start of a frame, in bytes.
const LENGTH_BYTES: usize = 4;

/// A message from one side to the other. `id` is the number of the request that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Message {
    Hello(Hello),
    Request {
        id: u64,
        name: String,
        json: Value,
    },
    /// The request's answer.
    Reply {
        id: u64,
        json: Value,
    },
    Failed {
        id: u64,
        text: String,
    },
    Event {
        id: u64,
        json: Value,
    },
    ClockAsk {
        id: u64,
    },
    /// The clock of the side that was asked, in ns.
    ClockAnswer {
        id: u64,
        ns: u64,
    },
    /// A heartbeat: the side that sends it is alive and has nothing else to send.
    Beat,
    /// All running requests must stop.
    Stop,
    /// There are no more messages.
    Goodbye,
}

/// Why no message can be read.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum Broken {
    #[error("a frame of {0} bytes is longer than any may be")]
    TooLong(usize),
    #[error("the other side ended in the middle of a message")]
    Cut,
    #[error("what came is no message of drome: {0}")]
    Malformed(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Message {
    /// Encodes the message as a frame. It may be longer than the other side accepts.
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0; LENGTH_BYTES];
        // A value of JSON, or a plain structure, can always be written into memory.
        let _ = serde_json::to_writer(&mut frame, self);
        let length = (frame.len() - LENGTH_BYTES) as u32;
        frame[..LENGTH_BYTES].copy_from_slice(&length.to_le_bytes());
        frame
    }

    /// Reads the next message, whose frame has at most `most` bytes. `None`: the other side ended between two messages.
    pub fn read(input: &mut impl Read, most: usize) -> Result<Option<Self>, Broken> {
        let mut length = Vec::with_capacity(LENGTH_BYTES);
        input.by_ref().take(LENGTH_BYTES as u64).read_to_end(&mut length)?;
        let length: [u8; LENGTH_BYTES] = match <[u8; LENGTH_BYTES]>::try_from(&length[..]) {
            Ok(length) => length,
            Err(_) if length.is_empty() => return Ok(None),
            Err(_) => return Err(Broken::Cut),
        };
        let length = u32::from_le_bytes(length) as usize;
        if length > most {
            return Err(Broken::TooLong(length));
        }
        // The buffer grows with the bytes that arrive, not with the length that is announced.
        let mut body = Vec::new();
        input.by_ref().take(length as u64).read_to_end(&mut body)?;
        if body.len() < length {
            return Err(Broken::Cut);
        }
        // The error may repeat what came.
        let message = serde_json::from_slice(&body);
        message.map(Some).map_err(|error| Broken::Malformed(text::line(&error.to_string())))
    }
}
