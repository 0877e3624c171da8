//! What was read from pages with reports of other tools: figures that somebody else measured. It is kept beside
//! drome's own runs and is never mistaken for one.

use crate::reading::Reading;
use serde::{Deserialize, Serialize};

/// One sitting of reading pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Import {
    /// Its name in the store.
    pub id: String,
    /// What a report is headed with: the page's title, or the files' names.
    pub title: String,
    /// RFC 3339, UTC.
    pub imported_at: String,
    /// drome's version.
    pub drome: String,
    /// The files.
    pub sources: Vec<Source>,
    /// What was read, in the files' order.
    pub items: Vec<Imported>,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// As it was named.
    pub name: String,
    /// The page's first heading.
    pub title: Option<String>,
    /// Its size.
    pub bytes: u64,
    /// What was not understood and belongs to no single reading.
    pub strange: Vec<String>,
}

/// A reading and where it is from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Imported {
    /// Which of the files.
    pub source: usize,
    /// What was read.
    pub reading: Reading,
    /// What the page says of it in words, and what does not fit together.
    pub notes: Vec<String>,
    /// Lines that were not understood, as they stand.
    pub strange: Vec<String>,
}
