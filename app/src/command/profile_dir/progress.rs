//! The progress of profiles on standard error: a bar on a terminal, else a line for each start.

use crate::console::{self, fitted};
use indicatif::ProgressBar;
use std::io::{IsTerminal, stderr};

/// Shows how many profiles are done, until it is dropped.
pub struct ProfileProgress {
    bar: ProgressBar,
    is_terminal: bool,
    all: usize,
    /// The number of profiles that have begun.
    begun: usize,
}

impl ProfileProgress {
    /// Shows the bar, before the first of `all` profiles.
    pub fn begin(all: usize) -> Self {
        let bar = console::counted(all, "profiles", "\n{msg}");
        Self { bar, is_terminal: stderr().is_terminal(), all, begun: 0 }
    }

    /// Shows that the next profile begins; `what`: the contender and the cell.
    pub fn begins(&mut self, what: &str) {
        self.bar.set_position(self.begun as u64);
        self.begun += 1;
        self.bar.set_message(fitted(what));
        if !self.is_terminal {
            note!("profile {} of {}: {what}", self.begun, self.all);
        }
    }

    /// Prints something while the bar is hidden.
    pub fn beside<T>(&self, print: impl FnOnce() -> T) -> T {
        self.bar.suspend(print)
    }
}
