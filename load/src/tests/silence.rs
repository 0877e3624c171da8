//! Ways in which a server can stop, and when the load ends for it.

use super::faults::plain;
use super::*;
use net::{Errno, Operation};

/// A load that ends only after more answers than come.
fn until_answered(plan: Plan) -> Plan {
    Plan { until: Until::Answered(1_000_000), ..plan }
}

/// What happens after 100 sends, on connections that are open and to new ones.
#[derive(Clone, Copy, Debug)]
enum Stop {
    /// The process is killed: what is open is reset, and what is new is refused.
    Killed,
    /// It is stopped: it listens, and says nothing.
    Silent,
    /// It accepts and closes.
    Closes,
    /// It accepts and resets.
    Resets,
    /// It accepts, begins an answer, and goes silent in the middle of the body.
    HalfAnswers,
}

fn stops(how: Stop) -> impl FnMut(Call) -> Vec<(u64, What)> {
    let mut sends = 0;
    move |call| {
        sends += usize::from(matches!(call, Call::Send { .. }));
        let is_up = sends < 100;
        let reset = || What::Failed(Operation::Receive, Errno::CONNRESET);
        match (call, how) {
            (Call::Connect { .. }, Stop::Killed) if !is_up => {
                vec![(0, What::Failed(Operation::Connect, Errno::CONNREFUSED))]
            }
            (Call::Connect { .. }, _) => vec![(MS, What::Connected)],
            (Call::Send { requests, .. }, _) if is_up => vec![(MS, answers(requests))],
            (_, Stop::Killed | Stop::Resets) => vec![(MS, reset())],
            (_, Stop::Silent) => vec![],
            (_, Stop::Closes) => vec![(MS, What::Ended(None))],
            (_, Stop::HalfAnswers) => vec![(MS, What::Bytes(ANSWER[..ANSWER.len() - 1].to_vec()))],
        }
    }
}

#[test]
fn a_load_ends_five_seconds_after_its_server_is_gone() {
    let timeout = Duration::from_secs(2);
    // From the first lost request on: one that is only late is lost when its time is up.
    for (how, seconds) in [
        (Stop::Killed, 5.0),
        (Stop::Closes, 5.0),
        (Stop::Resets, 5.0),
        (Stop::Silent, 7.0),
        (Stop::HalfAnswers, 7.0),
    ] {
        for plan in [closed(4), open(400.0, 4), Plan { pipeline: 3, ..closed(4) }] {
            let ran = run(&Plan { timeout, ..until_answered(plan.clone()) }, stops(how));
            assert_accounted(&ran.tally);
            let why = ran.tally.halted.clone().unwrap_or_default();
            assert!(why.contains("answered nothing and every request failed"), "{how:?}: {why}");
            let answered_ns =
                ran.told.iter().filter(|one| one.status().is_some()).map(|one| one.done_ns).max();
            let after_s = (fake::START + ran.tally.duration_ns - answered_ns.unwrap()) as f64 / 1e9;
            assert!((after_s - seconds).abs() < 0.2, "{how:?}: after {after_s} s, {:?}", plan.load);
            let silent_s = ran.tally.silent_ns().unwrap() as f64 / 1e9;
            // The beginnings of answers are heard, each time that a connection is tried again.
            let expected_s = if matches!(how, Stop::HalfAnswers) { 0.99 } else { after_s };
            assert!((silent_s - expected_s).abs() < 0.05, "{how:?}: silent for {silent_s} s of {after_s}");
        }
    }
}

#[test]
fn the_time_after_which_a_load_ends_is_the_users() {
    let after = |abort_after| {
        let plan = Plan { abort_after, ..plan(closed(4).load, Duration::from_secs(20)) };
        run(&plan, stops(Stop::Killed)).tally.duration_ns / SECOND
    };
    assert_eq!([Some(1), Some(8), None].map(|s| after(s.map(Duration::from_secs))), [1, 8, 20]);
}

