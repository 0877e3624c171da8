//! Every contender is measured in each cell once a round, whatever happens to its starts, and a run goes on where it was cut off.

use super::*;
use crate::example::in_heats::{in_cell, run, start};
use model::heat::HUB;
use model::run::Raced;
use std::collections::BTreeSet;

const NAMES: [&str; 7] = ["a", "b", "c", "d", "e", "f", "g"];

/// Walks these rounds. `happens` says what comes of a start: outcome and measured cells.
fn walk(
    run: &Run,
    rounds: usize,
    happens: impl Fn(&Heat, &str, usize) -> (StartOutcome, Vec<usize>),
) -> (Vec<Heat>, Vec<Start>) {
    let (mut heats, mut starts) = (Vec::new(), Vec::new());
    for round in 0..rounds {
        while let Some(heat) = heat(run, round, &heats, &starts) {
            assert!(heats.len() < 1_000, "it goes on for ever");
            for (name, copy) in heat.servers() {
                let attempt = attempt(name, copy, round, &starts);
                let (outcome, cells) = happens(&heat, name, attempt);
                starts.push(Start { copy, attempt, outcome, ..start(round, heat.number, name, &cells) });
            }
            heats.push(heat);
        }
    }
    (heats, starts)
}

fn well(heat: &Heat) -> (StartOutcome, Vec<usize>) {
    (StartOutcome::Ended, heat.cells.clone())
}

#[test]
fn a_round_is_everybody_once_in_every_cell_and_the_reference_is_one_of_them() {
    let run = run(&NAMES);
    let (heats, starts) = walk(&run, 4, |heat, _, _| well(heat));
    // Eight in heats of three.
    assert_eq!(heats.len(), 4 * 3);
    for round in 0..4 {
        let mut names: Vec<&str> =
            heats.iter().filter(|h| h.round == round).flat_map(|h| &h.members).map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["a", "b", "c", "d", "e", "f", "g", "reference"]);
    }
    assert!(heats.iter().all(|heat| heat.cells == if heat.round % 2 == 0 { [0, 1] } else { [1, 0] }));
    assert_eq!(starts.iter().filter(|start| start.contender == HUB).count(), heats.len());
    let seeds: BTreeSet<u64> = heats.iter().map(|heat| heat.seed).collect();
    assert_eq!(seeds.len(), heats.len(), "every heat has its own orders");
}

#[test]
fn the_walk_is_the_same_when_it_is_cut_off_between_heats() {
    let run = run(&NAMES);
    let (heats, starts) = walk(&run, 3, |heat, _, _| well(heat));
    for cut in 0..heats.len() {
        let (seen, next) = (&heats[..cut], &heats[cut]);
        let known: Vec<Start> = starts
            .iter()
            .filter(|s| seen.iter().any(|heat| (heat.round, heat.number) == (s.round, s.heat)))
            .cloned()
            .collect();
        assert_eq!(heat(&run, next.round, seen, &known).as_ref(), Some(next), "{cut}");
    }
}

#[test]
fn a_start_that_was_spoiled_is_replaced_and_only_what_it_owes_is_measured_again() {
    let run = run(&NAMES);
    let spoiled = || StartOutcome::Spoiled("the machine ran out of memory".to_owned());
    let (heats, starts) = walk(&run, 1, |heat, name, attempt| match (name, attempt) {
        ("b", 0) => (spoiled(), vec![0]),
        ("c", 0 | 1) => (spoiled(), vec![]),
        _ => well(heat),
    });
    let again: Vec<(Vec<String>, Vec<usize>)> =
        heats[3..].iter().map(|heat| (sorted(&heat.members), heat.cells.clone())).collect();
    assert_eq!(again, [(names(&["b", "c"]), vec![0, 1]), (names(&["c"]), vec![0, 1])]);
    let attempts =
        |name: &str| starts.iter().filter(|s| s.contender == name).map(|s| s.attempt).collect::<Vec<_>>();
    assert_eq!((attempts("a"), attempts("b"), attempts("c")), (vec![0], vec![0, 1], vec![0, 1, 2]));
    let (heats, _) = walk(&run, 1, |heat, name, attempt| match (name, attempt) {
        ("b", 0) => (spoiled(), vec![0]),
        _ => well(heat),
    });
    assert_eq!((heats.len(), heats[3].cells.clone()), (4, vec![1]), "the first cell is known");
}

#[test]
fn what_is_always_spoiled_ends() {
    let run = run(&["a", "b"]);
    let (heats, starts) =
        walk(&run, 2, |_, _, _| (StartOutcome::Spoiled("no descriptors".to_owned()), vec![]));
    assert_eq!(heats.len(), 2 * ATTEMPTS);
    assert!(starts.iter().filter(|s| s.contender == "a").count() == 2 * ATTEMPTS);
}

