//! HTTP as bytes, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod cuts;
mod hpack;
mod http2;
// The fuzz targets use it too.
#[path = "../oracle/mod.rs"]
mod oracle;
mod requests;
mod responses;