#[test]
fn a_slow_server_is_not_gone_though_some_requests_are_lost() {
    // One connection in four is reset at once, each time, and the others take 8 s for an answer.
    let plan = Plan { timeout: Duration::from_secs(30), ..plan(closed(4).load, Duration::from_mins(1)) };
    let mut connects = 0;
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => {
            connects += 1;
            vec![(MS, What::Connected)]
        }
        Call::Send { nth: 0 | 4.., .. } => vec![(MS, What::Failed(Operation::Receive, Errno::CONNRESET))],
        Call::Send { requests, .. } => vec![(8 * SECOND, answers(requests))],
    });
    assert!(connects > 100 && ran.tally.completed == 3 * 7, "{connects}, {}", ran.tally.completed);
    assert_eq!((ran.tally.halted, ran.tally.duration_ns), (None, 60 * SECOND));
}

#[test]
fn a_server_that_comes_back_in_time_goes_on_being_measured() {
    let plan = plan(closed(4).load, Duration::from_secs(20));
    let down = fake::START + 2 * SECOND..fake::START + 6 * SECOND;
    let clock = Rc::new(Cell::new(fake::START));
    let now = Rc::clone(&clock);
    let script = move |call| match call {
        Call::Connect { .. } if down.contains(&now.get()) => {
            vec![(0, What::Failed(Operation::Connect, Errno::CONNREFUSED))]
        }
        Call::Send { .. } if down.contains(&now.get()) => {
            vec![(0, What::Failed(Operation::Receive, Errno::CONNRESET))]
        }
        other => plain(10 * MS)(other),
    };
    let tally = run_on(&plan, None, Fake::on(clock, REQUEST.len(), Box::new(script))).tally;
    assert_eq!((tally.halted.clone(), tally.duration_ns), (None, 20 * SECOND));
    // Four connections for four seconds: by their number, the tries that failed would be fewer beside a faster server.
    let outage_s = tally.outage_ns.unwrap() as f64 / 1e9;
    assert!((outage_s - 16.0).abs() < 0.2, "{outage_s}");
    assert!(tally.silent_ns().unwrap() < 20 * MS, "{:?}", tally.silent_ns());
}

#[test]
fn what_a_working_server_owes_at_the_end_is_no_silence() {
    for plan in [closed(3), open(300.0, 3), Plan { pipeline: 4, ..closed(2) }] {
        let tally = run(&plan, plain(10 * MS)).tally;
        let silent_ns = tally.silent_ns().unwrap_or(0);
        assert!(silent_ns <= 11 * MS, "{silent_ns}");
        assert!(tally.outage_ns.unwrap_or(0) == 0 && tally.heard_ns > Some(1_980 * MS), "{tally:?}");
    }
    // With nothing to answer, there is nothing to be silent about.
    let ran = run(&open(1.0, 1), plain(MS));
    assert_eq!(ran.tally.silent_ns(), None, "{:?} {:?}", ran.tally.owed_ns, ran.tally.heard_ns);
}

#[test]
fn connections_that_a_server_no_longer_answers_are_without_service() {
    // Two connections are answered for a second; then their requests time out. One is never answered: so some servers work.
    let plan = Plan { timeout: Duration::from_millis(1500), ..plan(closed(5).load, Duration::from_secs(11)) };
    let mut sends = [0; 5];
    let ran = run(&plan, |call| match call {
        Call::Connect { .. } => vec![(0, What::Connected)],
        Call::Send { nth: 4.., .. } => vec![],
        Call::Send { nth, requests, .. } => {
            sends[nth] += 1;
            if nth < 2 && sends[nth] > 100 { vec![] } else { vec![(10 * MS, answers(requests))] }
        }
    });
    assert_accounted(&ran.tally);
    let outage_s = ran.tally.outage_ns.unwrap() as f64 / 1e9;
    assert!((outage_s - 20.0).abs() < 0.1, "{outage_s}");
    assert!(ran.tally.halted.is_none() && ran.tally.served.iter().filter(|n| **n == 0).count() == 1);
}
