//! The whole walk of a run in heats, on made-up starts.

use super::*;
use crate::example::in_heats::{run, start};
use model::Start;
use std::time::Duration;
use stopping_rule::Standing;

/// Walks until it is done. `standing` says what is known about the two neighbours after a number of rounds. A start takes ten seconds.
fn walk(run: &Run, standing: impl Fn(usize) -> Standing) -> (Vec<Heat>, Vec<Start>, Vec<usize>, String) {
    let (mut measured, mut looks) = (Measured::default(), Vec::new());
    loop {
        let mut known = |rounds: usize| {
            looks.push(rounds);
            let (one, other) = ("a".to_owned(), "b".to_owned());
            vec![Neighbours { cell: 0, one, other, standing: standing(rounds) }]
        };
        match next_heat(run, &measured, &mut known) {
            NextStep::Measure(heat) => {
                for (name, _) in heat.servers() {
                    measured.starts.push(start(heat.round, heat.number, name, &heat.cells));
                }
                measured.heats.push(heat);
            }
            NextStep::End(why) => return (measured.heats, measured.starts, looks, why),
        }
    }
}

#[test]
fn a_run_ends_at_the_first_look_at_which_it_knows_enough() {
    let run = run(&["a", "b", "c"]);
    let (heats, _, looks, why) = walk(&run, |_| Standing::Decided);
    assert_eq!((heats.len(), looks), (4 * 2, vec![4]));
    assert!(why.ends_with("decided or equal, after 4 rounds"), "{why}");
    let (heats, _, looks, why) =
        walk(&run, |rounds| if rounds < 7 { Standing::Open(Some(0.1)) } else { Standing::Equal });
    assert_eq!((heats.len(), looks), (8 * 2, vec![4, 5, 6, 8]), "nobody looks after 7 rounds");
    assert!(why.ends_with("after 8 rounds"), "{why}");
}

#[test]
fn the_most_that_is_allowed_ends_it_and_says_what_is_open() {
    let mut run = run(&["a", "b", "c"]);
    run.study.design.budget = Duration::from_hours(9);
    let (heats, _, _, why) = walk(&run, |_| Standing::Open(Some(0.084)));
    assert_eq!(heats.len(), 13 * 2);
    let open = "1 of 1 comparisons between neighbouring ranks is inconclusive; the widest interval is that of a and b, ±8.4 %";
    assert_eq!(why, format!("the design's maximum is reached: 13 rounds; {open}"));
}

#[test]
fn a_first_look_takes_its_least_rounds() {
    let mut run = run(&["a", "b", "c"]);
    (run.quick, run.study.design.rounds) = (true, [2, 2]);
    let (heats, _, looks, why) = walk(&run, |_| Standing::Open(None));
    assert_eq!((heats.len(), looks.len(), why.as_str()), (4, 0, "a first look: 2 rounds"));
}

#[test]
fn a_budget_is_a_bound_and_no_heat_is_begun_that_would_pass_it() {
    let mut run = run(&["a", "b", "c"]);
    // Four contenders and two hubs: sixty seconds a round, in heats of thirty.
    for seconds in [30, 59, 60, 100, 179, 180, 300] {
        run.study.design.budget = Duration::from_secs(seconds);
        let (heats, starts, _, why) = walk(&run, |_| Standing::Open(Some(0.1)));
        let spent = budget::spent(&starts);
        assert!(spent <= run.study.design.budget, "{spent:?} of {seconds} s");
        assert_eq!(heats.len() as u64, seconds / 30, "{seconds} s: {why}");
        let whole = format!("the budget of {} is spent", humantime::format_duration(run.study.design.budget));
        assert!(why.starts_with(&whole) && why.contains("comparisons between neighbouring ranks"), "{why}");
    }
}

#[test]
fn the_walk_is_the_same_when_it_is_cut_off() {
    let run = run(&["a", "b", "c", "d"]);
    let (heats, starts, _, _) = walk(&run, |_| Standing::Decided);
    for cut in 0..heats.len() {
        let known: Vec<Start> = starts
            .iter()
            .filter(|s| heats[..cut].iter().any(|h| (h.round, h.number) == (s.round, s.heat)))
            .cloned()
            .collect();
        let measured = Measured { heats: heats[..cut].to_vec(), starts: known, slices: Vec::new() };
        assert_eq!(
            next_heat(&run, &measured, &mut |_| Vec::new()),
            NextStep::Measure(heats[cut].clone()),
            "{cut}"
        );
    }
}
