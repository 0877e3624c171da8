//! Completes a report by the command line that the page has for it.

use crate::reports::wrk;
use crate::text::command;
use model::Reading;

/// Options with the number of connections, by tool.
const CONNECTIONS: &[(&str, &[&str])] = &[
    ("ab", &["-c"]),
    ("wrk", &["--connections", "-c"]),
    ("wrk2", &["--connections", "-c"]),
    ("weighttp", &["-c"]),
    ("h2load", &["--clients", "-c"]),
    ("oha", &["-c"]),
    ("hey", &["-c"]),
    ("bombardier", &["--connections", "-c"]),
    ("autocannon", &["--connections", "-c"]),
    ("zrk", &["--connections", "-c"]),
    ("gcannon", &["-c"]),
];

/// The connections of the reading's command line.
pub fn connections(reading: &Reading) -> Option<f64> {
    let (_, names) = CONNECTIONS.iter().find(|(tool, _)| *tool == reading.tool)?;
    let value = command::option(reading.command.as_deref()?, names)?;
    let (number, factor) = value.strip_suffix(['k', 'K']).map_or((value, 1.0), |number| (number, 1000.0));
    number.parse::<f64>().ok().filter(|number| number.is_finite()).map(|number| number * factor)
}

/// Adds what the command line says and the report does not, and takes out latencies of no answer.
pub fn complete(reading: &mut Reading) {
    if let (Some(given), None) = (connections(reading), reading.get("connections")) {
        reading.set("connections", given);
    }
    if reading.tool == "wrk" {
        wrk::complete_by_command(reading);
    }
    if is_unanswered(reading) {
        let is_of_answers =
            |name: &str| ["latency_ns_", "first_byte_ns_"].iter().any(|of| name.starts_with(of));
        reading.figures.retain(|name, _| !is_of_answers(name));
        reading.below.retain(|name, _| !is_of_answers(name));
    }
}

/// Whether no request was answered, so that the report's latencies are of failures, or of nothing.
pub fn is_unanswered(reading: &Reading) -> bool {
    let failed = reading.get("failed").unwrap_or(0.0);
    let answered = reading
        .get("completed")
        .or_else(|| Some(reading.get("sent").or_else(|| reading.get("requests"))? - failed))
        .or_else(|| (failed > 0.0 && reading.status.is_empty()).then_some(0.0));
    answered.is_some_and(|answered| answered <= 0.0)
}
