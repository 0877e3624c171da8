//! Judges whether the answers were as expected, and whether the measurement is complete.

use super::{Case, Reason};
use model::metric::Percentile;

/// With a larger share of wrong answers, it was not the same work any more.
const WRONG_WORK: f64 = 0.01;

pub fn judge(case: &Case<'_>) -> Vec<Reason> {
    let [answers, failures] = [answers(case), failures(case)];
    let tally = case.tally;
    let interrupted =
        tally.interrupted.then(|| Reason::void("interrupted before its time was up".to_owned()));
    [answers, failures, tally.halted.clone().map(Reason::void), interrupted].into_iter().flatten().collect()
}

fn answers(case: &Case<'_>) -> Option<Reason> {
    let tally = case.tally;
    if tally.completed == 0 {
        return Some(Reason::void("no request was answered as expected".to_owned()));
    }
    let wrong = Some(tally.errors.wrong_work()).filter(|wrong| *wrong > 0)?;
    let share = wrong as f64 / (wrong + tally.completed) as f64;
    let (number, verb) = if wrong == 1 { ("answer", "was") } else { ("answers", "were") };
    let words = format!("{wrong} {number} ({:.2} %) {verb} not as expected", share * 100.0);
    Some(if share > WRONG_WORK { Reason::void(words) } else { Reason::note(words) })
}

fn failures(case: &Case<'_>) -> Option<Reason> {
    let errors = &case.tally.errors;
    let failed = errors.total().checked_sub(errors.wrong_work()).filter(|n| *n > 0)?;
    let causes = case.tally.error_causes.iter();
    let main = causes.max_by_key(|(_, n)| **n).map_or(String::new(), |(cause, _)| format!(" ({cause})"));
    let flatters = if case.tally.is_selection(Percentile::P99.share()) {
        ": more than one in a hundred, so the p99 of the other answers says nothing"
    } else {
        ""
    };
    let requests = if failed == 1 { "request" } else { "requests" };
    (case.tally.completed > 0).then(|| Reason::note(format!("{failed} {requests} failed{main}{flatters}")))
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, judged, tally};
    use model::{Errors, Tally};

    #[test]
    fn wrong_work_is_named_and_much_of_it_is_void() {
        let mut some = tally(0.1);
        some.errors = Errors { status: 10, ..Errors::default() };
        let verdict = judged(&closed(), &some, None);
        assert!(verdict.valid && verdict.reasons[0].starts_with("10 answers (0.10 %)"), "{verdict:?}");
        some.errors = Errors { status: 1, ..Errors::default() };
        assert_eq!(judged(&closed(), &some, None).reasons, ["1 answer (0.01 %) was not as expected"]);
        some.errors = Errors { body: 1000, ..Errors::default() };
        assert!(!judged(&closed(), &some, None).valid);
        assert!(!judged(&closed(), &Tally::default(), None).valid);
    }

    #[test]
    fn failed_requests_are_told_with_their_main_cause() {
        let mut some = tally(0.1);
        some.errors = Errors { connect: 3, timeout: 1, ..Errors::default() };
        assert_eq!(judged(&closed(), &some, None).reasons, ["4 requests failed"]);
        some.error_causes = [("refused".to_owned(), 3), ("late".to_owned(), 1)].into();
        assert_eq!(judged(&closed(), &some, None).reasons, ["4 requests failed (refused)"]);
        some.errors = Errors { timeout: 1, ..Errors::default() };
        some.error_causes.clear();
        assert_eq!(judged(&closed(), &some, None).reasons, ["1 request failed"]);
    }

    #[test]
    fn more_failed_requests_than_p99_leaves_out_are_told() {
        let of = |connect| {
            let some = Tally { errors: Errors { connect, ..Errors::default() }, ..tally(0.1) };
            judged(&closed(), &some, None).reasons[0].clone()
        };
        assert_eq!(of(100), "100 requests failed");
        assert!(
            of(900).starts_with("900 requests failed: more than one in a hundred, so the p99"),
            "{}",
            of(900)
        );
    }

    #[test]
    fn what_was_cut_short_is_void() {
        assert!(!judged(&closed(), &Tally { interrupted: true, ..tally(0.1) }, None).valid);
        let halted = Tally { halted: Some("no port is left".to_owned()), ..tally(0.1) };
        assert_eq!(judged(&closed(), &halted, None).reasons, ["no port is left"]);
    }
}
