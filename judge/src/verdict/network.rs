//! Judges whether the network between load generator and servers was at its limit.

use super::{Case, Reason};
use model::network::Segments;
use model::{Bound, Load, Network};

/// The network counts as being at its limit if its traffic is within this share of what it can carry. Traffic further beyond shows that this is
/// not a limit: round trips are measured one by one between threads that sleep, and TCP's throughput with a single connection.
const NEAR: f64 = 0.10;

/// The packets that a new connection sends to the server beside its request: the one that asks for it, the one that confirms it, and its
/// end.
const PER_CONNECTION: f64 = 3.0;

/// The headers of a TCP segment on Ethernet, in bytes: 14 of the frame, 20 of IPv4, 20 of TCP and 12 of its time stamps.
const HEADS: u64 = 66;

/// The largest payload of such a segment, in bytes, with which TCP's throughput was measured: 1,500 without the headers of IPv4 and TCP.
const LARGEST: f64 = 1448.0;

/// How near a measurement came to what the network carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The share, about 1 at the limit.
    share: f64,
    /// Which limit the share refers to, with its value.
    words: String,
}

/// The limit of the network that was used most, if it was reached.
pub fn limit(case: &Case<'_>) -> Option<Share> {
    let network = case.network?;
    let [to, from] = bytes(network, case);
    let all = [to, from, round_trips(network, case), packets(network, case)];
    let is_reached = |one: &Share| (1.0 - NEAR..=1.0 + NEAR).contains(&one.share);
    all.into_iter().flatten().filter(is_reached).max_by(|a, b| a.share.total_cmp(&b.share))
}

/// Notes that the network was at its limit, where that bounded the measurement.
pub fn judge(case: &Case<'_>, bound: Bound) -> Option<Reason> {
    let at = limit(case).filter(|_| bound == Bound::Network)?;
    let more = if matches!(case.plan.load, Load::Closed { .. }) {
        ": the server may be able to do more"
    } else {
        ""
    };
    let percent = at.share * 100.0;
    Some(Reason::note(format!("the network was used to {percent:.0} % of {}{more}", at.words)))
}

/// The bytes on the line, headers of all packets included, as a share of what the line carries, in each direction.
fn bytes(network: &Network, case: &Case<'_>) -> [Option<Share>; 2] {
    let (tally, segments) = (case.tally, segments(case));
    let per_s = |bytes: u64| (tally.duration_ns > 0).then(|| bytes as f64 * 1e9 / tally.duration_ns as f64);
    let of = |bytes: u64, segments: u64, most: Option<u64>| {
        let most = most.filter(|most| *most > 0)? as f64;
        let line = most * (1.0 + HEADS as f64 / LARGEST);
        let words = format!(
            "what TCP carries ({:.1} MB/s, or {:.1} MB/s with packet headers)",
            most / 1e6,
            line / 1e6
        );
        Some(Share { share: per_s(bytes.saturating_add(segments.saturating_mul(HEADS)))? / line, words })
    };
    [
        of(tally.sent_bytes, segments.sent, network.tcp_to_servers_bytes_per_s),
        of(tally.received_bytes, segments.received, network.tcp_from_servers_bytes_per_s),
    ]
}

/// The segments of the measurement. Where they were not counted, a request and an answer are one each at least.
fn segments(case: &Case<'_>) -> Segments {
    let connecting = (PER_CONNECTION * case.tally.connections_opened as f64) as u64;
    let least = Segments::default().each(|_| case.tally.completed.saturating_add(connecting));
    case.segments.unwrap_or(least)
}

/// In closed load the connections can't spend more time in round trips than there is: one for each request, or for each pipeline of them,
/// and those that come before the first request of a new connection.
fn round_trips(network: &Network, case: &Case<'_>) -> Option<Share> {
    let Load::Closed { connections, .. } = &case.plan.load else { return None };
    let round_trip_s = network.round_trip_ns.filter(|ns| *ns > 0)? as f64 / 1e9;
    let per_request = round_trips_per_request(case)?;
    let most = *connections as f64 / (round_trip_s * per_request);
    let each = if case.tally.connections_opened > 0 {
        format!(", {per_request:.1} for each request with its share of new connections")
    } else {
        String::new()
    };
    let words = format!(
        "what {connections} connections can ask with round trips of {:.2} ms{each}",
        round_trip_s * 1e3
    );
    Some(Share { share: case.tally.rate_per_s()? / most, words })
}

