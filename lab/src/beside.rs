//! What other programs used while a server was measured: all that neither it nor drome did.

use crate::tree::{self, Tree};
use net::clock;
use procfs::CurrentSI;

/// CPU time up to now, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Beside {
    /// Of all cores, idle or not.
    all: u64,
    /// In programs, of the whole machine; interrupts are not in it.
    programs: u64,
    /// Of drome and of the server; with most kernels, the interrupts that came meanwhile are in it.
    measured: u64,
    /// Of all other processes that can be seen.
    seen: u64,
}

impl Beside {
    /// Looks at all processes of the machine, which takes some milliseconds: not while the window is open.
    pub fn now(tree: Tree) -> Option<Self> {
        let cpu = procfs::KernelStats::current().ok()?.total;
        let tick_ns = 1_000_000_000 / procfs::ticks_per_second();
        let programs = cpu.user + cpu.nice + cpu.system;
        let rest =
            [cpu.iowait, cpu.irq, cpu.softirq, cpu.steal].into_iter().flatten().sum::<u64>() + cpu.idle;
        let own = clock::process_cpu_ns(i32::try_from(std::process::id()).ok()?)?;
        Some(Self {
            all: (programs + rest) * tick_ns,
            programs: programs * tick_ns,
            measured: own + tree::snapshot(tree).cpu_ns,
            seen: tree::others_cpu_ns(tree),
        })
    }

    /// The share of the machine's time since then, in millionths; none where no time went by. It is counted in two ways, each
    /// of which may miss some, and the larger holds: by processes misses those beyond a container's walls, and by the
    /// machine misses as much as there were interrupts.
    pub fn others_ppm_since(&self, before: &Self) -> Option<u64> {
        let all = self.all.checked_sub(before.all).filter(|all| *all > 0)?;
        let since = |of: fn(&Self) -> u64| of(self).saturating_sub(of(before));
        let unseen = since(|b| b.programs).saturating_sub(since(|b| b.measured));
        let others = since(|b| b.seen).max(unseen);
        Some((u128::from(others) * 1_000_000 / u128::from(all)) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::time::{Duration, Instant};

    #[test]
    fn the_larger_of_both_ways_holds() {
        let before = Beside { all: 1_000, programs: 500, measured: 300, seen: 50 };
        let after = |programs: u64, measured: u64, seen: u64| Beside {
            all: 5_000,
            programs: 500 + programs,
            measured: 300 + measured,
            seen: 50 + seen,
        };
        let ppm = |programs, measured, seen| after(programs, measured, seen).others_ppm_since(&before);
        assert_eq!(ppm(2_000, 1_200, 0), Some(200_000), "beyond a container's walls");
        assert_eq!(ppm(2_000, 2_400, 400), Some(100_000), "interrupts are taken for ours");
        assert_eq!(ppm(2_000, 2_400, 0), Some(0));
        assert_eq!(before.others_ppm_since(&before), None, "no time went by");
        assert_eq!(before.others_ppm_since(&after(1, 1, 1)), None, "time went back");
    }

    #[test]
    fn a_program_that_spins_is_seen_and_a_server_that_spins_is_none() {
        let start = |what: &str| Command::new("sh").args(["-c", what]).spawn().unwrap();
        let (mut spinning, mut idle) = (start("while :; do :; done"), start("exec sleep 100"));
        let spent = || clock::process_cpu_ns(spinning.id() as i32).unwrap();
        let [server, other] = [&idle, &spinning].map(|child| Tree::From(child.id() as i32));
        let (before, begun, at_first) = (Beside::now(server).unwrap(), Instant::now(), spent());
        while spent() - at_first < 100_000_000 && begun.elapsed() < Duration::from_secs(30) {
            std::thread::sleep(Duration::from_millis(10));
        }
        let after = Beside::now(server).unwrap();
        assert!(after.seen - before.seen >= 80_000_000, "{before:?} {after:?}: ticks are of 10 ms");
        assert!(after.others_ppm_since(&before) > Some(0));
        let without = tree::others_cpu_ns(other);
        assert!(tree::others_cpu_ns(server) >= without + 80_000_000);
        for child in [&mut spinning, &mut idle] {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }
}
