//! An answer counts the same however its bytes are cut: in one piece, in two with and without a pause, byte by byte; as the first on a
//! connection, behind another one, and in a pipeline.

use super::*;
use model::Errors;
use std::collections::BTreeMap;

const PIPELINE: usize = 3;

/// How one answer among twenty counts.
#[derive(Clone, Copy, Debug)]
enum Counts {
    Right,
    /// As one error of this kind, with this cause.
    Wrong(&'static str),
    /// As lost, with this cause.
    Lost(&'static str),
}
use Counts::{Lost, Right, Wrong};

const LENGTH: Counts = Lost("protocol: invalid Content-Length");
const EXCESS: Counts = Wrong("body: longer than its Content-Length: 5 bytes announced, more received");
const HEADER: Counts = Lost("protocol: malformed head: invalid header name");
const OUT_OF_TIME: &str = "when time ran out";

/// Answers that begin with `HTTP/1.1 200 OK`: their fields and body.
const FIELDS: &[(&str, Counts)] = &[
    ("Content-Length: 5\r\n\r\nhello", Right),
    ("X: one\r\n  two\r\n\tthree\r\nContent-Length: 5\r\n\r\nhello", Right),
    ("Content-Length:\r\n 5\r\n\r\nhello", Right),
    ("Content-Length: 5, 5\r\n\r\nhello", Right),
    ("Content-Length: 5\r\nContent-Length: 5\r\n\r\nhello", Right),
    ("Content-Length: 5, 6\r\n\r\nhello", LENGTH),
    ("Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello", LENGTH),
    ("Content-Length: +5\r\n\r\nhello", LENGTH),
    ("Content-Length: -5\r\n\r\nhello", LENGTH),
    ("Content-Length:\r\n\r\nhello", LENGTH),
    ("Content-Length : 5\r\n\r\nhello", HEADER),
    (" X: y\r\nContent-Length: 5\r\n\r\nhello", HEADER),
    ("X-Nul: a\0b\r\nContent-Length: 5\r\n\r\nhello", Lost("protocol: malformed head: invalid header value")),
    ("X-Empty:\r\nContent-Length: 5\r\n\r\nhello", Right),
    ("X-Text: gr\u{fc}n\r\nContent-Length: 5\r\n\r\nhello", Right),
    ("Content-Length: 5\n\nhello", Right),
    ("Content-Length: 5\r\n\r\nhello\r\n", Right),
    ("Content-Length: 5\r\n\r\nhello\r\n\n\r\n", Right),
    ("Content-Length: 5\r\n\r\nhelloEXTRA", EXCESS),
    ("Content-Length: 5\r\n\r\nhelloHTML", EXCESS),
    ("Content-Length: 5\r\n\r\nhello\r\nEXTRA", EXCESS),
    (
        "Content-Length: 0\r\n\r\nhello",
        Wrong("body: longer than its Content-Length: 0 bytes announced, more received"),
    ),
    ("Connection: close\r\nContent-Length: 5\r\n\r\nhello", Right),
    ("Connection: close\r\nContent-Length: 5\r\n\r\nhello\r\n", Right),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Right),
    ("Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n0\r\nTrail: er\r\n\r\n", Right),
    (
        "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\nmore",
        Wrong("body: bytes followed the last chunk"),
    ),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\nhelloX", Lost("protocol: malformed chunk")),
    ("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n5\r\nhello\r\n0\r\n\r\n", Right),
];

/// Other answers.
const WHOLE: &[(&str, Counts)] = &[
    ("HTTP/1.1 204 No Content\r\n\r\n", Right),
    ("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", Right),
    (
        "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
        Wrong("body: a 204 has no body, but bytes followed"),
    ),
    (
        "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello",
        Wrong("body: a 304 has no body, but bytes followed"),
    ),
    ("HTTP/1.1 999 Denied\r\nContent-Length: 5\r\n\r\nhello", Wrong("status: 999 was not expected")),
    ("HTTP/1.1 999 Denied\r\nContent-Length: 5\r\n\r\nhelloEXTRA", Wrong("status: 999 was not expected")),
    (
        "HTTP/1.1 100 Go\r\n\r\nHTTP/1.1 103 Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        Right,
    ),
    ("\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", Right),
];

/// What no request can be answered with, where nothing came before it.
const NO_ANSWERS: &[(&str, Counts)] = &[
    ("\0\0\u{12}\u{4}\0\0\0\0\0\0\u{3}", Lost("protocol: the server speaks HTTP/2, which was not requested")),
    ("\u{15}\u{3}\u{1}\0\u{2}\u{2}F", Lost("protocol: the server speaks TLS: write https:// in the URL")),
    ("hello", Lost("protocol: the bytes are not an HTTP/1 answer")),
];

/// Answers that never become whole, where nothing comes behind them.
const UNFINISHED: &[(&str, &str)] = &[
    ("", "no answer"),
    ("HTTP/1.1 100 Go\r\n\r\n", "no answer"),
    ("HTTP/1.1 20", "an unfinished head"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nhello", "an unfinished head"),
    ("HTTP/1.1 200 OK\r\nContent-Length: 14\r\n\r\nHello, World!", "14 bytes announced, 13 received"),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "5 bytes in chunks, without the last chunk,",
    ),
    ("HTTP/1.1 200 OK\r\n\r\nhello", "5 bytes of a body that ends with the connection"),
];

/// An answer that no request asked for, unless it is cut off in front: then it is the next request's, as for any client.
#[test]
fn an_answer_too_many_makes_the_one_before_it_wrong() {
    let two = ANSWER.repeat(2);
    let inside = (1..ANSWER.len()).chain(ANSWER.len() + "HTTP/".len()..two.len());
    for cut in inside.map(|at| (vec![at], MS)).chain([(Vec::new(), 0)]) {
        let result = result(&two, Place::First, false, &cut);
        let cause = "body: another answer followed, which no request asked for";
        assert_eq!(result.causes, BTreeMap::from([(cause.to_owned(), 1)]), "cut at {cut:?}");
        assert_eq!((result.completed, result.ended), (19, 20), "cut at {cut:?}");
    }
}

/// Where the answer stands.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    First,
    Second,
    Pipelined,
    /// Pipelined, with no further request until all are answered.
    Burst,
}

