//! What bounded a measurement: the side whose cores were fully used, or the network between them.

use crate::is_third;
use model::{Bound, Tally, Usage};
use stats::heats::MEANINGLESS;
use std::collections::BTreeMap;

/// From this use on, the load generator's busiest worker counts as being at its limit: at 90 % a queue before it takes nine times as
/// long as its own work (M/M/1: ρ/(1−ρ)), so that answers wait for it.
pub const CLIENT_BUSY: f64 = 0.90;

/// From this use on, it always counts as being at its limit: nearer to 1, its use does not tell how much it holds back.
const CLIENT_FULL: f64 = 0.98;

/// From this use on, the server counts as being at its limit. Waiting for 1 % of the time costs it at most 1 % of its rate, which is
/// what a figure here can be off by at best; the kernel's clocks are off by up to 0.5 % in a window of two seconds.
pub const SERVER_BUSY: f64 = 1.0 - MEANINGLESS;

/// Finds the bound; `usage` is `None` where the server's processes are not known. `is_network_full`: the network carried all that it can.
pub fn of(tally: &Tally, usage: Option<&Usage>, is_network_full: bool) -> Bound {
    let server = usage.and_then(Usage::busy_share).map(|share| share >= SERVER_BUSY);
    let limit = if server == Some(true) {
        in_flight(tally, usage).map_or(CLIENT_BUSY, client_limit)
    } else {
        CLIENT_BUSY
    };
    let client = tally.client_busiest_use().is_some_and(|share| share >= limit);
    match (server, client) {
        (Some(true), true) => Bound::Both,
        (_, true) => Bound::Client,
        // A server can be busy at less than its best: with fewer requests at a time, each costs it more.
        (_, false) if is_network_full => Bound::Network,
        (Some(true), false) => Bound::Server,
        (Some(false), false) => Bound::Neither,
        (None, false) => Bound::Unknown,
    }
}

/// The mean number of requests in flight in closed load, on connections that were answered at all, for each of the load generator's
/// threads or of the server's cores, whichever are more: each of them may have nothing to do while another has a queue.
fn in_flight(tally: &Tally, usage: Option<&Usage>) -> Option<f64> {
    let answered = tally.served.iter().filter(|n| **n > 0).count() as f64;
    let share = if tally.served.is_empty() { 1.0 } else { answered / tally.served.len() as f64 };
    let queues = tally.threads.max(usage.map_or(1, |usage| usage.cores)).max(1) as f64;
    tally.under_way().filter(|_| tally.due.is_none()).map(|all| all * share / queues)
}

/// The load generator's use from which it may cost a server that is always busy more than [`MEANINGLESS`] of its rate, although the server may
/// only be polling. A server has nothing to do only while all requests are at the load generator, so the more of them are in flight, the
/// rarer that is: two queues with exponential service in a closed circle. (Gordon and Newell, "Closed Queuing Systems with Exponential
/// Servers", Operations Research 15, 1967.) 0.978 with 64 requests in flight, 0.933 with 32; with fewer than 24, [`CLIENT_BUSY`].
fn client_limit(in_flight: f64) -> f64 {
    // The ratio of the two service times at which the server loses that much: its share falls as the ratio grows.
    let (mut low, mut high) = (0.0, 2.0);
    for _ in 0..50 {
        let ratio = f64::midpoint(low, high);
        if server_share(ratio, in_flight) >= 1.0 - MEANINGLESS { low = ratio } else { high = ratio }
    }
    (low * (1.0 - MEANINGLESS)).clamp(CLIENT_BUSY, CLIENT_FULL)
}

/// The share of its time for which the server of such a circle has a request. `ratio`: the load generator's time per request as a multiple
/// of the server's.
fn server_share(ratio: f64, in_flight: f64) -> f64 {
    let power = ratio.powf(in_flight);
    if (ratio - 1.0).abs() < 1e-9 {
        in_flight / (in_flight + 1.0)
    } else if ratio < 1.0 {
        (1.0 - power) / (1.0 - power * ratio)
    } else {
        (1.0 - power.recip()) / (ratio - power.recip())
    }
}

