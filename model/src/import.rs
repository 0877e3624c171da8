//! Readings of pages with reports of other tools: figures that others measured. They are kept beside drome's own runs and are
//! never mistaken for them.

use crate::reading::Reading;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The readings of one `drome import`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Import {
    /// Its name in the store.
    pub id: String,
    /// The heading of a report: the page's title, or the files' names.
    pub title: String,
    /// When they were read, in RFC 3339, UTC.
    pub imported_at: String,
    /// drome's version.
    pub drome: String,
    /// The files that were read.
    pub sources: Vec<Source>,
    /// The readings, in the files' order.
    pub items: Vec<Imported>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The name as given.
    pub name: String,
    /// The page's first heading.
    pub title: Option<String>,
    /// The size of the file.
    pub bytes: u64,
    /// Lines that were not understood and belong to no single reading.
    pub strange: Vec<String>,
}

/// A reading and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The index of the file.
    pub source: usize,
    /// The reading.
    pub reading: Reading,
    /// Remarks: what the page says of it in words, and what does not fit together.
    pub notes: Vec<String>,
    /// Lines that were not understood, as they stand.
    pub strange: Vec<String>,
}