/// The round trips of a request, as far as they are known. Opening a connection takes one. A handshake takes one more with TLS 1.3 (RFC
/// 8446, 2) and where a session is resumed, and two with TLS 1.2 (RFC 5246, 7.3).
fn round_trips_per_request(case: &Case<'_>) -> Option<f64> {
    let (tally, of_pipeline) = (case.tally, 1.0 / case.plan.pipeline.max(1) as f64);
    let is_older = tally.agreed.is_some_and(|agreed| agreed.protocol == "TLS 1.2");
    let full = tally.handshake.count().saturating_sub(tally.handshakes_resumed);
    let of_handshakes = tally.handshake.count() + if is_older { full } else { 0 };
    let of_connections = tally.connections_opened.saturating_add(of_handshakes) as f64;
    (tally.completed > 0).then(|| of_pipeline + of_connections / tally.completed as f64)
}

/// Packets to the servers.
fn packets(network: &Network, case: &Case<'_>) -> Option<Share> {
    let most = network.packets_per_s.filter(|most| *most > 0)? as f64;
    let per_s = (case.tally.duration_ns > 0)
        .then(|| segments(case).sent as f64 * 1e9 / case.tally.duration_ns as f64)?;
    Some(Share { share: per_s / most, words: format!("its {most:.0} packets a second") })
}

#[cfg(test)]
mod tests {
    use crate::verdict::example::{closed, open, tally, usage};
    use crate::verdict::{Case, Policy, judge};
    use model::network::Segments;
    use model::{Agreed, Bound, Network, Plan, Tally, Verdict};

    fn judged(plan: &Plan, tally: &Tally, network: &Network, server: f64) -> Verdict {
        let usage = usage(server);
        judge(&Case {
            usage: Some(&usage),
            network: Some(network),
            ..Case::new(Policy::compared(true), plan, tally)
        })
    }

    #[test]
    fn each_limit_of_the_network_is_named_and_makes_a_floor_of_the_rate() {
        let tally = Tally { received_bytes: 11_000_000, sent_bytes: 1_000_000, ..tally(0.3) };
        for (network, words) in [
            (
                Network { tcp_from_servers_bytes_per_s: Some(11_800_000), ..Network::default() },
                "95 % of what TCP carries (11.8 MB/s, or 12.3 MB/s with packet headers)",
            ),
            (
                Network { tcp_to_servers_bytes_per_s: Some(1_588_000), ..Network::default() },
                "100 % of what TCP carries",
            ),
            (
                Network { round_trip_ns: Some(950_000), ..Network::default() },
                "95 % of what 10 connections can ask with round trips of 0.95 ms",
            ),
            (
                Network { packets_per_s: Some(11_000), ..Network::default() },
                "91 % of its 11000 packets a second",
            ),
        ] {
            let verdict = judged(&closed(), &tally, &network, 0.3);
            assert!(
                verdict.valid && verdict.bound == Bound::Network && verdict.bound.is_held_back(),
                "{verdict:?}"
            );
            assert!(verdict.reasons.iter().any(|reason| reason.contains(words)), "{words}: {verdict:?}");
        }
    }

    #[test]
    fn what_is_carried_beyond_a_limit_shows_that_it_is_none() {
        // 10,000 requests/s.
        let judged = |network: &Network| judged(&closed(), &tally(0.3), network, 0.3).bound;
        let trips = |ns| Network { round_trip_ns: Some(ns), ..Network::default() };
        assert_eq!((judged(&trips(1_050_000)), judged(&trips(1_500_000))), (Bound::Network, Bound::Neither));
        let both = Network { packets_per_s: Some(10_000), ..trips(1_500_000) };
        assert_eq!(judged(&both), Bound::Network, "each limit is judged by itself");
    }

