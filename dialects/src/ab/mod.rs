//! ab, the load generator that comes with Apache httpd: version 2.3, as Debian has it.

mod lines;
mod read;
mod values;

pub use read::read;
