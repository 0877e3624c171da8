//! HTTP as bytes, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod corpus;
mod cuts;
#[path = "../oracle/form.rs"]
mod form;
// The fuzz targets use it too.
mod multipart;
#[path = "../oracle/mod.rs"]
mod oracle;
mod requests;
mod responses;
