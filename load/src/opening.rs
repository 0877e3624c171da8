//! When connections are opened: the first ones spread over a ramp, all of them no faster than a rate; and from which local
//! address.

use model::{Address, Gaps, Plan};
use net::{Endpoint, Slot, clock};
use stats::random;
use std::collections::VecDeque;

/// The number of connections that are put to work in one pass at the start, so that the first ones are not left waiting while
/// the last ones are opened.
const ENLIST: usize = 8;

/// The longest delay of openings that is made up for, by opening the next connections faster than the rate.
const MAKE_UP_NS: u64 = 10_000_000;

/// The opening of one worker's connections.
#[derive(Debug, Default)]
pub struct Opening {
    /// The number of connections that have been put to work.
    enlisted: usize,
    ramp_ns: u64,
    /// The mean time between two openings; `None`: as fast as possible.
    gap_ns: Option<u64>,
    gaps: Gaps,
    /// The seed of the times between openings, and the number of the next one.
    seed: u64,
    k: u64,
    /// When the next connection may be opened.
    next_ns: u64,
    /// The connections that wait to be opened.
    line: VecDeque<Slot>,
    endpoints: Vec<Endpoint>,
    opened: u64,
    index: u64,
    /// The number of further connections that may be opened; `None`: any number.
    left: Option<u64>,
    /// The number of connections that were opened, or wait to be opened, and are not closed yet.
    live: usize,
}

impl Opening {
    /// The openings of worker `index` of `threads`.
    pub fn new(plan: &Plan, index: usize, threads: usize, most: Option<u64>) -> Self {
        let rate_per_s = plan.connecting.rate_per_s.map(|rate| rate / threads as f64);
        Self {
            ramp_ns: clock::ns_of(plan.connecting.ramp),
            gap_ns: rate_per_s.map(|rate| (1e9 / rate) as u64),
            gaps: plan.connecting.gaps,
            seed: random::derive(&[plan.seed, 4, index as u64]),
            endpoints: endpoints(plan),
            index: index as u64,
            left: most,
            ..Self::default()
        }
    }

    /// The addresses to which and from which the next connection goes.
    #[inline]
    pub fn endpoint(&mut self) -> &Endpoint {
        self.opened += 1;
        &self.endpoints[((self.index + self.opened) % self.endpoints.len() as u64) as usize]
    }

    /// The number of the next connection, which no other worker uses.
    pub fn number(&self) -> u64 {
        self.index << 32 | self.opened
    }

    /// Whether a further connection may be opened.
    #[inline]
    pub fn may_open(&self) -> bool {
        self.left != Some(0)
    }

    /// Counts a connection that is to be opened.
    #[inline]
    pub fn allot(&mut self) {
        debug_assert!(self.may_open(), "no more may be opened");
        self.left = self.left.map(|left| left.saturating_sub(1));
        self.live += 1;
    }

    /// Counts a connection that was opened, or was to be, as closed.
    pub fn closed(&mut self) {
        self.live -= 1;
    }

    /// Whether all that may be opened have been, and are closed again.
    pub fn is_over(&self) -> bool {
        self.live == 0 && self.left == Some(0)
    }

    /// The connections of `all` to put to work now, in this pass.
    pub fn enlist(&mut self, origin_ns: u64, now_ns: u64, all: usize) -> std::ops::Range<usize> {
        let begin = self.enlisted;
        if begin < all {
            let elapsed_ns = now_ns.saturating_sub(origin_ns);
            let by_now = if elapsed_ns >= self.ramp_ns {
                all
            } else {
                // The first at once, the last at the end.
                1 + (all as f64 * elapsed_ns as f64 / self.ramp_ns as f64) as usize
            };
            self.enlisted = all.min(by_now).min(begin + ENLIST).max(begin);
        }
        begin..self.enlisted
    }

    /// Puts all connections to work anew, from now on.
    pub fn restart(&mut self) {
        self.enlisted = 0;
    }

    /// Whether connections have to wait for their turn.
    pub fn is_paced(&self) -> bool {
        self.gap_ns.is_some()
    }

    /// Puts a connection in line.
    pub fn line_up(&mut self, slot: Slot) {
        self.line.push_back(slot);
    }

    /// Returns the next connection whose turn has come.
    pub fn due(&mut self, now_ns: u64) -> Option<Slot> {
        let gap_ns = self.gap_ns?;
        if now_ns < self.next_ns {
            return None;
        }
        let slot = self.line.pop_front()?;
        if self.opened == 0 {
            // Nothing was put off before the first one.
            self.next_ns = now_ns;
        }
        let gap_ns = self.next_gap_ns(gap_ns);
        self.next_ns = self.next_ns.saturating_add(gap_ns).max(now_ns.saturating_sub(MAKE_UP_NS));
        Some(slot)
    }

    /// The k-th time between two openings, a function of k and the seed.
    fn next_gap_ns(&mut self, mean_ns: u64) -> u64 {
        let of_mean = match self.gaps {
            Gaps::Even => return mean_ns,
            Gaps::Uniform(share) => 1.0 + share * (2.0 * random::uniform(self.seed, self.k) - 1.0),
            Gaps::Exponential => -random::uniform(self.seed, self.k).ln(),
        };
        self.k += 1;
        (mean_ns as f64 * of_mean) as u64
    }

    /// The latest moment at which a connection must be opened or put to work.
    pub fn next_ns(&self, origin_ns: u64, all: usize) -> u64 {
        let paced = if self.line.is_empty() { u64::MAX } else { self.next_ns };
        if self.enlisted >= all {
            return paced;
        }
        let share = self.enlisted as f64 / all as f64;
        paced.min(origin_ns.saturating_add((self.ramp_ns as f64 * share) as u64))
    }
}

