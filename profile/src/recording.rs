//! What was recorded, before it has names.

use crate::frame_name;
use crate::stacks::Profile;
use crate::symbols::perf_map::PerfMap;
use crate::symbols::{self, Names};
use crate::trace::address::{Address, Stack};
use crate::trace::images::Images;
use std::collections::{BTreeMap, BTreeSet};

/// Stacks of addresses, with all that is needed to name them. The processes may have ended.
#[derive(Debug)]
pub struct Recording {
    pub(crate) stacks: BTreeMap<Stack, u64>,
    pub(crate) images: Images,
    pub(crate) perf_maps: BTreeMap<u32, PerfMap>,
    pub(crate) lost: u64,
    pub(crate) period_ns: u64,
    pub(crate) has_kernel: bool,
    pub(crate) unattached_threads: u64,
}

impl Recording {
    /// The number of samples.
    pub fn samples(&self) -> u64 {
        self.stacks.values().sum()
    }

    /// Gives the addresses their names. This reads the debug information of programs, which can take seconds of CPU time and hundreds
    /// of megabytes of memory: do it when nothing is measured.
    pub fn resolve(self) -> Profile {
        let addresses: BTreeSet<Address> =
            self.stacks.keys().flat_map(|stack| stack.addresses.iter().copied()).collect();
        let names = symbols::names(addresses, &self.images, &self.perf_maps);
        let mut profile = Profile {
            lost: self.lost,
            period_ns: self.period_ns,
            has_kernel: self.has_kernel,
            unattached_threads: self.unattached_threads,
            ..Profile::default()
        };
        for (stack, count) in &self.stacks {
            let frames = frames(stack, &names);
            profile.samples += count;
            if !stack.is_complete && !frames.first().is_some_and(|name| frame_name::is_root(name)) {
                profile.unrooted += count;
            }
            *profile.stacks.entry(frames).or_default() += count;
        }
        profile
    }
}

/// The names of a stack, outermost first.
fn frames(stack: &Stack, names: &Names) -> Vec<String> {
    let outermost_first = stack.addresses.iter().rev();
    let frames: Vec<String> =
        outermost_first.filter_map(|address| names.get(address)).flatten().cloned().collect();
    if frames.is_empty() { vec![frame_name::UNKNOWN.to_owned()] } else { frames }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_get_names_and_what_is_inlined_becomes_frames() {
        let address = |pid| Address::Memory { pid, address: 0x1000 };
        let map = |name: &str| PerfMap::parse(format!("1000 10 {name}\n").as_bytes());
        let stack = |pids: &[u32], is_complete| Stack {
            addresses: pids.iter().map(|pid| address(*pid)).collect(),
            is_complete,
        };
        let recording = Recording {
            stacks: [
                (stack(&[2, 1], true), 3),
                (stack(&[3, 1], false), 2),
                (stack(&[2], false), 1),
                (stack(&[], false), 4),
            ]
            .into(),
            images: Images::default(),
            perf_maps: [(1, map("root")), (2, map("leaf")), (3, map("leaf"))].into(),
            lost: 5,
            period_ns: 10,
            has_kernel: true,
            unattached_threads: 0,
        };
        assert_eq!(recording.samples(), 10);
        let profile = recording.resolve();
        assert_eq!(
            profile.to_folded().lines().skip(1).collect::<Vec<_>>(),
            [
                "# period_ns=10 lost=5 unrooted=7 has_kernel=true unattached_threads=0",
                "[unknown] 4",
                "leaf_[j] 1",
                "root_[j];leaf_[j] 5",
            ],
            "equal names are one stack, wherever their addresses are"
        );
        assert_eq!(profile.samples, 10);
    }

    #[test]
    fn inlined_functions_stand_above_their_caller() {
        let at = Address::Unknown;
        let names: Names = [(at, vec!["outer".to_owned(), "inner".to_owned()])].into();
        let stack = Stack { addresses: vec![at, at], is_complete: true };
        assert_eq!(frames(&stack, &names), ["outer", "inner", "outer", "inner"]);
    }
}
