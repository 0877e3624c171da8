//! The lab: from a study to findings. It has servers started and loaded, stores what was observed and has it judged. It formats nothing for
//! people. [`Session`] is the main loop.

#[cfg(test)]
mod bad_input;
pub mod extra_start;
pub mod findings;
pub mod fleet;
pub mod heat;
mod lab;
pub mod load_from;
mod session;
pub mod setup;
pub mod sweep;

pub use lab::{Lab, LabError, Show};
pub use session::Session;
