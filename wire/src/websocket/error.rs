//! What a peer can do wrong, and with which close code it is told so.

use super::close_code;

/// A reason for which a WebSocket can't be opened, or can't go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WebSocketError {
    /// The requests of a plan do not open the same WebSocket.
    #[error("all messages of a connection go to one URL with the same fields, but the requests differ")]
    Requests,
    /// A plan's request asks for an extension.
    #[error("extensions can't be asked for: remove the field Sec-WebSocket-Extensions")]
    Offer,
    /// The server did not switch protocols.
    #[error("the server did not open one: it answered the handshake with status {0}")]
    Status(u16),
    /// The server switched, but not to this protocol.
    #[error("the server's answer to the handshake lacks Upgrade: websocket or Connection: Upgrade")]
    Upgrade,
    /// The server did not prove that it understood the handshake.
    #[error("the server's Sec-WebSocket-Accept is missing or does not match the key")]
    Accept,
    /// The server uses an extension.
    #[error("the server uses an extension that was not asked for")]
    Extension,
    /// The server chose a subprotocol that was not among those offered.
    #[error("the server chose a subprotocol that was not offered")]
    Subprotocol,
    /// A reserved bit is set.
    #[error("a frame with a reserved bit")]
    ReservedBit,
    /// An opcode without a meaning.
    #[error("a frame with the reserved opcode {0}")]
    ReservedOpcode(u8),
    /// A control frame in pieces.
    #[error("a fragmented control frame")]
    FragmentedControl,
    /// A control frame with too much payload.
    #[error("a control frame of more than 125 bytes")]
    LongControl,
    /// A length that would fit into fewer bytes.
    #[error("a frame whose length is not in the shortest form")]
    LengthForm,
    /// A length of 2^63 or more.
    #[error("a frame whose length has the highest bit set")]
    LengthRange,
    /// A server's frame with a mask.
    #[error("a masked frame from a server")]
    Masked,
    /// A client's frame without a mask.
    #[error("an unmasked frame from a client")]
    Unmasked,
    /// A continuation that continues nothing.
    #[error("a continuation without a message")]
    NothingToContinue,
    /// A message within a fragmented one.
    #[error("a new message before the last fragment of another one")]
    UnfinishedMessage,
    /// A text message that is not text.
    #[error("a text message that is not UTF-8")]
    Text,
    /// A payload of a close frame that is too short for a code.
    #[error("a close frame of one byte")]
    CloseLength,
    /// A close code that must not be sent.
    #[error("a close frame with the invalid code {0}")]
    CloseCode(u16),
    /// The reason in a close frame is not text.
    #[error("a close frame whose reason is not UTF-8")]
    CloseReason,
    /// The peer closed although messages were open; 1005 stands for no code, as in RFC 6455 section 7.1.5.
    #[error("the server closed it with code {0} before all messages had come back")]
    Closed(u16),
}

impl WebSocketError {
    /// The code of the close frame that tells the peer, if it was a frame that was wrong.
    pub(super) fn close_code(self) -> u16 {
        if matches!(self, Self::Text | Self::CloseReason) {
            close_code::NOT_UTF8
        } else {
            close_code::PROTOCOL
        }
    }
}
