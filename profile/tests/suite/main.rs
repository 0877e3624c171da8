//! All tests that sample real processes, as one program.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod counting;
mod jit;
mod native;
mod programs;
