//! Waiting on kernels without fine timeouts.

use rustix::event::epoll;
use rustix::io::Errno;
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::Duration;

/// Waits for whole milliseconds, rounded down: the caller polls through the last one, because a wait that ends late would send
/// late.
#[allow(unsafe_code)]
pub(super) fn wait_coarsely(
    poll: &OwnedFd,
    ready: &mut Vec<epoll::Event>,
    longest: Option<Duration>,
) -> Result<usize, Errno> {
    const { assert!(size_of::<epoll::Event>() == size_of::<libc::epoll_event>()) };
    let ms = longest.map_or(-1, |longest| i32::try_from(longest.as_millis()).unwrap_or(i32::MAX));
    let room = i32::try_from(ready.capacity()).unwrap_or(i32::MAX);
    let events = ready.as_mut_ptr().cast();
    // SAFETY: the vector has room for this number of events, which both libraries declare as the kernel does.
    let n = unsafe { libc::epoll_wait(poll.as_raw_fd(), events, room, ms) };
    let Ok(n) = usize::try_from(n) else {
        return Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO));
    };
    // SAFETY: the kernel has written this number of events.
    unsafe { ready.set_len(n) };
    Ok(n)
}

#[cfg(test)]
mod tests {
    use crate::epoll::Epoll;
    use crate::{Completion, Event, Io};
    use std::time::Duration;

    #[test]
    fn a_kernel_without_fine_timeouts_is_waited_for_in_whole_milliseconds() {
        let mut epoll = Epoll::new().unwrap();
        epoll.has_fine_timeouts = false;
        let begun = std::time::Instant::now();
        assert!(!epoll.wait(Some(Duration::from_micros(20_900))).unwrap());
        assert!(begun.elapsed() >= Duration::from_millis(20));
        let begun = std::time::Instant::now();
        assert!(!epoll.wait(Some(Duration::from_nanos(999_999))).unwrap());
        assert!(begun.elapsed() < Duration::from_secs(1), "it does not wait for ever");
    }

    #[test]
    fn what_a_coarse_wait_reports_is_the_same() {
        let mut epoll = Epoll::new().unwrap();
        epoll.has_fine_timeouts = false;
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let to = listener.local_addr().unwrap();
        epoll.listen(listener.into()).unwrap();
        let _client = std::net::TcpStream::connect(to).unwrap();
        assert!(epoll.wait(Some(Duration::from_secs(5))).unwrap());
        assert!(matches!(epoll.next(), Some(Completion { event: Event::Accepted, .. })));
    }
}
