//! A pause of the listener after a failed accept, usually for want of descriptors. Open connections are answered meanwhile, and
//! new ones wait in the kernel's queue.

use net::Io;
use std::os::fd::OwnedFd;
use std::time::Duration;

/// The length of the pause.
const PAUSE_NS: u64 = 10_000_000;

/// The listener of one thread, and whether it pauses.
pub struct AcceptPause {
    /// Taken at the start, because there may be no descriptor for it later. `None`: it never listens again.
    listener: Option<OwnedFd>,
    until_ns: Option<u64>,
}

impl AcceptPause {
    /// No pause yet, for a listener on which the back end already listens.
    pub fn new(listener: OwnedFd) -> Self {
        Self { listener: Some(listener), until_ns: None }
    }

    /// Stops listening for a while, after an accept has failed.
    pub fn begin(&mut self, io: &mut impl Io) {
        io.stop_listening();
        self.until_ns = Some(io.now_ns() + PAUSE_NS);
    }

    /// Listens again when the pause is over. Returns how long the thread may wait, at most `longest`.
    #[inline]
    pub fn go_on(&mut self, io: &mut impl Io, longest: Duration) -> Duration {
        match self.until_ns {
            None => longest,
            Some(until_ns) => self.go_on_after(io, longest, until_ns),
        }
    }

    /// Closes the listener for good and releases the port: while any process holds it, the kernel establishes connections to it.
    pub fn end(&mut self) {
        (self.listener, self.until_ns) = (None, None);
    }

    #[cold]
    fn go_on_after(&mut self, io: &mut impl Io, longest: Duration, mut until_ns: u64) -> Duration {
        let Some(listener) = &self.listener else { return longest };
        let now_ns = io.now_ns();
        if now_ns >= until_ns {
            let is_on = listener.try_clone().and_then(|listener| io.listen(listener)).is_ok();
            if is_on {
                self.until_ns = None;
                return longest;
            }
            until_ns = now_ns + PAUSE_NS;
            self.until_ns = Some(until_ns);
        }
        Duration::from_nanos(until_ns - now_ns).min(longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use net::{Completion, Endpoint, Slot};
    use std::sync::Arc;

    /// A back end that only listens, with a clock that is set by hand.
    #[derive(Default)]
    struct Listening {
        now_ns: u64,
        is_on: bool,
        is_refused: bool,
    }

    impl Io for Listening {
        fn connect(&mut self, _: Slot, _: &Endpoint) {}
        fn listen(&mut self, _: OwnedFd) -> std::io::Result<()> {
            self.is_on = !self.is_refused;
            if self.is_refused { Err(std::io::Error::other("no")) } else { Ok(()) }
        }
        fn stop_listening(&mut self) {
            self.is_on = false;
        }
        fn send(&mut self, _: Slot, _: &[u8]) -> bool {
            true
        }
        fn send_file(&mut self, _: Slot, _: &Arc<OwnedFd>, _: u64, _: u64) -> bool {
            true
        }
        fn skip(&mut self, _: Slot, _: u64) {}
        fn close(&mut self, _: Slot) {}
        fn reset(&mut self, _: Slot) {}
        fn now_ns(&self) -> u64 {
            self.now_ns
        }
        fn wait(&mut self, _: Option<Duration>) -> std::io::Result<bool> {
            Ok(false)
        }
        fn next(&mut self) -> Option<Completion> {
            None
        }
        fn bytes(&self) -> &[u8] {
            &[]
        }
    }

    #[test]
    fn the_listener_rests_and_the_thread_does_not() {
        let (second, ms) = (Duration::from_secs(1), Duration::from_millis);
        let socket = net::socket::listener(&([127, 0, 0, 1], 0).into()).unwrap();
        let (mut io, mut pause) =
            (Listening { is_on: true, ..Listening::default() }, AcceptPause::new(socket));
        assert_eq!((pause.go_on(&mut io, second), io.is_on), (second, true));
        pause.begin(&mut io);
        assert_eq!((pause.go_on(&mut io, second), io.is_on), (ms(10), false));
        io.now_ns = 4_000_000;
        assert_eq!((pause.go_on(&mut io, second), io.is_on), (ms(6), false));
        assert_eq!(pause.go_on(&mut io, ms(2)), ms(2), "it waits no longer than it was to");
        (io.now_ns, io.is_refused) = (10_000_000, true);
        assert_eq!((pause.go_on(&mut io, second), io.is_on), (ms(10), false), "there is still no descriptor");
        (io.now_ns, io.is_refused) = (20_000_000, false);
        assert_eq!((pause.go_on(&mut io, second), io.is_on), (second, true));
        pause.begin(&mut io);
        pause.end();
        io.now_ns = 40_000_000;
        assert_eq!(
            (pause.go_on(&mut io, second), io.is_on),
            (second, false),
            "a server that ends does not go on"
        );
    }
}
