//! Makes one figure per start from its slices in one heat: the answers of all slices divided by their time, with each cycle adjusted for
//! its level (how fast all members were in it, compared with their usual rates). The figure is a ratio of sums, not a robust centre, because
//! a centre would hide a server's own pauses. A cycle's level is a median over members, because one member's pause is not the machine's.

use super::contrast::Contrast;
use super::relation::SAME;
use crate::estimate::{CHANCE, LEAST_STARTS};
use crate::mean::deviation;
use crate::studentized_range::Critical;
use crate::{median, signed_rank};
use std::collections::BTreeMap;

/// One member's turn in one cycle of a heat.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemberSlice {
    /// The cycle, from 0. Only valid slices are given; a cycle may lack members, and a member may have several slices in one.
    pub cycle: usize,
    /// The member: an index into the heat's members.
    pub member: usize,
    /// The number of counted answers.
    pub answers: u64,
    /// The counted time in nanoseconds.
    pub time_ns: u64,
}

/// The result of a start in one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartRate {
    /// The natural logarithm of requests/s, at the heat's mean level.
    pub log_rate: f64,
    /// The number of slices that counted.
    pub slices: usize,
    /// How far the rate lies below the centre of its slices, as a share (0.08: pauses cost 8 %), beyond what is usual among the
    /// heat's other members: what slows all now and then is not the server's. `None` below eight slices.
    pub stall: Option<f64>,
    /// The standard deviation of the logarithms of its slices' rates as they were, not adjusted for the machine's speed. `None` below eight slices, and where one had no answer.
    pub turn_deviation: Option<f64>,
}

impl StartRate {
    /// Whether the server's own pauses cost more than 2 % of its rate.
    pub fn stalls(&self) -> bool {
        self.stall.is_some_and(|share| share > SAME)
    }
}

/// The share of its rate that a server's pauses cost, from those of its starts ([`StartRate::stall`]): their mean, where it is 2 % or
/// more and chance alone would seldom cause it (Student's t, one-sided at 2.5 %), because the slices of noisy minutes are skewed, too.
pub fn shown_stall(stalls: &[f64]) -> Option<f64> {
    let known = Contrast::of_mean(stalls).filter(|_| stalls.len() >= LEAST_STARTS);
    let Contrast { difference: mean, error, df } = known?;
    let low = mean - Critical::student(CHANCE / 2.0).of_difference(df) * error;
    (mean >= SAME && low > 0.0).then_some(mean)
}

/// Fewer slices say nothing about their spread.
const LEAST_SLICES: usize = 8;
/// The levels of members and of cycles are found in turn; after this number of turns nothing changes any more.
const TURNS: usize = 6;

/// The rate of each member's start; `None` for one without an answer. `informs`: for each member, whether its slices count for the common
/// level (not those of a server that the load generator holds back, because they show the load generator's speed).
///
/// A cycle with fewer than two members that count for the level has no level, and its slices are left out. Where the heat as a whole has
/// fewer than two, nothing is adjusted.
pub fn start_rates(slices: &[MemberSlice], informs: &[bool]) -> Vec<Option<StartRate>> {
    let valid: Vec<MemberSlice> =
        slices.iter().copied().filter(|s| s.member < informs.len() && s.time_ns > 0).collect();
    let levels = cycle_levels(&valid, informs);
    let of_member = |member: usize| -> Vec<(f64, f64)> {
        let own = valid.iter().filter(|s| s.member == member);
        let adjusted =
            |s: &MemberSlice| Some((s.answers as f64, s.time_ns as f64 / 1e9 * levels[s.cycle]?.exp()));
        own.filter_map(adjusted).collect()
    };
    let turn_deviation = |member: usize| {
        let own = valid.iter().filter(|s| s.member == member);
        let logs: Vec<f64> = own.map(|s| (s.answers as f64 / s.time_ns as f64).ln()).collect();
        deviation(&logs).filter(|deviation| logs.len() >= LEAST_SLICES && deviation.is_finite())
    };
    let found: Vec<Option<StartRate>> = (0..informs.len())
        .map(|m| Some(StartRate { turn_deviation: turn_deviation(m), ..start_rate(&of_member(m))? }))
        .collect();
    let stalls: Vec<Option<f64>> = found.iter().map(|figure| figure.as_ref()?.stall).collect();
    let beyond_others = |(m, figure): (usize, Option<StartRate>)| {
        let others =
            stalls.iter().enumerate().filter(|(other, _)| *other != m).filter_map(|(_, stall)| *stall);
        let usual = median(&others.collect::<Vec<_>>()).unwrap_or(0.0).max(0.0);
        figure.map(|figure| StartRate { stall: figure.stall.map(|stall| stall - usual), ..figure })
    };
    found.into_iter().enumerate().map(beyond_others).collect()
}

