//! The CPUs that a thread may use.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The CPUs that this thread may use, in order. None of them is switched off.
pub fn allowed() -> Vec<usize> {
    affinity(None)
}

/// The same of any thread, by its ID; a process's is that of its first thread. Empty: it has ended.
pub fn allowed_to(tid: i32) -> Vec<usize> {
    Pid::from_raw(tid.max(0)).map_or_else(Vec::new, |tid| affinity(Some(tid)))
}

fn affinity(tid: Option<Pid>) -> Vec<usize> {
    let Ok(set) = sched_getaffinity(tid) else {
        return Vec::new();
    };
    (0..CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect()
}

/// Pins this thread, and all that it starts, to these CPUs. Error: the thread may use none of them.
pub fn pin(cpus: &[usize]) -> std::io::Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| **cpu < CpuSet::MAX_CPU) {
        set.set(*cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Asks the kernel to wake this thread at the requested time, not up to 50 µs later (the default slack).
pub fn wake_precisely() {
    let _ = rustix::thread::set_current_timer_slack(std::num::NonZeroU64::new(1));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_may_use_the_cpus_that_it_is_pinned_to() {
        let first = allowed()[0];
        let pinned = std::thread::spawn(move || {
            pin(&[first]).unwrap();
            (allowed(), allowed_to(rustix::thread::gettid().as_raw_nonzero().get()))
        });
        assert_eq!(pinned.join().unwrap(), (vec![first], vec![first]));
        assert_eq!((allowed_to(i32::MAX), allowed_to(-1)), (Vec::new(), Vec::new()));
    }
}
