//! What `--fail-if-slower` says.

use crate::made_up::{figure, race, race_by};
use model::Metric;
use model::gate::{Gate, Outcome};
use report::gate::lines;

#[test]
fn a_race_is_judged_against_its_first_command() {
    let judged = |b: f64| {
        let gate = Gate::of_race(&race(100_000.0, b, 0.011), 0.02);
        (gate.outcome(), lines(&gate).join("\n"))
    };
    let (outcome, words) = judged(95_000.0);
    assert_eq!(outcome, Outcome::Slower);
    assert!(words.contains("is more than 2 % slower: 5.0 % slower, 95 % from "), "{words}");
    assert!(words.contains("precise enough to show a slowdown of"), "{words}");
    let (outcome, words) = judged(100_000.0);
    assert_eq!(outcome, Outcome::Passed);
    assert!(words.contains("is not more than 2 % slower: 0.0 % faster, 95 % from 0."), "{words}");
    let (outcome, words) = judged(98_000.0);
    assert_eq!(outcome, Outcome::Open);
    assert!(words.contains("may be more than 2 % slower or not: 2.0 % slower"), "{words}");
}

#[test]
fn the_interval_that_holds_over_all_looks_decides_and_is_the_one_that_is_told() {
    // 5 % slower, by the interval of one pair 4.2 to 5.8 %, which is wholly beyond the margin.
    let mut f = race(100_000.0, 95_000.0, 0.011);
    f.race.as_mut().unwrap().pairs[0].sure = figure(0.95, 0.035);
    let gate = Gate::of_race(&f, 0.02);
    assert_eq!(gate.outcome(), Outcome::Open);
    let words = lines(&gate).join("\n");
    assert!(words.contains("may be more than 2 % slower or not: 5.0 % slower, 95 % from 8."), "{words}");
}

#[test]
fn where_less_is_better_more_is_slower() {
    let judged = |ratio| Gate::of_race(&race_by(Metric::ServerCpu, ratio), 0.02).outcome();
    assert_eq!((judged(1.1), judged(0.9), judged(1.02)), (Outcome::Slower, Outcome::Passed, Outcome::Open));
}

#[test]
fn what_is_not_known_is_not_passed() {
    let mut f = race(100_000.0, 100_000.0, 0.011);
    f.cells[0].contenders[0].bound = Some("client".to_owned());
    let gate = Gate::of_race(&f, 0.02);
    assert_eq!(gate.outcome(), Outcome::Open);
    assert!(lines(&gate)[0].contains("could not be judged: the load generator limited"), "{gate:?}");
    f.cells[0].contenders[0].bound = Some("network".to_owned());
    let gate = Gate::of_race(&f, 0.02);
    assert!(lines(&gate)[0].contains("could not be judged: the network limited"), "{gate:?}");
    let mut f = race(100_000.0, 100_000.0, 0.011);
    let pair = &mut f.race.as_mut().unwrap().pairs[0];
    pair.ratio = figure(1.0, 0.008).map(|ratio| model::findings::Figure { low: None, high: None, ..ratio });
    pair.sure = None;
    let gate = Gate::of_race(&f, 0.02);
    assert_eq!(gate.outcome(), Outcome::Open);
    let words = lines(&gate).join("\n");
    assert!(words.contains("there are too few sound starts"), "{words}");
    assert!(words.contains("is unknown"), "{words}");
}
