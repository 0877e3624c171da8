//! WebSocket as bytes ↔ events (RFC 6455): messages that a client sends and gets back, and a server that echoes them. No extension is
//! spoken.

mod client;
mod error;
mod frame;
mod handshake;
mod reader;
mod server;
mod utf8;

pub use client::{WebSocket, WebSocketShared};
pub use error::WebSocketError;
pub use handshake::{UpgradeAnswer, UpgradeRefusal};
pub use server::WebSocketServer;

/// A close code (RFC 6455 section 7.4.1).
mod close_code {
    /// All is said.
    pub const NORMAL: u16 = 1000;
    /// The server goes.
    pub const GOING_AWAY: u16 = 1001;
    /// The peer breaks the protocol.
    pub const PROTOCOL: u16 = 1002;
    /// Stands for no code; it is never sent.
    pub const NONE: u16 = 1005;
    /// Text is not UTF-8.
    pub const NOT_UTF8: u16 = 1007;
}
