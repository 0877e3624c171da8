//! What is counted for the sampled processes, besides samples: instructions, cache misses and the like by the processor, context switches
//! and the like by the kernel, and received bytes by the load generator.

use crate::error::ProfileError;
use crate::permission::{self, Refusal};
use crate::processes::{self, Thread};
use perf_event::events::{Hardware, Software, Tracepoint};
use perf_event::{Builder, Counter};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::io;

/// What was counted in the measured window, over all processes. A figure that is absent is unknown, because this machine does not count it
/// (virtual ones often have no hardware counters), or this user may not read it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Counters {
    /// Whether the figures of processor and kernel are of user code only, because this user may not observe the kernel.
    pub is_user_only: bool,
    /// Instructions that were executed.
    pub instructions: Option<u64>,
    /// Cycles of the processor while the processes were running.
    pub cycles: Option<u64>,
    /// Accesses to memory that no cache could answer.
    pub cache_misses: Option<u64>,
    /// Branches that the processor had predicted wrongly.
    pub branch_misses: Option<u64>,
    /// How often a thread left its CPU, because it waited or because another one took the CPU.
    pub context_switches: Option<u64>,
    /// Accesses to pages of memory that were not mapped yet.
    pub page_faults: Option<u64>,
    /// System calls.
    pub system_calls: Option<u64>,
    /// Bytes of answers, heads included, which the load generator received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_bytes: Option<u64>,
}

impl Counters {
    /// What processor and kernel counted since an earlier reading of the same counters.
    #[must_use]
    pub fn since(&self, before: &Self) -> Self {
        let mut since = Self { is_user_only: self.is_user_only, ..Self::default() };
        for kind in Kind::ALL {
            *kind.of_mut(&mut since) =
                kind.of(self).zip(kind.of(before)).map(|(now, then)| now.saturating_sub(then));
        }
        since
    }
}

/// What is counted.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Instructions,
    Cycles,
    CacheMisses,
    BranchMisses,
    ContextSwitches,
    PageFaults,
    SystemCalls,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Instructions,
        Self::Cycles,
        Self::CacheMisses,
        Self::BranchMisses,
        Self::ContextSwitches,
        Self::PageFaults,
        Self::SystemCalls,
    ];

    fn of_mut(self, counters: &mut Counters) -> &mut Option<u64> {
        match self {
            Self::Instructions => &mut counters.instructions,
            Self::Cycles => &mut counters.cycles,
            Self::CacheMisses => &mut counters.cache_misses,
            Self::BranchMisses => &mut counters.branch_misses,
            Self::ContextSwitches => &mut counters.context_switches,
            Self::PageFaults => &mut counters.page_faults,
            Self::SystemCalls => &mut counters.system_calls,
        }
    }

    fn of(self, counters: &Counters) -> Option<u64> {
        let mut copy = *counters;
        *self.of_mut(&mut copy)
    }

    /// The event; `None` where the kernel does not have it.
    fn builder(self) -> Option<Builder<'static>> {
        Some(match self {
            Self::Instructions => Builder::new(Hardware::INSTRUCTIONS),
            Self::Cycles => Builder::new(Hardware::CPU_CYCLES),
            Self::CacheMisses => Builder::new(Hardware::CACHE_MISSES),
            Self::BranchMisses => Builder::new(Hardware::BRANCH_MISSES),
            Self::ContextSwitches => Builder::new(Software::CONTEXT_SWITCHES),
            Self::PageFaults => Builder::new(Software::PAGE_FAULTS),
            Self::SystemCalls => Builder::new(Tracepoint::with_id(system_calls_id()?)),
        })
    }

    /// Whether this happens in the kernel, so that nothing would be counted without the right to observe the kernel.
    fn is_of_kernel(self) -> bool {
        matches!(self, Self::ContextSwitches | Self::SystemCalls)
    }
}

/// The ID of the kernel's event for the start of a system call; `None` where the kernel hides it.
fn system_calls_id() -> Option<u64> {
    let roots = ["/sys/kernel/tracing", "/sys/kernel/debug/tracing"];
    let path = |root: &str| format!("{root}/events/raw_syscalls/sys_enter/id");
    roots.iter().find_map(|root| std::fs::read_to_string(path(root)).ok()?.trim().parse().ok())
}

/// Counters that are running.
#[derive(Debug)]
pub struct Counting {
    is_user_only: bool,
    /// The counters of all threads, for each kind that can be counted.
    counters: Vec<(Kind, Vec<Counter>)>,
}

