//! The load engine on real sockets, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod closing;
mod exchanges;
mod grpc;
mod slices;
#[path = "../../../net/tests/uring/mod.rs"]
mod uring;
mod websocket;
