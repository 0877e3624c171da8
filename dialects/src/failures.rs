//! Counts what failed in the same way for all tools: a reading's kinds of errors never overlap, so their sum is the number of failed
//! requests. Answers with a status of 400 and more are the kind `status`, as in wrk's reports.

use model::Reading;

/// The kind of errors that are answers with a status of failure.
pub const STATUS: &str = "status";

/// Makes errors of figures of which each is part of the one before it, such as h2load's `20 failed, 10 errored, 3 timeout`: each kind gets
/// what is not of a later kind. Only the first stays a figure.
pub fn take_nested(reading: &mut Reading, kinds: &[&str]) {
    let counts: Vec<(&str, f64)> =
        kinds.iter().filter_map(|kind| Some((*kind, reading.get(kind)?))).collect();
    kinds.iter().skip(1).for_each(|kind| _ = reading.figures.remove(*kind));
    for (nth, (kind, count)) in counts.iter().enumerate() {
        let part = counts.get(nth + 1).map_or(0.0, |(_, part)| *part);
        let rest = (count - part).max(0.0) as u64;
        if rest > 0 {
            reading.errors.insert((*kind).to_owned(), rest);
        }
    }
}

/// Adds the answers whose status is a failure to the errors, unless the report counted them itself. Those of `overlapping`, a kind of
/// errors that such answers may have as well, are not counted again.
pub fn add_statuses(reading: &mut Reading, overlapping: Option<&str>) {
    let failing: u64 =
        reading.status.iter().filter(|(status, _)| is_failure(status)).map(|(_, count)| *count).sum();
    let counted = overlapping.and_then(|kind| reading.errors.get(kind)).copied().unwrap_or(0);
    add_status(reading, failing.saturating_sub(counted));
}

/// Adds this number of answers with a status of failure.
pub fn add_status(reading: &mut Reading, count: u64) {
    if count == 0 || reading.errors.contains_key(STATUS) {
        return;
    }
    // Without kinds, the failures that the report counts would be lost in the sum.
    let of_kinds: u64 = reading.errors.values().sum();
    let others = (reading.get("failed").unwrap_or(0.0) as u64).saturating_sub(of_kinds);
    if others > 0 {
        *reading.errors.entry("failed".to_owned()).or_default() += others;
    }
    reading.errors.insert(STATUS.to_owned(), count);
}

/// Whether a status, or a class of them such as `5xx`, is a failure.
fn is_failure(status: &str) -> bool {
    status == "non-2xx" || (status.len() == 3 && status.starts_with(['4', '5']))
}

#[cfg(test)]
mod tests {
    use super::{add_statuses, take_nested};
    use model::Reading;

    fn errors(reading: &Reading) -> Vec<(&str, u64)> {
        reading.errors.iter().map(|(kind, count)| (kind.as_str(), *count)).collect()
    }

    #[test]
    fn parts_of_failures_are_not_counted_again() {
        let mut reading = Reading::of("h2load");
        [("failed", 20.0), ("errored", 10.0), ("timeout", 3.0)]
            .iter()
            .for_each(|(kind, n)| reading.set(kind, *n));
        take_nested(&mut reading, &["failed", "errored", "timeout"]);
        assert_eq!(errors(&reading), [("errored", 7), ("failed", 10), ("timeout", 3)]);
        assert_eq!(reading.figures.into_keys().collect::<Vec<_>>(), ["failed"]);
    }

    #[test]
    fn answers_that_are_failures_are_errors() {
        let with = |statuses: &[(&str, u64)]| {
            let statuses = statuses.iter().map(|(status, count)| ((*status).to_owned(), *count));
            Reading { status: statuses.collect(), ..Reading::of("ab") }
        };
        let mut some = with(&[("200", 9), ("404", 2), ("503", 3), ("3xx", 1)]);
        some.set("failed", 4.0);
        add_statuses(&mut some, None);
        assert_eq!(errors(&some), [("failed", 4), ("status", 5)]);
        let mut both = with(&[("non-2xx", 5)]);
        both.errors.insert("length".to_owned(), 3);
        add_statuses(&mut both, Some("length"));
        assert_eq!(errors(&both), [("length", 3), ("status", 2)]);
        let mut counted = with(&[("5xx", 8)]);
        counted.errors.insert("status".to_owned(), 7);
        add_statuses(&mut counted, None);
        assert_eq!(errors(&counted), [("status", 7)]);
    }
}
