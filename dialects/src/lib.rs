//! The older tools' languages: their command lines become a plan, what was measured becomes their report, and
//! their reports, found in any text, become readings. Nothing here drives load; wrk alone looks beforehand, as the tool
//! itself does, whether somebody is there.
//!
//! A dialect is one row of [`DIALECTS`] and one file with three functions: `parse` makes a [`Job`] of a command
//! line, the job prints, and `read` reads what was printed.

pub mod ab;
mod call;
mod cursor;
mod getopt;
pub mod h2load;
pub mod http_load;
pub mod httperf;
mod job;
pub mod number;
pub mod oha;
pub mod page;
mod scan;
pub mod siege;
pub mod table;
pub mod template;
pub mod weighttp;
pub mod wrk;

pub use call::Call;
pub use job::{Halt, Job, Said};

use model::Reading;

/// A tool whose language is spoken.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The tool's name, as it is called.
    pub name: &'static str,
    /// What it is known as, in a line.
    pub about: &'static str,
    /// Its command line. `Err`: nothing is to be measured, and this is what the tool says: its help, its version, or
    /// what is wrong; or that drome does not honour an option, and why.
    pub parse: fn(&Call) -> Result<Box<dyn Job>, Said>,
    /// Its reports in a text, in their order, with what stands around them left out. What is not sure is not guessed.
    pub read: fn(&str) -> Vec<Found>,
}

/// A report in a text.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it begins and ends, in bytes.
    pub at: std::ops::Range<usize>,
    /// What it says.
    pub reading: Reading,
    /// Lines within it that are not understood, as they stand.
    pub strange: Vec<String>,
}

/// All of them.
pub const DIALECTS: &[Dialect] = &[
    ab::DIALECT,
    siege::DIALECT,
    wrk::WRK,
    wrk::WRK2,
    http_load::DIALECT,
    weighttp::DIALECT,
    httperf::DIALECT,
];

/// The one of this name.
pub fn named(name: &str) -> Option<&'static Dialect> {
    DIALECTS.iter().find(|dialect| dialect.name == name)
}

/// How a tool's reports are read.
pub type Read = fn(&str) -> Vec<Found>;

/// Tools whose reports are read, though nobody speaks their command lines here.
pub const READERS: &[(&str, Read)] = &[("h2load", h2load::read), ("oha", oha::read)];

/// All tools whose reports are read, each with its reader.
pub fn readers() -> impl Iterator<Item = (&'static str, Read)> {
    DIALECTS.iter().map(|dialect| (dialect.name, dialect.read)).chain(READERS.iter().copied())
}
