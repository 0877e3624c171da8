//! Time: the monotonic clock, a thread's and a process's CPU time.

use rustix::time::{ClockId, clock_gettime};
use std::time::Duration;

/// Nanoseconds of the monotonic clock.
#[inline]
pub fn now_ns() -> u64 {
    ns(clock_gettime(ClockId::Monotonic))
}

/// Nanoseconds of the monotonic clock as of the kernel's last tick, a few milliseconds old at most: cheaper than [`now_ns`], for what is
/// done about once a second.
#[inline]
pub fn coarse_ns() -> u64 {
    ns(clock_gettime(ClockId::MonotonicCoarse))
}

/// CPU time that this thread has used.
pub fn thread_cpu_ns() -> u64 {
    ns(clock_gettime(ClockId::ThreadCPUTime))
}

/// CPU time that this thread has used in the kernel, which samples it. `None` where the system does not report it.
pub fn thread_system_ns() -> Option<u64> {
    let used = usage_of(libc::RUSAGE_THREAD)?.ru_stime;
    Some(used.tv_sec as u64 * 1_000_000_000 + used.tv_usec as u64 * 1_000)
}

/// What this thread or this process has used. `None` where the system does not report it.
#[allow(unsafe_code)]
pub(crate) fn usage_of(whose: libc::c_int) -> Option<libc::rusage> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: `usage` is a valid rusage for the kernel to write, and all zeros is one as well.
    unsafe { (libc::getrusage(whose, usage.as_mut_ptr()) == 0).then(|| usage.assume_init()) }
}

/// CPU time that this process has used, all of its threads.
pub fn own_cpu_ns() -> u64 {
    ns(clock_gettime(ClockId::ProcessCPUTime))
}

/// CPU time that another process has used: all of its threads, ended ones included, to the nanosecond.
/// `None` when there is no such process.
pub fn process_cpu_ns(pid: i32) -> Option<u64> {
    // The kernel's encoding of a process's CPU clock: the complement of the number, then 2 for
    // "scheduler" (include/linux/posix-timers_types.h, CPUCLOCK_SCHED).
    cpu_clock_ns((!pid << 3) | 2)
}

#[allow(unsafe_code)]
fn cpu_clock_ns(id: libc::clockid_t) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid timespec for the kernel to write; an unknown id is an error, nothing else.
    let status = unsafe { libc::clock_gettime(id, &raw mut time) };
    (status == 0).then(|| time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
}

/// CPU time of one thread of this process, by its ID; `None` when it is gone. Exact, and far cheaper than reading /proc.
pub fn own_thread_cpu_ns(tid: i32) -> Option<u64> {
    // As above, with 4 for "of a thread" (CPUCLOCK_PERTHREAD_MASK).
    cpu_clock_ns((!tid << 3) | 6)
}

/// The ID of the calling thread, as [`own_thread_cpu_ns`] takes it.
pub fn own_thread() -> i32 {
    rustix::thread::gettid().as_raw_nonzero().get()
}

/// The nanoseconds of a duration; the largest number for one that is longer (584 years), as a user may ask for.
pub fn ns_of(duration: Duration) -> u64 {
    duration.as_nanos().try_into().unwrap_or(u64::MAX)
}

fn ns(time: rustix::time::Timespec) -> u64 {
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_coarse_clock_is_the_same_clock_a_little_behind() {
        let (coarse, now) = (coarse_ns(), now_ns());
        assert!(coarse <= now && now - coarse < 1_000_000_000, "{coarse} {now}");
    }

    #[test]
    fn a_duration_that_no_clock_reaches_does_not_begin_anew() {
        assert_eq!(ns_of(Duration::from_micros(2)), 2_000);
        assert_eq!(ns_of(Duration::from_secs(18_446_744_074)), u64::MAX);
    }

    #[test]
    fn a_process_reads_its_own_time_either_way() {
        let before = own_cpu_ns();
        let other = process_cpu_ns(std::process::id() as i32).unwrap();
        let after = own_cpu_ns();
        assert!(before <= other && other <= after);
        assert_eq!(process_cpu_ns(i32::MAX - 1), None);
    }

    #[test]
    fn a_thread_s_time_is_read_by_its_number() {
        let tid = rustix::thread::gettid().as_raw_nonzero().get();
        let before = thread_cpu_ns();
        let read = own_thread_cpu_ns(tid).unwrap();
        assert!(before <= read && read <= thread_cpu_ns());
        assert_eq!(own_thread_cpu_ns(i32::MAX - 1), None);
    }
}
