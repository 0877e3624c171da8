//! Finds the disturbed turns and the quiet cycles. Pure. How long disturbed turns are made up for: `repeat_limit.rs`.
//! Which cycles count: `counting.rs`.
//!
//! Nothing here sees an answer or a rate: the input is the clocks of processes and of the machine's host, so that no criterion depends on
//! the figure that it guards.

use model::heat::Void;
use model::metric::BEYOND_P99;

/// The maximum number of turns of a member in a cycle, if none of them is quiet: a member that makes other programs run in all its turns
/// must not use up the time of all members.
pub const TRIES: usize = 10;

/// A piece is disturbed if other programs, or the machine's host, used more than this share of its length as CPU time.
pub const SHARE: f64 = 0.03;

/// A window is disturbed if other programs, or the machine's host, used more than this share of its length as CPU time: half of what can be
/// the 99th percentile. Pieces of a window are not judged by themselves: a daemon that works for 4 ms a second disturbs a piece of every
/// window of some seconds, but not one answer in a hundred.
const WINDOW_SHARE: f64 = BEYOND_P99 / 2.0;

/// Where other programs use nearly that much all the time, which meets all members alike, they may use this share of a window more than
/// that: otherwise hardly a window would count. Measured in docs/decisions.md.
const BEYOND_STEADY: f64 = 1.0 / 300.0;

/// Other programs may not use more than this share of a window, however much they always use: from there on, the 99th percentile was half as
/// long again.
const MOST_OTHERS: f64 = 0.007_5;

/// What ran beside the members of a heat for about 100 ms of a turn. A turn that lasts longer has several pieces, so that all turns are
/// judged alike, whatever their servers' speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The length of the piece.
    pub wall_ns: u64,
    /// CPU time of other processes and of drome's threads beside the engine; unknown: not judged.
    pub others_ns: Option<u64>,
    /// CPU time that the machine's host took of the cores that are used. The kernel counts it in ticks of 10 ms, so that any tick disturbs
    /// a piece of 100 ms. Unknown: not judged.
    pub stolen_ns: Option<u64>,
}

/// What ran beside the server of a window in its turn: the whole turn or, while it lasts, up to now. Unknown: not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// What others used, and the length of the whole turn.
    pub ran: Piece,
    /// CPU time of the other servers of the heat. It is compared with the length of the whole turn: where answers come late, a turn lasts
    /// longer than its window, and idle servers have their timers until its end.
    pub members_ns: Option<u64>,
    /// How long the load generator's own clocks stood still in the window: what it then sends late is late by its own fault.
    pub held_up_ns: Option<u64>,
    /// The length of the window.
    pub counted_ns: u64,
}

/// The share of a window's length that other programs use all the time: the least share of the windows so far; 0 before the first.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SteadyOthers(Option<f64>);

/// A member's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The member, by index.
    pub member: usize,
    /// The length of the turn, with what is not counted of it.
    pub wall_ns: u64,
    /// What disturbed the turn.
    pub void: Option<Void>,
}

/// What disturbed a turn of closed load, judged by its pieces.
pub fn disturbed(pieces: &[Piece]) -> Option<Void> {
    pieces.iter().find_map(|piece| by_whom(piece, SHARE, SHARE))
}

/// What disturbed a window of open load, judged as a whole; `steady`: what other programs used in the windows before it. It is also disturbed if
/// the load generator was held up, or other servers of the heat ran, for so long that one request in a hundred could be late. The servers are
/// granted more than other programs are, because six idle ones use half of it for their timers, and what each does then is short.
pub fn disturbed_window(window: &Window, steady: SteadyOthers) -> Option<Void> {
    let allowed = (steady.0.unwrap_or(0.0) + BEYOND_STEADY).clamp(WINDOW_SHARE, MOST_OTHERS);
    let turn_ns = window.ran.wall_ns;
    more_than(BEYOND_P99, window.held_up_ns, window.counted_ns, Void::HeldUp)
        .or_else(|| by_whom(&window.ran, allowed, WINDOW_SHARE))
        .or_else(|| more_than(BEYOND_P99, window.members_ns, turn_ns, Void::Members))
}