/// A rate from answers and adjusted seconds of each slice.
fn start_rate(slices: &[(f64, f64)]) -> Option<StartRate> {
    let (answers, seconds) = slices.iter().fold((0.0, 0.0), |sum, s| (sum.0 + s.0, sum.1 + s.1));
    let rate = answers / seconds;
    if answers <= 0.0 {
        return None;
    }
    let stall = (slices.len() >= LEAST_SLICES).then(|| {
        let rates: Vec<f64> = slices.iter().map(|(answers, seconds)| answers / seconds).collect();
        signed_rank::centre(&rates).map(|centre| 1.0 - rate / centre)
    });
    Some(StartRate {
        log_rate: rate.ln(),
        slices: slices.len(),
        stall: stall.flatten(),
        turn_deviation: None,
    })
}

/// The common level of each cycle as a logarithm: the median, over members that count for it, of how far each lies from its own usual rate
/// (Tukey's median polish, 1977).
fn cycle_levels(slices: &[MemberSlice], informs: &[bool]) -> Vec<Option<f64>> {
    let cycles = slices.iter().map(|s| s.cycle + 1).max().unwrap_or(0);
    if informs.iter().filter(|informs| **informs).count() < 2 {
        return vec![Some(0.0); cycles];
    }
    // All slices of a member in a cycle count as one value for the cycle's level.
    let mut sums: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for s in slices.iter().filter(|s| informs[s.member]) {
        let sum = sums.entry((s.cycle, s.member)).or_default();
        *sum = (sum.0 + s.answers as f64, sum.1 + s.time_ns as f64 / 1e9);
    }
    let mut by_cycle = vec![Vec::new(); cycles];
    let mut by_member = vec![Vec::new(); informs.len()];
    for ((cycle, member), (answers, seconds)) in sums {
        // Half an answer more, so that a cycle without one has a logarithm.
        let log = ((answers + 0.5) / seconds).ln();
        by_cycle[cycle].push((member, log));
        by_member[member].push((cycle, log));
    }
    let has_level = |cycle: usize| by_cycle[cycle].len() >= 2;
    let mut levels = vec![0.0; cycles];
    let rest = |rates: &[(usize, f64)], others: &[f64]| -> Vec<f64> {
        rates.iter().map(|(i, log)| log - others[*i]).collect()
    };
    for _ in 0..TURNS {
        let usual: Vec<f64> =
            by_member.iter().map(|rates| median(&rest(rates, &levels)).unwrap_or(0.0)).collect();
        levels = by_cycle.iter().map(|rates| cautious_median(rest(rates, &usual))).collect();
    }
    // The adjusted time is as long as the real one.
    let telling = slices.iter().filter(|s| informs[s.member] && has_level(s.cycle));
    let (real, adjusted) = telling.fold((0.0, 0.0), |sum, s| {
        let time = s.time_ns as f64;
        (sum.0 + time, sum.1 + time * levels[s.cycle].exp())
    });
    let whole = if real > 0.0 { (adjusted / real).ln() } else { 0.0 };
    (0..cycles).map(|c| has_level(c).then(|| levels[c] - whole)).collect()
}

