//! Open load while the load generator or the server stands still for a while: to which of them the delay is charged.

use super::fake::{Call, Fake, START};
use super::faults::plain;
use super::*;

const PAUSE: u64 = 800 * MS;

/// A run of 400 requests per second on four connections; the load generator stands still for 0.8 s after the 200th request.
fn stalled() -> Tally {
    let plan = open(400.0, 4);
    let clock = Rc::new(Cell::new(START));
    let (of_script, mut sends) = (Rc::clone(&clock), 0);
    let mut server = plain(MS);
    let script = move |call: Call| {
        sends += usize::from(matches!(call, Call::Send { .. }));
        if sends == 200 && matches!(call, Call::Send { .. }) {
            of_script.set(of_script.get() + PAUSE);
        }
        server(call)
    };
    run_on(&plan, None, Fake::on(clock, REQUEST.len(), Box::new(script))).tally
}

#[test]
fn every_request_that_became_due_while_the_load_generator_stood_still_is_late() {
    let tally = stalled();
    assert_accounted(&tally);
    let lag_ns = |q| tally.schedule_lag.quantile_ns(q).unwrap();
    // 320 of the 800 requests became due in that time, the first 800 ms before its end and the last at its end.
    assert!((700 * MS..=PAUSE + 2 * MS).contains(&lag_ns(0.99)), "{} ns", lag_ns(0.99));
    assert!((250 * MS..550 * MS).contains(&lag_ns(0.8)), "{} ns", lag_ns(0.8));
    assert!(lag_ns(0.5) < MS, "{} ns", lag_ns(0.5));
}

#[test]
fn what_waits_for_a_server_that_stands_still_is_not_late() {
    let mut sends = 0;
    let ran = run(&open(400.0, 4), |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => {
            sends += 1;
            let after_ns = if (200..204).contains(&sends) { PAUSE / 2 } else { MS };
            vec![(after_ns, answers(requests))]
        }
    });
    assert_accounted(&ran.tally);
    assert!(ran.tally.latency.quantile_ns(0.9).unwrap() > 100 * MS, "the server's pause is in the latency");
    assert!(ran.tally.schedule_lag.quantile_ns(0.999).unwrap() < MS);
}
