//! Performance events of the kernel (`perf_event_open`): the one operation on them that no library offers safely.

use std::os::fd::AsRawFd;

/// `PERF_EVENT_IOC_SET_OUTPUT` of `include/uapi/linux/perf_event.h`: `_IO('$', 5)`.
const SET_OUTPUT: libc::Ioctl = 0x2405;

/// Makes the kernel write the records of one event into the buffer of another one. Both must belong to the same CPU and use the same
/// clock, and the other one must have a buffer.
///
/// # Errors
/// The kernel's, if the two do not fit together, or one is not an event.
#[allow(unsafe_code)]
pub fn redirect(event: &impl AsRawFd, to: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: both are numbers to the kernel, which refuses any that is no open event: nothing here relies on their being open. The
    // operation takes a number, not a pointer, and reads and writes no memory of this process: records go to a buffer that the other
    // event's owner has mapped for them.
    let result = unsafe { libc::ioctl(event.as_raw_fd(), SET_OUTPUT, to.as_raw_fd()) };
    if result == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_no_event_can_not_be_redirected() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(super::redirect(&file, &file).is_err());
        // A plain number has no owner and may be anything.
        for number in [-1, i32::MAX] {
            assert!(super::redirect(&number, &number).is_err());
        }
    }
}
