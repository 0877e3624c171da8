//! What else used the machine while a server was measured: all other programs, and drome's own threads beside the load
//! generator's: the local page, a live view, the lab.

use crate::tree::{self, Tree};
use net::clock;
use std::collections::BTreeMap;

/// A look at all processes.
#[derive(Clone, Debug)]
pub struct OtherLoad {
    /// The time of the look.
    at_ns: u64,
    /// CPU time up to then of all processes that are neither drome nor the server's.
    others_ns: u64,
    /// CPU time up to then of each of drome's own threads, in nanoseconds, by number. Threads that exist before the load begins
    /// are not the load generator's, which makes its own for each measurement.
    own_threads: BTreeMap<i32, u64>,
}

impl OtherLoad {
    /// Looks, which takes some milliseconds: not while the window is open.
    pub fn now(tree: Tree) -> Self {
        let (at_ns, others_ns) = (clock::now_ns(), tree::others_cpu_ns(tree));
        Self { at_ns, others_ns, own_threads: tree::own_thread_clocks() }
    }

    /// The share of so many cores' time since then, in millionths; none where no time went by. Those beyond a container's walls are not
    /// seen. The machine's own count of busy time would see them, but it is taken at the kernel's ticks: requests that are due at
    /// the same rhythm are running at every one of them, and idle cores look busy.
    pub fn others_ppm_since(&self, before: &Self, cores: usize) -> Option<u64> {
        let passed = self.at_ns.checked_sub(before.at_ns)?.saturating_mul(cores as u64);
        let others = u128::from(self.others_ns.saturating_sub(before.others_ns) + self.own_ns_since(before));
        (others * 1_000_000).checked_div(u128::from(passed)).map(|ppm| ppm as u64)
    }

    /// What drome's threads used that existed before.
    fn own_ns_since(&self, before: &Self) -> u64 {
        let used = |(thread, then): (&i32, &u64)| self.own_threads.get(thread)?.checked_sub(*then);
        before.own_threads.iter().filter_map(used).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::mpsc::{TryRecvError, channel};
    use std::time::{Duration, Instant};

    #[test]
    fn the_share_is_of_all_cores_and_unknown_where_no_time_went_by() {
        let at = |at_ns, others_ns| OtherLoad { at_ns, others_ns, own_threads: BTreeMap::new() };
        let before = at(1_000, 50);
        assert_eq!(at(3_000, 1_050).others_ppm_since(&before, 2), Some(250_000));
        assert_eq!(
            at(3_000, 40).others_ppm_since(&before, 2),
            Some(0),
            "what ended unseen takes its time along"
        );
        assert_eq!(before.others_ppm_since(&before, 2), None);
        assert_eq!(at(900, 60).others_ppm_since(&before, 2), None, "time went back");
    }

    #[test]
    fn threads_of_drome_count_unless_they_came_with_the_load() {
        let at = |at_ns, own: &[(i32, u64)]| OtherLoad {
            at_ns,
            others_ns: 0,
            own_threads: own.iter().copied().collect(),
        };
        let before = at(1_000, &[(1, 100), (2, 50), (3, 70)]);
        // The page's thread used 500, the second none, the third ended; the load generator's came later.
        let after = at(3_000, &[(1, 600), (2, 50), (7, 2_000)]);
        assert_eq!(after.others_ppm_since(&before, 1), Some(250_000));
    }

    #[test]
    fn a_thread_that_makes_pages_is_seen() {
        let ((stop, is_stopped), (tell, told)) = (channel::<()>(), channel());
        let page = std::thread::spawn(move || {
            tell.send(rustix::thread::gettid().as_raw_nonzero().get()).unwrap();
            while is_stopped.try_recv() == Err(TryRecvError::Empty) {}
        });
        let nobody = Tree::From(std::process::id() as i32);
        let (page_thread, begun) = (told.recv().unwrap(), Instant::now());
        let mut before = OtherLoad::now(nobody);
        // Other tests have threads, too.
        before.own_threads.retain(|thread, _| *thread == page_thread);
        let mut used_ns = 0;
        while used_ns < 50_000_000 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
            used_ns = OtherLoad::now(nobody).own_ns_since(&before);
        }
        drop(stop);
        page.join().unwrap();
        assert!(used_ns >= 50_000_000, "{used_ns} ns");
    }

    #[test]
    fn a_program_that_spins_is_seen_and_a_server_that_spins_is_none() {
        let start = |what: &str| Command::new("sh").args(["-c", what]).spawn().unwrap();
        let (mut spinning, mut idle) = (start("while :; do :; done"), start("exec sleep 100"));
        let spent = || clock::process_cpu_ns(spinning.id() as i32).unwrap();
        let [server, other] = [&idle, &spinning].map(|child| Tree::From(child.id() as i32));
        let (before, begun, at_first) = (OtherLoad::now(server), Instant::now(), spent());
        while spent() - at_first < 100_000_000 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let after = OtherLoad::now(server);
        assert!(after.others_ns - before.others_ns >= 80_000_000, "{before:?} {after:?}: ticks are of 10 ms");
        assert!(after.others_ppm_since(&before, 1) > Some(0));
        let without = tree::others_cpu_ns(other);
        assert!(tree::others_cpu_ns(server) >= without + 80_000_000);
        for child in [&mut spinning, &mut idle] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
