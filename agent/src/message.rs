//! Messages and their frames: a length (u32, little-endian, of what follows), a kind (u8) and a body. Any bytes can be read without a
//! panic, and memory is taken only for bytes that have arrived.

use crate::Hello;
use serde_json::Value;
use std::io::Read;

/// The largest size of a frame, in bytes: 16 MiB.
pub const MOST_FRAME_BYTES: usize = 16 << 20;

/// The largest size of the first frame, in bytes. A login may print text before drome does; read as a length, the first four bytes of text
/// are always larger than this.
pub(crate) const MOST_HELLO_BYTES: usize = 64 << 10;

/// The size of the length at the start of a frame, in bytes.
const LENGTH_BYTES: usize = 4;

/// A message from one side to the other. `id` is the number of the request that it belongs to.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Message {
    Hello(Hello),
    Request {
        id: u64,
        name: String,
        json: Value,
    },
    /// The request's answer, or the acknowledgement of a part of a blob.
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
    /// A part of a blob: bytes that a later request names by this `id`. Each part is acknowledged; an empty one ends the blob.
    Blob {
        id: u64,
        bytes: Vec<u8>,
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
    #[error("{0}")]
    Malformed(String),
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Message {
    /// Encodes the message as a frame. It may be longer than [`MOST_FRAME_BYTES`]; then the other side would refuse it.
    pub fn frame(&self) -> Vec<u8> {
        let mut frame = vec![0; LENGTH_BYTES];
        frame.push(self.kind());
        match self {
            Self::Hello(hello) => write_json(&mut frame, hello),
            Self::Request { id, name, json } => {
                // Names are drome's own and short.
                let name = &name.as_bytes()[..name.len().min(255)];
                frame.extend_from_slice(&id.to_le_bytes());
                frame.push(name.len() as u8);
                frame.extend_from_slice(name);
                write_json(&mut frame, json);
            }
            Self::Reply { id, json } | Self::Event { id, json } => {
                frame.extend_from_slice(&id.to_le_bytes());
                write_json(&mut frame, json);
            }
            Self::Failed { id, text } => {
                frame.extend_from_slice(&id.to_le_bytes());
                frame.extend_from_slice(text.as_bytes());
            }
            Self::Blob { id, bytes } => {
                frame.extend_from_slice(&id.to_le_bytes());
                frame.extend_from_slice(bytes);
            }
            Self::ClockAsk { id } => frame.extend_from_slice(&id.to_le_bytes()),
            Self::ClockAnswer { id, ns } => {
                frame.extend_from_slice(&id.to_le_bytes());
                frame.extend_from_slice(&ns.to_le_bytes());
            }
            Self::Beat | Self::Stop | Self::Goodbye => {}
        }
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
        Self::parse(&body).map(Some)
    }

    fn kind(&self) -> u8 {
        match self {
            Self::Hello(_) => 1,
            Self::Request { .. } => 2,
            Self::Reply { .. } => 3,
            Self::Failed { .. } => 4,
            Self::Event { .. } => 5,
            Self::Blob { .. } => 6,
            Self::ClockAsk { .. } => 7,
            Self::ClockAnswer { .. } => 8,
            Self::Beat => 9,
            Self::Stop => 10,
            Self::Goodbye => 11,
        }
    }

    fn parse(frame: &[u8]) -> Result<Self, Broken> {
        let Some((kind, mut body)) = frame.split_first() else { return Err(malformed("a frame is empty")) };
        let message = match kind {
            1 => return Ok(Self::Hello(json(body)?)),
            2 => {
                let id = number(&mut body)?;
                let length = bytes(&mut body, 1)?[0];
                let name = text(bytes(&mut body, length.into())?)?;
                return Ok(Self::Request { id, name, json: json(body)? });
            }
            3 => return Ok(Self::Reply { id: number(&mut body)?, json: json(body)? }),
            4 => return Ok(Self::Failed { id: number(&mut body)?, text: text(body)? }),
            5 => return Ok(Self::Event { id: number(&mut body)?, json: json(body)? }),
            6 => return Ok(Self::Blob { id: number(&mut body)?, bytes: body.to_vec() }),
            7 => Self::ClockAsk { id: number(&mut body)? },
            8 => Self::ClockAnswer { id: number(&mut body)?, ns: number(&mut body)? },
            9 => Self::Beat,
            10 => Self::Stop,
            11 => Self::Goodbye,
            kind => return Err(malformed(&format!("there is no message of kind {kind}"))),
        };
        if body.is_empty() { Ok(message) } else { Err(malformed("a message is too long")) }
    }
}

fn malformed(what: &str) -> Broken {
    Broken::Malformed(format!("what came is no message of drome: {what}"))
}

fn bytes<'a>(body: &mut &'a [u8], length: usize) -> Result<&'a [u8], Broken> {
    let (bytes, rest) = body.split_at_checked(length).ok_or_else(|| malformed("a message is too short"))?;
    *body = rest;
    Ok(bytes)
}

fn number(body: &mut &[u8]) -> Result<u64, Broken> {
    let mut number = [0; 8];
    number.copy_from_slice(bytes(body, 8)?);
    Ok(u64::from_le_bytes(number))
}

fn text(bytes: &[u8]) -> Result<String, Broken> {
    String::from_utf8(bytes.to_vec()).map_err(|_| malformed("a text is not UTF-8"))
}

fn json<T: serde::de::DeserializeOwned>(bytes: &[u8]) -> Result<T, Broken> {
    serde_json::from_slice(bytes).map_err(|error| malformed(&error.to_string()))
}

fn write_json(frame: &mut Vec<u8>, value: &impl serde::Serialize) {
    // A value of JSON, or a plain structure, can always be written into memory.
    let _ = serde_json::to_writer(frame, value);
}
