//! What other programs used while a server was measured: all that neither it nor drome did.

use crate::tree::{self, Tree};
use net::clock;

/// A look at all processes.
#[derive(Clone, Copy, Debug)]
pub struct OtherLoad {
    /// The time of the look.
    at_ns: u64,
    /// CPU time up to then of all processes that are neither drome nor the server's.
    others_ns: u64,
}

impl OtherLoad {
    /// Looks, which takes some milliseconds: not while the window is open.
    pub fn now(tree: Tree) -> Self {
        Self { at_ns: clock::now_ns(), others_ns: tree::others_cpu_ns(tree) }
    }

    /// The share of so many cores' time since then, in millionths; none where no time went by. Those beyond a container's walls are not
    /// seen. The machine's own count of busy time would see them, but it is taken at the kernel's ticks: requests that are due at
    /// the same rhythm are running at every one of them, and idle cores look busy.
    pub fn others_ppm_since(&self, before: &Self, cores: usize) -> Option<u64> {
        let passed = self.at_ns.checked_sub(before.at_ns)?.saturating_mul(cores as u64);
        let others = u128::from(self.others_ns.saturating_sub(before.others_ns));
        (others * 1_000_000).checked_div(u128::from(passed)).map(|ppm| ppm as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn the_share_is_of_all_cores_and_unknown_where_no_time_went_by() {
        let at = |at_ns, others_ns| OtherLoad { at_ns, others_ns };
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
