//! Judges whether the answers were as expected, and whether the server was there all the time.

use super::{Case, Reason};
use model::metric::{BEYOND_P99, Percentile};
use model::{Load, Resumption, Tally};

pub fn judge(case: &Case<'_>) -> Vec<Reason> {
    let tally = case.tally;
    let interrupted =
        tally.interrupted.then(|| Reason::void("interrupted before its time was up".to_owned()));
    let halted = tally.halted.clone().map(Reason::void);
    [answers(case), gone(case), resumption(case), halted, interrupted].into_iter().flatten().collect()
}

/// With more wrong answers than p99 leaves out, it was not the same work any more.
fn answers(case: &Case<'_>) -> Option<Reason> {
    let tally = case.tally;
    if tally.completed == 0 {
        let main = main_cause_in_words(tally).map_or(String::new(), |cause| format!(": {cause}"));
        return Some(Reason::void(format!("no request was answered as expected{main}")));
    }
    let wrong = Some(tally.errors.wrong_work()).filter(|wrong| *wrong > 0)?;
    let share = wrong as f64 / (wrong + tally.completed) as f64;
    let (number, verb) = if wrong == 1 { ("answer", "was") } else { ("answers", "were") };
    let words = format!("{wrong} {number} ({:.2} %) {verb} not as expected", share * 100.0);
    Some(if share > BEYOND_P99 { Reason::void(words) } else { Reason::note(words) })
}

/// A full handshake costs the server far more than one that resumes a session. Where each was to resume one, the first ones of the load
/// can't, but they come before anything is counted.
fn resumption(case: &Case<'_>) -> Option<Reason> {
    let (tally, all) = (case.tally, case.tally.handshake.count());
    if case.plan.tls.resumption != Resumption::Required || all == 0 {
        return None;
    }
    let full = Some(all.saturating_sub(tally.handshakes_resumed)).filter(|full| *full > 0)?;
    let share = full as f64 / all as f64;
    let words =
        format!("{full} of {all} TLS handshakes were full ones: the server did not resume the session");
    Some(if share > BEYOND_P99 { Reason::void(words) } else { Reason::note(words) })
}

/// Judges what was lost: by the number of requests, else by the time for which connections had no service, else by the silence at the end.
/// The number alone would be small beside a fast server's answers: a connection that fails is tried again only now and then. With a larger
/// share of any of these than p99 leaves out, the server was not there for all of the work.
fn gone(case: &Case<'_>) -> Option<Reason> {
    let tally = case.tally;
    if tally.completed == 0 {
        return None;
    }
    let (failed, is_selection) = (failures(tally), tally.is_selection(Percentile::P99.share()));
    let (is_void, more) = match &failed {
        Some(words) if is_selection => {
            let more = ": more than one in a hundred, so the other answers say nothing about the server";
            return Some(Reason::loss(format!("{words}{more}{}", last_heard(tally))));
        }
        _ => outage(case).map(|words| (true, words)).or_else(|| silence(case)).unzip(),
    };
    let is_void = is_void == Some(true);
    let words = [failed, more].into_iter().flatten().collect::<Vec<_>>().join("; ");
    match is_void {
        true => Some(Reason::loss(words + &last_heard(tally))),
        false if words.is_empty() => None,
        false => Some(Reason::note(words)),
    }
}

/// The number of requests that were lost, and their main cause.
fn failures(tally: &Tally) -> Option<String> {
    let errors = &tally.errors;
    let failed = errors.total().checked_sub(errors.wrong_work()).filter(|n| *n > 0)?;
    let main = main_cause_in_words(tally).map_or(String::new(), |cause| format!(" ({cause})"));
    Some(format!("{failed} {} failed{main}", if failed == 1 { "request" } else { "requests" }))
}

/// The cause of most errors, which is said to be one of several if it is.
fn main_cause_in_words(tally: &Tally) -> Option<String> {
    let mostly = if tally.error_causes.len() > 1 { "mostly " } else { "" };
    Some(format!("{mostly}{}", tally.main_cause()?))
}

/// Whether connections were without service for too long.
fn outage(case: &Case<'_>) -> Option<String> {
    let Load::Closed { connections, .. } = &case.plan.load else { return None };
    let all_ns = case.tally.duration_ns as f64 * *connections as f64;
    let share = Some(case.tally.outage_ns? as f64 / all_ns).filter(|share| *share > BEYOND_P99)?;
    Some(format!(
        "connections were refused, or cut off without an answer, for {:.1} % of their time",
        share * 100.0
    ))
}

/// Whether the server, or a part of it, was silent for long in the end, and whether that was too much.
fn silence(case: &Case<'_>) -> Option<(bool, String)> {
    let (tally, connections) = (case.tally, case.plan.load.connections());
    let silent_ns = tally.silent_ns().filter(|ns| Tally::is_long_silence(*ns, tally.duration_ns));
    let stalled_ns = tally.stalled_ns.map_or(0, |ns| ns / connections.max(1) as u64);
    let share = |ns: u64| ns as f64 / tally.duration_ns.max(1) as f64;
    let (is_void, what, share) = match silent_ns {
        Some(ns) => (true, "the server was silent for the last", share(ns)),
        None if stalled_ns == 0 => return None,
        None => {
            let stalled = share(stalled_ns);
            (stalled > BEYOND_P99, "connections that had been answered waited in the end for", stalled)
        }
    };
    let why = "the server, or a part of it, stopped, or answers take so long that this was too short";
    Some((is_void, format!("{what} {:.0} % of the time: {why}", share * 100.0)))
}

