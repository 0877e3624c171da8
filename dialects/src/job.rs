//! A command line that was understood: what is to be measured, and what the tool says before, meanwhile and
//! afterwards.

use model::{Exchange, Plan, Tally};
use std::path::PathBuf;

/// A measurement in a tool's own words. Whoever runs it calls `begin`, then runs the plan, meanwhile `hear` and `tick`,
/// and `print` at the end.
pub trait Job {
    /// What is to be measured. Cores are chosen by who runs it.
    fn plan(&self) -> &Plan;

    /// Every exchange is wanted, as [`Job::hear`] is told them.
    fn wants_exchanges(&self) -> bool {
        false
    }

    /// What the tool says before it begins.
    fn begin(&mut self) -> Said {
        Said::default()
    }

    /// Requests that are over; all of them, in the order in which each worker saw their end.
    fn hear(&mut self, exchanges: &[Exchange]) -> Said {
        let _ = exchanges;
        Said::default()
    }

    /// A moment passed, ten times a second; so many requests are over.
    fn tick(&mut self, done: u64) -> Said {
        let _ = done;
        Said::default()
    }

    /// The report, once everything was heard.
    fn print(&mut self, tally: &Tally) -> Said;

    /// What the tool says where nothing could be measured.
    fn fail(&mut self, halt: &Halt) -> Said;
}

/// Why nothing could be measured.
#[derive(Debug)]
pub enum Halt {
    /// Nobody answers there.
    Connect(std::io::Error),
    /// What the load engine said.
    Other(String),
}

/// What a tool says, and does, at some moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// On standard output.
    pub out: String,
    /// On standard error.
    pub err: String,
    /// What it writes to files: added at their end where `true`.
    pub files: Vec<(PathBuf, String, bool)>,
    /// It ends with this code. While a measurement is under way, it is stopped, and `print` is called all the same.
    pub exit: Option<u8>,
}

impl Said {
    /// On standard output.
    pub fn out(text: impl Into<String>) -> Self {
        Self { out: text.into(), ..Self::default() }
    }

    /// On standard error.
    pub fn err(text: impl Into<String>) -> Self {
        Self { err: text.into(), ..Self::default() }
    }

    /// And ends with this code.
    #[must_use]
    pub fn exit(self, code: u8) -> Self {
        Self { exit: Some(code), ..self }
    }

    /// An option that drome does not honour, and why. The tool's own options only; one that the tool does not know
    /// either is the tool's own error.
    pub fn refuse(tool: &str, option: &str, why: &str) -> Self {
        Self::err(format!("drome {tool}: {option} is not honoured: {why}\n")).exit(2)
    }
}