impl SteadyOthers {
    /// Takes a window into account; one without a length, or in which it is not known what others used, changes nothing.
    pub fn add(&mut self, window: &Piece) {
        let share = |ns: u64| ns as f64 / window.wall_ns as f64;
        let new = window.others_ns.filter(|_| window.wall_ns > 0).map(share);
        self.0 = self.0.into_iter().chain(new).reduce(f64::min);
    }
}

/// Who used more of a piece than they may: other programs or, if not they, the host.
fn by_whom(piece: &Piece, others_share: f64, host_share: f64) -> Option<Void> {
    let others = more_than(others_share, piece.others_ns, piece.wall_ns, Void::Others);
    others.or_else(|| more_than(host_share, piece.stolen_ns, piece.wall_ns, Void::Host))
}

/// The reason, if this time is more than this share of a length. Unknown: not judged.
fn more_than(share: f64, ns: Option<u64>, length_ns: u64, why: Void) -> Option<Void> {
    ns.filter(|ns| *ns as f64 > share * length_ns as f64).map(|_| why)
}

/// Whether every member had a quiet turn in a cycle; only such cycles are quiet.
pub fn is_quiet(cycle: &[Turn]) -> bool {
    cycle.iter().all(|turn| cycle.iter().any(|other| other.member == turn.member && other.void.is_none()))
}

/// The number of cycles that are quiet.
pub fn quiet(cycles: &[Vec<Turn>]) -> usize {
    cycles.iter().filter(|cycle| is_quiet(cycle)).count()
}

/// The members that get another turn in this cycle, in the order of the turns before, because all their turns so far were disturbed.
pub fn again(cycle: &[Turn]) -> Vec<usize> {
    let is_due = |member: usize| {
        let turns = || cycle.iter().filter(|turn| turn.member == member);
        turns().all(|turn| turn.void.is_some()) && turns().count() < TRIES
    };
    firsts(cycle).map(|turn| turn.member).filter(|member| is_due(*member)).collect()
}

/// The first turn of each member in a cycle: those whose order was shuffled.
pub fn firsts(cycle: &[Turn]) -> impl Iterator<Item = &Turn> {
    cycle.iter().enumerate().filter(|(nth, _)| is_first(cycle, *nth)).map(|(_, turn)| turn)
}

/// Whether the turn at this place of a cycle is its member's first one there.
pub fn is_first(cycle: &[Turn], nth: usize) -> bool {
    !cycle[..nth].iter().any(|turn| turn.member == cycle[nth].member)
}

