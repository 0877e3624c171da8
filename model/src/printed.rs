//! Reports of single measurements, as they were printed: `drome load` and `drome sweep` measure one thing once, so there is nothing to
//! analyse anew.

use serde::{Deserialize, Serialize};

/// A report of one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// Its name in the store.
    pub id: String,
    /// The command and what it measured, such as `load http://127.0.0.1:8080/`.
    pub title: String,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// How it ended: `complete`, `interrupted` or `void`.
    pub ended: String,
    /// As plain text.
    pub terminal: String,
    /// As JSON.
    pub json: String,
}
