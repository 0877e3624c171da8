//! The local ports that connections try. The kernel takes the first free one after a random start, and checks half of its
//! range before the other half. With more than 14,000 of the usual 28,000 ports in use towards one address, every further
//! connect walks over all of those: 0.2 to 1.3 ms each, measured. Where there are many connections, each gets a narrow range of its own.

use crate::Slot;
use std::ops::RangeInclusive;

/// The number of connections below which the kernel finds a free port in a few steps.
const MANY: usize = 8 * 1024;

/// The width of a range: enough that other programs' ports do not fill it.
const WIDTH: u32 = 256;

/// The ranges of local ports, a part of the machine's for each connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ports {
    all: RangeInclusive<u16>,
    connections: u64,
    first: u64,
    step: u64,
}

impl Ports {
    /// The ranges for the connections of worker `index` of `workers`, which together have `connections` from one address to another.
    /// `None`: the kernel may choose, because connections are few or its range is unknown.
    pub fn of(connections: usize, index: usize, workers: usize) -> Option<Self> {
        if connections < MANY {
            return None;
        }
        let text = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").ok()?;
        let mut ends = text.split_whitespace().map(str::parse);
        let (Some(Ok(low)), Some(Ok(high))) = (ends.next(), ends.next()) else { return None };
        let (first, step) = (index as u64, workers as u64);
        (low < high).then_some(Self { all: low..=high, connections: connections as u64, first, step })
    }

    /// The ports that the connection of this slot may use.
    pub fn range(&self, slot: Slot) -> RangeInclusive<u16> {
        let (low, high) = (u64::from(*self.all.start()), u64::from(*self.all.end()));
        let number = (self.first + u64::from(slot) * self.step) % self.connections;
        let starts = (high - low + 1).saturating_sub(WIDTH.into()).max(1);
        let start = low + number * starts / self.connections;
        start as u16..=(start + u64::from(WIDTH) - 1).min(high) as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_connections_are_left_to_the_kernel() {
        assert_eq!(Ports::of(MANY - 1, 0, 1), None);
        assert!(Ports::of(MANY, 0, 1).is_some(), "this machine has a range of local ports");
    }

    #[test]
    fn ranges_are_spread_over_all_ports_and_stay_within_them() {
        for (workers, all) in [(1, 32_768..=60_999), (4, 32_768..=60_999), (3, 1024..=65_535), (2, 9..=10)] {
            let ports = |first| Ports { all: all.clone(), connections: 18_000, first, step: workers };
            let of_worker = |first| (0..18_000 / workers as Slot).map(move |slot| ports(first).range(slot));
            let ranges: Vec<_> = (0..workers).flat_map(of_worker).collect();
            let is_within = |r: &RangeInclusive<u16>| {
                all.contains(r.start()) && all.contains(r.end()) && r.start() < r.end()
            };
            assert!(ranges.iter().all(is_within));
            let room = all.len().min(WIDTH as usize);
            let is_spread = |port: &u16| {
                ranges.iter().filter(|r| r.contains(port)).count() < 18_000 * room / all.len() * 2 + 2
            };
            assert!(all.clone().step_by(997).all(|port| is_spread(&port)));
        }
    }

    #[test]
    fn a_slot_beyond_all_connections_has_a_range_too() {
        let ports = Ports { all: 32_768..=60_999, connections: 10_000, first: 0, step: 1 };
        assert_eq!(ports.range(10_000), ports.range(0));
    }
}