fn endpoints(plan: &Plan) -> Vec<Endpoint> {
    match &plan.target.address {
        Address::Unix(path) => vec![Endpoint::Unix(path.clone())],
        Address::Tcp(to) if plan.connecting.from.is_empty() => vec![Endpoint::from(*to)],
        Address::Tcp(to) => {
            plan.connecting.from.iter().map(|from| Endpoint::Tcp { to: *to, from: Some(*from) }).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::{Ask, Load, Target, Until};
    use std::time::Duration;

    fn plan() -> Plan {
        let target = Target::resolve("http://127.0.0.1:1/").unwrap();
        let load = Load::Closed { connections: 100, per_connection: None };
        Plan::new(target, Ask::default(), load, Until::Answered(1))
    }

    #[test]
    fn without_a_ramp_all_are_put_to_work_a_few_a_turn() {
        let mut opening = Opening::new(&plan(), 0, 1, None);
        assert_eq!(opening.next_ns(5, 20), 5);
        assert_eq!([0, 1, 2, 3].map(|_| opening.enlist(5, 5, 20)), [0..8, 8..16, 16..20, 20..20]);
        assert_eq!(opening.next_ns(5, 20), u64::MAX);
    }

    #[test]
    fn a_ramp_spreads_them() {
        let mut plan = plan();
        plan.connecting.ramp = Duration::from_micros(1);
        let mut opening = Opening::new(&plan, 0, 1, None);
        assert_eq!([0, 10, 40, 1000, 1000].map(|ns| opening.enlist(0, ns, 100).end), [1, 2, 5, 13, 21]);
        assert_eq!(opening.next_ns(0, 100), 210);
    }

    #[test]
    fn a_rate_is_kept_and_not_made_up_for_without_end() {
        let mut plan = plan();
        plan.connecting.rate_per_s = Some(1000.0);
        let mut opening = Opening::new(&plan, 0, 1, None);
        (0..100).for_each(|slot| opening.line_up(slot));
        let second = 1_000_000_000;
        let mut count = |from: u64, to: u64| {
            let due =
                |opening: &mut Opening, ns| opening.due(second + ns).map(|_| opening.endpoint().clone());
            (from..to).step_by(100_000).filter(|ns| due(&mut opening, *ns).is_some()).count()
        };
        assert_eq!([count(0, 1), count(100_000, 1_000_000), count(1_000_000, 50_000_000)], [1, 0, 49]);
        // Nobody looked for 30 ms, of which 10 ms are made up for.
        let late = count(80_000_000, 80_100_000) + count(80_100_000, 81_000_000);
        assert!((10..=12).contains(&late), "{late}");
    }

    #[test]
    fn gaps_have_the_mean_and_the_spread_that_was_asked_for() {
        let moments = |gaps| {
            let mut plan = plan();
            (plan.connecting.rate_per_s, plan.connecting.gaps) = (Some(1000.0), gaps);
            let mut opening = Opening::new(&plan, 0, 1, None);
            let all: Vec<f64> = (0..50_000).map(|_| opening.next_gap_ns(1_000_000) as f64 / 1e6).collect();
            let mean = all.iter().sum::<f64>() / 5e4;
            let sd = (all.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / 5e4).sqrt();
            (mean, sd, all.iter().copied().fold(f64::MAX, f64::min), all.iter().copied().fold(0.0, f64::max))
        };
        assert_eq!(moments(Gaps::Even), (1.0, 0.0, 1.0, 1.0));
        let (mean, sd, least, most) = moments(Gaps::Uniform(0.5));
        assert!((mean - 1.0).abs() < 0.01 && (sd * 12_f64.sqrt() - 1.0).abs() < 0.02, "{mean} {sd}");
        assert!((0.5..0.51).contains(&least) && (1.49..=1.5).contains(&most), "{least} {most}");
        let (mean, sd, ..) = moments(Gaps::Exponential);
        assert!((mean - 1.0).abs() < 0.02 && (sd - 1.0).abs() < 0.03, "{mean} {sd}");
    }

    /// At almost no rate, the time between two openings is longer than the clock can tell.
    #[test]
    fn a_gap_beyond_the_clock_is_no_trouble() {
        let mut plan = plan();
        plan.connecting.rate_per_s = Some(1e-300);
        let mut opening = Opening::new(&plan, 0, 1, None);
        (0..2).for_each(|slot| opening.line_up(slot));
        assert_eq!(opening.due(1_000_000_000), Some(0));
        let _ = opening.endpoint();
        assert_eq!(opening.due(u64::MAX - 1), None);
    }

    #[test]
    fn no_more_are_opened_than_may_be() {
        let mut opening = Opening::new(&plan(), 0, 1, Some(2));
        assert!(!opening.is_over());
        let open = |opening: &mut Opening| opening.may_open().then(|| opening.allot()).is_some();
        assert_eq!([0; 4].map(|_| open(&mut opening)), [true, true, false, false]);
        opening.closed();
        assert!(!opening.is_over());
        opening.closed();
        assert!(opening.is_over());
    }

    #[test]
    fn source_addresses_take_turns() {
        let mut plan = plan();
        plan.connecting.from = vec!["127.0.0.2".parse().unwrap(), "127.0.0.3".parse().unwrap()];
        let mut opening = Opening::new(&plan, 0, 1, None);
        let first = opening.endpoint().clone();
        assert_ne!(*opening.endpoint(), first);
        assert_eq!(*opening.endpoint(), first);
    }
}
