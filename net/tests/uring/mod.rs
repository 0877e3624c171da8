//! Whether tests may use `io_uring` on this machine; several crates' tests include this file.

use std::sync::OnceLock;

/// Since Linux 6.6 the kernel says here whether everybody may use `io_uring`: 0.
const DISABLED: &str = "/proc/sys/kernel/io_uring_disabled";

/// It can be used here. Under CI, a kernel that offers it and does not let us use it is a failure: its tests would check nothing.
pub fn is_usable() -> bool {
    static IS_USABLE: OnceLock<bool> = OnceLock::new();
    *IS_USABLE.get_or_init(|| {
        // The ring's table of files counts against the limit, and drome raises it as well.
        net::limits::raise_descriptors(u64::MAX);
        let is_usable = net::uring_refusal(net::Sizes::of(1)).is_none();
        let is_offered = std::fs::read_to_string(DISABLED).is_ok_and(|text| text.trim() == "0");
        let is_ci = std::env::var_os("CI").is_some();
        assert!(is_usable || !is_offered || !is_ci, "{DISABLED} is 0, and io_uring can't be used");
        is_usable
    })
}
