//! siege 4.0.7, as Debian has it.

mod read;

pub use read::read;
