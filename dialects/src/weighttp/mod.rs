//! weighttp 0.3: so many requests over so many connections.

mod read;

pub use read::read;
