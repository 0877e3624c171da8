//! Notes on answers that are right, but may not be what was to be measured.

use super::{Case, Reason};

/// The time by which Linux delays an acknowledgement (`TCP_DELACK_MIN`), and how much later than that the rest may come.
const DELAYED_ACK_NS: std::ops::Range<u64> = 35_000_000..60_000_000;

/// Larger bodies may take that time for other reasons.
const SMALL_BODY_BYTES: f64 = 64.0 * 1024.0;

/// The share of requests that must wait for flow control before it is said.
const MANY: f64 = 0.1;

/// The percentiles that are looked at: what happens to less than a tenth of the answers is no habit of the server.
const HABITS: [f64; 2] = [0.5, 0.9];

pub fn judge(case: &Case<'_>) -> Vec<Reason> {
    [redirects(case), split(case), few_streams(case), held_back(case)]
        .into_iter()
        .flatten()
        .map(Reason::note)
        .collect()
}

/// Whether most answers are redirects, which are much cheaper than the pages that they name.
fn redirects(case: &Case<'_>) -> Option<String> {
    let answers: u64 = case.tally.status.values().sum();
    let is_redirect = |status: &&u16| matches!(**status, 301..=303 | 307 | 308);
    let statuses: Vec<u16> = case.tally.status.keys().filter(is_redirect).copied().collect();
    let redirects: u64 = statuses.iter().filter_map(|status| case.tally.status.get(status)).sum();
    let (main, _) = case.tally.status.iter().max_by_key(|(_, n)| **n)?;
    let how_many = match redirects {
        n if n == answers => "all answers".to_owned(),
        n if n * 2 >= answers => format!("{:.0} % of the answers", n as f64 * 100.0 / answers as f64),
        _ => return None,
    };
    Some(format!("{how_many} are redirects ({main}): you measured the redirect, not the page that it names"))
}

/// Whether the server takes fewer requests at once on a connection than were asked for.
fn few_streams(case: &Case<'_>) -> Option<String> {
    let (allowed, asked) = (case.tally.streams_allowed?, case.plan.pipeline);
    Some(format!(
        "the server takes {allowed} requests at once on a connection, not {asked} (MAX_CONCURRENT_STREAMS): more connections, or a server that \
         allows more streams, may raise the rate"
    ))
}

/// Whether many of the requests' bodies waited for the server's flow control. Those at the beginning of a connection do so as a rule.
fn held_back(case: &Case<'_>) -> Option<String> {
    // Another machine may report any counts.
    let share = case.tally.held_back as f64 / case.tally.sent.max(1) as f64;
    (share > MANY).then(|| {
        format!(
            "{:.0} % of the requests' bodies waited for the server's flow control (WINDOW_UPDATE): a server with larger windows may take them sooner",
            share.min(1.0) * 100.0
        )
    })
}

/// Whether bodies come later than their heads by the time of a delayed acknowledgement.
fn split(case: &Case<'_>) -> Option<String> {
    let tally = case.tally;
    let is_small = tally.body_bytes as f64 <= SMALL_BODY_BYTES * tally.completed as f64;
    // In slices of closed load, latency is counted from the send, and service time is not counted apart.
    let whole = if tally.service.count() > 0 { &tally.service } else { &tally.latency };
    let gap_ns = HABITS.into_iter().find_map(|share| {
        let gap_ns = whole.quantile_ns(share)?.checked_sub(tally.first_byte.quantile_ns(share)?)?;
        DELAYED_ACK_NS.contains(&gap_ns).then_some(gap_ns)
    });
    let gap_ns = gap_ns.filter(|_| is_small && case.plan.pipeline == 1)?;
    Some(format!(
        "bodies come {:.0} ms after their heads: as a rule, the server writes them one after the other, and Nagle's algorithm holds the second \
         back until the client's delayed acknowledgement (set TCP_NODELAY, or write both at once); or it needs that long to make them",
        gap_ns as f64 / 1e6
    ))
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, judged, tally};
    use model::{Plan, Tally};
    use std::collections::BTreeMap;

    #[test]
    fn a_server_that_takes_fewer_streams_is_named_and_little_holds_for_those() {
        let plan = Plan { pipeline: 32, ..closed() };
        let few = Tally { streams_allowed: Some(8), ..tally(1.0) };
        let said = reasons(&plan, &few);
        assert!(said.iter().any(|reason| reason.contains("takes 8 requests at once")), "{said:?}");
        assert!(reasons(&plan, &tally(1.0)).iter().all(|reason| !reason.contains("at once on a connection")));
    }

    #[test]
    fn bodies_that_wait_for_flow_control_are_told_where_they_are_many() {
        let says = |held_back| {
            let tally = Tally { held_back, ..tally(1.0) };
            reasons(&closed(), &tally).into_iter().find(|reason| reason.contains("flow control"))
        };
        let sent = tally(1.0).sent;
        assert!(says(sent / 2).is_some_and(|reason| reason.starts_with("50 % of the requests' bodies")));
        assert_eq!((says(sent / 10), says(0)), (None, None));
        assert!(says(u64::MAX).is_some_and(|reason| reason.starts_with("100 %")));
    }

    fn reasons(plan: &Plan, tally: &Tally) -> Vec<String> {
        judged(plan, tally, None).reasons
    }

    #[test]
    fn redirects_are_named_and_not_modified_is_none() {
        let with = |status: &[(u16, u64)]| {
            reasons(
                &closed(),
                &Tally { status: status.iter().copied().collect::<BTreeMap<_, _>>(), ..tally(0.1) },
            )
        };
        let words = "are redirects (301): you measured the redirect, not the page that it names";
        assert_eq!(with(&[(301, 10_000)]), [format!("all answers {words}")]);
        assert_eq!(with(&[(200, 2_500), (301, 7_500)]), [format!("75 % of the answers {words}")]);
        for others in [&[(200, 10_000)][..], &[(304, 10_000)], &[(200, 9_000), (302, 1_000)], &[]] {
            assert_eq!(with(others), [""; 0], "{others:?}");
        }
    }

    /// Every `nth` answer whose body comes this long after its head.
    fn apart(nth: u64, gap_ms: u64, body_bytes: u64) -> Tally {
        let mut tally = Tally { body_bytes: body_bytes * 10_000, ..tally(0.1) };
        (tally.service, tally.latency) = Default::default();
        for i in 0..10_000 {
            let delay_ns = if i % nth == 0 { gap_ms * 1_000_000 } else { 0 };
            tally.first_byte.record(100_000);
            tally.service.record(100_000 + delay_ns);
        }
        tally
    }

    #[test]
    fn head_and_body_that_nagle_keeps_apart_are_named() {
        let says = |plan: &Plan, tally: &Tally| {
            reasons(plan, tally).iter().any(|reason| reason.contains("TCP_NODELAY"))
        };
        let no_histogram =
            Tally { service: stats::Histogram::new(), latency: apart(1, 44, 2).service, ..apart(1, 44, 2) };
        for tally in [apart(1, 44, 2), apart(1, 40, 2), apart(5, 41, 30_000), no_histogram] {
            assert!(says(&closed(), &tally), "{:?}", reasons(&closed(), &tally));
        }
        for tally in [apart(1, 1, 2), apart(1, 200, 2), apart(1, 44, 1_000_000), apart(50, 44, 2)] {
            assert!(!says(&closed(), &tally), "{:?}", reasons(&closed(), &tally));
        }
        assert!(!says(&Plan { pipeline: 4, ..closed() }, &apart(1, 44, 2)));
    }
}
