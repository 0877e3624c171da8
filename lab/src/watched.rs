//! Work that someone watches meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often a look is taken.
const LOOK: Duration = Duration::from_millis(50);

/// Does work, while another thread looks again and again until it has seen what it looks for.
pub fn watched<T>(mut look: impl FnMut() -> bool + Send, work: impl FnOnce() -> T) -> T {
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let looker = scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) && !look() {
                std::thread::park_timeout(LOOK);
            }
        });
        let done = work();
        is_over.store(true, Ordering::Relaxed);
        looker.thread().unpark();
        done
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn work_is_watched_until_it_is_done_or_something_is_seen() {
        let halted = AtomicBool::new(false);
        let (begun, mut looks) = (Instant::now(), 0);
        let look = || {
            looks += 1;
            halted.store(looks == 3, Ordering::Relaxed);
            looks == 3
        };
        let work = || {
            while !halted.load(Ordering::Relaxed) {
                assert!(begun.elapsed() < Duration::from_mins(1), "nobody looked");
                std::thread::yield_now();
            }
            7
        };
        assert_eq!(watched(look, work), 7);
        assert_eq!(looks, 3, "and not again");
        assert_eq!(watched(|| false, || 8), 8, "work that is done is not waited for");
    }
}
