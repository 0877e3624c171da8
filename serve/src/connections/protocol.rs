//! The protocol of a connection, and what is remembered for it: one pointer, so that a connection of one protocol does not pay for the others.

use crate::answers::fresh::Echo;
use crate::connections::out::Out;
use crate::connections::streams::{Http2Session, Work};
use wire::websocket::WebSocketServer;

/// How many bytes of requests a peer may send without reading its answers before it is disconnected.
const MAX_WAITING_BYTES: usize = 1024 * 1024;

/// The most bytes that are held for one connection in order to be sent back: of bodies over HTTP/2, of which one that would be beyond that is
/// refused, and of messages that a WebSocket's peer sends while it does not read.
pub const MAX_HELD_BYTES: usize = 64 * 1024 * 1024;

/// What is spoken.
pub enum ProtocolState {
    /// HTTP/1, and a request whose body is arriving and will be sent back.
    Http1(Option<Box<Echo>>),
    Http2(Box<Http2Session>),
    WebSocket(Box<WebSocketEcho>),
}

/// A WebSocket whose messages are sent back.
#[derive(Debug, Default)]
pub struct WebSocketEcho {
    pub server: WebSocketServer,
    /// The part of a message that has come, where faults are decided for each message by itself.
    pub held: Vec<u8>,
}

impl Default for ProtocolState {
    fn default() -> Self {
        Self::Http1(None)
    }
}

impl ProtocolState {
    /// Begins HTTP/2, of whose preface this number of bytes has come; says what opens it.
    pub fn open_http2(preface: u8, out: &mut Out) -> Self {
        let session = Box::new(Http2Session::with_preface(preface));
        session.open(&mut out.bytes);
        Self::Http2(session)
    }

    /// The session, if this is HTTP/2.
    pub fn http2(&self) -> Option<&Http2Session> {
        if let Self::Http2(session) = self { Some(session) } else { None }
    }

    /// The same, to go on with.
    pub fn http2_mut(&mut self) -> Option<&mut Http2Session> {
        if let Self::Http2(session) = self { Some(session) } else { None }
    }

    /// Whether an answer over HTTP/2 waits for its time.
    pub fn has_delayed(&self) -> bool {
        self.http2().is_some_and(|session| session.all_work().any(|work| matches!(work, Work::Delayed)))
    }

    /// How many bytes a peer may send while it does not read.
    pub fn most_waiting_bytes(&self) -> usize {
        if matches!(self, Self::WebSocket(_)) { MAX_HELD_BYTES } else { MAX_WAITING_BYTES }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_pays_a_pointer_and_which_it_is() {
        assert_eq!(size_of::<ProtocolState>(), 2 * size_of::<usize>());
    }
}
