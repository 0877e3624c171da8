//! What goes wrong, one thing after the other, and how it must be counted.

use super::*;
use model::{Expect, Think, Verify};
use net::{Errno, Operation};
use std::sync::atomic::Ordering;
use wire::Http1;

/// A server that takes this long for an answer.
pub fn plain(after_ns: u64) -> impl FnMut(Call) -> Vec<(u64, What)> {
    move |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => vec![(after_ns, answers(requests))],
    }
}

/// The same over TLS.
fn secured(after_ns: u64) -> impl FnMut(Call) -> Vec<(u64, What)> {
    move |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected), (2 * MS, What::Secured)],
        Call::Send { requests, .. } => vec![(after_ns, answers(requests))],
    }
}

/// Checks a number of requests, give or take one.
#[track_caller]
fn assert_about(seen: Option<u64>, expected: u64) {
    assert!(seen.is_some_and(|seen| seen.abs_diff(expected) <= 1), "{seen:?}, not {expected}");
}

fn tls(mut plan: Plan) -> Plan {
    plan.target.tls = true;
    plan
}

#[test]
fn a_408_on_an_idle_connection_is_the_end_of_the_connection() {
    let plan = Plan { think: Think::Exponential(Duration::from_millis(20)), ..closed(4) };
    let gives_up = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_vec();
    let script = move |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => {
            let idle = What::Bytes(gives_up.clone());
            vec![(MS, answers(requests)), (2 * MS, idle), (2 * MS, What::Ended(None))]
        }
    };
    let ran = run(&plan, script);
    assert_accounted(&ran.tally);
    let Tally { completed, errors, .. } = &ran.tally;
    // One in twenty is asked within the millisecond before the 408, which is its answer then.
    assert!(*completed > 200 && errors.status * 10 < *completed, "{completed}, {errors:?}");
    assert_eq!(errors.total() - errors.status - errors.receive, 0, "{:?}", ran.tally.error_causes);
}

#[test]
fn a_server_that_works_is_counted() {
    let ran = run(&closed(3), plain(10 * MS));
    assert_accounted(&ran.tally);
    assert!(ran.tally.errors.total() == 0 && ran.tally.completed > 500, "{:?}", ran.tally.completed);
    assert_eq!(ran.tally.latency.quantile_ns(0.5).map(|ns| ns / MS), Some(10));
}

#[test]
fn a_handshake_that_is_reset_after_the_warm_up_is_one_error() {
    let plan = Plan { warmup: Duration::from_millis(500), ..tls(closed(2)) };
    let mut usual = secured(10 * MS);
    let ran = run(&plan, |call| match call {
        // The connections of the warm-up break in the window, and the first one that is opened anew fails in its handshake.
        Call::Send { nth: 0 | 1, before: 60.., .. } => {
            vec![(0, What::Failed(Operation::Receive, Errno::CONNRESET))]
        }
        Call::Connect { nth: 2 } => {
            vec![(MS, What::Connected), (2 * MS, What::Failed(Operation::Handshake, Errno::CONNRESET))]
        }
        call => usual(call),
    });
    assert_accounted(&ran.tally);
    assert_eq!(
        (ran.tally.halted.as_deref(), ran.tally.errors.connect, ran.tally.errors.receive),
        (None, 1, 2)
    );
    assert_eq!(ran.tally.duration_ns, 2 * SECOND, "it was measured to the end");
}

#[test]
fn where_no_handshake_comes_about_nothing_is_measured() {
    let ran = run(&tls(closed(2)), |call| match call {
        Call::Connect { .. } => {
            vec![(MS, What::Connected), (2 * MS, What::Failed(Operation::Handshake, Errno::PROTO))]
        }
        Call::Send { .. } => vec![],
    });
    assert!(ran.tally.halted.is_some_and(|why| why.contains("handshake")));
}

/// Runs a worker whose handshakes all fail. It shares `progress` with other workers.
fn without_a_handshake(progress: &Progress) -> Tally {
    let plan = tls(closed(2));
    let script = |call| match call {
        Call::Connect { .. } => {
            vec![(MS, What::Connected), (2 * MS, What::Failed(Operation::Handshake, Errno::CONNRESET))]
        }
        Call::Send { .. } => vec![],
    };
    let io = Fake::new(REQUEST.len(), Box::new(script));
    Worker::<_, Http1>::new(&plan, share(&plan, 0, 1), io, progress).unwrap().run(&()).unwrap()
}

#[test]
fn a_worker_that_halts_asks_nobody_else_to_stop() {
    let progress = Progress::default();
    assert!(without_a_handshake(&progress).halted.is_some());
    let [halted, stop] = [&progress.halted, &*progress.stop].map(|flag| flag.load(Ordering::Relaxed));
    assert!(halted && !stop, "the flag to stop is its owner's, who would take a halt for an interruption");
}

