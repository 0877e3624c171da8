//! The lines of a file: types for those that are not rows (its head, the beginning of each entry, and its end), and one for any line.

use super::row::Row;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The kind of the first line.
pub const HEAD: &str = "drome_runs";

/// The kind of the line with which an entry begins.
pub const FROM: &str = "from";

/// The kind of the last line.
pub const END: &str = "end";

/// The first line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Head {
    /// The version of the form.
    pub version: u32,
    /// The version of drome that wrote it.
    pub drome: String,
}

/// The beginning of an entry.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    /// The name of the machine that measured it; null: it is not named.
    pub machine: Option<String>,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// The number of entries.
    pub entries: u64,
    /// The number of lines before this one.
    pub lines: u64,
    /// SHA-256 of all bytes before this line, in hexadecimal digits.
    pub sha256: String,
}

/// A line of a file: an object with one key, which is the line's kind. Rows are
/// checked one by one as they are written and read; this type only describes the lines.
#[derive(Debug, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    DromeRuns(Head),
    /// The beginning of an entry.
    From(Opening),
    /// The last line.
    End(End),
    /// A row of an entry. A run begins its entry; an import, replays or a report is the only row of its own.
    #[serde(untagged)]
    Row(Row),
}
