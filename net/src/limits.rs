//! The limit of open descriptors, and the memory that this process has used.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::OnceLock;

/// The soft limit of descriptors before this process raised it; `None` in it means no limit.
static AT_START: OnceLock<Option<u64>> = OnceLock::new();

/// Raises the soft limit of descriptors to `wanted` if need be. Returns the limit that now holds; `None`
/// means no limit.
pub fn raise_descriptors(wanted: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    AT_START.get_or_init(|| limit.current);
    if limit.current.is_none_or(|n| n >= wanted) {
        return limit.current;
    }
    let current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

/// The soft limit of descriptors that this process was started with; `None` means no limit. Processes that it starts should get this
/// one, because some servers size their tables by it.
pub fn descriptors_at_start() -> Option<u64> {
    *AT_START.get_or_init(|| getrlimit(Resource::Nofile).current)
}

/// Sets the soft limit of descriptors for this process and all that it starts, as far as the hard limit allows.
pub fn set_descriptors(soft: u64) -> std::io::Result<()> {
    let maximum = getrlimit(Resource::Nofile).maximum;
    let current = Some(maximum.map_or(soft, |most| most.min(soft)));
    Ok(setrlimit(Resource::Nofile, Rlimit { current, maximum })?)
}

/// The soft and the hard limit of descriptors; `None` means no limit.
pub fn descriptors() -> (Option<u64>, Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current, limit.maximum)
}

/// The largest resident memory that this process has had. `None` where the system does not report it.
pub fn rss_max_bytes() -> Option<u64> {
    Some(crate::clock::usage_of(libc::RUSAGE_SELF)?.ru_maxrss as u64 * 1024)
}
