//! Shared runs: what `drome push` writes and `drome pull` reads, as JSON Lines. Pure: it opens no file and no store. A file may come
//! from anyone, so the reader bounds and checks everything before anything of it is used.
//!
//! Every line is an object with one key, which is the line's kind. The first line is `drome_runs`, with the version of the form. Each
//! entry begins with `from`, which names its machine. Its rows follow: `run`, then `ended` if the run has ended, and `heat`,
//! `start` and `slice`. An entry that is not a run has one row: `import`, `replays` or `report`. The last line is `end`, with the number of
//! entries and lines and the SHA-256 of all bytes before it.

mod checks;
mod digest;
mod known;
mod lines;
mod reading;
mod redaction;
mod row;
#[cfg(test)]
mod tests;
mod text;
mod writing;

pub use checks::Checks;
pub use digest::Digest;
pub use known::LONGEST;
pub use lines::Line;
pub use reading::{SharedEntry, read};
pub use redaction::Redaction;
pub use row::{Checked, Row};
pub use text::is_id;
pub use text::quoted;
pub(crate) use text::unknown_word;
pub use writing::Writer;

/// The version of the form.
pub const VERSION: u32 = 1;

/// The largest file that is written and read. It is held in memory until all of it was checked.
pub const MOST_BYTES: u64 = 256 << 20;

/// The longest line. A start has six histograms in each cell, some kilobytes each.
const LONGEST_LINE: u64 = 16 << 20;

/// The maximum number of entries of a file.
const MOST_ENTRIES: usize = 10_000;

/// The reason why runs can't be written or read. The message continues a sentence that begins with the name of the file.
#[derive(Debug, thiserror::Error)]
pub enum SharedError {
    /// The file can't be read.
    #[error("can't be read: {0}")]
    Read(std::io::Error),
    /// The file can't be written.
    #[error("can't be written: {0}; check the free space, or choose another file")]
    Write(std::io::Error),
    /// It is another kind of file.
    #[error("is not a file of shared runs: {0}")]
    Foreign(&'static str),
    /// A newer drome wrote it.
    #[error("has version {0} of the form, and this drome reads up to version {VERSION}: use a newer drome")]
    Newer(u32),
    /// A line is wrong.
    #[error("is refused, and nothing of it is stored: line {line}: {why}")]
    Line {
        /// Its number, from 1.
        line: u64,
        /// What is wrong with it, without control characters.
        why: String,
    },
    /// The end is missing.
    #[error(
        "is incomplete, and nothing of it is stored: it ends before its last line; write or send it again"
    )]
    Cut,
    /// The digest does not match.
    #[error("was changed after it was written, and nothing of it is stored: write or send it again")]
    Changed,
    /// There is too much of it.
    #[error("would be larger than {} MiB: choose fewer runs", MOST_BYTES >> 20)]
    TooLarge,
    /// One line of it would be too long.
    #[error("would have a line longer than {} MiB: leave out that run", LONGEST_LINE >> 20)]
    LineTooLong,
    /// A row of the store can't be shared.
    #[error("can't have {what}: {why}")]
    Row {
        /// The row.
        what: String,
        /// The reason.
        why: String,
    },
}