    #[test]
    fn a_new_connection_takes_round_trips_of_its_own() {
        // 10 connections, 10,000 requests/s: each has 1 ms, whatever it does in it.
        let new = |opened| Tally { connections_opened: opened, ..tally(0.3) };
        let with_tls = |protocol, resumed| {
            let agreed = Agreed { protocol, cipher_suite: "", group: None };
            let mut tally = Tally { agreed: Some(agreed), handshakes_resumed: resumed, ..new(10_000) };
            (0..10_000).for_each(|_| tally.handshake.record(1_000));
            tally
        };
        for (tally, round_trips, words) in [
            (new(0), 1.0, "round trips of 0.95 ms"),
            (new(10_000), 2.0, "2.0 for each request with its share of new connections"),
            (new(5_000), 1.5, "1.5 for each request"),
            (with_tls("TLS 1.3", 0), 3.0, "3.0 for each request"),
            (with_tls("TLS 1.2", 10_000), 3.0, "3.0 for each request"),
            (with_tls("TLS 1.2", 0), 4.0, "4.0 for each request"),
        ] {
            let at_limit =
                Network { round_trip_ns: Some((950_000.0 / round_trips) as u64), ..Network::default() };
            let verdict = judged(&closed(), &tally, &at_limit, 0.3);
            assert_eq!(verdict.bound, Bound::Network, "{words}");
            assert!(verdict.reasons.iter().any(|reason| reason.contains(words)), "{words}: {verdict:?}");
            let roomy =
                Network { round_trip_ns: Some((500_000.0 / round_trips) as u64), ..Network::default() };
            assert_eq!(judged(&closed(), &tally, &roomy, 0.3).bound, Bound::Neither, "{words}");
        }
        let pipelined = Plan { pipeline: 2, ..closed() };
        let network = Network { round_trip_ns: Some(1_900_000), ..Network::default() };
        assert_eq!(judged(&pipelined, &new(0), &network, 0.3).bound, Bound::Network);
        let none = Tally { completed: 0, ..new(0) };
        assert_ne!(judged(&closed(), &none, &network, 0.3).bound, Bound::Network, "nothing was answered");
    }

    #[test]
    fn packets_that_were_counted_are_better_than_an_estimate() {
        let (usage, tally) = (usage(0.3), tally(0.3));
        let network = Network { packets_per_s: Some(15_000), ..Network::default() };
        let bound = |sent: Option<f64>| {
            let per_s = |per_s: f64| (per_s * tally.duration_ns as f64 / 1e9) as u64;
            judge(&Case {
                usage: Some(&usage),
                network: Some(&network),
                segments: sent.map(|sent| Segments { sent: per_s(sent), received: 0 }),
                ..Case::new(Policy::compared(true), &closed(), &tally)
            })
            .bound
        };
        assert_eq!((bound(None), bound(Some(10_500.0))), (Bound::Neither, Bound::Neither));
        assert_eq!(bound(Some(14_900.0)), Bound::Network, "what acknowledges answers is a packet, too");
    }

    #[test]
    fn a_network_with_room_bounds_nothing_and_a_busy_load_generator_comes_first() {
        let roomy = Network {
            tcp_from_servers_bytes_per_s: Some(100_000_000),
            round_trip_ns: Some(100_000),
            packets_per_s: Some(100_000),
            ..Network::default()
        };
        assert_eq!(judged(&closed(), &tally(0.3), &roomy, 0.3).bound, Bound::Neither);
        let full = Network { packets_per_s: Some(10_000), ..Network::default() };
        assert_eq!(judged(&closed(), &tally(0.3), &full, 1.0).bound, Bound::Network, "it may have been more");
        assert_eq!(judged(&closed(), &tally(0.95), &full, 0.3).bound, Bound::Client);
        let zero = Network { round_trip_ns: Some(0), packets_per_s: Some(0), ..Network::default() };
        assert_eq!(judged(&closed(), &tally(0.3), &zero, 0.3).bound, Bound::Neither);
        let slow = Network { round_trip_ns: Some(950_000), ..Network::default() };
        assert_eq!(
            judged(&open(), &tally(0.3), &slow, 0.3).bound,
            Bound::Neither,
            "nobody waits for answers"
        );
    }
}
