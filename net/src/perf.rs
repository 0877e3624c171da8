//! Performance events of the kernel (`perf_event_open`): the one operation on them that no library offers safely.

use rustix::ioctl::{IntegerSetter, Opcode, ioctl, opcode};
use std::os::fd::{AsRawFd, BorrowedFd};

/// `PERF_EVENT_IOC_SET_OUTPUT` of `include/uapi/linux/perf_event.h`.
const SET_OUTPUT: Opcode = opcode::none(b'$', 5);

/// Makes the kernel write the records of one event into the buffer of another one. Both must belong to the same CPU and use the same
/// clock, and the other one must have a buffer.
///
/// # Errors
/// The kernel's, if the two do not fit together, or one is not an event.
#[allow(unsafe_code)]
pub fn redirect(event: &impl AsRawFd, to: &impl AsRawFd) -> std::io::Result<()> {
    // SAFETY: both descriptors are borrowed from their owners for the whole call. The operation takes a number, not a pointer, and reads
    // and writes no memory of this process: records go to a buffer that the other event's owner has mapped for them.
    unsafe {
        let target = IntegerSetter::<SET_OUTPUT>::new_usize(to.as_raw_fd() as usize);
        Ok(ioctl(BorrowedFd::borrow_raw(event.as_raw_fd()), target)?)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_no_event_can_not_be_redirected() {
        let file = std::fs::File::open("/dev/null").unwrap();
        assert!(super::redirect(&file, &file).is_err());
    }
}
