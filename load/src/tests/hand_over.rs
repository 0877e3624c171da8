//! Closed load: a request counts from when it is handed to the kernel, and what it waited for that is told, in every back end alike.

use super::*;

/// What the load generator takes for an answer.
const ANSWER_NS: u64 = 3_000;

/// Measures a server that answers each request after a millisecond: all answers come together, again and again.
fn in_step(connections: usize, pipeline: usize, sends_at_once: bool) -> Ran {
    let plan = Plan { pipeline, ..closed(connections) };
    let mut io = Fake::new(REQUEST.len(), Box::new(faults::plain(MS)));
    (io.completion_takes_ns, io.sends_at_once) = (ANSWER_NS, sends_at_once);
    run_on(&plan, None, io)
}

#[test]
fn latency_and_the_wait_before_it_are_all_of_the_time_between_two_answers() {
    for (connections, pipeline) in [(1, 1), (5, 1), (32, 1), (100, 1), (32, 3)] {
        for sends_at_once in [false, true] {
            let ran = in_step(connections, pipeline, sends_at_once);
            assert_accounted(&ran.tally);
            let place = format!("{connections} connections, {pipeline} at once, {sends_at_once}");
            // Little's law; all connections are opened in the window, which takes a millisecond of two seconds.
            let under_way = ran.tally.under_way().unwrap() / (connections * pipeline) as f64;
            assert!((0.997..=1.0).contains(&under_way), "{place}: {under_way}");
            let lag = &ran.tally.schedule_lag;
            // What is sent at once has no wait that could be told; what the ring takes at the end of a pass has.
            assert_eq!(lag.count(), if sends_at_once { 0 } else { ran.tally.sent }, "{place}");
            if connections == 1 {
                assert!(lag.max_ns().is_none_or(|lag_ns| lag_ns <= 1), "{place}: {:?}", lag.max_ns());
            }
        }
    }
}

#[test]
fn a_request_counts_from_when_the_kernel_has_it() {
    for sends_at_once in [false, true] {
        let ran = in_step(100, 1, sends_at_once);
        let handed_over: std::collections::BTreeSet<u64> = ran.seen.handed_over_ns.iter().copied().collect();
        assert!(ran.told.len() > 100_000, "{}", ran.told.len());
        assert!(ran.told.iter().all(|exchange| handed_over.contains(&exchange.sent_ns)));
    }
}

/// A pass over a hundred answers takes 300 µs; the first request does not wait for its end.
#[test]
fn what_is_sent_leaves_before_a_long_pass_is_over() {
    let ran = in_step(100, 1, false);
    // In the last pass the window ends, after which nothing leaves any more.
    let longest_ns = ran.tally.schedule_lag.quantile_ns(0.999).unwrap();
    assert!((ANSWER_NS..8 * ANSWER_NS).contains(&longest_ns), "{longest_ns}");
}