/// The number of a member's turns, and of those in which it was disturbed.
pub fn share(member: usize, cycles: &[Vec<Turn>]) -> (u64, u64) {
    let turns = cycles.iter().flatten().filter(|turn| turn.member == member);
    turns.fold((0, 0), |(all, disturbed), turn| (all + 1, disturbed + u64::from(turn.void.is_some())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn piece(others_ms: f64, stolen_ms: u64) -> Piece {
        let ran = (others_ms * MS as f64) as u64;
        Piece { wall_ns: 100 * MS, others_ns: Some(ran), stolen_ns: Some(stolen_ms * MS) }
    }

    #[test]
    fn a_turn_is_disturbed_by_any_of_its_pieces() {
        assert_eq!(disturbed(&[piece(3.0, 0), piece(2.9, 3)]), None, "three per cent are allowed");
        assert_eq!(disturbed(&[piece(0.0, 0), piece(3.1, 0)]), Some(Void::Others));
        assert_eq!(disturbed(&[piece(0.0, 10)]), Some(Void::Host));
        assert_eq!(disturbed(&[]), None);
        let unknown = Piece { wall_ns: 100 * MS, others_ns: None, stolen_ns: None };
        assert_eq!(disturbed(&[unknown]), None);
        // A burst is not thinned out by the length of a slow server's turn.
        assert_eq!(disturbed(&[[piece(0.0, 0); 7], [piece(5.0, 0); 7]].concat()), Some(Void::Others));
    }

    fn ran(others_ms: u64, stolen_ms: u64) -> Piece {
        Piece { wall_ns: 2_000 * MS, others_ns: Some(others_ms * MS), stolen_ns: Some(stolen_ms * MS) }
    }

    fn window(ran: Piece) -> Window {
        Window { ran, members_ns: None, held_up_ns: None, counted_ns: 1_000 * MS }
    }

    #[test]
    fn a_window_is_disturbed_by_what_could_be_its_99th_percentile() {
        let void = |others_ms, stolen_ms| {
            disturbed_window(&window(ran(others_ms, stolen_ms)), SteadyOthers::default())
        };
        assert_eq!((void(10, 10), void(11, 0), void(0, 20)), (None, Some(Void::Others), Some(Void::Host)));
    }

    #[test]
    fn what_other_programs_do_all_the_time_disturbs_no_window() {
        let mut steady = SteadyOthers::default();
        let unknown = Piece { others_ns: None, ..ran(0, 0) };
        for seen in [ran(9, 0), ran(8, 20), ran(12, 0), unknown, Piece { wall_ns: 0, ..ran(0, 0) }] {
            steady.add(&seen);
        }
        let void = |others_ms, stolen_ms| disturbed_window(&window(ran(others_ms, stolen_ms)), steady);
        // 8 ms of 2 s are used all the time, and 6.7 ms more are allowed, but to the host no more than ever.
        assert_eq!((void(14, 0), void(15, 0)), (None, Some(Void::Others)));
        assert_eq!(void(8, 11), Some(Void::Host));
        let void = |steady_ms, others_ms| {
            let mut steady = SteadyOthers::default();
            steady.add(&ran(steady_ms, 0));
            disturbed_window(&window(ran(others_ms, 0)), steady)
        };
        // The usual share is allowed in any case, and never more than half as much again.
        assert_eq!((void(1, 10), void(1, 11)), (None, Some(Void::Others)));
        assert_eq!((void(12, 15), void(12, 16)), (None, Some(Void::Others)));
    }

    #[test]
    fn a_window_in_which_the_load_generator_was_held_up_is_disturbed() {
        let void = |held_up_ns, counted_ns| {
            let window = Window { held_up_ns, counted_ns, ..window(ran(0, 0)) };
            disturbed_window(&window, SteadyOthers::default())
        };
        assert_eq!(void(Some(11 * MS), 1_000 * MS), Some(Void::HeldUp));
        assert_eq!((void(Some(10 * MS), 1_000 * MS), void(None, MS), void(Some(0), 0)), (None, None, None));
    }

    #[test]
    fn a_window_in_which_the_other_servers_worked_is_disturbed() {
        let void = |members_ns, wall_ns| {
            let ran = Piece { wall_ns, others_ns: None, stolen_ns: None };
            disturbed_window(&Window { members_ns, ..window(ran) }, SteadyOthers::default())
        };
        assert_eq!(void(Some(21 * MS), 2_000 * MS), Some(Void::Members));
        assert_eq!((void(Some(20 * MS), 2_000 * MS), void(None, MS), void(Some(0), 0)), (None, None, None));
    }

    #[test]
    fn who_has_another_turn_is_who_was_not_quiet_yet() {
        let turn =
            |member, is_void: bool| Turn { member, wall_ns: 100 * MS, void: is_void.then_some(Void::Host) };
        let cycle = [turn(2, true), turn(0, false), turn(1, true), turn(2, false)];
        assert_eq!((again(&cycle), is_quiet(&cycle), is_quiet(&cycle[..2])), (vec![1], false, false));
        assert_eq!(firsts(&cycle).count(), 3);
        assert!(again(&[]).is_empty() && is_quiet(&[]));
    }
}
