//! The lines of a file that are no rows: its head, the beginning of each entry, and its end.

use serde::{Deserialize, Serialize};

/// The kind of the first line.
pub const HEAD: &str = "drome_runs";

/// The kind of the line with which an entry begins.
pub const FROM: &str = "from";

/// The kind of the last line.
pub const END: &str = "end";

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The version of the form.
    pub version: u32,
    /// The version of drome that wrote it.
    pub drome: String,
}

/// The beginning of an entry.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The machine that measured it; null: it is not told.
    pub machine: Option<String>,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The number of entries.
    pub entries: u64,
    /// The number of lines before this one.
    pub lines: u64,
    /// SHA-256 of all bytes before this line, in hexadecimal digits.
    pub sha256: String,
}
