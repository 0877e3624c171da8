//! The judgement of `--fail-if-slower` in words, the same for races and for comparisons of runs.

use crate::units;
use model::findings::Figure;
use model::gate::{Changed, Gate};
use stats::margin::Judged;

/// A sentence for every contender, then what could not be judged, then the smallest slowdown that would have been detected.
pub fn lines(gate: &Gate) -> Vec<String> {
    let mut lines: Vec<String> = gate.changes.iter().map(line).collect();
    lines.extend(gate.unknown.iter().cloned());
    lines.push(smallest(gate.smallest_shown()));
    lines
}

/// The smallest slowdown that would have been detected, in a sentence.
pub(crate) fn smallest(share: Option<f64>) -> String {
    match share {
        Some(share) => format!(
            "These measurements are precise enough to show a slowdown of {} or more.",
            units::percent(share)
        ),
        None => "How small a slowdown these measurements could show is unknown.".to_owned(),
    }
}

/// A contender's change and its judgement in a sentence.
pub(crate) fn line(change: &Changed) -> String {
    let cell = change.cell.as_ref().map_or_else(String::new, |cell| format!(" ({cell})"));
    let margin = units::share(change.margin);
    let judged = match change.judged {
        Judged::Beyond => format!("is more than {margin} slower"),
        Judged::Within => format!("is not more than {margin} slower"),
        Judged::Open => format!("may be more than {margin} slower or not"),
    };
    format!("{}{cell} {judged}: {}", change.title, speed(change.speed))
}

/// A change of speed with its interval: `1.2 % slower, 95 % from 2.0 % slower to 0.4 % slower`.
fn speed(speed: Figure) -> String {
    let known = speed.low.zip(speed.high);
    let interval = known.map(|(low, high)| format!(", 95 % from {} to {}", by(low), by(high)));
    format!("{}{}", by(speed.median), interval.unwrap_or_else(|| ", without an interval".to_owned()))
}

/// A ratio of speeds in words: `1.2 % slower`.
pub(crate) fn by(ratio: f64) -> String {
    let word = if ratio < 1.0 { "slower" } else { "faster" };
    format!("{} {word}", units::percent((ratio - 1.0).abs()))
}
