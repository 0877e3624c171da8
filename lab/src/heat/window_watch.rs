//! Watches a window of open load while it lasts, and tells when it is already so disturbed that it won't count: the rest of it would
//! be lost time. What is too much is what `judge::turns::disturbance` says of whole windows, so the same windows count as without it.

use control::processes::cpu_sampler::CpuUsage;
use judge::turns::disturbance::{SteadyOthers, Window, disturbed_window};
use load::Generator;
use model::heat::Void;
use net::clock;
use std::time::Duration;

/// A window in progress.
#[derive(Debug)]
pub struct WindowWatch {
    /// The member whose turn it is, as an index into the samples.
    pub member: usize,
    /// What other programs used in the windows before it.
    pub steady: SteadyOthers,
    /// The length of its counted part.
    pub length: Duration,
    /// How long outstanding answers are waited for after that, at most.
    pub wait: Duration,
    /// What ran since the turn began.
    used: Option<CpuUsage>,
    clocks: EngineClocks,
}

/// The clocks of the load generator's threads.
#[derive(Debug)]
struct EngineClocks {
    /// The threads; empty if they may sleep, when it can't be told whether they are held up.
    threads: Vec<i32>,
    /// The last reading in the counted part: the moment, and the CPU time of all threads by then.
    last: Option<(u64, u64)>,
    /// How long they have not run in the counted part, from the first look at it to the last.
    held_up_ns: Option<u64>,
}

impl WindowWatch {
    /// Watches the next window of a member, of this shape.
    pub fn new(member: usize, slice: &load::SlicePlan, steady: SteadyOthers, generator: &Generator) -> Self {
        let never_sleep = generator.plans().iter().all(|plan| plan.spin == Duration::MAX);
        let threads = if never_sleep { generator.threads() } else { Vec::new() };
        let clocks = EngineClocks { threads, last: None, held_up_ns: None };
        Self { member, steady, length: slice.length, wait: slice.wait, used: None, clocks }
    }

    /// Takes a sample into account that was taken at `now_ns`; the counted part begins at `counted_from_ns`, if that is known. Returns what
    /// disturbed the window so much that it won't count.
    pub fn disturbed(&mut self, used: &CpuUsage, counted_from_ns: Option<u64>, now_ns: u64) -> Option<Void> {
        self.used = Some(self.used.as_ref().map_or_else(|| used.clone(), |before| before.and(used)));
        let from_ns = counted_from_ns.filter(|from_ns| *from_ns <= now_ns)?;
        self.clocks.read(now_ns);
        self.disturbed_after(now_ns.saturating_sub(from_ns))
    }

    /// What ran too much so far, `counted_ns` after the counted part began, for the whole window, even if nothing else runs in the rest.
    fn disturbed_after(&self, counted_ns: u64) -> Option<Void> {
        let used = self.used.as_ref()?;
        let whole_ns = self.length.as_nanos() as u64;
        let rest_ns = whole_ns.saturating_sub(counted_ns).saturating_add(self.wait.as_nanos() as u64);
        let (mut ran, (_, members_ns)) = (used.piece(), used.owner_and_others(self.member));
        ran.wall_ns = ran.wall_ns.saturating_add(rest_ns);
        let held_up_ns = self.clocks.held_up_ns;
        let window = Window { ran, members_ns, held_up_ns, counted_ns: whole_ns };
        disturbed_window(&window, self.steady)
    }
}

