//! Reports of single measurements, as they were printed: `drome load` and `drome sweep` measure one thing once, so there is nothing to
//! analyse anew.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A report of one measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

impl Printed {
    /// The command of a report with this title: `load` or `sweep`. `None`: another command, whose report a newer drome may have stored.
    pub fn command_of(title: &str) -> Option<&'static str> {
        let first = title.split(' ').next();
        ["load", "sweep"].into_iter().find(|command| first == Some(*command))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_the_first_word_of_the_title() {
        assert_eq!(Printed::command_of("load http://127.0.0.1:1/"), Some("load"));
        assert_eq!(Printed::command_of("sweep ./one {port}, ./two {port}"), Some("sweep"));
        assert_eq!(Printed::command_of("loaded dice"), None);
        assert_eq!(Printed::command_of(""), None);
    }
}
