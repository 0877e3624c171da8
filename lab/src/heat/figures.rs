//! From the slices of one heat in one cell, as they are stored, to what the statistics of heats ask for. Pure.

use model::Slice;
use stats::heats;

/// The slices of the cycles that count, by the indices of `servers` ([`model::Heat::servers`]). Each has the time that its owner had its
/// cores to itself ([`Slice::own_ns`]). A slice without an answer is one of no answers; one of no time is left out.
pub fn counted(
    slices: &[Slice],
    servers: &[(&str, usize)],
    cycles: &[usize],
    server_cores: usize,
) -> Vec<heats::Slice> {
    let counts = slices.iter().filter(|slice| cycles.contains(&slice.cycle) && slice.ns > 0);
    let of = |slice: &Slice| {
        let member = servers.iter().position(|server| *server == (slice.contender.as_str(), slice.copy))?;
        let (cycle, answers, time_ns) = (slice.cycle, slice.answers, slice.own_ns(server_cores));
        Some(heats::Slice { cycle, member, answers, time_ns })
    };
    counts.filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::heat::{HUB, Ran};

    fn slice(cycle: usize, contender: &str, copy: usize, answers: u64, members_ns: u64) -> Slice {
        Slice {
            round: 0,
            heat: 0,
            cell: 0,
            cycle,
            place: 0,
            contender: contender.to_owned(),
            copy,
            answers,
            ns: 100_000_000,
            turn_ns: 100_000_000,
            ran: Ran { members_ns: Some(members_ns), ..Ran::default() },
            void: None,
        }
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
        let cycles: Vec<usize> = (0..20).filter(|cycle| *cycle != 3).collect();
        let counted = counted(&all, &servers, &cycles, 1);
        assert_eq!(counted.len(), 19 * 3);
        let figures = heats::figures(&counted, &[true; 3]);
        let log_rate = |member: usize| figures[member].map(|figure| figure.log_rate).unwrap();
        assert!((log_rate(1) - log_rate(2)).abs() < 1e-9, "{figures:?}");
        assert!((log_rate(1) - log_rate(0) - 2.0_f64.ln()).abs() < 1e-9, "{figures:?}");
    }

    #[test]
    fn what_does_not_count_and_who_is_not_in_the_heat_are_left_out() {
        let none = Slice { ns: 0, ..slice(1, "a", 0, 0, 0) };
        let all = [slice(0, "a", 0, 5, 0), slice(2, "a", 0, 5, 0), slice(0, "b", 0, 5, 0), none];
        assert_eq!(counted(&all, &[("a", 0)], &[0, 1], 1).len(), 1);
        assert!(counted(&[], &[], &[], 0).is_empty());
    }
}