#[test]
fn a_contender_s_own_failure_is_not_made_up_for_and_one_that_only_fails_is_given_up() {
    let run = run(&NAMES);
    let died = || StartOutcome::Failed("it ended (signal 11)".to_owned());
    let (heats, starts) = walk(&run, 5, |heat, name, _| match (name, heat.round) {
        ("b", 1) | ("c", _) => (died(), vec![]),
        _ => well(heat),
    });
    assert_eq!(heats.len(), 5 * 3, "no heat makes up for them");
    let rounds =
        |name: &str| starts.iter().filter(|s| s.contender == name).map(|s| s.round).collect::<Vec<_>>();
    assert_eq!((rounds("b"), rounds("c")), (vec![0, 1, 2, 3, 4], vec![0, 1, 2]));
    assert_eq!(StartsSummary::of(&starts)["b"].failed, 1);
}

/// Killed after the first cell of a heat: what is stored of the heat are starts that still run.
#[test]
fn a_heat_that_was_cut_off_keeps_its_whole_cells_and_owes_the_rest() {
    let run = run(&["a", "b"]);
    let begun = heat(&run, 0, &[], &[]).unwrap();
    assert_eq!(begun.members.len(), 3);
    let running = |name: &String| Start { outcome: StartOutcome::Running, ..start(0, 0, name, &[0]) };
    let starts: Vec<Start> = begun.members.iter().map(running).collect();
    let rest = heat(&run, 0, std::slice::from_ref(&begun), &starts).unwrap();
    assert_eq!(
        (rest.number, rest.cells.clone(), sorted(&rest.members)),
        (1, vec![1], sorted(&begun.members))
    );
    // Killed before any start was stored.
    let rest = heat(&run, 0, std::slice::from_ref(&begun), &[]).unwrap();
    assert_eq!(
        (rest.number, rest.cells.clone(), sorted(&rest.members)),
        (1, vec![0, 1], sorted(&begun.members))
    );
}

#[test]
fn who_works_in_the_turns_of_others_is_alone_from_the_next_round_on() {
    let run = run(&NAMES);
    let (mut heats, mut starts) = (Vec::new(), Vec::new());
    for round in 0..2 {
        while let Some(heat) = heat(&run, round, &heats, &starts) {
            for name in &heat.members {
                let mut start = start(round, heat.number, name, &heat.cells);
                if name == "b" {
                    let busy = in_cell();
                    start.cells.insert(0, model::heat::InCell { elsewhere_ns: Some(900_000_000), ..busy });
                }
                starts.push(start);
            }
            heats.push(heat);
        }
    }
    let with_b =
        |round| heats.iter().find(|h| h.round == round && h.members.contains(&"b".to_owned())).unwrap();
    assert!(with_b(0).members.len() > 1);
    assert_eq!(with_b(1).members, ["b"]);
}

#[test]
fn memory_keeps_contenders_apart() {
    let mut run = run(&NAMES);
    run.environment.memory_bytes = Some(15);
    let starts: Vec<Start> =
        ["d", "e", "f"].map(|n| Start { memory_bytes: Some(6), ..start(0, 0, n, &[0, 1]) }).to_vec();
    let mut heats = Vec::new();
    while let Some(next) = heat(&run, 1, &heats, &starts).filter(|_| heats.len() < 4) {
        let large = next.members.iter().filter(|m| ["d", "e", "f"].contains(&m.as_str())).count();
        assert!(large <= 1, "{next:?}");
        heats.push(next);
    }
}

#[test]
fn a_race_has_every_command_twice_and_no_hub_unless_they_can_not_live_together() {
    let mut run = run(&["a", "b"]);
    run.contenders.remove("reference");
    (run.race, run.copies) = (Some(Raced::default()), 2);
    let (heats, starts) = walk(&run, 3, |heat, _, _| well(heat));
    assert_eq!((heats.len(), starts.len()), (3, 3 * 4));
    assert!(heats.iter().all(|heat| !heat.hub && heat.copies == 2));
    run.contenders.values_mut().for_each(|entrant| entrant.alone = true);
    let (heats, _) = walk(&run, 3, |heat, _, _| well(heat));
    assert!(heats.len() == 6 && heats.iter().all(|heat| heat.hub && heat.members.len() == 1));
    // One copy was spoiled: both are run again, since a heat is what compares them.
    let (heats, starts) = walk(&run, 1, |heat, name, attempt| match (name, heat.number, attempt) {
        ("a", 0 | 1, 0) => (StartOutcome::Spoiled("no descriptors".to_owned()), vec![]),
        _ => well(heat),
    });
    assert_eq!((heats.len(), starts.iter().filter(|s| s.contender == "a").count()), (3, 4));
}

