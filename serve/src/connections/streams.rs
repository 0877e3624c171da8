//! What a server remembers of a connection that speaks HTTP/2, and of its streams.

use crate::answers::frames::Body;
use crate::answers::fresh::Call;
use std::sync::Arc;
use wire::http2::server::ServerSession;

/// The session of a connection.
pub type Http2Session = ServerSession<Work>;

/// What is remembered of an open stream.
#[derive(Clone, Debug)]
pub enum Work {
    /// A body that is arriving and will be sent back.
    Arriving(Arriving),
    /// An answer whose time has not come.
    Delayed,
    /// The body of an answer.
    Sending(Body),
}

/// A request whose body is arriving.
#[derive(Clone, Debug, Default)]
pub struct Arriving {
    /// What has come of it.
    pub body: Vec<u8>,
    /// The request's line for the log.
    pub line: String,
    /// What it calls, if it is a call of gRPC.
    pub call: Option<Call>,
}

/// The bytes of bodies that are in memory for this connection only.
pub fn held_bytes(session: &Http2Session) -> usize {
    let held = |work: &Work| match work {
        Work::Arriving(arriving) => arriving.body.capacity(),
        // One with other owners is that of a page.
        Work::Sending(Body::Bytes(body)) if Arc::strong_count(body) == 1 => body.len(),
        Work::Sending(_) | Work::Delayed => 0,
    };
    session.all_work().map(held).sum()
}
