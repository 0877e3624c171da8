//! The cycles of a cell, turn by turn, and their sums. Pure.

use crate::heat::turns::memory::Memory;
use crate::heat::turns::sum::Sum;
use control::processes::cpu_sampler::CpuUsage;
use control::processes::tree::ThreadClocks;
use judge::turns::counting;
use judge::turns::disturbance::{self, Piece, SteadyOthers, Turn, Window};
use model::SliceTally;
use model::background::Background;
use model::heat::{Counts, Slice, Start, Void};

/// A member's turn.
#[derive(Clone, Debug)]
pub struct TurnResult {
    /// What ran in the turn.
    pub used: CpuUsage,
    /// What disturbed the turn.
    pub void: Option<Void>,
    /// The middle of the turn, in seconds of the monotonic clock.
    pub at_s: f64,
    /// How long its server was loaded, in seconds.
    pub loaded_s: f64,
    /// The natural logarithm of the rate; `None` without an answer.
    pub log_rate: Option<f64>,
}

/// Some cycles of a cell. A member is given by its place among those of the cell.
#[derive(Clone, Debug)]
pub struct Cycles {
    /// The turns, cycle by cycle.
    pub turns: Vec<Vec<Turn>>,
    /// The slices as they are stored.
    pub slices: Vec<Slice>,
    /// The member of every turn, and what ran in it.
    pub used: Vec<(usize, CpuUsage)>,
    /// The member and the result of every turn.
    pub results: Vec<(usize, TurnResult)>,
    /// CPU time of each member's threads before the first cycle.
    pub clocks: Vec<ThreadClocks>,
    /// The memory of each member over its answers.
    pub memory: Memory,
    /// The sum of each member's undisturbed turns in quiet cycles.
    quiet: Vec<Sum>,
    /// The sum of all of each member's turns; of the first ones of each cycle, if repeated ones end early.
    all: Vec<Sum>,
    /// Whether repeated turns end as soon as they are disturbed. Undisturbed time is then overrepresented in those that do not.
    repeats_end_early: bool,
    /// The quiet turn of each member in the current cycle.
    last_quiet: Vec<Sum>,
    /// The number of turns in the current cycle, those of members that failed since included.
    begun: usize,
}

impl TurnResult {
    /// Makes a member's turn of the samples within it, the last one at its end. `window`: it was one of open load, in which requests are
    /// late when the load generator is held up, or another server of the heat works; with what other programs used in the windows before.
    pub fn of(
        member: usize,
        samples: &[CpuUsage],
        one_slice: &SliceTally,
        window: Option<SteadyOthers>,
    ) -> Self {
        let used = samples
            .iter()
            .skip(1)
            .fold(samples.first().cloned().unwrap_or_default(), |sum, sample| sum.and(sample));
        let void = if let Some(steady) = window {
            let (_, members_ns) = used.owner_and_others(member);
            let (held_up_ns, counted_ns) = (one_slice.held_up_ns, one_slice.tally.duration_ns);
            let window = Window { ran: used.piece(), members_ns, held_up_ns, counted_ns };
            disturbance::disturbed_window(&window, steady)
        } else {
            disturbance::disturbed(&whole_pieces(samples))
        };
        let began_ns = one_slice.began_ns.unwrap_or(one_slice.ended_ns);
        let per_s = one_slice.tally.rate_per_s().filter(|per_s| *per_s > 0.0);
        Self {
            used,
            void,
            at_s: (began_ns / 2 + one_slice.ended_ns / 2) as f64 / 1e9,
            loaded_s: one_slice.ended_ns.saturating_sub(began_ns) as f64 / 1e9,
            log_rate: per_s.map(f64::ln),
        }
    }
}

/// The pieces of a turn. The last sample may come soon after the one before; the time between these two is then added to the piece before.
fn whole_pieces(samples: &[CpuUsage]) -> Vec<Piece> {
    match samples {
        [before @ .., last_but_one, last] if last.wall_ns < last_but_one.wall_ns / 2 => {
            before.iter().map(CpuUsage::piece).chain([last_but_one.and(last).piece()]).collect()
        }
        all => all.iter().map(CpuUsage::piece).collect(),
    }
}

impl Cycles {
    /// The state before the first cycle; `clocks` has one entry for each member.
    pub fn new(clocks: Vec<ThreadClocks>, repeats_end_early: bool) -> Self {
        let sums = vec![Sum::default(); clocks.len()];
        Self {
            turns: Vec::new(),
            slices: Vec::new(),
            used: Vec::new(),
            results: Vec::new(),
            memory: Memory::of(clocks.len()),
            clocks,
            quiet: sums.clone(),
            all: sums.clone(),
            repeats_end_early,
            last_quiet: sums,
            begun: 0,
        }
    }

    /// Begins a cycle and returns its number.
    pub fn begin_cycle(&mut self) -> usize {
        self.turns.push(Vec::new());
        self.begun = 0;
        self.turns.len() - 1
    }

    /// The cycle and the place in it of the next turn: no two turns have both in common, even if a member fails in between.
    pub fn next(&self) -> (usize, usize) {
        (self.turns.len().saturating_sub(1), self.begun)
    }