#[test]
fn a_worker_without_a_handshake_goes_on_where_another_one_had_one() {
    let progress = Progress { secured: true.into(), ..Progress::default() };
    let tally = without_a_handshake(&progress);
    assert_accounted(&tally);
    assert_eq!((tally.halted, tally.duration_ns), (None, 2 * SECOND));
    assert!(tally.errors.connect > 2, "{:?}", tally.errors);
}

#[test]
fn a_connection_that_is_not_established_in_time_is_in_the_tail_of_open_load() {
    // Two connections answer at once, and the third is never established.
    let ran = run(&open(300.0, 3), |call| match call {
        Call::Connect { nth: 0 | 1 } => vec![(MS, What::Connected)],
        Call::Connect { .. } => vec![],
        Call::Send { requests, .. } => vec![(MS, answers(requests))],
    });
    assert_accounted(&ran.tally);
    assert!(ran.tally.errors.connect >= 3, "{:?}", ran.tally.errors);
    let all = ran.tally.completed + ran.tally.errors.connect;
    assert!(ran.tally.latency.count() >= all, "{} of {all}", ran.tally.latency.count());
    assert!(ran.tally.latency.max_ns().unwrap_or(0) >= 490 * MS);
    // In closed load a request is sent when its connection is open, so that nothing waited.
    let ran = run(&closed(1), |_| vec![]);
    assert_eq!((ran.tally.latency.count(), ran.tally.errors.connect), (0, 3));
}

#[test]
fn a_connection_that_comes_about_is_as_old_as_it_is_though_it_has_room_for_more() {
    // With room for more requests it stands in line while it is on its way.
    let plan = Plan { pipeline: 4, ..open(100.0, 1) };
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(25 * MS, What::Connected)],
        Call::Send { requests, .. } => vec![(MS, answers(requests))],
    });
    assert_accounted(&ran.tally);
    assert_eq!(ran.tally.connect.quantile_ns(0.5).map(|ns| ns / MS), Some(25));
}

#[test]
fn what_was_due_before_the_window_is_not_of_its_rate() {
    // The server answers nothing until 300 ms into the window, then everything at once.
    let plan = Plan { warmup: Duration::from_secs(1), timeout: Duration::from_secs(9), ..open(100.0, 1000) };
    let mut now = 0;
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(0, What::Connected)],
        Call::Send { requests, .. } => {
            now += 10 * MS;
            vec![((1300 * MS).saturating_sub(now).max(MS), answers(requests))]
        }
    });
    assert_accounted(&ran.tally);
    // The window opens one look at the clock late.
    assert_about(ran.tally.due, 200);
    assert_about(ran.tally.carried_in, 100);
    assert_about(ran.tally.carried_out, 0);
    assert_about(Some(ran.tally.completed), 300);
    assert_about(Some(ran.tally.completed_of_due()), 200);
    // What the warm-up left behind is none of the window's.
    assert_about(ran.tally.rate_per_s().map(|rate| rate as u64), 100);
}

#[test]
fn a_server_that_answers_late_but_keeps_up_has_the_rate_that_was_offered() {
    let plan = Plan { warmup: Duration::from_secs(1), ..open(100.0, 1000) };
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(0, What::Connected)],
        Call::Send { requests, .. } => vec![(200 * MS, answers(requests))],
    });
    assert_accounted(&ran.tally);
    assert_about(ran.tally.carried_in, 20);
    assert_about(ran.tally.carried_out, 20);
    assert_about(ran.tally.rate_per_s().map(|rate| rate as u64), 100);
}

#[test]
fn connections_that_are_asked_and_never_answered_are_told() {
    let plan =
        Plan { timeout: Duration::from_secs(9), warmup: Duration::from_millis(100), ..open(1000.0, 10) };
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(0, What::Connected)],
        Call::Send { nth: 0..4, .. } => vec![],
        Call::Send { requests, .. } => vec![(MS, answers(requests))],
    });
    assert_accounted(&ran.tally);
    assert_eq!(ran.tally.connections_starved, Some(4));
    let all_served = run(&open(1000.0, 10), plain(MS));
    assert_eq!(all_served.tally.connections_starved, Some(0));
    assert_eq!(run(&closed(2), plain(MS)).tally.connections_starved, None);
}

#[test]
fn a_certificate_that_is_refused_after_the_send_ends_a_request_that_was_sent() {
    // TLS 1.3: the client's side of the handshake is whole before the server has looked at its certificate.
    let ran = run(&tls(closed(2)), |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected), (2 * MS, What::Secured)],
        Call::Send { .. } => vec![(MS, What::Failed(Operation::Handshake, Errno::PROTO))],
    });
    assert_accounted(&ran.tally);
    assert!(ran.tally.sent > 100 && ran.tally.errors.connect == 0, "{:?}", ran.tally.errors);
}

