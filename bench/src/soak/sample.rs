//! What a process holds at one moment, from /proc.

use crate::process::bytes_behind;
use std::fs;
use std::time::Instant;

/// What a process holds at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sample {
    pub at: Instant,
    pub descriptors: usize,
    pub threads: usize,
    /// Resident memory. Exact, unlike `VmRSS`, which the kernel counts separately on each core.
    pub rss_bytes: u64,
}

impl Sample {
    /// Takes a sample; `None` if the process has ended.
    pub fn of(pid: u32) -> Option<Self> {
        let count = |folder: &str| Some(fs::read_dir(format!("/proc/{pid}/{folder}")).ok()?.count());
        let memory = fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        Some(Self {
            at: Instant::now(),
            descriptors: count("fd")?,
            threads: count("task")?,
            rss_bytes: bytes_behind(&memory, "Rss:")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_file_and_touched_memory_are_seen() {
        let own = std::process::id();
        let before = Sample::of(own).unwrap();
        let files: Vec<_> = (0..50).map(|_| fs::File::open("/dev/null").unwrap()).collect();
        let memory = vec![1_u8; 64 << 20];
        let after = Sample::of(own).unwrap();
        // Other tests run beside this one.
        assert!(after.descriptors >= before.descriptors + 30, "{before:?} {after:?}");
        assert!(after.rss_bytes >= before.rss_bytes + (32 << 20), "{before:?} {after:?}");
        assert!(after.threads > 0 && files.len() + memory.len() > 0);
        assert_eq!(Sample::of(u32::MAX), None);
    }
}
