//! The origin of a run that another machine measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The word for this machine in lists and filters. No other machine has this name.
pub const HERE: &str = "here";

/// The longest name of a machine, in bytes: as long as the longest host name on Linux.
pub const LONGEST_MACHINE: usize = 64;

/// The origin of a run that was pulled. Such a run is read like any other, but never continued.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Origin {
    /// The machine's name. The run's environment describes the machine.
    pub machine: String,
    /// When it was pulled, in RFC 3339, UTC.
    pub pulled_at: String,
}

/// Whether a machine may have this name: on one line, without blanks at the ends, not too long, and not [`HERE`].
pub fn is_machine(name: &str) -> bool {
    let is_short = !name.is_empty() && name.len() <= LONGEST_MACHINE;
    is_short && name.trim() == name && name != HERE && !name.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::is_machine;

    #[test]
    fn a_machines_name_is_one_short_line() {
        assert!(["ci-1", "a b", "ä", &"x".repeat(64)].iter().all(|name| is_machine(name)));
        assert!(
            !["", " a", "a ", "a\nb", "\u{1b}", "here", &"x".repeat(65)].iter().any(|name| is_machine(name))
        );
    }
}
