//! Slices of closed load: what belongs to one, and what does not.

use super::faults::plain;
use super::*;
use crate::slice_plan::Enough;
use model::{Expect, Verify};
use net::{Errno, Operation};

/// Checks the rate, to within a thousandth.
#[track_caller]
fn assert_rate(counts: &SliceCounts, expected: f64) {
    let rate = counts.counted.tally.rate_per_s().unwrap_or(0.0);
    assert!((rate / expected - 1.0).abs() < 1e-3, "{rate}, not {expected}");
}

fn of(target: usize) -> SlicePlan {
    SlicePlan::of(target)
}

#[test]
fn each_target_has_its_own_rate_and_nothing_of_the_others() {
    let ground = Ground::new(vec![closed(3), closed(5)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(10 * MS)), Box::new(plain(2 * MS))]);
    for (nth, target) in (0..).zip([0, 1, 1, 0, 0, 1]) {
        let counts = heat.slice(of(target).jittered(1, nth));
        assert_rate(&counts, [300.0, 2500.0][target]);
        assert_eq!((counts.is_cut, counts.carried_over), (false, 0));
        let (began, opened) = (counts.began_ns.unwrap(), counts.opened_ns.unwrap());
        assert!((10 * MS..45 * MS).contains(&(opened - began)), "{}", opened - began);
        let counted_ns = counts.closed_ns.unwrap() - opened;
        assert_eq!(counted_ns, counts.counted.tally.duration_ns);
        assert!((89 * MS..111 * MS).contains(&counted_ns), "{counted_ns}");
        assert!(
            counts.ended_ns - counts.closed_ns.unwrap() <= 11 * MS,
            "the last answers are waited for, no more"
        );
        assert_eq!(counts.counted.tally.latency.quantile_ns(0.5).map(|ns| ns / MS), Some([10, 2][target]));
        let opened = if nth < 2 { [3, 5][target] } else { 0 };
        assert_eq!(counts.uncounted.connections_opened, opened, "connections stay open");
    }
}

#[test]
fn a_slice_begins_when_it_is_told_to() {
    let ground = Ground::new(vec![closed(1)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(MS))]);
    let begins_ns = heat.clock.get() + 70 * MS;
    let counts = heat.slice(SlicePlan { begins_ns, ..of(0) });
    assert!((begins_ns..begins_ns + MS).contains(&counts.began_ns.unwrap()));
}

#[test]
fn a_late_answer_is_read_in_its_own_targets_next_slice_and_not_counted() {
    // The first connection's answers take 400 ms: longer than they are waited for.
    let ground = Ground::new(vec![closed(3), closed(3)]);
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth: 0, requests, .. } => vec![(400 * MS, answers(requests))],
        Call::Send { requests, .. } => vec![(10 * MS, answers(requests))],
    };
    let mut heat = Heat::new(&ground, vec![Box::new(script), Box::new(plain(10 * MS))]);
    let first = heat.slice(SlicePlan { longest_lead_in: Duration::from_millis(20), ..of(0) });
    assert_eq!((first.carried_over, first.counted.tally.in_flight_at_end), (1, 3));
    let mut completed = first.counted.tally.completed + first.uncounted.completed;
    for _ in 0..5 {
        let other = heat.slice(of(1));
        assert_rate(&other, 300.0);
        assert_eq!(other.uncounted.errors.total() + other.counted.tally.errors.total(), 0);
        completed += other.counted.tally.completed + other.uncounted.completed;
    }
    let again = heat.slice(SlicePlan { longest_lead_in: Duration::from_millis(20), ..of(0) });
    completed += again.counted.tally.completed + again.uncounted.completed;
    // All that were answered were counted once, here or there.
    heat.finish();
    assert_eq!(ground.told.try_iter().flatten().count() as u64, completed);
    // Two connections have answered before the counted part, and the first one late.
    assert!(again.uncounted.completed >= 3, "{}", again.uncounted.completed);
}

