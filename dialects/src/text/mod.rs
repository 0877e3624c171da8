//! What all that reads texts knows of them: their lines, command lines, and numbers with units.

pub(crate) mod command;
pub(crate) mod lines;
pub(crate) mod units;
