//! What the kernel allows: its settings for performance events, and what its refusals mean.

use crate::error::ProfileError;
use std::io;

/// `kernel.perf_event_paranoid`: from 2 on the kernel itself can't be observed without `CAP_PERFMON`, and with some distributions from 3 on
/// nothing can. `None` if it can't be read.
fn paranoid() -> Option<i32> {
    number("/proc/sys/kernel/perf_event_paranoid")
}

/// The highest sampling frequency that the kernel accepts, in samples per second; `wanted_hz` if it names none.
pub fn frequency(wanted_hz: u64) -> u64 {
    let most: Option<u64> = number("/proc/sys/kernel/perf_event_max_sample_rate");
    wanted_hz.min(most.unwrap_or(u64::MAX)).max(1)
}

fn number<T: std::str::FromStr>(path: &str) -> Option<T> {
    std::fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Why the kernel did not open a performance event for a thread.
#[derive(Debug)]
pub enum Refusal {
    /// The thread has ended, or the CPU is offline: nothing to sample there.
    Gone,
    /// The kernel's settings or the owner of the process forbid it.
    Forbidden,
    /// The machine does not have this event.
    NoEvent,
    /// Too many descriptors or too little memory.
    Exhausted,
    /// The system does not have performance events, or something else.
    Other,
}

/// What an error of `perf_event_open` means.
pub fn refusal(error: &io::Error) -> Refusal {
    // The numbers are the same on all architectures: include/uapi/asm-generic/errno-base.h and errno.h.
    match error.raw_os_error() {
        // ESRCH, ENODEV.
        Some(3 | 19) => Refusal::Gone,
        // EPERM, EACCES.
        Some(1 | 13) => Refusal::Forbidden,
        // ENOENT, EOPNOTSUPP.
        Some(2 | 95) => Refusal::NoEvent,
        // ENOMEM, ENFILE, EMFILE, ENOSPC.
        Some(12 | 23 | 24 | 28) => Refusal::Exhausted,
        _ => Refusal::Other,
    }
}

/// The error for a process that may not be profiled.
pub fn forbidden(pid: i32) -> ProfileError {
    let setting = paranoid().map(|level| format!(" (kernel.perf_event_paranoid is {level})"));
    ProfileError::Forbidden { pid, setting: setting.unwrap_or_default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_the_remedy() {
        let why =
            ProfileError::Forbidden { pid: 7, setting: " (kernel.perf_event_paranoid is 3)".to_owned() };
        let why = why.to_string();
        assert!(why.contains("process 7 (kernel.perf_event_paranoid is 3): set `sysctl"), "{why}");
        assert!(why.contains("kernel.perf_event_paranoid=1") && why.contains("CAP_PERFMON"), "{why}");
    }

    #[test]
    fn the_frequency_is_what_the_kernel_accepts() {
        assert_eq!(frequency(1), 1);
        assert_eq!(frequency(0), 1);
        assert!(frequency(u64::MAX) >= 1);
    }

    #[test]
    fn errors_have_a_meaning() {
        let of = |number| refusal(&io::Error::from_raw_os_error(number));
        assert!(matches!(of(3), Refusal::Gone));
        assert!(matches!(of(13), Refusal::Forbidden));
        assert!(matches!(of(24), Refusal::Exhausted));
        assert!(matches!(of(2), Refusal::NoEvent));
        assert!(matches!(of(38), Refusal::Other));
    }
}
