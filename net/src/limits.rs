//! The limit of open descriptors.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Raises the soft limit of descriptors to `wanted` if need be. Returns the limit that now holds; `None`
/// means no limit.
pub fn raise_descriptors(wanted: u64) -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|n| n >= wanted) {
        return limit.current;
    }
    let current = Some(limit.maximum.map_or(wanted, |most| most.min(wanted)));
    let _ = setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum });
    getrlimit(Resource::Nofile).current
}

/// The soft and the hard limit of descriptors; `None` means no limit.
pub fn descriptors() -> (Option<u64>, Option<u64>) {
    let limit = getrlimit(Resource::Nofile);
    (limit.current, limit.maximum)
}
