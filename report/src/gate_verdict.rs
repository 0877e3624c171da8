//! A verdict's document: as JSON, which is read back with checks because anyone may have written it, and as Markdown for a job's summary or
//! a comment on a pull request.

mod document;
mod profile;

pub use document::document;

use crate::foreign_text::harmless;
use crate::units;
use model::gate_verdict::{GateVerdict, SCHEMA};
use serde::Deserialize;
use std::fmt;
use std::str::FromStr;

/// The size of the largest document that is read, in bytes. Those that drome writes are smaller.
pub const MOST_BYTES: usize = 256 * 1024;

/// The largest number of characters that are shown of an error of the JSON parser, which may quote the document.
const MOST_CHARACTERS: usize = 200;

/// The longest name of a marker, in bytes.
const LONGEST_MARKER: usize = 40;

/// The hidden first line of a comment, by which a program finds the comment again: `<!-- drome: NAME -->`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Marker(String);

impl Default for Marker {
    fn default() -> Self {
        Self("race".to_owned())
    }
}

impl FromStr for Marker {
    type Err = String;

    /// Reads the name: letters, digits, and single hyphens between them, because two hyphens may end an HTML comment.
    fn from_str(name: &str) -> Result<Self, String> {
        let is_plain = |part: &str| !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric());
        if name.len() <= LONGEST_MARKER && name.split('-').all(is_plain) {
            return Ok(Self(name.to_owned()));
        }
        Err(format!(
            "must be letters, digits and single hyphens between them, at most {LONGEST_MARKER}, such as race"
        ))
    }
}

impl fmt::Display for Marker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<!-- drome: {} -->", self.0)
    }
}

/// A comment on a pull request: the marker's line, then the verdict in Markdown. It is shorter than GitHub's limit of 65,536
/// characters.
pub fn comment(verdict: &GateVerdict, marker: &Marker) -> String {
    format!("{marker}\n\n{}", document(verdict).markdown())
}

/// Reads a document that anyone may have written. Fails with what is wrong, as the end of a sentence on one line.
pub fn read(bytes: &[u8]) -> Result<GateVerdict, String> {
    #[derive(Deserialize)]
    struct Version {
        schema: u32,
    }
    if bytes.len() > MOST_BYTES {
        return Err(format!("it has more than {} bytes", units::count(MOST_BYTES as u64)));
    }
    let version: Version = parsed(bytes)?;
    if version.schema != SCHEMA {
        let theirs = version.schema;
        return Err(format!(
            "its schema is {theirs}, and this drome reads {SCHEMA}: use the drome that wrote it"
        ));
    }
    let verdict: GateVerdict = parsed(bytes)?;
    verdict.check()?;
    Ok(verdict)
}

fn parsed<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, String> {
    let words =
        |error: serde_json::Error| harmless(&error.to_string()).chars().take(MOST_CHARACTERS).collect();
    serde_json::from_slice(bytes).map_err(words)
}