    /// Adds a turn to the last cycle; `sum` is what was counted and used in it.
    pub fn add(&mut self, member: usize, slice: Slice, result: TurnResult, sum: &Sum) {
        let is_first = self.turns.last().is_none_or(|turns| turns.iter().all(|turn| turn.member != member));
        if let Some(turns) = self.turns.last_mut() {
            turns.push(Turn { member, wall_ns: result.used.wall_ns, void: result.void });
        }
        self.begun += 1;
        let has = |counts| counting::has(&counts, result.void, is_first, self.repeats_end_early);
        if has(Counts::NeverQuiet) {
            self.all[member].append(sum);
        }
        if has(Counts::Quiet) {
            self.last_quiet[member].clone_from(sum);
        }
        self.slices.push(slice);
        self.used.push((member, result.used.clone()));
        self.results.push((member, result));
    }

    /// Ends the last cycle.
    pub fn end_cycle(&mut self) {
        let Some(turns) = self.turns.last().filter(|turns| disturbance::is_quiet(turns)) else { return };
        for Turn { member, .. } in disturbance::firsts(turns) {
            self.quiet[*member].append(&self.last_quiet[*member]);
        }
    }

    /// The other programs that used the most CPU time in the disturbed turns of a member.
    pub fn background(&self, member: usize) -> Vec<Background> {
        let disturbed = |result: &&TurnResult| result.void == Some(Void::Others);
        let own = self.results.iter().filter(|of| of.0 == member).map(|of| &of.1);
        Background::most(own.filter(disturbed).flat_map(|result| &result.used.programs))
    }

    /// Whether each turn counts, in the order of turns.
    pub fn counted(&self, counts: &Counts) -> Vec<bool> {
        counting::counted(counts, &self.turns, self.repeats_end_early).concat()
    }

    /// The share of the turns that count, by their length.
    pub fn share_counted(&self, counts: &Counts) -> f64 {
        let lengths = || self.turns.iter().flatten().map(|turn| turn.wall_ns);
        let counted = lengths().zip(self.counted(counts)).filter(|(_, counts)| *counts);
        counted.map(|(wall_ns, _)| wall_ns).sum::<u64>() as f64 / lengths().sum::<u64>().max(1) as f64
    }

    /// Removes a member that failed, as if it had never been there, and returns whether the sums of the others still hold. They do not
    /// if a cycle is quiet without it that ended disturbed: the turns of that cycle are missing in them.
    #[must_use]
    pub fn forget(&mut self, member: usize, start: &Start) -> bool {
        let (quiet, ended) = (disturbance::quiet(self.ended()), self.ended().len());
        self.turns.iter_mut().for_each(|cycle| cycle.retain(|turn| turn.member != member));
        self.slices.retain(|slice| (&slice.contender, slice.copy) != (&start.contender, start.copy));
        self.results.retain(|of| of.0 != member);
        disturbance::quiet(&self.turns[..ended]) == quiet
    }

    /// The cycles before the current one.
    fn ended(&self) -> &[Vec<Turn>] {
        self.turns.split_last().map_or(&[], |(_, ended)| ended)
    }

