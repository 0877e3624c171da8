//! What a server does for every request beside answering it.

use super::Spin;
use rustix::io::{read, write};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
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
    /// Busy for so long, and with so many messages; `None` for neither. Both exclude each other: messages come first.
    pub fn of(busy_ns: u64, messages: u32) -> std::io::Result<Option<Self>> {
        Ok(match messages {
            0 => Spin::calibrated(busy_ns).map(Self::Time),
            _ => Some(Self::Work(Work::new(messages)?)),
        })
    }

    /// Does it, once.
    #[inline]
    pub fn run(&mut self) {
        match self {
            Self::Time(spin) => spin.run(),
            Self::Work(work) => work.run(),
        }
    }
}

/// Messages that a thread sends to itself: three quarters of what a server does for a small answer is done in the kernel's sockets,
/// so that a machine that slows servers slows this alike. A loop of arithmetic would not be slowed by busy caches or by
/// the kernel's own ways, and one by the clock by nothing.
#[derive(Debug)]
pub struct Work {
    ends: [OwnedFd; 2],
    messages: u32,
    message: [u8; LENGTH],
}

/// As long as a small answer.
const LENGTH: usize = 128;

impl Work {
    fn new(messages: u32) -> std::io::Result<Self> {
        let (one, other) = socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
        Ok(Self { ends: [one, other], messages, message: [b'.'; LENGTH] })
    }

    fn run(&mut self) {
        for _ in 0..self.messages {
            // What was written is there to be read; were it not, nothing is waited for.
            if write(&self.ends[0], &self.message).is_ok() {
                let _ = read(&self.ends[1], &mut self.message);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that this thread has written to anything, by the kernel's count.
    fn written() -> usize {
        let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap().parse().unwrap()
    }

    #[test]
    fn so_many_messages_are_sent_and_none_is_left_behind() {
        let mut service = Service::of(0, 30).unwrap().unwrap();
        let before = written();
        // A pair of sockets has room for some hundred messages: what is not read would stop it.
        (0..1_000).for_each(|_| service.run());
        assert_eq!(written() - before, 30_000 * LENGTH);
        let Service::Work(Work { ends, .. }) = service else { panic!("no work") };
        rustix::io::ioctl_fionbio(&ends[1], true).unwrap();
        assert!(read(&ends[1], &mut [0; LENGTH]).is_err(), "a message was left");
    }

    #[test]
    fn nothing_asked_is_nothing_done() {
        assert!(Service::of(0, 0).unwrap().is_none());
        assert!(matches!(Service::of(1_000, 0).unwrap(), Some(Service::Time(_))));
        assert!(matches!(Service::of(1_000, 1).unwrap(), Some(Service::Work(_))));
    }
}