/// The median; for an even count, of the two middle values the one nearer to 0, or 0 if it lies between them. Where one of two members
/// pauses, their mean would count half of its pause as the machine's.
fn cautious_median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => 0.0_f64.clamp(values[n / 2 - 1], values[n / 2]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use proptest::prelude::*;

    const RATES: [f64; 4] = [100_000.0, 80_000.0, 50_000.0, 150_000.0];

    /// Forty cycles of 100 ms; `rate(cycle, member)` by what the members do otherwise, with 2 % of noise.
    fn heat(rate: impl Fn(usize, usize) -> f64) -> Vec<MemberSlice> {
        let slice = |cycle: usize, member: usize| {
            let noise = 1.0 + 0.07 * (uniform(5, (cycle * 4 + member) as u64) - 0.5);
            let answers = (RATES[member] * 0.1 * noise * rate(cycle, member)) as u64;
            MemberSlice { cycle, member, answers, time_ns: 100_000_000 }
        };
        (0..40)
            .flat_map(|cycle| (0..4).map(move |member| (cycle, member)))
            .map(|(c, m)| slice(c, m))
            .collect()
    }

    fn ratio(slices: &[MemberSlice], informs: [bool; 4], one: usize, other: usize) -> f64 {
        let all = start_rates(slices, &informs);
        (all[one].unwrap().log_rate - all[other].unwrap().log_rate).exp()
    }

    #[test]
    fn several_turns_of_a_member_in_a_cycle_are_one_word_on_its_level() {
        let slice = |cycle, member, answers| MemberSlice { cycle, member, answers, time_ns: 100_000_000 };
        let usual = (0..20).flat_map(|cycle| [slice(cycle, 0, 1_000), slice(cycle, 1, 500)]);
        // Only one member had turns in this cycle: its own pause is not the machine's level.
        let alone: Vec<MemberSlice> = usual.clone().chain([slice(20, 0, 500), slice(20, 0, 500)]).collect();
        assert_eq!(start_rates(&alone, &[true; 2])[0].map(|figure| figure.slices), Some(20));
        // One of three had four turns, in which something slowed only this member.
        let third = (0..20).map(|cycle| slice(cycle, 2, 250));
        let again = (0..5).flat_map(|cycle| vec![slice(cycle, 2, 125); 4]);
        let all: Vec<MemberSlice> = usual.chain(third).chain(again).collect();
        let found = start_rates(&all, &[true; 3]);
        let rate = |member: usize| found[member].map(|figure| figure.log_rate.exp()).unwrap();
        assert!(
            (rate(0) / rate(1) - 2.0).abs() < 1e-9 && (rate(0) / 10_000.0 - 1.0).abs() < 0.01,
            "{}",
            rate(0)
        );
    }

    #[test]
    fn pauses_are_said_where_starts_agree_on_them() {
        assert_eq!(shown_stall(&[0.08, 0.08, 0.08]), Some(0.08));
        assert!(shown_stall(&[0.09, 0.07, 0.08, 0.075]).is_some());
        // One start of five was slowed now and then.
        assert_eq!(shown_stall(&[0.12, 0.0, -0.01, 0.01, 0.0]), None);
        assert_eq!((shown_stall(&[0.01; 9]), shown_stall(&[0.08; 2]), shown_stall(&[])), (None, None, None));
    }

    #[test]
    fn a_quiet_heat_gives_the_rates() {
        let found = start_rates(&heat(|_, _| 1.0), &[true; 4]);
        for (figure, rate) in found.iter().flatten().zip(RATES) {
            assert!((figure.log_rate - rate.ln()).abs() < 0.01, "{figure:?}");
            assert!(!figure.stalls() && figure.slices == 40);
            assert!((0.015..0.025).contains(&figure.turn_deviation.unwrap()), "{figure:?}");
        }
    }

    #[test]
    fn a_member_that_misses_the_machines_slow_half_gains_nothing() {
        let slow = |cycle: usize| if cycle >= 20 { 0.75 } else { 1.0 };
        let mut slices = heat(|cycle, _| slow(cycle));
        assert!((ratio(&slices, [true; 4], 1, 0) - 0.8).abs() < 0.01);
        assert!(
            start_rates(&slices, &[true; 4]).iter().all(|f| f.unwrap().turn_deviation.unwrap() > 0.13),
            "as it was"
        );
        slices.retain(|s| s.member != 1 || s.cycle < 22);
        assert!((ratio(&slices, [true; 4], 1, 0) - 0.8).abs() < 0.012, "{}", ratio(&slices, [true; 4], 1, 0));
    }

    #[test]
    fn a_servers_own_pauses_cost_it_what_they_cost_and_the_row_says_so() {
        // One slice in twelve is lost whole.
        let slices = heat(|cycle, member| if member == 2 && cycle % 12 == 5 { 0.0 } else { 1.0 });
        let found = start_rates(&slices, &[true; 4]);
        let lost = 3.0 / 40.0;
        assert!((ratio(&slices, [true; 4], 2, 0) - 0.5 * (1.0 - lost)).abs() < 0.006);
        assert!(found[2].unwrap().stalls() && (found[2].unwrap().stall.unwrap() - lost).abs() < 0.02);
        assert!(!found[0].unwrap().stalls());
        // Even where the hub is the only other member.
        let pair: Vec<MemberSlice> =
            slices.iter().filter(|s| s.member != 1 && s.member != 3).copied().collect();
        let two = start_rates(&pair, &[true, false, true, false]);
        let ratio = (two[2].unwrap().log_rate - two[0].unwrap().log_rate).exp();
        assert!((ratio / (0.5 * (1.0 - lost)) - 1.0).abs() < 0.01 && two[2].unwrap().stalls(), "{ratio}");
    }

    #[test]
    fn what_slows_all_now_and_then_is_nobodys_stall() {
        // A program takes half of one slice in eight, whosever it is.
        let slices =
            heat(|cycle, member| if uniform(9, (cycle * 4 + member) as u64) < 0.125 { 0.5 } else { 1.0 });
        let stalls: Vec<f64> =
            start_rates(&slices, &[true; 4]).iter().filter_map(|f| f.unwrap().stall).collect();
        assert!(stalls.iter().all(|stall| stall.abs() < 0.04), "{stalls:?}");
    }

    #[test]
    fn a_server_that_the_client_holds_back_does_not_tell_the_level() {
        let slices = heat(|cycle, member| if member == 3 && cycle >= 20 { 0.6 } else { 1.0 });
        let found = start_rates(&slices, &[true, true, true, false]);
        assert!((found[3].unwrap().log_rate - (150_000.0_f64 * 0.8).ln()).abs() < 0.01);
        assert!((found[0].unwrap().log_rate - 100_000.0_f64.ln()).abs() < 0.01);
    }

    #[test]
    fn cycles_without_a_level_are_left_out_and_nothing_is_unknown() {
        let mut slices = heat(|_, _| 1.0);
        slices.retain(|s| s.cycle < 30 || s.member == 0);
        assert_eq!(start_rates(&slices, &[true; 4])[0].unwrap().slices, 30);
        slices.retain(|s| s.member == 0);
        assert_eq!(start_rates(&slices, &[true; 4])[1], None);
        assert_eq!(start_rates(&slices, &[true, false, false, false])[0].unwrap().slices, 40);
        assert_eq!(start_rates(&[], &[true; 2]), [None, None]);
    }

    proptest! {
        #[test]
        fn no_slices_panic(slices in prop::collection::vec((0..9_usize, 0..5_usize, any::<u64>(), any::<u64>()), 0..60), informs in prop::collection::vec(any::<bool>(), 0..5)) {
            let slices: Vec<MemberSlice> = slices.into_iter().map(|(cycle, member, answers, time_ns)| MemberSlice { cycle, member, answers, time_ns }).collect();
            prop_assert!(start_rates(&slices, &informs).iter().flatten().all(|f| f.log_rate.is_finite()));
        }
    }
}
