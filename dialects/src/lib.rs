//! The older tools' command lines and reports. A command line becomes a plan, a measurement becomes the tool's report, and reports that are
//! found in any text become readings, which are a report's figures under drome's names. Nothing here drives load. Only the wrk dialect
//! opens a connection beforehand, as wrk does, to check that a server is listening.
//!
//! A dialect is one row of [`DIALECTS`] and one module: `parse` turns a command line into a [`Job`], and the job prints
//! the report. [`read`] reads the reports of all tools.

pub mod ab;
mod call;
mod command_line;
mod failures;
pub mod h2load;
pub mod http_load;
pub mod httperf;
mod job;
mod message;
mod moment;
pub mod number;
mod openssl;
pub mod page;
mod reports;
pub mod siege;
mod statistic;
pub mod table;
mod text;
pub mod weighttp;
pub mod wrk;

pub use call::Call;
pub use job::{Halt, Job, Printed};
pub use reports::read;

use model::Reading;

/// A tool whose command line and report drome supports.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The name of the tool's program.
    pub name: &'static str,
    /// A one-line description.
    pub about: &'static str,
    /// Parses a command line. `Err` means that nothing is measured, and holds what is printed instead: the tool's
    /// help, version or error message, or that drome does not support an option, and why.
    pub parse: fn(&Call) -> Result<Box<dyn Job>, Printed>,
}

/// A report that was found in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it begins and ends, in bytes.
    pub at: std::ops::Range<usize>,
    /// Its figures.
    pub reading: Reading,
    /// Lines in it that are not understood, unchanged.
    pub strange: Vec<String>,
}

/// All dialects.
pub const DIALECTS: &[Dialect] = &[
    ab::DIALECT,
    siege::DIALECT,
    wrk::WRK,
    wrk::WRK2,
    http_load::DIALECT,
    weighttp::DIALECT,
    httperf::DIALECT,
    h2load::DIALECT,
];

/// The dialect of this name.
pub fn named(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// Tools whose reports can be read, but whose command lines are not supported.
const READERS: &[&str] = &["oha", "hey", "bombardier", "autocannon", "vegeta", "k6", "zrk", "gcannon"];

/// All tools whose reports can be read.
pub fn readers() -> impl Iterator<Item = &'static str> {
    DIALECTS.iter().map(|dialect| dialect.name).chain(READERS.iter().copied())
}