impl Counting {
    /// Begins to count for all threads of the processes, and for all that they start from now on.
    ///
    /// # Errors
    /// When the kernel allows no counting at all, or none of the processes exists. A kind that can't be counted is no error.
    pub fn begin(pids: &[i32]) -> Result<Self, ProfileError> {
        let threads = processes::threads(pids);
        let Some(first) = threads.first() else { return Err(ProfileError::NoProcess) };
        let needed = (threads.len() as u64).saturating_mul(Kind::ALL.len() as u64);
        net::limits::raise_descriptors(needed.saturating_add(4_096));
        let is_user_only = is_user_only(*first)?;
        let kinds = Kind::ALL.into_iter().filter(|kind| !(is_user_only && kind.is_of_kernel()));
        let counters = kinds.filter_map(|kind| Some((kind, opened(kind, &threads, is_user_only)?))).collect();
        Ok(Self { is_user_only, counters })
    }

    /// What was counted until now.
    pub fn read(&mut self) -> Counters {
        let mut all = Counters { is_user_only: self.is_user_only, ..Counters::default() };
        for (kind, counters) in &mut self.counters {
            *kind.of_mut(&mut all) = sum(counters);
        }
        all
    }

    /// Stops counting, and returns what was counted.
    pub fn end(mut self) -> Counters {
        self.read()
    }
}

/// Whether only user code may be observed. Fails if not even that is allowed.
fn is_user_only(thread: Thread) -> Result<bool, ProfileError> {
    for is_user_only in [false, true] {
        let mut builder = Builder::new(Software::PAGE_FAULTS);
        builder.observe_pid(thread.tid).exclude_kernel(is_user_only);
        match builder.build() {
            Ok(_) => return Ok(is_user_only),
            Err(error) => match permission::refusal(&error) {
                Refusal::Forbidden => {}
                Refusal::Gone => return Err(ProfileError::NoProcess),
                _ => return Err(ProfileError::Unsupported(error)),
            },
        }
    }
    Err(permission::forbidden(thread.pid))
}

/// The counters of one kind for all threads; `None` if one can't be opened, because the sum over some threads would mislead.
fn opened(kind: Kind, threads: &[Thread], is_user_only: bool) -> Option<Vec<Counter>> {
    let mut counters = Vec::with_capacity(threads.len());
    for thread in threads {
        let mut builder = kind.builder()?;
        builder.observe_pid(thread.tid).inherit(true).exclude_kernel(is_user_only).enabled(true);
        match builder.build() {
            Ok(counter) => counters.push(counter),
            Err(error) if is_gone(&error) => {}
            Err(_) => return None,
        }
    }
    Some(counters)
}

fn is_gone(error: &io::Error) -> bool {
    matches!(permission::refusal(error), Refusal::Gone)
}

/// The sum over all threads. A counter that shared the hardware with others is scaled up to the whole time.
fn sum(counters: &mut [Counter]) -> Option<u64> {
    let mut sum: u64 = 0;
    for counter in counters {
        let read = counter.read_full().ok()?;
        let (enabled, running) = (read.time_enabled()?.as_nanos(), read.time_running()?.as_nanos());
        sum = sum.checked_add(scaled(read.count(), enabled, running)?)?;
    }
    Some(sum)
}

/// A count for the whole time, from one for a part of it; `None` if that part is nothing.
fn scaled(count: u64, enabled: u128, running: u128) -> Option<u64> {
    match (enabled, running) {
        (enabled, running) if running >= enabled => Some(count),
        (_, 0) => None,
        _ => u64::try_from(u128::from(count) * enabled / running).ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_scaled_to_the_whole_time() {
        assert_eq!(scaled(10, 0, 0), Some(10));
        assert_eq!(scaled(10, 100, 100), Some(10));
        assert_eq!(scaled(10, 100, 25), Some(40));
        assert_eq!(scaled(10, 100, 0), None, "unknown, not 0");
        assert_eq!(scaled(u64::MAX, 100, 25), None);
    }

    #[test]
    fn a_difference_of_what_is_unknown_is_unknown() {
        let before = Counters { instructions: Some(10), cycles: Some(5), ..Counters::default() };
        let now = Counters {
            instructions: Some(30),
            page_faults: Some(1),
            is_user_only: true,
            ..Counters::default()
        };
        let expected = Counters { instructions: Some(20), is_user_only: true, ..Counters::default() };
        assert_eq!(now.since(&before), expected);
    }
}