/// When the server was last heard, if that was long before the end.
fn last_heard(tally: &Tally) -> String {
    let least_ns = tally.duration_ns as f64 * BEYOND_P99;
    if tally.silent_ns().is_none_or(|silent_ns| silent_ns as f64 <= least_ns) {
        return String::new();
    }
    let seconds = |ns: u64| ns as f64 / 1e9;
    match tally.heard_ns {
        Some(ns) => {
            let window_s = seconds(tally.duration_ns);
            format!("; the server was last heard {:.2} s into the window of {window_s:.2} s", seconds(ns))
        }
        None => "; the server was not heard in the window".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, judged, tally};
    use model::{Errors, Resumption, Tally};

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
        assert_eq!(judged(&closed(), &some, None).reasons, ["4 requests failed (mostly refused)"]);
        some.errors = Errors { timeout: 1, ..Errors::default() };
        some.error_causes.clear();
        assert_eq!(judged(&closed(), &some, None).reasons, ["1 request failed"]);
    }

    #[test]
    fn more_lost_requests_than_p99_leaves_out_void() {
        let of = |connect| {
            let some = Tally { errors: Errors { connect, ..Errors::default() }, ..tally(0.1) };
            let verdict = judged(&closed(), &some, None);
            (verdict.valid, verdict.reasons[0].clone())
        };
        assert_eq!(of(100), (true, "100 requests failed".to_owned()));
        let (valid, words) = of(900);
        assert!(!valid && words.starts_with("900 requests failed: more than one in a hundred"), "{words}");
    }

    #[test]
    fn full_handshakes_void_where_each_was_to_resume_a_session() {
        let of = |resumption, resumed| {
            let mut tally = Tally { handshakes_resumed: resumed, ..tally(0.1) };
            tally.handshake.record_n(100_000, 1_000);
            let mut plan = closed();
            plan.tls.resumption = resumption;
            let verdict = judged(&plan, &tally, None);
            (verdict.valid, verdict.reasons.iter().any(|why| why.contains("TLS handshakes were full ones")))
        };
        let required = |resumed| of(Resumption::Required, resumed);
        assert_eq!(
            (required(1_000), required(995), required(980)),
            ((true, false), (true, true), (false, true))
        );
        assert_eq!((of(Resumption::Offered, 0), of(Resumption::Off, 0)), ((true, false), (true, false)));
    }

    #[test]
    fn what_was_cut_short_is_void() {
        assert!(!judged(&closed(), &Tally { interrupted: true, ..tally(0.1) }, None).valid);
        let halted = Tally { halted: Some("no port is left".to_owned()), ..tally(0.1) };
        assert_eq!(judged(&closed(), &halted, None).reasons, ["no port is left"]);
    }

    #[test]
    fn a_server_that_is_gone_voids_however_fast_it_was() {
        let of = |tally: Tally| judged(&closed(), &tally, None);
        // Killed after 0.3 s of 1 s: refused on ten connections for 0.7 s.
        let killed = |connect| Tally {
            errors: Errors { connect, ..Errors::default() },
            error_causes: [("connect: refused".to_owned(), connect)].into(),
            heard_ns: Some(300_000_000),
            owed_ns: Some(300_100_000),
            outage_ns: Some(7_000_000_000),
            ..tally(0.1)
        };
        for (connect, words) in [
            (700, "700 requests failed (connect: refused): more than one in a hundred"),
            (
                70,
                "70 requests failed (connect: refused); connections were refused, or cut off without an answer, for 70.0 %",
            ),
        ] {
            let verdict = of(killed(connect));
            assert!(!verdict.valid && verdict.reasons[0].starts_with(words), "{verdict:?}");
            assert!(
                verdict.reasons[0].ends_with("last heard 0.30 s into the window of 1.00 s"),
                "{verdict:?}"
            );
        }
        let short = of(Tally { outage_ns: Some(99_000_000), ..tally(0.1) });
        assert!(short.valid && short.reasons.is_empty(), "{short:?}");
        // Stopped: it owes answers and says nothing. A slow one owes answers, too.
        let silent =
            |heard_ms: u64| Tally { heard_ns: Some(heard_ms * 1_000_000), owed_ns: Some(5), ..tally(0.1) };
        assert!(of(silent(510)).valid);
        let stopped = of(silent(470));
        assert!(!stopped.valid && stopped.reasons[0].contains("silent for the last 53 %"), "{stopped:?}");
        // A part of it stopped: connections on it had waited long. How many there are is chance, so few are as bad as many.
        for (stalled_ns, is_valid, words) in
            [(0, true, ""), (100_000_000, true, "for 1 % of"), (600_000_000, false, "for 6 % of")]
        {
            let part = of(Tally { stalled_ns: Some(stalled_ns), ..tally(0.1) });
            assert_eq!((part.valid, part.reasons.is_empty()), (is_valid, stalled_ns == 0), "{part:?}");
            assert!(part.reasons.concat().contains(words), "{part:?}");
        }
        let idle = Tally { heard_ns: Some(5), owed_ns: None, ..tally(0.1) };
        assert!(of(idle).valid, "nothing was asked");
    }
}
