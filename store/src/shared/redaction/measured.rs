//! What is taken out of measurements: the words of servers and of the system, and paths of programs. All figures stay.

use super::{REDACTED, Redaction};
use model::Measurement;
use model::environment::{Conditions, Executable};
use model::heat::{Counts, InCell, Start, StartOutcome};
use std::collections::BTreeMap;

/// Prefix of a verdict's reason that says what went wrong when the server was stopped.
const STOPPING: &str = "after the measurement, ";

impl Redaction {
    pub(super) fn start(&self, start: &mut Start) {
        match &mut start.outcome {
            StartOutcome::Running | StartOutcome::Ended => {}
            StartOutcome::Failed(why) | StartOutcome::Spoiled(why) | StartOutcome::LackedMemory(why) => {
                REDACTED.clone_into(why);
            }
        }
        program(&mut start.program);
        if let Some(conditions) = &mut start.conditions {
            self.conditions(conditions);
        }
        start.cells.values_mut().for_each(|cell| self.in_cell(cell));
    }

    fn in_cell(&self, cell: &mut InCell) {
        match &mut cell.counts {
            Counts::Quiet | Counts::NeverQuiet => {}
            Counts::SharesDiffer(why) => self.scrub(why),
        }
        // The names of other programs that ran are private.
        cell.background.clear();
        if let Some(measurement) = &mut cell.measurement {
            self.measurement(measurement);
        }
    }

    fn conditions(&self, conditions: &mut Conditions) {
        program(&mut conditions.server);
        self.scrub_all(conditions.throttled.iter_mut().flatten());
    }

    fn measurement(&self, measurement: &mut Measurement) {
        let tally = &mut measurement.tally;
        let causes = std::mem::take(&mut tally.error_causes);
        for reason in &mut measurement.verdict.reasons {
            for secret in causes.keys().chain(&tally.halted).filter(|secret| !secret.is_empty()) {
                *reason = reason.replace(secret.as_str(), REDACTED);
            }
            if reason.starts_with(STOPPING) {
                *reason = format!("{STOPPING}{REDACTED}");
            }
            self.scrub(reason);
        }
        if !causes.is_empty() {
            let all = causes.values().fold(0, |all: u64, n| all.saturating_add(*n));
            tally.error_causes = BTreeMap::from([(REDACTED.to_owned(), all)]);
        }
        tally.halted = tally.halted.take().map(|_| REDACTED.to_owned());
        self.scrub_all([&mut tally.io, &mut tally.io_fallback].into_iter().flatten());
    }
}

/// Takes out the path of a program; its digest stays.
fn program(program: &mut Option<Executable>) {
    if let Some(Executable { path, sha256: _ }) = program {
        REDACTED.clone_into(path);
    }
}
