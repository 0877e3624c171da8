//! `--fail-if-slower` of `drome race` and `drome compare`: the judgement on standard error, and the exit code.

use crate::failure::{CHECK_FAILED, VOID};
use model::gate::{Gate, Outcome};
use std::process::ExitCode;

/// What `git bisect run` takes for a good revision, a bad one, and one that can't be judged.
const GOOD: u8 = 0;
const BAD: u8 = 1;
const SKIP: u8 = 125;

/// The code with which `git bisect run` stops instead of judging the revision.
pub const STOP_BISECTING: u8 = 128;

/// Prints a sentence for every contender, and the smallest slowdown that would have been detected.
pub fn tell(gate: &Gate) {
    for line in report::gate::lines(gate) {
        alert!("drome: {line}");
    }
}

/// The exit code: 3 if a contender is certainly slower than allowed, 0 if certainly none is, 4 if that is undecided.
pub fn code(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Slower => CHECK_FAILED,
        Outcome::Passed => 0,
        Outcome::Open => VOID,
    })
}

/// The same for `git bisect run`.
pub fn bisect_code(outcome: Outcome) -> ExitCode {
    ExitCode::from(match outcome {
        Outcome::Slower => BAD,
        Outcome::Passed => GOOD,
        Outcome::Open => SKIP,
    })
}
