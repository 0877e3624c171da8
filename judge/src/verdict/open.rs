//! Judges open load: whether requests left when they were due, and whether they were answered.

use super::bound::CLIENT_BUSY;
use super::{Case, Reason, STARVED, Weight};
use model::Load;
use model::verdict::NEVER_ANSWERED;
use stats::heats::MEANINGLESS;

/// With fewer answers than this share of what was due, the server did not keep up: its queue grows for as long as the measurement
/// lasts, and so does its latency. A server that halts for a moment at the end stays above.
const KEPT: f64 = 0.90;

/// At most one request in a hundred may leave later than this after it was due. p99 leaves out one answer in a hundred: where more
/// requests than that are late, it may be the load generator's lateness alone. The bound is the same for all servers, because one
/// that depended on the latency would void the fast and keep the slow under the same disturbance.
const LAG_NS_P99: u64 = 1_000_000;

pub fn judge(case: &Case<'_>) -> Vec<Reason> {
    if !matches!(case.plan.load, Load::Open { .. }) {
        return Vec::new();
    }
    [client(case), lag(case), offered(case), starved(case)].into_iter().flatten().collect()
}

/// Whether the server took what was due; `None` where nothing was due, or that is not known.
pub fn kept_up(case: &Case<'_>) -> Option<bool> {
    let due = case.tally.due.filter(|due| *due > 0 && matches!(case.plan.load, Load::Open { .. }))?;
    let answered = case.tally.rate_per_s()? * case.tally.duration_ns as f64 / 1e9;
    Some(answered + failed_at_once(case) >= due as f64 * KEPT)
}

/// The number of requests that were answered wrongly or lost at once, of which other reasons tell. A server that fails is not slow; one
/// whose answers take longer than the timeout is.
fn failed_at_once(case: &Case<'_>) -> f64 {
    let errors = &case.tally.errors;
    errors.total().saturating_sub(errors.timeout + errors.unasked) as f64
}

fn client(case: &Case<'_>) -> Option<Reason> {
    let busy = case.client_busy(CLIENT_BUSY)?;
    Some(Reason::void(format!("{busy}: latencies may include its own delays; give it more threads")))
}

fn lag(case: &Case<'_>) -> Option<Reason> {
    let lag = case.tally.schedule_lag.quantile_ns(0.99).filter(|lag| *lag > LAG_NS_P99)?;
    let words = format!(
        "requests were sent late: p99 {:.2} ms after their due time, the limit is {:.0} ms; the load generator was held up",
        lag as f64 / 1e6,
        LAG_NS_P99 as f64 / 1e6
    );
    Some(if case.policy.lag == Weight::Void { Reason::void(words) } else { Reason::note(words) })
}

/// Notes a rate below the offered one. It is a finding, not a fault of the measurement: this is the rate that the server does answer.
fn offered(case: &Case<'_>) -> Option<Reason> {
    let (rate, achieved) = (case.plan.load.rate_per_s()?, case.tally.rate_per_s()?);
    let offered = rate.mean_per_s(case.tally.duration_ns);
    let taken = achieved + failed_at_once(case) * 1e9 / case.tally.duration_ns as f64;
    let connections = case.plan.load.connections();
    let what = match kept_up(case) {
        Some(false) => "the server did not keep up and latency grew throughout the measurement",
        _ => "the server fell slightly behind",
    };
    (taken < offered * (1.0 - MEANINGLESS)).then(|| {
        Reason::note(format!(
            "{achieved:.0} of the offered {offered:.0} requests/s were answered, so {what}: either it is too slow, or {connections} \
             connections are too few; offer a lower rate, or use more connections"
        ))
    })
}

