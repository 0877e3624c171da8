//! What is stored of a cell that was measured: each member's part in its start, and all slices.

use crate::heat::bout::Bout;
use crate::heat::turns::counting;
use crate::heat::turns::cycled::Cycled;
use crate::heat::turns::pieces;
use crate::heat::turns::snapshot;
use crate::heat::turns::sum::Sum;
use crate::heat::warm::Course;
use crate::server::tree::ThreadClocks;
use crate::verdict::{self, Case, Policy};
use model::heat::{InCell, Slice};
use model::{Measurement, Usage};

/// If others used more of the cores than this in the turns of a start, it is not told what bounded it.
const MOST_BESIDE_PPM: u64 = 30_000;

impl Bout<'_, '_> {
    /// CPU time of every thread of each member.
    pub fn clocks(&self) -> Vec<ThreadClocks> {
        self.who.iter().map(|at| self.field.members[*at].thread_clocks()).collect()
    }

    /// Resident memory of each member, in bytes; `None`: it is gone, or its processes are not known. Called where the next look at what
    /// ran comes before the next turn: what this takes is in no turn then.
    pub fn memory(&mut self) -> Vec<Option<u64>> {
        let Self { field, who, .. } = self;
        let bytes = |at: &usize| Some(field.members[*at].look().rss_bytes).filter(|bytes| *bytes > 0);
        who.iter().map(bytes).collect()
    }

    /// Adds this cell to each member's start, and returns all slices.
    pub fn keep(mut self, cycled: Cycled, course: &Course) -> Vec<Slice> {
        let names: Vec<String> = (0..self.who.len()).map(|m| self.start(m).contender.clone()).collect();
        let counts = counting::counts(&names, self.shape.cycles, &cycled.turns);
        let share = cycled.share_counted(&counts);
        let after = self.clocks();
        for (member, after) in after.iter().enumerate() {
            if !self.is_alive(member) {
                continue;
            }
            let sum = cycled.sum(&counts, member);
            let (turns, disturbed) = pieces::share(member, &cycled.turns);
            let (elsewhere_ns, elsewhere_wall_ns) = snapshot::elsewhere(member, &cycled.used);
            let own_ns = (elsewhere_ns.unwrap_or(0) as f64 * share) as u64;
            let busiest = busiest(&cycled.clocks[member], after);
            let measurement =
                (!sum.is_empty()).then(|| Box::new(self.measurement(member, sum, own_ns, busiest)));
            let (warmup_ns, settled) = course.came_to(member);
            let in_cell = InCell {
                warmup_ns,
                settled,
                counts: counts.clone(),
                turns,
                disturbed,
                elsewhere_ns,
                elsewhere_wall_ns,
                memory: cycled.memory.kept(member),
                background: cycled.background(member),
                measurement,
            };
            self.field.members[self.who[member]].start.cells.insert(self.cell, in_cell);
        }
        self.field.charge_all();
        cycled.slices
    }

    fn measurement(
        &mut self,
        member: usize,
        sum: &Sum,
        elsewhere_ns: u64,
        busiest: Option<f64>,
    ) -> Measurement {
        let at = self.who[member];
        let seen = self.field.members[at].look();
        let usage = sum.usage(elsewhere_ns, &seen, busiest, &self.field.lab.cores);
        let usage = usage.map(|usage| self.field.members[at].on_its_cores(usage));
        // What others did is judged slice by slice.
        let policy = Policy::trial(true);
        // Where others ran beside it, its processes do not tell whether it was at its limit.
        let is_alone = |usage: &&Usage| usage.others_ppm.is_none_or(|ppm| ppm <= MOST_BESIDE_PPM);
        let case = Case {
            usage: usage.as_ref().filter(is_alone),
            network: self.field.run.environment.network(),
            segments: sum.segments(),
            ..Case::new(policy, &self.generator.plans()[member], &sum.tally)
        };
        let mut verdict = verdict::judge(&case);
        verdict.reasons.extend(self.field.members[at].caveat().map(str::to_owned));
        Measurement { tally: sum.tally.clone(), usage, verdict }
    }
}

/// The share of the busiest thread in the CPU time of all, between two looks; `None` where it is not known for any.
fn busiest(before: &ThreadClocks, after: &ThreadClocks) -> Option<f64> {
    let used =
        |(thread, now): (&(i32, i32), &u64)| now.saturating_sub(before.get(thread).copied().unwrap_or(0));
    let all: u64 = after.iter().map(used).sum();
    let busiest = after.iter().map(used).max()?;
    (all > 0).then(|| busiest as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_thread_is_known_by_its_share() {
        let clocks = |a, b| ThreadClocks::from([((1, 1), a), ((1, 2), b)]);
        assert_eq!(busiest(&clocks(10, 10), &clocks(40, 20)), Some(0.75));
        assert_eq!(
            (busiest(&clocks(1, 1), &clocks(1, 1)), busiest(&clocks(1, 1), &ThreadClocks::new())),
            (None, None)
        );
    }
}
