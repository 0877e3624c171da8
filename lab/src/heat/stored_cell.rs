//! What is stored of a cell that was measured: each member's part in its start, and all slices.

use crate::heat::active_cell::ActiveCell;
use crate::heat::turns::cycles::Cycles;
use crate::heat::turns::sum::Sum;
use crate::heat::warm_up::WarmUp;
use control::processes::cpu_sampler;
use control::processes::tree::{self, Snapshot, ThreadClocks};
use control::server::any_server::AnyServer;
use judge::turns::counting;
use judge::turns::disturbance;
use judge::verdict::{self, Case, Policy};
use model::heat::{Counts, InCell, Slice};
use model::{Measurement, Usage};

impl ActiveCell<'_, '_> {
    /// CPU time of every thread of each member.
    pub fn clocks(&self) -> Vec<ThreadClocks> {
        let servers = self.who.iter().map(|at| self.servers.members[*at].server());
        servers.map(|server| server.map(AnyServer::thread_clocks).unwrap_or_default()).collect()
    }

    /// What the processes of each member hold; nothing of one that is gone, or whose processes are not known. Call it where a CPU sample is
    /// taken before the next turn, so that the time that it takes itself is in no turn.
    pub fn snapshots(&mut self) -> Vec<Snapshot> {
        let Self { servers, who, .. } = self;
        who.iter().map(|at| servers.members[*at].snapshot()).collect()
    }

    /// Which turns of these cycles count.
    pub fn counts(&self, cycles: &Cycles) -> Counts {
        let names: Vec<String> = (0..self.who.len()).map(|m| self.start(m).contender.clone()).collect();
        counting::counts(&names, self.shape.cycles, &cycles.turns)
    }

    /// Adds this cell to each member's start, and returns all slices.
    pub fn keep(mut self, cycles: Cycles, warm_up: &WarmUp) -> Vec<Slice> {
        let counts = self.counts(&cycles);
        let share = cycles.share_counted(&counts);
        let (after, seen) = (self.clocks(), self.snapshots());
        for (member, after) in after.iter().enumerate() {
            if !self.is_alive(member) {
                continue;
            }
            let sum = cycles.sum(&counts, member);
            let (turns, disturbed) = disturbance::share(member, &cycles.turns);
            let (elsewhere_ns, elsewhere_wall_ns) = cpu_sampler::elsewhere(member, &cycles.used);
            let own_ns = (elsewhere_ns.unwrap_or(0) as f64 * share) as u64;
            let used_ns = cpu_sampler::in_all_turns(member, &cycles.used).unwrap_or(0);
            let busiest = busiest(&cycles.clocks[member], after, used_ns);
            let threads = cycles.memory.most_threads(member).max(seen[member].threads);
            let seen = Snapshot { threads, ..seen[member].clone() };
            let measured = || Box::new(self.measurement(member, sum, own_ns, &seen, busiest));
            let measurement = (!sum.is_empty()).then(measured);
            let (warmup_ns, settled) = warm_up.came_to(member);
            let in_cell = InCell {
                warmup_ns,
                settled,
                counts: counts.clone(),
                turns,
                disturbed,
                elsewhere_ns,
                elsewhere_wall_ns,
                memory: cycles.memory.stored(member),
                background: cycles.background(member),
                measurement,
            };
            self.servers.members[self.who[member]].start.cells.insert(self.cell, in_cell);
        }
        self.servers.charge_all();
        cycles.slices
    }

    fn measurement(
        &self,
        member: usize,
        sum: &Sum,
        elsewhere_ns: u64,
        seen: &Snapshot,
        busiest: Option<f64>,
    ) -> Measurement {
        let (server, lab) = (self.servers.members[self.who[member]].server(), self.servers.lab);
        let on_its_cores = |usage: Usage| match server {
            Some(server) => server.on_its_cores(usage),
            None => usage,
        };
        let usage = sum.usage(elsewhere_ns, seen, busiest, &lab.cores).map(on_its_cores);
        // What others did is judged slice by slice.
        let policy = Policy::compared(true);
        // Where others ran beside it, its processes do not tell whether it was at its limit.
        let is_alone =
            |usage: &&Usage| usage.others_ppm.is_none_or(|ppm| ppm as f64 <= disturbance::SHARE * 1e6);
        let case = Case {
            usage: usage.as_ref().filter(is_alone),
            network: self.servers.run.environment.network(),
            segments: sum.segments(),
            ..Case::new(policy, &self.generator.plans()[member], &sum.tally)
        };
        let mut verdict = verdict::judge(&case);
        verdict.reasons.extend(server.and_then(AnyServer::caveat).map(str::to_owned));
        Measurement { tally: sum.tally.clone(), usage, verdict }
    }
}

/// The share of the busiest thread in the CPU time of all, between two readings of the clocks; `None` where it is not known for any, or where
/// threads that have ended may have used more. `used_ns`: the CPU time of all threads in between, also of those that have ended; 0: unknown.
fn busiest(before: &ThreadClocks, after: &ThreadClocks, used_ns: u64) -> Option<f64> {
    let all_ns = used_ns.max(tree::all_living_ns(before, after));
    let busiest_ns = tree::busiest_thread_ns(before, after, all_ns)?;
    (all_ns > 0).then(|| busiest_ns as f64 / all_ns as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clocks(a: u64, b: u64) -> ThreadClocks {
        ThreadClocks::from([((1, 1), a), ((1, 2), b)])
    }

    #[test]
    fn the_busiest_thread_is_known_by_its_share() {
        assert_eq!(busiest(&clocks(10, 10), &clocks(40, 20), 40), Some(0.75));
        assert_eq!(
            busiest(&clocks(10, 10), &clocks(40, 20), 0),
            Some(0.75),
            "where only the clocks are known"
        );
        let none = ThreadClocks::new();
        assert_eq!(
            (busiest(&clocks(1, 1), &clocks(1, 1), 0), busiest(&clocks(1, 1), &none, 0)),
            (None, None)
        );
    }

    #[test]
    fn threads_that_have_ended_may_have_been_the_busiest() {
        // Of 60, the two that live used 40, one of them 30; one that ended can have used 20.
        assert_eq!(busiest(&clocks(10, 10), &clocks(40, 20), 60), Some(0.5));
        assert_eq!(busiest(&clocks(10, 10), &clocks(40, 20), 71), None);
    }
}