#[test]
fn what_is_repeated_in_a_race_is_repeated_with_all_commands_because_only_that_compares_them() {
    let mut run = run(&["a", "b", "c"]);
    run.contenders.remove("reference");
    (run.race, run.copies) = (Some(Raced::default()), 2);
    let spoiled = || (StartOutcome::Spoiled("no descriptors".to_owned()), vec![]);
    let (heats, starts) = walk(&run, 2, |heat, name, attempt| match (name, heat.round, attempt) {
        ("a", 0, 0 | 1) => spoiled(),
        _ => well(heat),
    });
    let of = |round| heats.iter().filter(move |heat| heat.round == round);
    assert_eq!((of(0).count(), of(1).count()), (3, 1));
    assert!(heats.iter().all(|heat| !heat.hub && sorted(&heat.members) == names(&["a", "b", "c"])));
    let count = |name: &str| starts.iter().filter(|s| s.contender == name && s.round == 0).count();
    assert_eq!((count("a"), count("b")), (6, 6));
    let (heats, _) = walk(&run, 1, |_, name, _| if name == "a" { spoiled() } else { well(&heats[0]) });
    assert_eq!(heats.len(), ATTEMPTS, "it ends");
}

fn lacked() -> StartOutcome {
    StartOutcome::LackedMemory("it was killed".to_owned())
}

#[test]
fn one_for_whom_there_was_no_memory_beside_others_is_alone_from_then_on() {
    let run = run(&NAMES);
    let (heats, _) = walk(&run, 2, |heat, name, _| match (name, heat.members.len()) {
        ("b", 2..) => (lacked(), vec![0]),
        _ => well(heat),
    });
    let with_b: Vec<&Heat> = heats.iter().filter(|heat| heat.members.contains(&"b".to_owned())).collect();
    assert_eq!(with_b.len(), 3);
    assert!(with_b[0].members.len() > 1 && with_b[1..].iter().all(|heat| heat.members == ["b"]));
    assert_eq!((with_b[1].round, with_b[1].cells.clone()), (0, vec![1]), "the first cell is known");
    assert_eq!((with_b[2].round, with_b[2].cells.len()), (1, 2));
}

#[test]
fn in_a_race_the_hub_ties_one_that_has_no_memory_beside_others_to_them() {
    let mut run = run(&["a", "b"]);
    run.contenders.remove("reference");
    (run.race, run.copies) = (Some(Raced::default()), 2);
    let (heats, _) = walk(&run, 2, |heat, name, _| match (name, heat.members.len()) {
        ("a", 2..) => (lacked(), vec![]),
        _ => well(heat),
    });
    let told: Vec<(usize, Vec<String>, bool)> =
        heats.iter().map(|heat| (heat.round, sorted(&heat.members), heat.hub)).collect();
    let first = [(0, names(&["a", "b"]), false), (0, names(&["a"]), true)];
    assert_eq!(told[..2], first);
    assert!(
        told.len() == 4 && told[2..].iter().all(|(round, who, hub)| *round == 1 && who.len() == 1 && *hub)
    );
}

#[test]
fn the_memory_of_all_copies_counts() {
    let mut run = run(&["a", "b"]);
    run.contenders.remove("reference");
    (run.race, run.copies) = (Some(Raced::default()), 2);
    run.environment.memory_bytes = Some(20);
    let together = |each: u64| {
        let starts = ["a", "b"].map(|n| Start { memory_bytes: Some(each), ..start(0, 0, n, &[0, 1]) });
        heat(&run, 1, &[], &starts).unwrap().members.len()
    };
    assert_eq!((together(3), together(4)), (2, 1), "14 of 20 are for servers");
}

#[test]
fn servers_that_already_ran_are_once_in_a_heat_and_stay_together_whatever_they_do() {
    let mut run = run(&["a", "b"]);
    run.contenders.remove("reference");
    run.environment.memory_bytes = Some(15);
    run.race = Some(Raced { running: true, ..Raced::default() });
    run.copies = 1;
    let busy = |name| {
        let mut start = Start { memory_bytes: Some(9), ..start(0, 0, name, &[0, 1]) };
        start.cells.insert(0, model::heat::InCell { elsewhere_ns: Some(9_000_000_000), ..in_cell() });
        start
    };
    let heat = heat(&run, 1, &[], &["a", "b"].map(busy)).unwrap();
    assert_eq!((sorted(&heat.members), heat.copies, heat.hub), (names(&["a", "b"]), 1, false));
}

#[test]
fn who_is_missing_is_not_dealt() {
    let mut run = run(&["a", "b"]);
    run.contenders.get_mut("a").unwrap().missing = Some("no compiler".to_owned());
    let heat_of = |run: &Run| heat(run, 0, &[], &[]);
    assert_eq!(sorted(&heat_of(&run).unwrap().members), names(&["b", "reference"]));
}

fn names(all: &[&str]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

fn sorted(all: &[String]) -> Vec<String> {
    let mut all = all.to_vec();
    all.sort();
    all
}
