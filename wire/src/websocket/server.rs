//! A server's WebSocket that sends back what it gets: each frame as it comes, so that no message is held.

use super::close_code;
use super::frame::{FrameStart, append_masked};
use super::reader::{MessagePart, MessageReader};
use crate::WireError;

/// An echo on one connection whose handshake has been answered ([`super::UpgradeAnswer`]).
#[derive(Debug)]
pub struct WebSocketServer {
    reader: MessageReader,
}

impl Default for WebSocketServer {
    fn default() -> Self {
        Self { reader: MessageReader::of_server() }
    }
}

impl WebSocketServer {
    /// Reads all of `input`, and appends to `out` what is said to it, as [`WebSocketServer::echo_one`] does.
    pub fn echo(&mut self, mut input: &[u8], out: &mut Vec<u8>) -> Result<(), WireError> {
        while self.echo_one(&mut input, out)? {}
        Ok(())
    }

    /// Reads until a message is whole, and takes its bytes off `input`; false: all of `input` is used up before. Appends to `out` what is
    /// said to it: frames of messages as they came, without their mask; answers to control frames. Errors: nothing more can be read from
    /// this connection; `out` ends with a close frame that says so, unless what is in it, or has been taken out of it before, ends within
    /// a frame.
    #[inline]
    pub fn echo_one(&mut self, input: &mut &[u8], out: &mut Vec<u8>) -> Result<bool, WireError> {
        // Where the frame begins in `out`, unless that was before.
        let mut begins_at = None;
        while let Some(part) = self.reader.next(input, out)? {
            match part {
                MessagePart::Start(start) => {
                    begins_at = Some(out.len());
                    FrameStart { mask: None, ..start }.write(out);
                }
                MessagePart::Payload(bytes, mask) => {
                    let before = out.len();
                    append_masked(out, bytes, mask);
                    if let Err(error) = self.reader.check(&out[before..]) {
                        out.truncate(begins_at.unwrap_or(before));
                        // No frame can begin within another one.
                        if begins_at.is_none() {
                            self.reader.abandon();
                            return Err(WireError::WebSocket(error));
                        }
                        return Err(self.reader.fail(error, out));
                    }
                }
                MessagePart::End => return Ok(true),
                MessagePart::Close(_) => {}
            }
        }
        Ok(false)
    }

    /// Says that the server ends, unless a frame is being sent back, into which nothing fits. Nothing more is read.
    pub fn end(&mut self, out: &mut Vec<u8>) {
        if self.reader.is_in_message_frame() {
            self.reader.abandon();
        } else if !self.reader.is_closed() {
            self.reader.close(Some(close_code::GOING_AWAY), out);
        }
    }

    /// Whether nothing more is read: the client has closed, or there was an error. The connection can be closed once `out` is sent.
    pub fn is_closed(&self) -> bool {
        self.reader.is_closed()
    }

    /// Whether it is between two messages.
    pub fn is_idle(&self) -> bool {
        !self.reader.is_partial()
    }
}
