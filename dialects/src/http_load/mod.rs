//! `http_load` of 12 March 2006.

mod read;

pub use read::read;
