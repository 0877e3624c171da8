//! Windows of open load among several targets.

use super::faults::plain;
use super::*;

fn window(target: usize) -> SlicePlan {
    SlicePlan::window(target, Duration::from_millis(250), 200, Duration::from_secs(3))
}

#[test]
fn a_window_has_the_rate_that_was_offered_and_latencies_from_when_due() {
    let ground = Ground::new(vec![open(1000.0, 20), open(500.0, 10)]);
    let mut heat = Heat::new(&ground, vec![Box::new(plain(5 * MS)), Box::new(plain(3 * MS))]);
    for _ in 0..3 {
        for (target, rate, ms) in [(0, 1000.0, 5), (1, 500.0, 3)] {
            let counts = heat.slice(window(target));
            let tally = &counts.counted.tally;
            assert!((tally.rate_per_s().unwrap() / rate - 1.0).abs() < 0.01, "{:?}", tally.rate_per_s());
            assert!(tally.completed >= 200 && !counts.is_cut && counts.carried_over == 0);
            assert_eq!(tally.latency.quantile_ns(0.5).map(|ns| ns / MS), Some(ms));
            assert!(tally.unsent_at_end <= Some(1) && tally.errors.total() == 0, "{:?}", tally.unsent_at_end);
            assert!(tally.schedule_lag.count() > 0);
        }
    }
}

#[test]
fn what_a_server_leaves_behind_is_no_part_of_its_next_window() {
    // It serves one request at a time, in 4 ms each, and is offered twice as many.
    let ground = Ground::new(vec![open(500.0, 4), open(500.0, 4)]);
    let mut free_ns = 0;
    let mut now = 0;
    let clock = Rc::new(Cell::new(fake::START));
    let script = |call| match call {
        Call::Connect { .. } => vec![(MS, What::Connected)],
        Call::Send { requests, .. } => {
            now = clock.get().max(now);
            free_ns = now.max(free_ns) + requests as u64 * 4 * MS;
            vec![(free_ns - clock.get(), answers(requests))]
        }
    };
    let mut heat = Heat::on(Rc::clone(&clock), &ground, vec![Box::new(script), Box::new(plain(MS))]);
    for _ in 0..3 {
        let counts = heat.slice(SlicePlan { longest: Duration::from_millis(500), ..window(0) });
        let tally = &counts.counted.tally;
        assert!((tally.rate_per_s().unwrap() / 250.0 - 1.0).abs() < 0.05, "{:?}", tally.rate_per_s());
        assert!(tally.unsent_at_end.unwrap() > 50, "{:?}", tally.unsent_at_end);
        assert!(tally.latency.max_ns().unwrap() > 100 * MS, "what still waits is in the tail");
        let other = heat.slice(window(1));
        assert!((other.counted.tally.rate_per_s().unwrap() / 500.0 - 1.0).abs() < 0.01);
        assert_eq!(other.counted.tally.latency.quantile_ns(0.99).map(|ns| ns / MS), Some(1));
    }
}

#[test]
fn a_queue_has_longer_to_come_to_its_length_than_closed_load_waits_for_connections_without_answers() {
    let plan = Plan { timeout: Duration::from_mins(1), ..open(1000.0, 8) };
    let ground = Ground::new(vec![plan]);
    let mut heat = Heat::new(&ground, vec![Box::new(serves_two)]);
    let counts = heat.slice(window(0));
    // Two of eight are answered: sixteen answers for each of the eight, one a millisecond.
    let lead_in_ms = (counts.opened_ns.unwrap() - counts.began_ns.unwrap()) / MS;
    assert!((128..145).contains(&lead_in_ms), "{lead_in_ms}");
}
