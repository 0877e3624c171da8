//! Takes the records of the kernel one by one, keeps track of the code that each process has mapped, and counts stacks.

use super::address::{Address, Stack, Stacks};
use super::chain::{self, Chain, Walk};
use super::images::Images;
use super::maps;
use super::reach::Reach;
use super::record::{Mapped, Record, Sample};
use super::space::Space;
use super::unwinder::Cache;
use crate::window::Window;
use std::collections::{BTreeMap, BTreeSet};

/// The code of a process is read again when a sample is in none of it, at most this often, in nanoseconds.
const READ_AGAIN_NS: u64 = 200_000_000;

/// With more processes than this, those that have ended are forgotten.
const MOST_PROCESSES: usize = 4_096;

/// What a record says about a thread that began or ended.
#[derive(Debug, PartialEq, Eq)]
pub enum News {
    /// A thread was started by another one.
    Started {
        /// The new thread.
        tid: i32,
        /// The old one.
        parent_tid: i32,
    },
    /// A thread has ended.
    Ended {
        /// The thread.
        tid: i32,
    },
}

/// Everything that is known so far.
pub struct Tracer {
    /// The files whose code was seen.
    pub images: Images,
    /// The stacks and how often each was sampled.
    pub stacks: Stacks,
    /// Records that were lost.
    pub lost: u64,
    /// Processes with samples in code that is in no file.
    pub with_own_code: BTreeSet<u32>,
    /// Whether the copies of stacks are large enough.
    pub reach: Reach,
    spaces: BTreeMap<u32, Space>,
    cache: Cache,
    window: Window,
}

impl Tracer {
    /// A tracer that has seen no records yet. `bytes`: the approximate limit of the memory for stacks.
    pub fn new(window: Window, bytes: usize) -> Self {
        Self {
            images: Images::default(),
            stacks: Stacks::within(bytes),
            lost: 0,
            with_own_code: BTreeSet::new(),
            reach: Reach::default(),
            spaces: BTreeMap::new(),
            cache: Cache::new(),
            window,
        }
    }

    /// Reads what code a process has mapped now. Early reading also finds the code of processes that end soon.
    pub fn read(&mut self, pid: u32, now_ns: u64) {
        let Some(mapped) = maps::of(pid) else {
            // It has ended; what was known of it remains.
            self.spaces.entry(pid).or_default().read_at_ns = now_ns;
            return;
        };
        let space = Space::of(pid, &mapped, &mut self.images, now_ns);
        self.spaces.insert(pid, space);
    }

    /// Processes a record, and returns what it says about threads, if anything.
    pub fn take(&mut self, record: Record<'_>, now_ns: u64) -> Option<News> {
        match record {
            Record::Sample(sample) => self.sample(&sample, now_ns),
            Record::Mapped { pid, mapped } => self.map(pid, &mapped),
            Record::Forked { pid, parent_pid, tid, parent_tid } => {
                self.fork(pid, parent_pid);
                let tid = i32::try_from(tid).ok()?;
                return Some(News::Started { tid, parent_tid: i32::try_from(parent_tid).ok()? });
            }
            Record::Replaced { pid } => {
                self.spaces.insert(pid, Space::default());
            }
            Record::Ended { tid } => return Some(News::Ended { tid: i32::try_from(tid).ok()? }),
            Record::Lost(count) => self.lost = self.lost.saturating_add(count),
            Record::Other => {}
        }
        None
    }

    fn map(&mut self, pid: u32, mapped: &Mapped) {
        // The code of an unknown process is read when it has a sample, with this mapping.
        if let Some(space) = self.spaces.get_mut(&pid) {
            space.map(pid, mapped, &mut self.images);
        }
    }

    /// A new process begins with the code of the one that started it; a new thread shares it.
    fn fork(&mut self, pid: u32, parent_pid: u32) {
        if pid == parent_pid {
            return;
        }
        if self.spaces.len() >= MOST_PROCESSES {
            self.spaces.retain(|pid, _| std::path::Path::new(&format!("/proc/{pid}")).exists());
        }
        // A sample of the child may have come first, from another CPU.
        if !self.spaces.contains_key(&pid)
            && let Some(parent) = self.spaces.get(&parent_pid)
        {
            let child = parent.clone();
            self.spaces.insert(pid, child);
        }
    }