#[test]
fn a_connection_that_is_closed_between_slices_is_opened_again_and_no_error() {
    let ground = Ground::new(vec![closed(3), closed(1)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(5 * MS)), Box::new(plain(5 * MS))]);
    heat.slice(of(0));
    (0..3).for_each(|slot| heat.workers[0].io.happens(slot, 70 * MS, What::Ended(None)));
    heat.slice(of(1));
    let counts = heat.slice(of(0));
    assert_rate(&counts, 600.0);
    assert_eq!((counts.uncounted.connections_opened, counts.uncounted.errors.total()), (3, 0));
    // A reset is no more of an error than an end.
    heat.workers[0].io.happens(0, MS, What::Failed(Operation::Receive, Errno::CONNRESET));
    heat.rest(2 * MS);
    let counts = heat.slice(of(0));
    assert_eq!((counts.uncounted.connections_opened, counts.uncounted.errors.total()), (1, 0));
}

#[test]
fn a_request_that_crosses_the_end_of_an_idle_connection_is_asked_again() {
    for gone in [What::Ended(None), What::Failed(Operation::Send, Errno::PIPE)] {
        let ground = Ground::new(vec![Plan { pipeline: 2, ..closed(3) }]);
        let is_over = Cell::new(false);
        let mut usual = plain(5 * MS);
        let script = |call| match call {
            Call::Send { nth: 0..3, .. } if is_over.get() => vec![(MS, gone.clone())],
            call => usual(call),
        };
        let mut heat = Heat::new(&ground, vec![Box::new(script)]);
        heat.slice(of(0));
        is_over.set(true);
        let counts = heat.slice(of(0));
        assert_rate(&counts, 1200.0);
        assert_eq!((counts.uncounted.connections_opened, counts.uncounted.errors.total()), (3, 0));
    }
}

#[test]
fn a_request_that_was_carried_over_and_is_never_answered_is_an_error() {
    let ground = Ground::new(vec![closed(2)]);
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { nth: 0, .. } => vec![(350 * MS, What::Ended(None))],
        Call::Send { requests, .. } => vec![(5 * MS, answers(requests))],
    };
    let mut heat = Heat::new(&ground, vec![Box::new(script)]);
    let short = SlicePlan { longest_lead_in: Duration::from_millis(20), ..of(0) };
    assert_eq!(heat.slice(short).carried_over, 1);
    heat.rest(SECOND);
    let counts = heat.slice(short);
    assert_eq!((counts.uncounted.errors.receive, counts.uncounted.errors.total()), (1, 1));
}

#[test]
fn a_server_that_is_slower_than_the_slice_gets_a_longer_one() {
    let ground = Ground::new(vec![closed(2), closed(2)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(330 * MS)), Box::new(plain(MS))]);
    for _ in 0..3 {
        let counts = heat.slice(SlicePlan { longest: Duration::from_secs(5), ..of(0) });
        assert_rate(&counts, 2.0 / 0.33);
        assert!(!counts.is_cut && counts.counted.tally.completed >= 8, "{}", counts.counted.tally.completed);
        assert_rate(&heat.slice(of(1)), 2000.0);
    }
    // Its limit is kept, and what was counted until then is what it is.
    let counts = heat.slice(SlicePlan { longest: Duration::from_millis(500), ..of(0) });
    assert!(counts.is_cut && counts.counted.tally.completed <= 4, "{}", counts.counted.tally.completed);
}

#[test]
fn a_server_that_never_answers_ends_at_the_limits() {
    let ground = Ground::new(vec![closed(2), closed(2)]);
    let silent = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { .. } => vec![],
    };
    let mut heat = Heat::new(&ground, vec![Box::new(silent), Box::new(plain(MS))]);
    for _ in 0..2 {
        let counts = heat.slice(of(0));
        assert!(counts.is_cut && counts.counted.tally.completed == 0);
        assert_eq!(counts.counted.tally.rate_per_s(), Some(0.0), "none in all of the time");
        assert!(counts.counted.tally.duration_ns.abs_diff(2 * SECOND) < 20 * MS);
        let all = counts.ended_ns - counts.began_ns.unwrap();
        assert!(all < 3100 * MS, "{all}");
        // A connection is given up at its timeout and opened again.
        assert!(counts.uncounted.errors.timeout >= 2, "{:?}", counts.uncounted.errors);
        assert_rate(&heat.slice(of(1)), 2000.0);
    }
}

