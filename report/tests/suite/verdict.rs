//! What the verdict above the figures says, and the line that a list of runs has.

use crate::made_up::{dead, findings, lead, race, undecide};
use model::environment::ConditionsRange;
use model::findings::{CellInHeats, Figure, Findings, Pairs};
use report::verdict;

/// The findings with a second cell, in which the first contender wins.
fn two_cells() -> Findings {
    let mut f = findings();
    let mut second = f.cells[0].clone();
    "a new connection for every request".clone_into(&mut second.title);
    lead(&mut second);
    second.contenders.pop();
    f.cells.push(second);
    f
}

#[test]
fn a_race_is_won_by_a_label_and_by_how_much() {
    let mut f = race(80_000.0, 100_000.0, 0.011);
    for (contender, label) in f.cells[0].contenders.iter_mut().zip(["old", "new"]) {
        label.clone_into(&mut contender.title);
    }
    let text = verdict::best(&f, &f.cells[0]);
    assert!(text[0].starts_with("new is 1.25") && text[0].contains("× old, 95 % "), "{text:?}");
    assert_eq!(verdict::in_one_line(&f), text[0]);
    let in_terminal = report::run::document(&f).terminal(&report::TextStyle::default());
    assert!(in_terminal.contains("B is 1.25"), "by letters: {in_terminal}");
    undecide(&mut f);
    let text = verdict::in_one_line(&f);
    assert!(text.contains("a difference between old and new is likely, but not sure enough"), "{text}");
    let mut lost = f.clone();
    let second = &mut lost.cells[0].contenders[1];
    (second.failed, second.rank_low, second.rank_high) = (2, None, None);
    let text = verdict::in_one_line(&lost);
    assert!(text.contains("inconclusive for old and new: new failed or was void in some"), "{text}");
    let pair = &mut f.race.as_mut().unwrap().pairs[0];
    pair.ratio = Some(Figure { median: 1.0, low: Some(0.9), high: Some(1.1) });
    let text = verdict::in_one_line(&f);
    assert!(text.contains("no difference between old and new detected"), "{text}");
}

#[test]
fn several_cells_are_counted_in_one_line() {
    let f = two_cells();
    assert_eq!(verdict::in_one_line(&f), "nginx is the best in 1 of 2 cells; undecided in 1 of 2 cells");
    let one = verdict::in_one_line(&findings());
    assert!(one.starts_with("No significant difference between nginx and Node.js: either"), "{one}");
    assert_eq!(verdict::in_one_line(&Findings { cells: Vec::new(), ..findings() }), "");
}

#[test]
fn certainty_is_the_noise_floor_and_the_pairs_that_are_decided() {
    let mut cell = findings().cells.remove(0);
    let text = verdict::certainty(&cell);
    let floor = "Noise floor 1.1 %: a run like this detects half of all differences of this size.";
    assert_eq!(text, format!("Of 3 pairs: 2 decided, 1 inconclusive. {floor}"));
    let pairs = Pairs { decided: 5, equal: 0, open: 1 };
    cell.in_heats = CellInHeats { pairs, ..CellInHeats::default() };
    let text = verdict::certainty(&cell);
    assert!(text.starts_with("Of 6 pairs: 5 decided, 1 inconclusive. Noise floor unknown"), "{text}");
}

#[test]
fn the_machine_is_judged_by_what_was_lost_and_what_else_ran() {
    let mut f = findings();
    let text = verdict::machine(&f);
    assert!(text.starts_with("4 of 27 starts were void or failed."), "{text}");
    assert!(text.ends_with("What else the machine did meanwhile is unknown."), "{text}");
    f.cells[0].contenders.truncate(2);
    f.conditions = ConditionsRange { throttled_trials: Some(0), ..ConditionsRange::default() };
    f.cells[0].in_heats = CellInHeats { heats: 9, never_quiet: 2, ..CellInHeats::default() };
    assert_eq!(
        verdict::machine(&f),
        "All 18 starts were sound. Background load ran nearly all the time in 2 of 9 heats. \
         During the measurements: never throttled."
    );
    let mut nothing = dead();
    nothing.failed = 0;
    f.cells[0].contenders = vec![nothing];
    assert!(verdict::machine(&f).starts_with("Nothing has been measured yet."));
}

#[test]
fn a_run_has_one_chart() {
    let name = |f: &Findings| report::chart::overview(f).map(|chart| chart.name);
    assert_eq!(name(&findings()).as_deref(), Some("ranked-1"));
    assert_eq!(name(&two_cells()).as_deref(), Some("heat"));
    assert_eq!(name(&Findings { cells: Vec::new(), ..findings() }), None);
}
