//! `--fail-if-slower` of `drome race` and `drome compare`: the judgement on standard error, and the exit code.

use crate::failure::{CHECK_FAILED, VOID};
use model::gate::{Gate, Outcome};
use std::process::ExitCode;

/// What `git bisect run` takes for a good revision, a bad one, and one that can't be judged.
const GOOD: u8 = 0;
const BAD: u8 = 1;
const SKIP: u8 = 125;

/// Prints a sentence for every contender, and the smallest slowdown that would have been shown.
pub fn tell(gate: &Gate) {
    for line in report::gate::lines(gate) {
        alert!("drome: {line}");
    }
}

/// The exit code: 3 if a contender is surely slower than allowed, 0 if surely none is, 4 if that is undecided.
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

/// A share of speed that may be lost: `3%` or `0.03`.
pub fn share(text: &str) -> Result<f64, String> {
    let (number, unit) = text.strip_suffix('%').map_or((text, 1.0), |number| (number, 0.01));
    match number.trim().parse::<f64>() {
        Ok(n) if (0.0..1.0).contains(&(n * unit)) => Ok(n * unit),
        _ => Err("must be a share from 0 to below 1, such as 3% or 0.03".to_owned()),
    }
}
