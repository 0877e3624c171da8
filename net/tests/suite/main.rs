//! Both back ends and TLS over them, as one program; what counts allocations is one of its own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod back_ends;
mod floor;
mod io;
mod tls;
mod unix;
#[path = "../uring/mod.rs"]
mod uring;
