//! The work that a server does for every request, and for every new connection, besides answering.

mod spin;

use rustix::io::{read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use spin::Spin;
use std::os::fd::OwnedFd;

/// How a server is kept busy for every request.
#[derive(Debug)]
pub enum Service {
    /// For a time by the clock, whatever the machine's speed.
    Time(Spin),
    /// With work, which takes longer where the machine is slower.
    Work(Work),
}

impl Service {
    /// A service that is busy for `busy_ns` per request, or that sends `messages`; `None` for neither. Messages take precedence.
    pub fn of(busy_ns: u64, messages: Messages) -> std::io::Result<Option<Self>> {
        Ok(if messages == Messages::default() {
            Spin::calibrated(busy_ns).map(Self::Time)
        } else {
            Some(Self::Work(Work::new(messages)?))
        })
    }

    /// Does the work for a request.
    #[inline]
    pub fn run(&mut self) {
        match self {
            Self::Time(spin) => spin.run(),
            Self::Work(work) => work.send(work.messages.request),
        }
    }

    /// Does the work for a new connection.
    #[inline]
    pub fn run_for_connection(&mut self) {
        match self {
            Self::Time(_) => {}
            Self::Work(work) => work.send(work.messages.connection),
        }
    }
}

/// The number of messages that a server sends to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Messages {
    /// For every request.
    pub request: u32,
    /// For every new connection, besides those of its requests.
    pub connection: u32,
}

/// Messages that a thread sends to itself: three quarters of what a server does for a small answer is done in the kernel's sockets,
/// so that a machine that slows servers slows this alike. A loop of arithmetic would not be slowed by busy caches or by the
/// kernel, and a loop by the clock would not be slowed at all.
#[derive(Debug)]
pub struct Work {
    ends: [OwnedFd; 2],
    messages: Messages,
    message: [u8; LENGTH],
}

/// The length of a message: that of a small answer.
const LENGTH: usize = 128;

impl Work {
    fn new(messages: Messages) -> std::io::Result<Self> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(Self { ends: [one, other], messages, message: [b'.'; LENGTH] })
    }

    fn send(&mut self, messages: u32) {
        for _ in 0..messages {
            // What was written can be read at once, so this never waits.
            if write(&self.ends[0], &self.message).is_ok() {
                let _ = read(&self.ends[1], &mut self.message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The number of bytes that this thread has written to anything, by the kernel's count.
    fn written() -> usize {
        let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn so_many_messages_are_sent_and_none_is_left_behind() {
        let mut service = Service::of(0, Messages { request: 20, connection: 10 }).unwrap().unwrap();
        let before = written();
        // A pair of sockets has room for some hundred messages: what is not read would stop it.
        (0..1_000).for_each(|_| service.run());
        (0..1_000).for_each(|_| service.run_for_connection());
        assert_eq!(written() - before, 30_000 * LENGTH);
        let Service::Work(Work { ends, .. }) = service else { panic!("no work") };
        rustix::io::ioctl_fionbio(&ends[1], true).unwrap();
        assert!(read(&ends[1], &mut [0; LENGTH]).is_err(), "a message was left");
    }

    #[test]
    fn nothing_asked_is_nothing_done() {
        let of = |ns, request| Service::of(ns, Messages { request, connection: 0 }).unwrap();
        assert!(of(0, 0).is_none());
        assert!(matches!(of(1_000, 0), Some(Service::Time(_))));
        assert!(matches!(of(1_000, 1), Some(Service::Work(_))));
    }
}