impl EngineClocks {
    /// Reads them at this moment of the counted part.
    fn read(&mut self, now_ns: u64) {
        let clocks = self.threads.iter().map(|thread| clock::own_thread_cpu_ns(*thread));
        let Some(ran_ns) = clocks.sum::<Option<u64>>().filter(|_| !self.threads.is_empty()) else { return };
        if let Some((then_ns, before_ns)) = self.last {
            let could_run_ns = now_ns.saturating_sub(then_ns).saturating_mul(self.threads.len() as u64);
            let lost_ns = could_run_ns.saturating_sub(ran_ns.saturating_sub(before_ns));
            self.held_up_ns = Some(self.held_up_ns.unwrap_or(0).saturating_add(lost_ns));
        }
        self.last = Some((now_ns, ran_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn watch(held_up_ms: Option<u64>) -> WindowWatch {
        let clocks =
            EngineClocks { threads: Vec::new(), last: None, held_up_ns: held_up_ms.map(|ms| ms * MS) };
        let (length, wait) = (Duration::from_secs(1), Duration::from_millis(50));
        WindowWatch { member: 0, steady: SteadyOthers::default(), length, wait, used: None, clocks }
    }

    fn used(wall_ms: u64, others_ms: u64, stolen_ms: u64, member_ms: u64) -> CpuUsage {
        CpuUsage {
            wall_ns: wall_ms * MS,
            members_ns: vec![Some(70 * MS), Some(member_ms * MS)],
            others_ns: Some(others_ms * MS),
            stolen_ns: Some(stolen_ms * MS),
            ..CpuUsage::default()
        }
    }

    /// What disturbs a window after these samples, the last one at this moment of the counted part.
    fn void(samples: &[CpuUsage], counted_ms: i64, mut watch: WindowWatch) -> Option<Void> {
        let from_ns = 1_000 * MS;
        let now_ns = from_ns.saturating_add_signed(counted_ms * MS as i64);
        samples.iter().fold(None, |_, used| watch.disturbed(used, Some(from_ns), now_ns))
    }

    #[test]
    fn a_window_is_lost_as_soon_as_it_would_not_count_even_if_the_rest_of_it_were_quiet() {
        // After 300 ms, 150 of them counted, the whole turn will take 300 + 850 + 50 ms: of others and the host, 6 ms are allowed.
        let quiet = || used(150, 0, 0, 0);
        assert_eq!(void(&[quiet(), used(150, 5, 5, 11)], 150, watch(Some(9))), None);
        assert_eq!(void(&[quiet(), used(150, 7, 0, 0)], 150, watch(None)), Some(Void::Others));
        let both = [used(150, 4, 0, 0), used(150, 3, 0, 0)];
        assert_eq!(void(&both, 150, watch(None)), Some(Void::Others), "both together");
        assert_eq!(void(&[used(150, 0, 10, 0), quiet()], 150, watch(None)), Some(Void::Host));
        assert_eq!(void(&[quiet(), used(150, 0, 0, 13)], 150, watch(None)), Some(Void::Members));
        assert_eq!(void(&[quiet(), quiet()], 150, watch(Some(11))), Some(Void::HeldUp));
        // Its own server may work as much as it likes, what is not known is not judged, and nothing is before the counted part.
        let unknown = CpuUsage { others_ns: None, stolen_ns: None, members_ns: vec![None; 2], ..quiet() };
        assert_eq!(void(&[unknown], 150, watch(None)), None);
        let busy = || used(150, 100, 100, 100);
        assert_eq!(void(&[busy()], -150, watch(Some(100))), None);
        assert_eq!(watch(Some(100)).disturbed(&busy(), None, MS), None);
    }

    #[test]
    fn the_clock_of_a_thread_that_sleeps_stands_still() {
        let mut clocks = EngineClocks { threads: vec![clock::own_thread()], last: None, held_up_ns: None };
        clocks.read(clock::now_ns());
        assert_eq!(clocks.held_up_ns, None, "nothing is known before the second reading");
        std::thread::sleep(Duration::from_millis(20));
        clocks.read(clock::now_ns());
        assert!(clocks.held_up_ns.unwrap() >= 15 * MS, "{clocks:?}");
        let mut none = EngineClocks { threads: Vec::new(), last: None, held_up_ns: None };
        none.read(MS);
        none.read(2 * MS);
        assert_eq!(none.held_up_ns, None);
    }
}