/// Judges connections without an answer. Where the server seems to keep up, its answers say nothing about those that never came. Where it
/// did not keep up, its latency is not used anyway, and its rate is what it answered.
fn starved(case: &Case<'_>) -> Option<Reason> {
    let (served, due) = (&case.tally.served, case.tally.due?);
    // Tallies of older versions don't say which connections were given requests. With so many requests due, all were, so every
    // connection without an answer is starved.
    let unserved = || served.iter().filter(|n| **n == 0).count() as u64;
    let starved = case.tally.connections_starved.unwrap_or_else(unserved);
    let is_chance = due < STARVED.saturating_mul(served.len() as u64);
    let words = || format!("{starved} of {} {NEVER_ANSWERED}", served.len());
    match (starved, kept_up(case)) {
        _ if is_chance => None,
        (0, _) => None,
        (_, Some(false)) => Some(Reason::note(words())),
        _ => Some(Reason::void(format!("{}, although requests were due on them", words()))),
    }
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{judged, open, tally};
    use model::{Errors, Load, Tally};

    #[test]
    fn a_busy_client_voids() {
        let verdict = judged(&open(), &tally(0.95), None);
        assert!(!verdict.valid && verdict.reasons[0].contains("95 %"), "{verdict:?}");
    }

    #[test]
    fn what_a_ramp_offered_is_its_integral() {
        let reasons = |ramp: &str| {
            let mut plan = open();
            if let Load::Open { rate_per_s, .. } = &mut plan.load {
                *rate_per_s = ramp.parse().unwrap();
            }
            judged(&plan, &tally(0.1), None).reasons
        };
        assert_eq!(reasons("5k..15k/1s"), Vec::<String>::new());
        assert!(reasons("5k..25k/1s")[0].starts_with("10000 of the offered 15000 requests/s"));
    }

    #[test]
    fn a_server_that_did_not_keep_up_is_a_finding_with_its_rate() {
        let of = |completed, due| {
            let slow = Tally { completed, due: Some(due), ..tally(0.1) };
            judged(&open(), &slow, None)
        };
        assert_eq!((of(10_000, 10_000).kept_up, of(10_000, 11_000).kept_up), (Some(true), Some(true)));
        let behind = of(5_000, 10_000);
        assert!(behind.valid && behind.fell_behind(), "{behind:?}");
        assert!(behind.reasons[0].starts_with("5000 of the offered 10000 requests/s"), "{behind:?}");
        assert!(behind.reasons[0].contains("did not keep up"), "{behind:?}");
        let a_little = of(9_500, 10_000);
        assert!(
            !a_little.fell_behind() && a_little.reasons[0].contains("fell slightly behind"),
            "{a_little:?}"
        );
        // Half of the answers were wrong, or their connections refused: that is told, and it is not slowness. Timeouts are.
        let failing = |errors| {
            let some = Tally { completed: 5_000, due: Some(10_000), errors, ..tally(0.1) };
            judged(&open(), &some, None)
        };
        for errors in
            [Errors { status: 5_000, ..Errors::default() }, Errors { connect: 5_000, ..Errors::default() }]
        {
            let told = failing(errors);
            let says_slow = told.reasons.iter().any(|why| why.contains("of the offered"));
            assert!(!told.valid && told.kept_up == Some(true) && !says_slow, "{told:?}");
        }
        assert_eq!(failing(Errors { timeout: 5_000, ..Errors::default() }).kept_up, Some(false));
        let mut unknown = tally(0.1);
        assert_eq!(judged(&open(), &unknown, None).kept_up, None);
        unknown.due = Some(0);
        assert_eq!(judged(&open(), &unknown, None).kept_up, None);
        let carried =
            Tally { carried_in: Some(2_000), carried_out: Some(0), due: Some(10_000), ..tally(0.1) };
        assert!(judged(&open(), &carried, None).fell_behind(), "answers to what the warm-up left behind");
        let closed = judged(&crate::verdict::example::closed(), &tally(0.1), None);
        assert_eq!(closed.kept_up, None);
    }

    /// L5: the same disturbance voids the fast and the slow.
    #[test]
    fn lagging_sends_void_whatever_the_latency() {
        for latency_ns in [500_000, 400_000_000] {
            let with = |lag_ns| {
                let mut lagged = tally(0.1);
                (0..100).for_each(|_| lagged.schedule_lag.record(lag_ns));
                (0..20_000).for_each(|_| lagged.latency.record(latency_ns));
                judged(&open(), &lagged, None)
            };
            assert!(with(5_000_000).reasons[0].contains("requests were sent late: p99 5.0"));
            assert!(!with(5_000_000).valid && with(900_000).valid, "{latency_ns}");
        }
    }

    /// E8: 292 of 500 connections without an answer, and all figures fine.
    #[test]
    fn starved_connections_void_where_the_server_seems_to_keep_up() {
        let of = |served: &[u64], due, completed| {
            let starved = Tally { served: served.to_vec(), due: Some(due), completed, ..tally(0.1) };
            judged(&open(), &starved, None)
        };
        let void = of(&[5_000, 5_000, 0], 10_000, 10_000);
        assert!(!void.valid, "{void:?}");
        assert_eq!(
            void.reasons,
            ["1 of 3 connections were never answered, although requests were due on them"]
        );
        assert!(of(&[20, 19, 0], 40, 39).valid, "as may happen by chance");
        assert!(of(&[5_000, 5_000], 10_000, 10_000).reasons.is_empty());
        let idle =
            Tally { connections_starved: Some(0), due: Some(10_000), served: vec![10_000, 0], ..tally(0.1) };
        assert!(judged(&open(), &idle, None).valid, "a connection that was asked for nothing");
        let behind = of(&[3_000, 3_000, 0], 10_000, 6_000);
        assert!(behind.valid && behind.fell_behind() && behind.reasons.len() == 2, "{behind:?}");
    }
}