    /// The sum of all turns of a member that count.
    pub fn sum(&self, counts: &Counts, member: usize) -> &Sum {
        match counts {
            Counts::Quiet => &self.quiet[member],
            Counts::NeverQuiet | Counts::SharesDiffer(_) => &self.all[member],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use judge::example::in_heats::slice;
    use model::Tally;

    const MS: u64 = 1_000_000;

    fn sample(wall_ms: u64, others_ms: u64) -> CpuUsage {
        CpuUsage {
            wall_ns: wall_ms * MS,
            members_ns: vec![Some(wall_ms * MS)],
            others_ns: Some(others_ms * MS),
            others_on_server_ns: Some(0),
            stolen_ns: Some(0),
            idle_ns: None,
            segments: None,
            programs: [("cc1".to_owned(), others_ms * MS)].into(),
        }
    }

    fn one_slice(late_ms: u64) -> SliceTally {
        let tally = Tally { duration_ns: 100 * MS, completed: 50, ..Tally::default() };
        let held_up_ns = Some(late_ms * MS);
        SliceTally {
            tally,
            began_ns: Some(1_000 * MS),
            ended_ns: 1_120 * MS,
            held_up_ns,
            ..SliceTally::default()
        }
    }

    #[test]
    fn a_turn_is_judged_piece_by_piece_and_its_end_is_no_piece() {
        let void = |samples: &[CpuUsage]| TurnResult::of(0, samples, &one_slice(0), None).void;
        assert_eq!(void(&[sample(120, 3)]), None);
        assert_eq!(void(&[sample(150, 0), sample(150, 6), sample(150, 0)]), Some(Void::Others));
        // Half a millisecond of 10 ms is nothing of 160 ms.
        assert_eq!(void(&[sample(150, 0), sample(10, 1)]), None);
        assert_eq!(void(&[sample(150, 4), sample(10, 1)]), Some(Void::Others));
        assert_eq!(void(&[]), None);
    }

    /// Adds a turn of one answer by this member.
    fn add(cycles: &mut Cycles, member: usize, void: Option<Void>) {
        let (cycle, place) = cycles.next();
        let result = TurnResult { void, ..TurnResult::of(0, &[sample(120, 0)], &one_slice(0), None) };
        let own = Slice { cycle, place, contender: member.to_string(), ..slice() };
        let mut sum = Sum::default();
        let turn = SliceTally { tally: Tally { completed: 1, ..Tally::default() }, ..one_slice(0) };
        sum.set(&turn, &result.used, 0, 1);
        cycles.add(member, own, result, &sum);
    }

    fn start_of(member: usize) -> Start {
        judge::example::in_heats::start(0, 0, &member.to_string(), &[])
    }

    #[test]
    fn a_place_is_never_given_twice_even_if_a_member_fails_between() {
        let mut cycles = Cycles::new(vec![ThreadClocks::default(); 3], false);
        cycles.begin_cycle();
        for (member, void) in [(0, None), (1, Some(Void::Host)), (2, Some(Void::Host)), (1, Some(Void::Host))]
        {
            add(&mut cycles, member, void);
        }
        assert!(cycles.forget(2, &start_of(2)), "no cycle has ended");
        add(&mut cycles, 1, None);
        let places: Vec<usize> = cycles.slices.iter().map(|slice| slice.place).collect();
        assert_eq!(places, [0, 1, 3, 4]);
        cycles.begin_cycle();
        assert_eq!(cycles.next(), (1, 0));
    }

    #[test]
    fn sums_do_not_hold_without_a_member_that_alone_spoiled_a_cycle() {
        let ended = |spoiled: Option<Void>| {
            let mut cycles = Cycles::new(vec![ThreadClocks::default(); 2], false);
            for void in [spoiled, None] {
                cycles.begin_cycle();
                add(&mut cycles, 0, None);
                add(&mut cycles, 1, void);
                cycles.end_cycle();
            }
            cycles.begin_cycle();
            let holds = cycles.forget(1, &start_of(1));
            (holds, cycles.sum(&Counts::Quiet, 0).tally.completed, disturbance::quiet(&cycles.turns))
        };
        // The cycle that has just begun is quiet as long as it has no turn.
        assert_eq!(ended(None), (true, 2, 3));
        assert_eq!(ended(Some(Void::Others)), (false, 1, 3));
    }

    #[test]
    fn where_repeated_turns_end_early_only_first_ones_count_if_no_cycle_is_quiet() {
        let of = |repeats_end_early| {
            let mut cycles = Cycles::new(vec![ThreadClocks::default(); 2], repeats_end_early);
            cycles.begin_cycle();
            for (member, void) in [(0, Some(Void::Host)), (1, None), (0, Some(Void::Host)), (0, None)] {
                add(&mut cycles, member, void);
            }
            cycles.end_cycle();
            let all = |member| cycles.sum(&Counts::NeverQuiet, member).tally.completed;
            assert_eq!(cycles.sum(&Counts::Quiet, 0).tally.completed, 1);
            assert!((cycles.share_counted(&Counts::Quiet) - 0.5).abs() < 1e-12);
            (all(0), all(1), cycles.share_counted(&Counts::NeverQuiet))
        };
        assert_eq!((of(true), of(false)), ((1, 1, 0.5), (3, 1, 1.0)));
    }

    #[test]
    fn only_a_window_is_disturbed_when_the_load_generator_is_held_up_or_another_server_works() {
        let some = Some(SteadyOthers::default());
        let of = |window| TurnResult::of(0, &[sample(60, 0), sample(60, 0)], &one_slice(5), window);
        assert_eq!((of(None).void, of(some).void), (None, Some(Void::HeldUp)));
        // A daemon's 4 ms in one piece disturb no window of a second.
        let window = TurnResult::of(0, &[sample(120, 4), sample(880, 0)], &one_slice(0), some);
        assert_eq!(
            (window.void, TurnResult::of(0, &[sample(120, 4)], &one_slice(0), None).void),
            (None, Some(Void::Others))
        );
        // The one member of the sample runs all the time: it disturbs the windows of another.
        let beside = |window| TurnResult::of(1, &[sample(120, 0)], &one_slice(0), window).void;
        assert_eq!((beside(some), beside(None)), (Some(Void::Members), None));
        // A turn whose answers come late lasts longer, and idle servers have timers all the while: 8 ms in 1 s of 100 ms that count.
        let idle = CpuUsage { members_ns: vec![Some(8 * MS)], ..sample(1_000, 0) };
        assert_eq!(TurnResult::of(1, &[idle], &one_slice(0), some).void, None);
        let result = of(None);
        assert_eq!((result.used.wall_ns, result.used.members_ns), (120 * MS, vec![Some(120 * MS)]));
        assert!((result.at_s - 1.06).abs() < 1e-9 && (result.loaded_s - 0.12).abs() < 1e-9);
        assert!((result.log_rate.unwrap() - 500.0_f64.ln()).abs() < 1e-12);
    }
}
