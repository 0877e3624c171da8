//! What bounded a measurement: the side whose cores were fully used, or the network between them.

use model::{Bound, Tally, Usage};
use std::collections::BTreeMap;

/// From this use on, the load generator's busiest worker counts as being at its limit: at 90 % a queue before it takes nine times as
/// long as its own work (M/M/1: ρ/(1−ρ)), so that answers wait for it.
pub const CLIENT_BUSY: f64 = 0.90;

/// From this use on, the server counts as being at its limit. Waiting for 1 % of the time costs it at most 1 % of its rate, which is
/// what a figure here can be off by at best; the kernel's clocks are off by up to 0.5 % in a window of two seconds.
pub const SERVER_BUSY: f64 = 0.99;

/// Finds the bound; `usage` is `None` where the server's processes are not known. `is_network_full`: the network carried all that it can.
pub fn of(tally: &Tally, usage: Option<&Usage>, is_network_full: bool) -> Bound {
    let client = tally.client_busiest_use().is_some_and(|share| share >= CLIENT_BUSY);
    let server = usage.and_then(Usage::busy_share).map(|share| share >= SERVER_BUSY);
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

/// The bound of most of these measurements. Where a third of them or more were held back, by the load generator or the network, it is the
/// usual bound of those, whichever bound was the most frequent: a figure that comes from all of them is then certainly too low, and nobody
/// may be called faster than it.
pub fn usual(bounds: impl Iterator<Item = Bound>) -> Option<Bound> {
    let bounds: Vec<Bound> = bounds.collect();
    let held_back = bounds.iter().filter(|bound| bound.is_held_back()).count();
    let is_floor = held_back > 0 && 3 * held_back >= bounds.len();
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
