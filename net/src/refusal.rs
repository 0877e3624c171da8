//! Explains in words why `io_uring` can't be used on this machine, and what helps.

use crate::{Errno, Uring, limits};
use std::io::Error;

/// The kernel's setting. 0: all processes may use it; 1: a group may; 2: none may.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// Why `io_uring` can't be used here for this number of connections; `None`: it can. To be asked after the limit of descriptors has been
/// raised, because the ring's table of files counts against it.
pub fn uring_refusal(connections: usize) -> Option<String> {
    let error = Uring::new(connections).err()?;
    let disabled = std::fs::read_to_string(DISABLED).ok().and_then(|text| text.trim().parse().ok());
    Some(words(&error, disabled, limits::descriptors().0))
}

fn words(error: &Error, disabled: Option<u8>, descriptors: Option<u64>) -> String {
    let errno = Errno::from_io_error(error);
    let why = match (errno, disabled) {
        (Some(Errno::PERM | Errno::ACCESS), Some(n)) if n > 0 => {
            format!("kernel.io_uring_disabled is {n}; sysctl kernel.io_uring_disabled=0 allows it")
        }
        (Some(Errno::PERM | Errno::ACCESS), _) => {
            "a seccomp filter forbids it, as in most containers; docker run --security-opt seccomp=unconfined"
                .to_owned()
        }
        (Some(Errno::NOSYS), _) => "this kernel has none, or a seccomp filter hides it".to_owned(),
        (Some(Errno::MFILE | Errno::NFILE), _) => format!(
            "the limit of descriptors is {}; raise the hard limit with ulimit -Hn",
            descriptors.map_or("unknown".to_owned(), |n| n.to_string()),
        ),
        (Some(Errno::NOMEM), _) => "the limit of locked memory is too low; ulimit -l unlimited".to_owned(),
        _ => "this kernel lacks a part of it that drome needs; use Linux 6.1 or newer".to_owned(),
    };
    let what = errno.map_or_else(|| error.to_string(), |errno| Error::from(errno).to_string());
    let what = what.split(" (os error").next().unwrap_or_default();
    format!("{what}: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_is_the_setting_the_filter_or_the_limit() {
        let words = |errno: Errno, disabled| words(&errno.into(), disabled, Some(1024));
        assert_eq!(
            words(Errno::PERM, Some(2)),
            "Operation not permitted: kernel.io_uring_disabled is 2; sysctl kernel.io_uring_disabled=0 allows it"
        );
        assert!(words(Errno::PERM, Some(0)).contains("seccomp"));
        assert!(words(Errno::PERM, None).contains("seccomp"), "older kernels have no such setting");
        assert!(words(Errno::MFILE, Some(0)).contains("descriptors is 1024"));
        assert!(words(Errno::NOSYS, None).starts_with("Function not implemented: this kernel has none"));
        assert!(words(Errno::INVAL, Some(0)).contains("Linux 6.1"));
        let plain = super::words(&Error::other("no such operation"), None, None);
        assert!(plain.starts_with("no such operation: "), "{plain}");
    }
}