/// The bound of most of these measurements. Where a third of them or more were held back, by the load generator or the network, it is the
/// usual bound of those, whichever bound was the most frequent: a figure that comes from all of them is then certainly too low, and nobody
/// may be called faster than it.
pub fn usual(bounds: impl Iterator<Item = Bound>) -> Option<Bound> {
    let bounds: Vec<Bound> = bounds.collect();
    let held_back = bounds.iter().filter(|bound| bound.is_held_back()).count();
    let is_floor = is_third(held_back, bounds.len());
    let mut counts: BTreeMap<Bound, usize> = BTreeMap::new();
    for bound in bounds.into_iter().filter(|bound| bound.is_held_back() == is_floor) {
        *counts.entry(bound).or_default() += 1;
    }
    counts.into_iter().max_by_key(|(_, n)| *n).map(|(bound, _)| bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::example::{tally, usage};

    #[test]
    fn what_was_held_back_in_a_third_is_held_back() {
        use Bound::{Client, Network, Server, Unknown};
        let usual = |bounds: &[Bound]| usual(bounds.iter().copied());
        assert_eq!(usual(&[Server, Server, Server, Client, Client]), Some(Client));
        assert_eq!(usual(&[Server, Network, Server]), Some(Network));
        assert_eq!(usual(&[Server, Server, Server, Client]), Some(Server));
        assert_eq!((usual(&[Unknown, Server, Server]), usual(&[])), (Some(Server), None));
    }

    #[test]
    fn the_bound_is_whose_cores_are_busy() {
        let cases = [
            (0.5, Some(0.995), Bound::Server),
            (0.95, Some(0.5), Bound::Client),
            (0.95, Some(0.995), Bound::Both),
            (0.5, Some(0.5), Bound::Neither),
            (0.5, Some(0.95), Bound::Neither),
            (0.5, None, Bound::Unknown),
            (0.95, None, Bound::Client),
        ];
        for (client, server, bound) in cases {
            assert_eq!(of(&tally(client), server.map(usage).as_ref(), false), bound, "{client} {server:?}");
        }
    }

    /// The server of a circle of two queues is at work in all states but the one in which all requests are at the load generator; a state's
    /// probability is proportional to the ratio, once for each request there.
    #[test]
    fn a_servers_share_is_that_of_the_states_of_a_closed_circle() {
        for (ratio, n) in [(0.5, 1), (0.95, 10), (1.0, 64), (1.02, 64), (1.5, 7)] {
            let states: Vec<f64> = (0..=n).map(|at_client| f64::powi(ratio, at_client)).collect();
            let share = 1.0 - states.last().unwrap() / states.iter().sum::<f64>();
            let found = server_share(ratio, f64::from(n));
            assert!((found - share).abs() < 1e-9, "{ratio} {n}: {found} is not {share}");
        }
    }

    #[test]
    fn the_more_requests_are_in_flight_the_busier_the_load_generator_may_be() {
        let limits = [0.0, 1.0, 10.0, 20.0, 32.0, 64.0, 256.0, 1e6].map(client_limit);
        assert!(limits.is_sorted(), "{limits:?}");
        assert_eq!((limits[2], limits[6], limits[7]), (CLIENT_BUSY, CLIENT_FULL, CLIENT_FULL));
        assert!((limits[5] - 0.978).abs() < 0.001, "{limits:?}");
    }

    #[test]
    fn a_busy_server_with_many_requests_in_flight_is_its_own_limit() {
        let with_64 = |client: f64, starved: usize, server: Option<f64>| {
            let mut tally = tally(client);
            // 64 requests of 1 ms each are in flight.
            (tally.duration_ns, tally.client_cpu_ns) = (156_250_000, (client * 156_250_000.0) as u64);
            tally.served = vec![200; 64];
            tally.served[..starved].fill(0);
            of(&tally, server.map(usage).as_ref(), false)
        };
        assert_eq!(with_64(0.95, 0, Some(0.995)), Bound::Server);
        assert_eq!(with_64(0.985, 0, Some(0.995)), Bound::Both);
        assert_eq!(
            with_64(0.95, 32, Some(0.995)),
            Bound::Both,
            "only 32 are in flight on connections that are answered"
        );
        assert_eq!(
            with_64(0.95, 0, Some(0.98)),
            Bound::Client,
            "a server that waits does not do all that it can"
        );
        assert_eq!(with_64(0.95, 0, None), Bound::Client);
    }

    /// 64 connections of four threads, or to a server with four cores, are four queues of 16.
    #[test]
    fn requests_in_flight_are_shared_by_threads_and_cores() {
        let mut tally = tally(0.95);
        tally.duration_ns = 156_250_000;
        let in_flight = |threads: usize, cores: usize| {
            let usage = Usage { cores, ..usage(0.995) };
            super::in_flight(&Tally { threads, ..tally.clone() }, Some(&usage)).map(f64::round)
        };
        assert_eq!((in_flight(1, 1), in_flight(4, 1), in_flight(1, 4)), (Some(64.0), Some(16.0), Some(16.0)));
    }

    /// E14: one worker at 100 % and seven at 60 % is bound by the client.
    #[test]
    fn the_busiest_worker_decides() {
        let workers = [0.6, 0.6, 1.0, 0.6, 0.6, 0.6, 0.6, 0.6].map(tally);
        let mut all = Tally::default();
        workers.iter().for_each(|worker| all.merge(worker));
        assert!(all.client_core_use().is_some_and(|mean| mean < CLIENT_BUSY));
        assert_eq!(of(&all, None, false), Bound::Client);
    }

    /// L4: one busy JavaScript thread on four cores.
    #[test]
    fn a_server_whose_one_thread_is_busy_is_at_its_limit() {
        let second = 1_000_000_000;
        let mut one =
            Usage { wall_ns: second, cpu_ns: second, cores: 4, threads_max: 11, ..Usage::default() };
        assert_eq!(of(&tally(0.5), Some(&one), false), Bound::Neither);
        one.busiest_thread_ns = Some(second * 995 / 1000);
        assert_eq!(of(&tally(0.5), Some(&one), false), Bound::Server);
    }
}
