//! A parsed command line: what to measure, and what the tool prints before, during and after the measurement.

use model::{Ask, Exchange, Expect, Plan, Tally};
use std::path::PathBuf;

/// A measurement that prints as a tool does. The caller calls `begin`, runs the plan while it calls `hear` and
/// `tick`, and calls `print` at the end.
pub trait Job {
    /// What to measure. The caller chooses the cores.
    fn plan(&self) -> &Plan;

    /// Whether [`Job::hear`] needs every exchange.
    fn wants_exchanges(&self) -> bool {
        true
    }

    /// The files that the tool writes when it has measured, with the options that name them.
    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        Vec::new()
    }

    /// What the tool prints before it begins.
    fn begin(&mut self) -> Printed {
        Printed::default()
    }

    /// Takes finished requests: all of them, in the order in which each worker saw them end.
    fn hear(&mut self, exchanges: &[Exchange]) -> Printed {
        let _ = exchanges;
        Printed::default()
    }

    /// Called ten times a second, with the number of finished requests so far.
    fn tick(&mut self, done: u64) -> Printed {
        let _ = done;
        Printed::default()
    }

    /// The report, after all exchanges were taken.
    fn print(&mut self, tally: &Tally) -> Printed;

    /// What the tool prints if nothing could be measured.
    fn fail(&mut self, halt: &Halt) -> Printed;
}

/// A request of a tool. Its answer may have any status, because the tools count statuses themselves.
pub(crate) fn ask(request: Vec<u8>) -> Ask {
    Ask {
        last: request.clone(),
        head_only: request.starts_with(b"HEAD "),
        request,
        expect: Expect { any_status: true, ..Expect::default() },
        weight: 1.0,
    }
}

/// Why nothing could be measured.
#[derive(Debug)]
pub enum Halt {
    /// No server is listening there.
    Connect(std::io::Error),
    /// The load engine's error.
    Other {
        /// The error in words.
        why: String,
        /// The number of the system's error behind it.
        errno: Option<i32>,
    },
}

/// What a tool prints and does at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// Text for standard output.
    pub out: String,
    /// Text for standard error.
    pub err: String,
    /// Files that it writes, with their text; `true` appends to the file.
    pub files: Vec<(PathBuf, String, bool)>,
    /// The exit code with which the tool ends here. A running measurement is stopped, and `print` is still called.
    pub exit: Option<u8>,
}

impl Printed {
    /// Prints on standard output.
    pub fn out(text: impl Into<String>) -> Self {
        Self { out: text.into(), ..Self::default() }
    }

    /// Prints on standard error.
    pub fn err(text: impl Into<String>) -> Self {
        Self { err: text.into(), ..Self::default() }
    }

    /// Adds an exit code, with which the tool ends.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        Self { exit: Some(code), ..self }
    }

    /// The message that drome does not support an option of the tool, and why. An option that the tool does not
    /// know is the tool's own error instead.
    pub fn refuse(tool: &str, option: &str, why: &str) -> Self {
        Self::err(format!("drome {tool}: {option} is not supported: {why}\n")).exit(2)
    }

    /// The message about a word on the command line that the tool itself would ignore. It is a mistake, often a dash that an editor has
    /// replaced by a longer one, and what it was meant to say is not known.
    pub fn stray(tool: &str, word: &str) -> Self {
        let is_dash = |c: char| {
            matches!(c, '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}')
        };
        let hint = if word.starts_with(is_dash) {
            "; it begins with another character than the dash `-` of options"
        } else {
            ""
        };
        Self::refuse(
            tool,
            &format!("the word `{word}`"),
            &format!("{tool} would ignore it{hint}; leave it out"),
        )
    }
}
