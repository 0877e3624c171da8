//! Which heats of a fleet are owed, in whichever order they come back.

use super::*;
use crate::example::in_heats::{run, start};
use crate::schedule::next::next_heat;
use crate::schedule::stopping_rule::{Neighbours, Standing};
use model::Fleet;
use model::heat::StartOutcome;
use std::collections::BTreeSet;

fn fleet() -> Run {
    Run { fleet: Some(Fleet { machines: 2 }), ..run(&["a", "b", "c"]) }
}

fn known(standing: Standing) -> impl FnMut(usize) -> Vec<Neighbours> {
    move |_| vec![Neighbours { cell: 0, one: "a".to_owned(), other: "b".to_owned(), standing }]
}

fn owed_by(run: &Run, measured: &Measured) -> NextStep<Vec<Heat>> {
    heats_owed(run, measured, &mut known(Standing::Decided))
}

fn starts_of(heat: &Heat) -> Vec<Start> {
    heat.servers().iter().map(|(name, _)| start(heat.round, heat.number, name, &heat.cells)).collect()
}

#[test]
fn all_heats_up_to_the_first_look_are_owed_whatever_comes_back_first() {
    let run = fleet();
    let NextStep::Measure(all) = owed_by(&run, &Measured::default()) else { panic!("nothing is owed") };
    assert_eq!(all.len(), 4 * 2, "four contenders in heats of three: two heats a round");
    let mut measured = Measured::default();
    for over in all.iter().rev() {
        measured.heats.push(over.clone());
        measured.starts.extend(starts_of(over));
        let left: Vec<&Heat> = all.iter().filter(|heat| !measured.heats.contains(heat)).collect();
        match owed_by(&run, &measured) {
            NextStep::Measure(owed) => assert_eq!(owed.iter().collect::<Vec<_>>(), left),
            NextStep::End(why) => assert!(left.is_empty() && why.ends_with("after 4 rounds"), "{why}"),
        }
    }
    let NextStep::Measure(more) = heats_owed(&run, &measured, &mut known(Standing::Open(None))) else {
        panic!("it is not enough")
    };
    assert_eq!(
        more.iter().map(|heat| heat.round).collect::<BTreeSet<_>>(),
        [4].into(),
        "up to the next look"
    );
}

#[test]
fn a_spoiled_start_is_repeated_in_a_heat_of_its_own() {
    let run = fleet();
    let NextStep::Measure(all) = owed_by(&run, &Measured::default()) else { panic!("nothing is owed") };
    let mut starts: Vec<Start> = all.iter().flat_map(starts_of).collect();
    let spoiled = starts.iter_mut().find(|start| start.round == 2 && start.contender == "b").unwrap();
    (spoiled.outcome, spoiled.cells) = (StartOutcome::Spoiled("the disk is full".to_owned()), [].into());
    let measured = Measured { heats: all, starts, slices: Vec::new() };
    let NextStep::Measure(late) = owed_by(&run, &measured) else { panic!("b is owed") };
    assert_eq!(late.len(), 1);
    assert_eq!((late[0].round, late[0].number, late[0].members.clone()), (2, 2, vec!["b".to_owned()]));
}

#[test]
fn the_budget_is_that_of_all_machines() {
    let mut run = fleet();
    run.study.design.budget = Duration::from_secs(100);
    let NextStep::Measure(owed) = owed_by(&run, &Measured::default()) else { panic!("nothing is owed") };
    assert!((2..8).contains(&owed.len()), "{}", owed.len());
}

/// Measures what is next, heat after heat, until the run ends, and returns why it did: a fleet of one machine, or a run that knows of no
/// fleet. Every start has this outcome.
fn end_of(run: &Run, is_fleet: bool, outcome: &StartOutcome) -> String {
    let mut measured = Measured::default();
    loop {
        let compare = &mut known(Standing::Open(Some(0.1)));
        let next = if is_fleet {
            heats_owed(run, &measured, compare)
        } else {
            match next_heat(run, &measured, compare) {
                NextStep::Measure(heat) => NextStep::Measure(vec![heat]),
                NextStep::End(why) => NextStep::End(why),
            }
        };
        let heat = match next {
            NextStep::Measure(owed) => owed[0].clone(),
            NextStep::End(why) => return why,
        };
        for mut start in starts_of(&heat) {
            if *outcome != StartOutcome::Ended {
                (start.outcome, start.cells) = (outcome.clone(), [].into());
            }
            measured.starts.push(start);
        }
        measured.heats.push(heat);
    }
}

#[test]
fn a_fleet_ends_for_the_reason_for_which_a_single_machine_ends() {
    let mut run = run(&["a", "b", "c"]);
    for seconds in [30, 59, 100, 179, 180, 300, 36_000] {
        run.study.design.budget = Duration::from_secs(seconds);
        let why = end_of(&run, true, &StartOutcome::Ended);
        assert_eq!(why, end_of(&run, false, &StartOutcome::Ended), "{seconds} s");
        let is_spent = why.starts_with("the budget of ");
        assert!(is_spent == (seconds < 36_000) && why.contains("1 of 1 comparisons"), "{why}");
    }
    (run.quick, run.study.design.rounds) = (true, [2, 2]);
    assert_eq!(end_of(&run, true, &StartOutcome::Ended), "a first look: 2 rounds");
}

#[test]
fn a_fleet_ends_when_every_contender_failed_in_all_rounds_that_were_measured() {
    let failed = StartOutcome::Failed("it does not answer".to_owned());
    let why = |is_fleet| end_of(&fleet(), is_fleet, &failed);
    assert_eq!(why(false), "every contender was given up after 3 rounds");
    assert_eq!(
        why(true),
        "every contender was given up after 4 rounds",
        "it measures them up to the first look"
    );
}
