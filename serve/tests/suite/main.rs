//! What the resolver of paths gives away, and the WebSocket over a socket, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod autobahn;
mod escape;
// The fuzz targets use it too.
#[path = "../oracle/mod.rs"]
mod oracle;
mod resolve_corpus;
