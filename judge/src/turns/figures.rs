//! Converts the stored slices of one heat in one cell to what the statistics of heats need. Pure.

use crate::turns::counting;
use crate::turns::disturbance::Turn;
use model::Slice;
use model::heat::Counts;
use stats::heats;

/// The slices of closed load that count, by the indices of `servers` ([`model::Heat::servers`]). Each has the time in which its owner had the
/// servers' cores to itself ([`Slice::own_ns`]). A slice without an answer counts as one of no answers; one of no time is left out.
pub fn counted(
    slices: &[&Slice],
    servers: &[(&str, usize)],
    counts: &Counts,
    server_cores: usize,
) -> Vec<heats::MemberSlice> {
    let member =
        |slice: &Slice| servers.iter().position(|server| *server == (slice.contender.as_str(), slice.copy));
    let mut known: Vec<(&Slice, usize)> = slices.iter().filter_map(|s| Some((*s, member(s)?))).collect();
    known.sort_by_key(|(slice, _)| (slice.cycle, slice.place));
    let turn = |(slice, member): &(&Slice, usize)| Turn {
        member: *member,
        wall_ns: slice.turn_ns,
        void: slice.void,
    };
    let cycles = known.chunk_by(|a, b| a.0.cycle == b.0.cycle);
    let cycles: Vec<Vec<Turn>> = cycles.map(|cycle| cycle.iter().map(turn).collect()).collect();
    let of = |(slice, member): &(&Slice, usize)| heats::MemberSlice {
        cycle: slice.cycle,
        member: *member,
        answers: slice.answers,
        time_ns: slice.own_ns(server_cores),
    };
    let counted = counting::counted(counts, &cycles, false).concat();
    let all = known.iter().zip(counted).filter(|((slice, _), counts)| *counts && slice.ns > 0);
    all.map(|(known, _)| of(known)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::in_heats as example;
    use model::heat::{HUB, Ran, Void};

    fn slice(cycle: usize, contender: &str, copy: usize, answers: u64, members_ns: u64) -> Slice {
        let ran = Ran { members_ns: Some(members_ns), ..Ran::default() };
        Slice { cycle, contender: contender.to_owned(), copy, answers, ran, ..example::slice() }
    }

    #[test]
    fn a_server_in_whose_turns_another_works_keeps_its_figure() {
        // The second copy of `a` is as fast as the first, but the hub collects its garbage in a tenth of each of its turns.
        let of = |cycle| {
            [
                slice(cycle, HUB, 0, 500, 0),
                slice(cycle, "a", 0, 1_000, 0),
                slice(cycle, "a", 1, 900, 10_000_000),
            ]
        };
        let all: Vec<Slice> = (0..20).flat_map(of).collect();
        let servers = [(HUB, 0), ("a", 0), ("a", 1)];
        let counted = counted(&all.iter().collect::<Vec<_>>(), &servers, &Counts::Quiet, 1);
        assert_eq!(counted.len(), 20 * 3);
        let figures = heats::start_rates(&counted, &[true; 3]);
        let log_rate = |member: usize| figures[member].map(|figure| figure.log_rate).unwrap();
        assert!((log_rate(1) - log_rate(2)).abs() < 1e-9, "{figures:?}");
        assert!((log_rate(1) - log_rate(0) - 2.0_f64.ln()).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn what_was_disturbed_and_who_is_not_in_the_heat_are_left_out() {
        let void = |cycle, name| Slice { void: Some(Void::Host), ..slice(cycle, name, 0, 7, 0) };
        let none = Slice { ns: 0, ..slice(1, "a", 0, 0, 0) };
        // In the second cycle no turn of c was quiet; in the third one of a is made up for.
        let all = [
            [slice(0, "a", 0, 5, 0), slice(0, "b", 0, 5, 0), slice(0, "c", 0, 5, 0)].to_vec(),
            [none, slice(1, "c", 0, 5, 0)].to_vec(),
            [slice(2, "a", 0, 5, 0), void(2, "c"), void(2, "c")].to_vec(),
            [void(3, "a"), slice(3, "c", 0, 5, 0), slice(3, "a", 0, 5, 0)].to_vec(),
        ]
        .concat();
        let (all, servers): (Vec<&Slice>, _) = (all.iter().collect(), [("a", 0), ("c", 0)]);
        let places = |counts| {
            let counted = counted(&all, &servers, &counts, 1).into_iter();
            counted.map(|s| (s.cycle, s.member, s.answers)).collect::<Vec<_>>()
        };
        assert_eq!(places(Counts::Quiet), [(0, 0, 5), (0, 1, 5), (1, 1, 5), (3, 1, 5), (3, 0, 5)]);
        assert_eq!(places(Counts::NeverQuiet).len(), 9);
        assert!(counted(&[], &[], &Counts::Quiet, 0).is_empty());
    }
}
