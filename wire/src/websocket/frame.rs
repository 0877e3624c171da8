//! One frame: its start, which is all before the payload (RFC 6455 section 5.2), and the mask of its payload (section 5.3).

use super::WebSocketError;

/// The longest start of a frame: two bytes, eight of length, four of mask.
pub const LONGEST_START_BYTES: usize = 14;

/// The longest payload of a control frame.
const LONGEST_CONTROL_BYTES: u64 = 125;

/// What the bytes of a payload are combined with; zeros change nothing.
pub type Mask = [u8; 4];

/// The kind of a frame, with its number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Opcode {
    /// A further fragment of a message.
    Continuation = 0,
    /// A text message, or its first fragment.
    Text = 1,
    /// The same of a binary one.
    Binary = 2,
    /// The end of the WebSocket.
    Close = 8,
    /// Asks for a pong.
    Ping = 9,
    /// Answers a ping.
    Pong = 10,
}

impl Opcode {
    fn from_number(number: u8) -> Option<Self> {
        Some(match number {
            0 => Self::Continuation,
            1 => Self::Text,
            2 => Self::Binary,
            8 => Self::Close,
            9 => Self::Ping,
            10 => Self::Pong,
            _ => return None,
        })
    }

    /// Whether it is that of a control frame, which is no part of a message.
    pub fn is_control(self) -> bool {
        self as u8 >= 8
    }
}

/// The start of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameStart {
    /// Whether it is the last frame of its message.
    pub is_final: bool,
    pub opcode: Opcode,
    /// The length of the payload.
    pub length: u64,
    /// The payload's mask; `None`: not masked.
    pub mask: Option<Mask>,
}

impl FrameStart {
    /// Parses the start of a frame and returns its length with it. `None`: it is not whole. What is wrong is found at the first byte that
    /// shows it. `is_masked`: whether the frame must be.
    #[inline]
    pub fn parse(bytes: &[u8], is_masked: bool) -> Result<Option<(usize, Self)>, WebSocketError> {
        let Some(&first) = bytes.first() else { return Ok(None) };
        if first & 0x70 != 0 {
            return Err(WebSocketError::ReservedBit);
        }
        let number = first & 0x0f;
        let opcode = Opcode::from_number(number).ok_or(WebSocketError::ReservedOpcode(number))?;
        let is_final = first & 0x80 != 0;
        if opcode.is_control() && !is_final {
            return Err(WebSocketError::FragmentedControl);
        }
        let Some(&second) = bytes.get(1) else { return Ok(None) };
        if (second & 0x80 != 0) != is_masked {
            return Err(if is_masked { WebSocketError::Unmasked } else { WebSocketError::Masked });
        }
        let short = u64::from(second & 0x7f);
        if opcode.is_control() && short > LONGEST_CONTROL_BYTES {
            return Err(WebSocketError::LongControl);
        }
        let rest = &bytes[2..];
        let (length, length_bytes, shortest) = match short {
            126 => (rest.first_chunk().map(|bytes| u64::from(u16::from_be_bytes(*bytes))), 2, 126),
            127 => (rest.first_chunk().map(|bytes| u64::from_be_bytes(*bytes)), 8, 1 << 16),
            length => (Some(length), 0, 0),
        };
        let Some(length) = length else { return Ok(None) };
        if length >> 63 != 0 {
            return Err(WebSocketError::LengthRange);
        }
        if length < shortest {
            return Err(WebSocketError::LengthForm);
        }
        let mask = rest[length_bytes..].first_chunk().copied();
        if is_masked && mask.is_none() {
            return Ok(None);
        }
        let start = Self { is_final, opcode, length, mask: mask.filter(|_| is_masked) };
        Ok(Some((2 + length_bytes + if is_masked { 4 } else { 0 }, start)))
    }

    /// Appends the start.
    #[inline]
    pub fn write(&self, out: &mut Vec<u8>) {
        let is_masked = if self.mask.is_some() { 0x80 } else { 0 };
        out.push(self.opcode as u8 | if self.is_final { 0x80 } else { 0 });
        match self.length {
            0..126 => out.push(is_masked + self.length as u8),
            126..65_536 => {
                out.push(is_masked + 126);
                out.extend_from_slice(&(self.length as u16).to_be_bytes());
            }
            _ => {
                out.push(is_masked + 127);
                out.extend_from_slice(&self.length.to_be_bytes());
            }
        }
        if let Some(mask) = self.mask {
            out.extend_from_slice(&mask);
        }
    }
}

/// Appends a whole frame that is no fragment.
pub fn append_frame(out: &mut Vec<u8>, opcode: Opcode, payload: &[u8], mask: Option<Mask>) {
    FrameStart { is_final: true, opcode, length: payload.len() as u64, mask }.write(out);
    append_masked(out, payload, mask.unwrap_or_default());
}

/// Appends a payload, or a part of it that begins where the mask does, after masking or unmasking it: both are the same.
#[inline]
pub fn append_masked(out: &mut Vec<u8>, payload: &[u8], mask: Mask) {
    let before = out.len();
    out.extend_from_slice(payload);
    apply_mask(&mut out[before..], mask);
}

/// Masks or unmasks bytes, eight at a time.
#[inline]
pub fn apply_mask(bytes: &mut [u8], mask: Mask) {
    let [a, b, c, d] = mask;
    let wide = u64::from_ne_bytes([a, b, c, d, a, b, c, d]);
    let (eights, rest) = bytes.as_chunks_mut::<8>();
    for eight in eights {
        *eight = (u64::from_ne_bytes(*eight) ^ wide).to_ne_bytes();
    }
    for (byte, key) in rest.iter_mut().zip(wide.to_ne_bytes()) {
        *byte ^= key;
    }
}
