//! Open load that a number of requests ends: no further request becomes due.

use super::*;
use model::Arrivals;

fn plans() -> Vec<Plan> {
    let mut plans = Vec::new();
    for arrivals in [Arrivals::Constant, Arrivals::Poisson] {
        for connections in [100, 3] {
            for (pipeline, warmup_ms) in [(1, 0), (4, 0), (1, 250)] {
                let load =
                    Load::Open { rate_per_s: 1000.0.into(), connections, arrivals, per_connection: None };
                let plan = Plan {
                    pipeline,
                    warmup: Duration::from_millis(warmup_ms),
                    timeout: Duration::from_mins(1),
                    ..plan(load, Duration::from_mins(1))
                };
                plans.push(Plan { until: Until::Answered(200), ..plan.clone() });
                plans.push(Plan { most_requests: Some(200), ..plan });
            }
        }
    }
    plans
}

#[test]
fn the_number_of_requests_bounds_what_becomes_due() {
    for plan in plans() {
        let ran = run(&plan, faults::plain(50 * MS));
        let tally = &ran.tally;
        let place = format!("{:?}, {} at once, {:?}", plan.load, plan.pipeline, plan.warmup);
        assert_accounted(tally);
        let due = tally.due.unwrap();
        assert_eq!(
            (tally.carried_out, tally.unsent_at_end, tally.errors.total()),
            (Some(0), Some(0), 0),
            "{place}"
        );
        assert_eq!(tally.completed_of_due(), due, "{place}: whatever was due was answered");
        assert_eq!(tally.completed, 200, "{place}");
        if plan.warmup.is_zero() {
            assert_eq!((due, tally.sent), (200, 200), "{place}");
        }
    }
}

/// A rate of 200/s makes 200 requests due in a second, however late the thread wakes that sends them.
#[test]
fn what_is_due_from_the_start_to_the_end_is_due_in_the_window() {
    for until in [Until::Answered(100), Until::Elapsed(Duration::from_secs(1))] {
        let plan = Plan { until, ..open(200.0, 4) };
        let io = Fake::new(REQUEST.len(), Box::new(faults::plain(MS)));
        let tally = run_on(&plan, Some(fake::START - 3_000), io).tally;
        let expected = if until == Until::Answered(100) { 100 } else { 200 };
        assert_eq!((tally.due, tally.completed, tally.unsent_at_end), (Some(expected), expected, Some(0)));
        assert_eq!(tally.carried_in, Some(0), "{until:?}");
    }
}

/// The time is up before the number is reached: what was due by then and was not sent is told.
#[test]
fn a_number_that_is_not_reached_bounds_nothing() {
    let plan = Plan { most_requests: Some(500), ..open(200.0, 2) };
    let ran = run(&plan, faults::plain(100 * MS));
    assert_accounted(&ran.tally);
    assert!(ran.tally.due.unwrap().abs_diff(400) <= 1, "{:?}", ran.tally.due);
    assert!(ran.tally.unsent_at_end.unwrap() > 300, "{:?}", ran.tally.unsent_at_end);
    // The same, where the number is reached by what waits for a connection, and not by what was sent.
    let ran = run(&Plan { most_requests: Some(300), ..plan }, faults::plain(100 * MS));
    assert_eq!(ran.tally.due, Some(300));
    assert!(ran.tally.unsent_at_end.unwrap() > 200, "{:?}", ran.tally.unsent_at_end);
}

/// Connections whose number is bounded take no request that they can't send.
#[test]
fn where_no_connection_may_be_opened_any_more_nothing_that_is_due_is_forgotten() {
    let load = Load::Open {
        rate_per_s: 1000.0.into(),
        connections: 4,
        arrivals: Arrivals::Constant,
        per_connection: Some(3),
    };
    let plan = Plan { until: Until::Closed(10), ..plan(load, Duration::from_mins(1)) };
    let ran = run(&plan, faults::plain(5 * MS));
    assert_accounted(&ran.tally);
    let (due, unsent) = (ran.tally.due.unwrap(), ran.tally.unsent_at_end.unwrap());
    assert_eq!((ran.tally.completed, ran.tally.connections_opened, due - unsent), (30, 10, 30));
}

/// What is behind a wrong answer would be asked again on a new connection, if there may be one.
#[test]
fn where_no_connection_may_be_opened_any_more_nothing_is_asked_again() {
    for (most, opened) in [(1, 1), (2, 2)] {
        let load = Load::Closed { connections: 1, per_connection: Some(3) };
        let plan = Plan { until: Until::Closed(most), pipeline: 3, ..plan(load, Duration::from_mins(1)) };
        let ran = run(&plan, |call| match call {
            Call::Connect { .. } => vec![(MS, What::Connected)],
            Call::Send { .. } => {
                vec![(MS, What::Bytes([ANSWER, b"no answer, whatever it is\r\n\r\n"].concat()))]
            }
        });
        assert_accounted(&ran.tally);
        assert_eq!(ran.tally.connections_opened, opened, "{:?}", ran.tally);
        assert!(
            ran.tally.errors.total() >= most,
            "each connection brought more than was asked for: {:?}",
            ran.tally
        );
    }
}
