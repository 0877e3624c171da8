//! Tests of the link through its public parts.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod commands;
mod corpus;
mod frames;
mod link;
mod versions;
