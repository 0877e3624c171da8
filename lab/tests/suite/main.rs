//! The catalog and the verification, as one program.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod catalog;
mod contender_rules;
mod corpus;
mod verify;