#[test]
fn a_server_that_refuses_is_told_of() {
    let ground = Ground::new(vec![closed(2), closed(2)]);
    let refusal = What::Failed(Operation::Connect, Errno::CONNREFUSED);
    let mut heat = Heat::new(&ground, vec![Box::new(|_| vec![(MS, refusal.clone())]), Box::new(plain(MS))]);
    let counts = heat.slice(SlicePlan { longest: Duration::from_millis(300), ..of(0) });
    assert!(counts.uncounted.errors.connect > 50, "{:?}", counts.uncounted.errors);
    assert_eq!((counts.counted.tally.completed, counts.is_cut), (0, true));
    assert_rate(&heat.slice(of(1)), 2000.0);
}

#[test]
fn wrong_bodies_are_errors_wherever_they_come() {
    let mut plan = Plan { verify: Verify::All, ..closed(2) };
    plan.asks[0].expect = Expect { body: Some(b"no".to_vec()), ..Expect::default() };
    let ground = Ground::new(vec![plan]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(MS))]);
    let counts = heat.slice(of(0));
    assert_eq!((counts.counted.tally.completed, counts.uncounted.completed), (0, 0));
    assert!(counts.counted.tally.errors.body >= 190 && counts.uncounted.errors.body >= 20);
    assert_eq!(counts.counted.tally.rate_per_s(), Some(0.0));
}

#[test]
fn connections_that_are_never_served_are_waited_for_once() {
    let plan = Plan { timeout: Duration::from_mins(1), ..closed(8) };
    let ground = Ground::new(vec![plan]);
    let mut heat = Heat::new(&ground, vec![Box::new(serves_two)]);
    let lead_in_ms = |counts: &SliceCounts| (counts.opened_ns.unwrap() - counts.began_ns.unwrap()) / MS;
    let first = heat.slice(of(0));
    // Two of eight are answered, a thousand times a second each: four answers for each of the eight take 16 ms.
    assert!((16..20).contains(&lead_in_ms(&first)), "{}", lead_in_ms(&first));
    assert_rate(&first, 2000.0);
    let second = heat.slice(of(0));
    assert!((10..14).contains(&lead_in_ms(&second)), "{}", lead_in_ms(&second));
    assert_eq!(second.carried_over, 6);
    let idle_ns = second.ended_ns - second.closed_ns.unwrap();
    assert!(idle_ns < 2 * MS, "the server has nothing to do while the rest is waited for: {idle_ns}");
}

#[test]
fn a_connection_for_each_request_and_pipelines_work_as_ever() {
    let each = plan(Load::Closed { connections: 3, per_connection: Some(1) }, SECOND_LONG);
    let piped = Plan { pipeline: 4, bursts: true, ..closed(3) };
    let ground = Ground::new(vec![each, piped]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(4 * MS)), Box::new(plain(4 * MS))]);
    for _ in 0..2 {
        let counts = heat.slice(of(0));
        assert_rate(&counts, 3.0 / 0.005);
        assert!(counts.counted.tally.connections_opened.abs_diff(counts.counted.tally.completed) <= 3);
        assert_rate(&heat.slice(of(1)), 3000.0);
    }
}

const SECOND_LONG: Duration = Duration::from_secs(1);

#[test]
fn a_slice_that_is_stopped_ends_at_once_and_the_next_one_is_right() {
    let ground = Ground::new(vec![closed(2)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(MS))]);
    heat.slice(of(0));
    let stopped = heat.slice_until(of(0), true);
    assert!(stopped.counted.tally.interrupted && stopped.opened_ns.is_none());
    assert_rate(&heat.slice(of(0)), 2000.0);
}

#[test]
fn enough_can_be_a_number_of_answers() {
    let ground = Ground::new(vec![closed(2)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(MS))]);
    let counts = heat.slice(SlicePlan { enough: Enough::Answers(1000), ..of(0) });
    // Whole lengths: six of 100 ms, since the first answer is none of the thousand.
    let ms = counts.counted.tally.duration_ns / MS;
    assert!((500..=602).contains(&ms) && counts.counted.tally.completed >= 1000, "{ms}");
}