    fn sample(&mut self, sample: &Sample<'_>, now_ns: u64) {
        let counts = self.window.contains(sample.time_ns);
        if !counts && !self.reach.is_unknown() {
            return;
        }
        let Chain { kernel, user } = chain::split(&sample.chain);
        self.renew(sample.pid, user.first().copied(), now_ns);
        let Some(space) = self.spaces.get(&sample.pid) else { return };
        let unwound = space.unwind(&mut self.cache, &sample.registers, sample.stack);
        if !sample.stack.is_empty() {
            self.reach.note(unwound.is_cut && sample.has_more);
        }
        if !counts {
            return;
        }
        // From the first one that leads out of the code, these are no real frame pointers.
        let in_code = user.iter().take_while(|address| space.is_code(**address)).count();
        let chain = &user[..in_code];
        let mut walk = chain::continued(unwound, chain);
        if walk.addresses.is_empty() {
            // At least the instruction itself is known.
            walk.addresses.extend(user.first());
        }
        let is_complete = walk.is_complete || (user.is_empty() && !kernel.is_empty());
        let Walk { addresses, .. } = walk;
        let user = addresses.into_iter().map(|address| space.address(sample.pid, address));
        let mut addresses: Vec<Address> = kernel.into_iter().map(Address::Kernel).chain(user).collect();
        if addresses.is_empty() {
            addresses.push(Address::Unknown);
        }
        if addresses.iter().any(|address| matches!(address, Address::Memory { .. })) {
            self.with_own_code.insert(sample.pid);
        }
        self.stacks.add(Stack { addresses, is_complete });
    }

    /// Reads the mappings of a process that is unknown, or that is running outside of its known code.
    fn renew(&mut self, pid: u32, running: Option<u64>, now_ns: u64) {
        let is_current = self.spaces.get(&pid).is_some_and(|space| {
            let is_known = running.is_none_or(|address| space.is_code(address));
            is_known || (space.read_at_ns > 0 && now_ns.saturating_sub(space.read_at_ns) < READ_AGAIN_NS)
        });
        if !is_current {
            self.read(pid, now_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    const USER: u64 = (-512_i64) as u64;
    const KERNEL: u64 = (-128_i64) as u64;

    /// No process has so high a number, so nothing of it is found in /proc.
    const PID: u32 = 4_000_000_000;

    fn mapped(start: u64, end: u64) -> Record<'static> {
        let mapped = Mapped { start, end, inode: 1, path: PathBuf::from("/no/a"), ..Mapped::default() };
        Record::Mapped { pid: PID, mapped }
    }

    fn sample(pid: u32, chain: &[u64]) -> Record<'static> {
        let chain = chain.to_vec();
        Record::Sample(Sample { pid, time_ns: 5, chain, registers: Vec::new(), stack: &[], has_more: false })
    }

    fn counted(tracer: Tracer) -> Vec<(Vec<Address>, u64)> {
        tracer.stacks.into_counts().into_iter().map(|(stack, count)| (stack.addresses, count)).collect()
    }

    #[test]
    fn a_sample_is_where_its_process_has_mapped_code() {
        let mut tracer = Tracer::new(Window::always(), 1 << 20);
        assert_eq!(tracer.take(Record::Replaced { pid: PID }, 1), None);
        tracer.take(mapped(0x1000, 0x2000), 1);
        for _ in 0..2 {
            tracer.take(sample(PID, &[KERNEL, 0x8000, USER, 0x1010, 0x1021, 0x9000, 0x1031]), 1);
        }
        tracer.take(sample(PID, &[KERNEL, 0x8000]), 1);
        tracer.take(sample(PID, &[USER, 0x5000]), 1);
        let file = |offset| Address::File { image: 0, offset };
        assert_eq!(
            counted(tracer),
            [
                (vec![Address::Kernel(0x8000)], 1),
                (vec![Address::Kernel(0x8000), file(0x10), file(0x20)], 2),
                (vec![Address::Unknown], 1),
            ],
            "frame pointers count as far as they lead into code"
        );
    }

    #[test]
    fn a_child_has_the_code_of_its_parent_until_it_becomes_another_program() {
        let mut tracer = Tracer::new(Window::always(), 1 << 20);
        tracer.take(Record::Replaced { pid: PID }, 1);
        tracer.take(mapped(0x1000, 0x2000), 1);
        let child = PID + 1;
        let news = tracer.take(Record::Forked { pid: child, parent_pid: PID, tid: 8, parent_tid: 7 }, 1);
        assert_eq!(news, Some(News::Started { tid: 8, parent_tid: 7 }));
        tracer.take(sample(child, &[USER, 0x1010]), 1);
        tracer.take(Record::Replaced { pid: child }, 1);
        tracer.take(sample(child, &[USER, 0x1010]), 1);
        let expected = [(vec![Address::File { image: 0, offset: 0x10 }], 1), (vec![Address::Unknown], 1)];
        assert_eq!(counted(tracer), expected);
    }

    #[test]
    fn losses_are_added_up_and_ends_are_news() {
        let mut tracer = Tracer::new(Window::always(), 1 << 20);
        tracer.take(Record::Lost(3), 1);
        tracer.take(Record::Lost(u64::MAX), 1);
        assert_eq!(tracer.lost, u64::MAX);
        assert_eq!(tracer.take(Record::Ended { tid: 9 }, 1), Some(News::Ended { tid: 9 }));
        assert_eq!(tracer.take(Record::Ended { tid: u32::MAX }, 1), None);
        assert_eq!(tracer.take(Record::Other, 1), None);
    }

    #[test]
    fn samples_outside_of_the_window_do_not_count() {
        let mut tracer = Tracer::new(Window::closed(), 1 << 20);
        tracer.take(sample(PID, &[USER, 0x1010]), 1);
        assert!(counted(tracer).is_empty());
    }
}