#[test]
fn a_body_that_lasts_until_the_close_and_is_cut_is_no_success() {
    let with_end = |cleanly| {
        run(&tls(closed(1)), move |call| match call {
            Call::Connect { .. } => vec![(MS, What::Connected), (2 * MS, What::Secured)],
            Call::Send { .. } => vec![
                (MS, What::Bytes(b"HTTP/1.1 200 OK\r\n\r\nhalf of a bo".to_vec())),
                (2 * MS, What::Ended(cleanly)),
            ],
        })
    };
    let cut = with_end(Some(false));
    assert_accounted(&cut.tally);
    assert!(cut.tally.completed == 0 && cut.tally.errors.receive > 100, "{:?}", cut.tally.errors);
    assert!(
        cut.tally.error_causes.keys().all(|cause| cause.contains("close_notify")),
        "{:?}",
        cut.tally.error_causes
    );
    for whole in [None, Some(true)] {
        let whole = with_end(whole);
        assert!(whole.tally.errors.total() == 0 && whole.tally.completed > 100);
    }
}

#[test]
fn a_pipeline_on_a_server_that_speaks_tls_is_accounted_for() {
    let plan = Plan { pipeline: 5, ..closed(1) };
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { .. } => vec![(MS, What::Bytes(b"\x15\x03\x01\x00\x02\x02\x46".to_vec()))],
    });
    assert_accounted(&ran.tally);
    assert!(ran.tally.error_causes.keys().any(|cause| cause.contains("https://")));
}

#[test]
fn a_request_that_is_given_to_a_connection_that_ends_is_not_forgotten() {
    // The connection stands in line with room for more while the server says that it will close it.
    let plan = Plan { pipeline: 3, ..open(200.0, 2) };
    let last = b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok";
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { .. } => vec![(MS, What::Bytes(last.to_vec())), (60 * MS, What::Ended(None))],
    });
    assert_accounted(&ran.tally);
    let forgotten = ran.tally.due.unwrap() - ran.tally.unsent_at_end.unwrap() - ran.tally.sent;
    assert_eq!(forgotten, 0, "{} due, {} sent", ran.tally.due.unwrap(), ran.tally.sent);
}

#[test]
fn the_lag_of_a_send_ends_when_it_is_handed_over() {
    let ran = run_with(&open(100.0, 5), 3 * MS, plain(MS));
    assert_accounted(&ran.tally);
    let lag_ns = ran.tally.schedule_lag.quantile_ns(0.5).unwrap();
    assert!((3 * MS..4 * MS).contains(&lag_ns), "handing over takes 3 ms, the lag is {lag_ns} ns");
    assert!(ran.seen.handed_over_ns.len() > 150);
}

#[test]
fn one_in_sixty_four_bodies_is_looked_at_however_their_bytes_come() {
    for (pipeline, pieces) in [(1, 1), (8, 1), (8, 3)] {
        let mut plan = Plan { pipeline, bursts: true, verify: Verify::Sample, ..closed(10) };
        plan.asks[0].expect = Expect { body: Some(b"ok".to_vec()), ..Expect::default() };
        let ran = run(&plan, |call| match call {
            Call::Connect { .. } => vec![(MS, What::Connected)],
            Call::Send { requests, .. } => {
                let bytes = ANSWER.repeat(requests);
                let size = bytes.len().div_ceil(pieces);
                bytes
                    .chunks(size)
                    .zip(1..)
                    .map(|(piece, nth)| (nth * MS, What::Bytes(piece.to_vec())))
                    .collect()
            }
        });
        assert_accounted(&ran.tally);
        let expected = 10 + (ran.tally.completed - 10) / 64;
        assert!(
            ran.tally.verified.abs_diff(expected) <= 10,
            "{} of {}, not {expected}",
            ran.tally.verified,
            ran.tally.completed
        );
    }
}

/// All heads come before the first body is whole, as large bodies on many connections do.
#[test]
fn bodies_that_overlap_are_no_reason_to_look_at_more() {
    let mut plan = Plan { verify: Verify::Sample, ..closed(64) };
    plan.asks[0].expect = Expect { body: Some(b"ok".to_vec()), ..Expect::default() };
    let (head, body) = ANSWER.split_at(ANSWER.len() - 2);
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { .. } => vec![(MS, What::Bytes(head.to_vec())), (3 * MS, What::Bytes(body.to_vec()))],
    });
    assert_accounted(&ran.tally);
    let expected = 64 + (ran.tally.completed - 64) / 64;
    assert!(
        ran.tally.verified.abs_diff(expected) <= 10,
        "{} of {}, not {expected}",
        ran.tally.verified,
        ran.tally.completed
    );
}
