//! The errors of sampling and of what is made from a profile; each message names the remedy.

use std::io;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The kernel's settings or the owner of the process forbid it.
    #[error(
        "the kernel does not let this user profile process {pid}{setting}: set `sysctl kernel.perf_event_paranoid=1`, give drome the \
         capability CAP_PERFMON, or run it as root; a process of another user always needs root"
    )]
    Forbidden {
        /// The process.
        pid: i32,
        /// ` (kernel.perf_event_paranoid is 3)`, where that can be read; else empty.
        setting: String,
    },
    /// The system lacks what is needed.
    #[error(
        "this system can't profile processes ({0}): it needs Linux with perf events (CONFIG_PERF_EVENTS)"
    )]
    Unsupported(io::Error),
    /// None of the processes exists.
    #[error("there is no process to profile: it has ended, or its number is wrong")]
    NoProcess,
    /// No memory for the kernel's records.
    #[error(
        "the kernel gives no memory for samples ({0}): raise `sysctl kernel.perf_event_mlock_kb` or the limit of locked memory \
         (`ulimit -l`)"
    )]
    NoMemory(io::Error),
    /// No thread for the sampler.
    #[error("can't start a thread that collects samples ({0}): check the limit of threads (`ulimit -u`)")]
    NoThread(io::Error),
    /// The sampler's thread ended early.
    #[error("the thread that collects samples has failed: please report this")]
    Failed,
    /// There is nothing to draw.
    #[error(
        "the profile is empty: the processes used too little CPU time; profile them under load, or for longer"
    )]
    Empty,
}