impl Place {
    fn is_pipelined(self) -> bool {
        matches!(self, Self::Pipelined | Self::Burst)
    }
}

/// Each character is one byte.
fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|c| c as u8).collect()
}

/// The ways to cut an answer: where, and the pause after each piece. The pauses are shorter than other answers take.
fn cuts(length: usize) -> Vec<(Vec<usize>, u64)> {
    let one_cut = (1..length).flat_map(|at| [0, 1, 3 * MS].map(|pause_ns| (vec![at], pause_ns)));
    let everywhere: Vec<_> = (1..length).collect();
    let all = [0, 10_000].map(|pause_ns| (everywhere.clone(), pause_ns));
    one_cut.chain(all).chain([(Vec::new(), 0)]).collect()
}

fn pieces(bytes: &[u8], (at, pause_ns): &(Vec<usize>, u64)) -> Vec<(u64, What)> {
    let ends = at.iter().copied().chain([bytes.len()]);
    let starts = [0].into_iter().chain(at.iter().copied());
    let pieces = starts.zip(ends).filter(|(start, end)| start < end);
    let timed = pieces.zip(0..).map(|((start, end), nth)| (MS + nth * pause_ns, bytes[start..end].to_vec()));
    timed.map(|(at_ns, piece)| (at_ns, What::Bytes(piece))).collect()
}

/// What is counted of twenty requests. The first connection brings the answer, all others are right.
#[derive(Debug, PartialEq)]
struct Result {
    ended: u64,
    completed: u64,
    errors: Errors,
    causes: BTreeMap<String, u64>,
    status: BTreeMap<u16, u64>,
    latencies: [u64; 3],
}

fn result(answer: &[u8], place: Place, is_head: bool, cut: &(Vec<usize>, u64)) -> Result {
    let mut plan = Plan { until: Until::Answered(20), ..closed(1) };
    plan.pipeline = if place.is_pipelined() { PIPELINE } else { 1 };
    plan.bursts = place == Place::Burst;
    plan.asks[0].head_only = is_head;
    let good = if is_head { &ANSWER[..ANSWER.len() - 2] } else { ANSWER };
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth: 0, before: 0, requests: PIPELINE } => pieces(&[good, answer, good].concat(), cut),
        Call::Send { nth: 0, before, .. } if before == usize::from(place == Place::Second) => {
            pieces(answer, cut)
        }
        // Behind everything that the first connection still sends.
        Call::Send { requests, .. } => vec![(20 * MS, What::Bytes(good.repeat(requests)))],
    });
    assert_accounted(&ran.tally);
    let Tally { completed, errors, error_causes, status, latency, service, first_byte, unanswered, .. } =
        ran.tally;
    let answered = latency.count() - unanswered;
    let latencies = [answered, service.count(), first_byte.count()];
    let ended = completed + errors.total();
    Result { ended, completed, errors, causes: error_causes, status, latencies }
}

