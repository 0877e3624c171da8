//! Polling: for something that is soon to be true, or in another thread during work, as for a request to stop.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::{Duration, Instant};

/// The time between two polls.
const INTERVAL: Duration = Duration::from_millis(50);

/// The time between two polls where nothing else is done meanwhile.
const PAUSE: Duration = Duration::from_millis(5);

/// Does work, while another thread polls again and again until `poll` returns true.
pub fn poll_while<T>(mut poll: impl FnMut() -> bool + Send, work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let poller = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) && !poll() {
                std::thread::park_timeout(INTERVAL);
            }
        });
        let _ends = Ends { is_over: &is_over, poller: poller.thread() };
        work()
    })
}

/// Polls until `is_true` or the deadline; returns whether it is true.
pub fn poll_until(deadline: Instant, mut is_true: impl FnMut() -> bool) -> bool {
    loop {
        if is_true() {
            return true;
        }
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Ends the poller when the work is over, even if it panicked.
struct Ends<'a> {
    is_over: &'a AtomicBool,
    poller: &'a Thread,
}

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        self.poller.unpark();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_watched_until_it_is_done_or_something_is_seen() {
        let halted = AtomicBool::new(false);
        let (begun, mut polls) = (Instant::now(), 0);
        let poll = || {
            polls += 1;
            halted.store(polls == 3, Ordering::Relaxed);
            polls == 3
        };
        let work = || {
            while !halted.load(Ordering::Relaxed) {
                assert!(begun.elapsed() < Duration::from_mins(1), "nobody polled");
                std::thread::yield_now();
            }
            7
        };
        assert_eq!(poll_while(poll, work), 7);
        assert_eq!(polls, 3, "and not again");
        assert_eq!(poll_while(|| false, || 8), 8, "work that is done is not waited for");
    }

    #[test]
    fn work_that_panics_is_not_polled_for_any_more() {
        let (to, ended) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let result =
                std::panic::catch_unwind(|| poll_while(|| false, || panic!("the work panics in this test")));
            to.send(result.is_err())
        });
        assert_eq!(ended.recv_timeout(Duration::from_mins(1)), Ok(true), "nobody waits for ever");
    }
}
