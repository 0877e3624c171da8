//! What was recorded, before the addresses have names.

use crate::frame_name;
use crate::hints;
use crate::stacks::Profile;
use crate::symbols::perf_map::{self, PerfMap};
use crate::symbols::{self, Names};
use crate::trace::address::{Address, Stack};
use crate::trace::images::Images;
use std::collections::{BTreeMap, BTreeSet};
use std::time::SystemTime;

/// Stacks of addresses, with all that is needed to name them. The processes may have ended.
#[derive(Debug)]
pub struct Recording {
    pub(crate) stacks: BTreeMap<Stack, u64>,
    pub(crate) images: Images,
    pub(crate) perf_maps: BTreeMap<u32, PerfMap>,
    /// For each process with samples in code that is in no file, by its ID: the name of its program.
    pub(crate) programs: BTreeMap<u32, String>,
    /// When it began.
    pub(crate) began: SystemTime,
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

    /// The IDs of the processes that ran code which is in no file, such as code compiled at run time. They may have left a perf map behind.
    pub fn pids_with_own_code(&self) -> impl Iterator<Item = u32> {
        self.programs.keys().copied()
    }

    /// Gives the addresses their names. This reads the debug information of programs, which can take seconds of CPU time and hundreds of
    /// megabytes of memory: do it when nothing is measured. If the processes are going to end, call this afterwards: some write the names
    /// of what they compiled only at their end.
    pub fn resolve(mut self) -> Profile {
        self.read_late_maps();
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
            if !stack.is_complete && !frame_name::is_whole(&frames) {
                profile.unrooted += count;
            }
            if let Some(program) = self.unnamed(stack, &frames, &names) {
                *profile.unnamed.entry(program.to_owned()).or_default() += count;
            }
            *profile.stacks.entry(frames).or_default() += count;
        }
        profile
    }

    /// Reads the perf maps that were not there while the processes were sampled.
    fn read_late_maps(&mut self) {
        for pid in self.programs.keys() {
            if !self.perf_maps.contains_key(pid)
                && let Some(map) = perf_map::at_end(*pid, self.began)
            {
                self.perf_maps.insert(*pid, map);
            }
        }
    }

    /// The program that compiled or interprets functions of this stack and gave none of them a name. If one of them has a name, the others
    /// are the program's own helpers.
    fn unnamed(&self, stack: &Stack, frames: &[String], names: &Names) -> Option<&str> {
        let mut compiled = None;
        for address in &stack.addresses {
            if let Address::Memory { pid, .. } = address {
                let is_named =
                    names.get(address).is_some_and(|names| names.iter().all(|n| n != frame_name::JIT));
                if is_named {
                    return None;
                }
                compiled = self.programs.get(pid).map(String::as_str);
            }
        }
        if compiled.is_some() || frames.iter().any(|frame| hints::is_python_function(frame)) {
            return compiled;
        }
        // An interpreter's functions have names, those of the program that it runs have none.
        stack.addresses.iter().find_map(|address| match address {
            Address::File { image, .. } => self
                .images
                .get(*image)
                .map(|image| image.label.as_str())
                .filter(|label| hints::is_python(label)),
            _ => None,
        })
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
            programs: [(1, "a".to_owned()), (2, "b".to_owned()), (3, "c".to_owned())].into(),
            began: SystemTime::now(),
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
        assert_eq!(profile.unnamed, BTreeMap::new(), "all are named");
    }

    #[test]
    fn samples_without_names_are_counted_by_program() {
        let memory = |pid, address| Address::Memory { pid, address };
        let stack = |addresses: &[Address]| Stack { addresses: addresses.to_vec(), is_complete: true };
        // No process has such a number, so none has left a perf map.
        let (node, other) = (4_100_000_001, 4_100_000_002);
        let recording = Recording {
            stacks: [
                (stack(&[memory(node, 0x5000), memory(node, 0x6000)]), 5),
                (stack(&[memory(node, 0x5000), memory(node, 0x1000)]), 7),
                (stack(&[Address::Kernel(1), memory(other, 0x5000)]), 2),
                (stack(&[Address::Unknown]), 4),
            ]
            .into(),
            images: Images::default(),
            perf_maps: [(node, PerfMap::parse(b"1000 10 handle\n"))].into(),
            programs: [(node, "node".to_owned()), (other, "[unknown]".to_owned())].into(),
            began: SystemTime::now(),
            lost: 0,
            period_ns: 10,
            has_kernel: true,
            unattached_threads: 0,
        };
        let profile = recording.resolve();
        let expected = [("[unknown]".to_owned(), 2), ("node".to_owned(), 5)];
        assert_eq!(profile.unnamed, BTreeMap::from(expected), "once per sample, and only without any name");
    }

    #[test]
    fn inlined_functions_stand_above_their_caller() {
        let at = Address::Unknown;
        let names: Names = [(at, vec!["outer".to_owned(), "inner".to_owned()])].into();
        let stack = Stack { addresses: vec![at, at], is_complete: true };
        assert_eq!(frames(&stack, &names), ["outer", "inner", "outer", "inner"]);
    }
}