#[track_caller]
fn check_every_cut(answer: &str, place: Place, is_head: bool) -> Result {
    let answer = bytes(answer);
    let length = answer.len() + if place.is_pipelined() { 2 * ANSWER.len() } else { 0 };
    let whole = result(&answer, place, is_head, &(Vec::new(), 0));
    for cut in cuts(length) {
        let result = result(&answer, place, is_head, &cut);
        assert_eq!(result, whole, "{:?} as {place:?}, cut at {cut:?}", String::from_utf8_lossy(&answer));
    }
    assert_eq!(whole.latencies, [whole.completed; 3], "no time without an answer");
    whole
}

#[test]
fn an_answer_counts_the_same_however_it_is_cut() {
    let of_fields = FIELDS.iter().map(|(rest, counts)| (format!("HTTP/1.1 200 OK\r\n{rest}"), *counts));
    for (answer, counts) in
        of_fields.chain(WHOLE.iter().map(|(bytes, counts)| ((*bytes).to_owned(), *counts)))
    {
        // How many requests are behind an answer that ends its connection, and are lost, depends on when they were sent.
        let closes = answer.contains("close") || answer.contains("chunked\r\nContent-Length");
        let pipelined = if closes { Place::Burst } else { Place::Pipelined };
        for place in [Place::First, Place::Second, pipelined] {
            let result = check_every_cut(&answer, place, false);
            let behind = u64::from(closes && place == Place::Burst);
            let (cause, wrong) = match counts {
                Right => ("", 0),
                Wrong(cause) | Lost(cause) => (cause, 1),
            };
            let said = result.causes.get(cause).copied().unwrap_or(0);
            assert_eq!(
                (said, result.errors.total()),
                (wrong, wrong + behind),
                "{answer:?} as {place:?}: {result:?}"
            );
            let is_whole = !matches!(counts, Lost(_));
            assert_eq!(result.status.values().sum::<u64>(), 20 - behind - u64::from(!is_whole), "{answer:?}");
            assert_eq!(
                (result.completed, result.ended),
                (20 - wrong - behind, 20),
                "{answer:?} as {place:?}"
            );
        }
    }
}

#[test]
fn bytes_that_are_no_answer_count_the_same_however_they_are_cut() {
    for (bytes, counts) in NO_ANSWERS {
        let Lost(cause) = counts else { continue };
        let result = check_every_cut(bytes, Place::First, false);
        assert_eq!((result.causes.get(*cause), result.ended), (Some(&1), 20), "{bytes:?}: {result:?}");
        // Behind a whole answer, they make that one too long.
        let result = check_every_cut(bytes, Place::Second, false);
        let excess = "body: longer than its Content-Length: 2 bytes announced, more received";
        assert_eq!((result.causes.get(excess), result.ended), (Some(&1), 20), "{bytes:?}: {result:?}");
    }
}

#[test]
fn an_answer_that_stays_unfinished_is_named_with_what_came_of_it() {
    for (bytes, came) in UNFINISHED {
        for place in [Place::First, Place::Second] {
            let result = check_every_cut(bytes, place, false);
            let cause = format!("timeout: {came} {OUT_OF_TIME}");
            assert_eq!(result.causes, BTreeMap::from([(cause, 1)]), "{bytes:?}");
            assert_eq!((result.completed, result.errors.timeout), (19, 1), "{bytes:?}");
        }
    }
}

#[test]
fn an_answer_to_head_with_a_body_is_wrong_once() {
    let body = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    for (answer, wrong) in [(body, 1), (body.trim_end_matches("hello"), 0)] {
        for place in [Place::First, Place::Second] {
            let result = check_every_cut(answer, place, true);
            let cause = "body: an answer to HEAD has no body, but bytes followed";
            assert_eq!(result.causes.get(cause).copied().unwrap_or(0), wrong, "{result:?}");
            assert_eq!((result.completed, result.ended), (20 - wrong, 20), "{result:?}");
        }
    }
}

/// The ages of requests that still wait when the window closes stand in the tail, and are kept separate from answers' latencies.
#[test]
fn a_request_that_still_waits_at_the_end_is_no_answer() {
    for load in [closed(4), open(400.0, 4), Plan { pipeline: PIPELINE, ..closed(4) }] {
        let plan = Plan { timeout: Duration::from_secs(10), ..load };
        let mut sends = 0;
        let tally = run(&plan, |call| match call {
            Call::Connect { .. } => vec![(MS, What::Connected)],
            Call::Send { requests, .. } => {
                sends += 1;
                if sends > 100 { vec![] } else { vec![(MS, answers(requests))] }
            }
        })
        .tally;
        assert_accounted(&tally);
        assert!(tally.in_flight_at_end > 0 && tally.unanswered >= tally.in_flight_at_end, "{:?}", plan.load);
        assert_eq!(tally.latency.count() - tally.unanswered, tally.completed, "{:?}", plan.load);
    }
}
