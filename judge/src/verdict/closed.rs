//! Judges closed load: whether the figures agree with each other, and whether the server was kept at work.

use super::bound::CLIENT_BUSY;
use super::{Case, Reason, STARVED};
use model::metric::Percentile;
use model::verdict::NEVER_ANSWERED;
use model::{Bound, Load, Think, Usage};

/// The tolerance of Little's law, as a share.
const LITTLE: f64 = 0.05;

/// With fewer answers than this for every request in flight, too much lies beyond the window's ends.
const ANSWERS_FOR_LITTLE: u64 = 100;

pub fn judge(case: &Case<'_>, bound: Bound) -> Vec<Reason> {
    let Load::Closed { connections, .. } = &case.plan.load else { return Vec::new() };
    [little(case, *connections), client(case, bound), idle(case, bound), starved(case)]
        .into_iter()
        .flatten()
        .collect()
}

/// Checks Little's law: in closed load every connection has its requests in flight, or about to leave the load generator, so
/// (mean latency + mean schedule lag) × rate is their number, apart from the waits beyond the window's ends. It can never be more; it is
/// less while connections are opened, and where some starve or fail.
fn little(case: &Case<'_>, connections: usize) -> Option<Reason> {
    let (plan, tally) = (case.plan, case.tally);
    let each = tally.streams_allowed.map_or(plan.pipeline, |allowed| plan.pipeline.min(allowed as usize));
    let (under_way, asked_under_way) = (tally.under_way()?, connections * each);
    if tally.completed < asked_under_way as u64 * ANSWERS_FOR_LITTLE {
        return None;
    }
    let all_served = tally.served.iter().all(|n| *n > 0);
    let is_full = plan.think == Think::None && !plan.bursts;
    let is_steady = is_full && tally.connections_opened == 0 && all_served && tally.errors.total() == 0;
    let share = under_way / asked_under_way as f64 - 1.0;
    (share > LITTLE || (is_steady && share < -LITTLE)).then(|| {
        Reason::void(format!(
            "Little's law does not hold: (mean latency + schedule lag) × rate is {under_way:.1} requests in flight, not \
             {asked_under_way}"
        ))
    })
}

/// Notes that the load generator was at its limit. That does not void the rate: it is a lower bound for the server.
fn client(case: &Case<'_>, bound: Bound) -> Option<Reason> {
    let both = match bound {
        Bound::Both => ", and so was the server",
        Bound::Client => "",
        _ => return None,
    };
    let busy = case.client_busy(CLIENT_BUSY)?;
    Some(Reason::note(format!("{busy}{both}: the server may be able to do more")))
}

/// Notes that the server waited although the load generator could have sent more.
fn idle(case: &Case<'_>, bound: Bound) -> Option<Reason> {
    let idle = case.usage.and_then(Usage::idle_share)?;
    // What was lost is told, and is why it waited.
    let is_lost = case.tally.completed == 0 || case.tally.is_selection(Percentile::P99.share());
    let is_told = bound == Bound::Neither && case.plan.think == Think::None && !is_lost;
    is_told.then(|| {
        Reason::note(format!(
            "the server was idle for {:.1} % of the time and the load generator was not at its limit: the server waited for \
             requests, or for something other than its CPU; more connections may raise the rate",
            idle * 100.0
        ))
    })
}

fn starved(case: &Case<'_>) -> Option<Reason> {
    let served = &case.tally.served;
    let starved = served.iter().filter(|n| **n == 0).count();
    let mean = served.iter().sum::<u64>() / served.len().max(1) as u64;
    (starved > 0 && mean >= STARVED)
        .then(|| Reason::note(format!("{starved} of {} {NEVER_ANSWERED}", served.len())))
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, judged, tally, usage};
    use model::{Bound, Tally, Think};
    use std::time::Duration;

    #[test]
    fn a_busy_client_makes_a_floor_of_the_rate() {
        for (server, bound) in [(0.5, Bound::Client), (1.0, Bound::Both)] {
            let verdict = judged(&closed(), &tally(0.95), Some(&usage(server)));
            assert!(verdict.valid && verdict.bound == bound && verdict.bound.is_held_back(), "{verdict:?}");
            assert!(
                verdict.reasons[0].contains("95 %") && verdict.reasons[0].contains("may be able"),
                "{verdict:?}"
            );
        }
    }

    /// E17: neither side at its limit is no longer silent, and 90 % is not taken for all.
    #[test]
    fn a_server_that_was_kept_waiting_is_told() {
        let verdict = judged(&closed(), &tally(0.5), Some(&usage(0.947)));
        assert_eq!((verdict.bound, verdict.valid), (Bound::Neither, true));
        assert!(verdict.reasons[0].starts_with("the server was idle for 5.3 % of the time"), "{verdict:?}");
        assert!(judged(&closed(), &tally(0.5), Some(&usage(0.995))).reasons.is_empty());
        assert!(judged(&closed(), &tally(0.5), None).reasons.is_empty(), "not known is not idle");
        let mut thinks = closed();
        thinks.think = Think::Exponential(Duration::from_millis(1));
        assert!(judged(&thinks, &tally(0.5), Some(&usage(0.5))).reasons.is_empty(), "as it was asked for");
    }

    #[test]
    fn figures_that_contradict_each_other_are_void() {
        let mut impossible = tally(0.1);
        impossible.completed = 20_000;
        assert!(judged(&closed(), &impossible, None).reasons[0].contains("Little"));
        // A halt of the server over the opening of the window: each of ten waited 200 ms more, most of it before.
        let mut halted = tally(0.1);
        (0..10).for_each(|_| halted.service.record(200_000_000));
        halted.completed += 10;
        assert!(judged(&closed(), &halted, None).reasons[0].contains("12.0 requests in flight"));
        halted.under_way_before_ns = 1_900_000_000;
        assert!(judged(&closed(), &halted, None).valid);
        let mut idle = tally(0.1);
        idle.completed = 5_000;
        assert!(judged(&closed(), &idle, None).reasons[0].contains("Little"));
        let mut queued = idle.clone();
        (0..5_000).for_each(|_| queued.schedule_lag.record(1_000_000));
        assert!(judged(&closed(), &queued, None).valid, "half of all time they waited to leave");
        let half_waited = Tally { under_way_at_end_ns: 5_000_000_000, ..idle.clone() };
        let verdict = judged(&closed(), &half_waited, None);
        assert!(verdict.valid, "half of all time was the wait for the last answers");
        idle.served[3] = 0;
        let verdict = judged(&closed(), &idle, None);
        assert!(
            verdict.valid && verdict.reasons == ["1 of 10 connections were never answered"],
            "{verdict:?}"
        );
    }
}
