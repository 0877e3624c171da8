//! Answers that come before their requests were sent whole.

use super::*;

const LAST: &[u8] = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
const REFUSED: &[u8] = b"HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno";

/// Ten requests, of each of which the kernel does not take this much.
fn tally(unsent_bytes: u64, pipeline: usize, answer: &'static [u8]) -> Tally {
    encrypted(unsent_bytes, 0, pipeline, answer)
}

/// The same where TLS makes each request so many bytes longer.
fn encrypted(unsent_bytes: u64, record_bytes: u64, pipeline: usize, answer: &'static [u8]) -> Tally {
    let plan = Plan { until: Until::Answered(10), pipeline, bursts: true, ..closed(1) };
    let script = move |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => {
            let bytes = [&ANSWER.repeat(requests - 1), answer].concat();
            vec![(MS, What::Bytes(bytes)), (2 * MS, What::Ended(None))]
        }
    };
    let mut io = Fake::new(REQUEST.len(), Box::new(script));
    (io.unsent_bytes, io.record_bytes) = (unsent_bytes, record_bytes);
    let tally = run_on(&plan, None, io).tally;
    assert_accounted(&tally);
    tally
}

#[test]
fn an_answer_to_half_a_request_is_an_outcome_of_its_own() {
    for (answer, cause) in [
        (LAST, "early: answered with 200 before the request was sent whole"),
        (REFUSED, "early: answered with 413 before the request was sent whole"),
    ] {
        let early = tally(7, 1, answer);
        assert_eq!((early.completed, early.errors.early, early.errors.total()), (0, 10, 10));
        assert_eq!(early.error_causes.get(cause), Some(&10), "{:?}", early.error_causes);
        assert_eq!((early.latency.count(), early.sent), (0, 10));
        assert_eq!(early.sent_bytes, 10 * (REQUEST.len() as u64 - 7), "what the kernel took");
    }
    let whole = tally(0, 1, LAST);
    assert_eq!((whole.completed, whole.sent_bytes), (10, 10 * REQUEST.len() as u64));
}

#[test]
fn in_a_pipeline_only_the_request_that_was_not_sent_whole_is_answered_early() {
    let burst = tally(7, 5, LAST);
    assert_eq!((burst.completed, burst.errors.early), (8, 2), "{:?}", burst.error_causes);
}

#[test]
fn the_last_request_of_a_connection_counts_with_its_own_length() {
    let load = Load::Closed { connections: 1, per_connection: Some(5) };
    let mut plan = Plan { until: Until::Answered(10), pipeline: 5, bursts: true, load, ..closed(1) };
    plan.asks[0].last = REQUEST.repeat(2);
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { .. } => {
            let bytes = [&ANSWER.repeat(4), LAST].concat();
            vec![(MS, What::Bytes(bytes)), (2 * MS, What::Ended(None))]
        }
    };
    let mut io = Fake::new(REQUEST.len(), Box::new(script));
    // The first request of five was sent, and all behind it wait.
    io.unsent_bytes = 5 * REQUEST.len() as u64;
    assert_eq!(run_on(&plan, None, io).tally.errors.early, 8, "all but the first of each five");
}

#[test]
fn encrypted_requests_that_wait_behind_an_answered_one_make_it_no_early_one() {
    let record = REQUEST.len() as u64 + 22;
    let of = |unsent_bytes| encrypted(unsent_bytes, 22, 5, LAST).errors.early;
    // The last of five has none behind it, the one before it one.
    assert_eq!([of(1), of(record), of(record + 1), of(4 * record), of(4 * record + 1)], [2, 2, 4, 8, 10]);
}
