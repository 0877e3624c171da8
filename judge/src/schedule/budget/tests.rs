//! What heats take, estimated by class and by what starts took, and what a budget has room for.

use super::*;
use crate::example::in_heats::{run, start};
use crate::schedule::owed;
use model::heat::HUB;
use proptest::prelude::*;

const SECOND: Duration = Duration::from_secs(1);

fn first_heat(run: &Run) -> Heat {
    owed::heat(run, 0, &[], &[]).unwrap()
}

#[test]
fn the_sum_is_that_of_its_parts_and_of_what_the_first_heats_are_thought_to_take() {
    let mut run = run(&["a", "b", "c", "d"]);
    run.contenders.get_mut("a").unwrap().class = Some(Class::Jit);
    run.contenders.get_mut("b").unwrap().alone = true;
    let sum = forecast(&run).unwrap();
    // Four together in heats of three, and one alone.
    assert_eq!((sum.contenders, sum.heats), (5, 3));
    assert_eq!(sum.starting + sum.warming + sum.turns, sum.round);
    assert_eq!(sum.looks.iter().map(|look| look.rounds).collect::<Vec<_>>(), [4, 5, 6, 8, 10, 13]);
    assert!(sum.looks.iter().all(|look| look.time == sum.round * look.rounds as u32));
    assert!(sum.heat < sum.round && sum.round < sum.round_most);
    // Eight starts, two cells of 2.4 s each.
    assert_eq!(sum.turns, Duration::from_millis(8 * 2 * 2_400));
    let (mut heats, mut all) = (Vec::new(), Duration::ZERO);
    while let Some(heat) = owed::heat(&run, 0, &heats, &[]).filter(|h| h.number < 3) {
        all += cost(&run, &heat, &[]);
        heats.push(heat);
    }
    assert_eq!(all, sum.round, "the budget counts as the sum does");
}

#[test]
fn a_cell_with_the_load_of_an_earlier_one_needs_hardly_any_warm_up() {
    let mut run = run(&["a"]);
    let warmup_of_jit = |run: &Run| {
        let cells: Vec<&Cell> = run.study.cells.iter().collect();
        warmups(Class::Jit, &cells, &run.study.design)
    };
    assert_eq!(warmup_of_jit(&run), Duration::from_millis(13_500), "the same load twice");
    run.study.cells[1].workload = "json".to_owned();
    assert_eq!(warmup_of_jit(&run), 21 * SECOND, "other requests");
}

#[test]
fn a_heat_takes_what_its_members_took_at_most_and_fewer_cells_take_less() {
    let run = run(&["a", "b"]);
    let took = |seconds: u64, start: Start| Start { took_ns: seconds * 1_000_000_000, ..start };
    let starts = [
        took(20, start(0, 0, "a", &[0, 1])),
        took(12, start(0, 0, "a", &[0, 1])),
        took(8, start(0, 0, "reference", &[0])),
        took(6, start(0, 0, HUB, &[0, 1])),
        // It did not even start: that says nothing of what it takes.
        took(60, start(0, 0, "b", &[])),
    ];
    let heat = first_heat(&run);
    // a: 20, the reference: 16, the hub: 6; b like the mean of its class, by cell: (10 + 6 + 8) / 3 = 8.
    assert_eq!(cost(&run, &heat, &starts), 58 * SECOND);
    let half = Heat { cells: vec![1], ..heat };
    assert_eq!(cost(&run, &half, &starts), 29 * SECOND);
}

#[test]
fn a_race_in_one_heat_has_every_command_twice_and_no_hub() {
    let mut run = run(&["a", "b"]);
    run.contenders.remove("reference");
    let study = forecast(&run).unwrap();
    (run.race, run.copies) = (Some(model::run::Raced::default()), 2);
    let race = forecast(&run).unwrap();
    // Two cells of 2.4 s; two contenders and the hub, or two contenders twice.
    assert_eq!((study.turns, race.turns), (Duration::from_millis(14_400), Duration::from_millis(19_200)));
    assert_eq!((race.heat, race.round), (race.round, cost(&run, &first_heat(&run), &[])));
}

#[test]
fn a_budget_below_one_heat_is_told_before_anything_is_started() {
    let mut run = run(&["a", "b", "c", "d"]);
    assert_eq!(too_small(&run), None);
    run.study.design.budget = 3 * SECOND;
    let why = too_small(&run).unwrap();
    assert!(why.starts_with("the budget of 3s is too short for one heat, which takes about "), "{why}");
    let enough = why.split("use --budget ").nth(1).and_then(|rest| rest.split(',').next()).unwrap();
    run.study.design.budget = humantime::parse_duration(enough).unwrap();
    assert_eq!(too_small(&run), None);
    let sum = forecast(&run).unwrap();
    assert!(run.study.design.budget >= sum.looks[0].time, "{enough} has room for the least rounds");
    let why = exceeded(&run, &first_heat(&run), &vec![start(0, 0, "a", &[0]); 900]).unwrap();
    assert!(
        why.starts_with("the budget of ")
            && why.contains(" is spent in round 1; at least 4 rounds are needed, and take about "),
        "{why}"
    );
}

#[test]
fn what_the_first_round_took_tells_whether_the_budget_will_last() {
    let mut run = run(&["a", "b", "c", "d"]);
    let took =
        |seconds: u64, name: &str| Start { took_ns: seconds * 1_000_000_000, ..start(0, 0, name, &[0, 1]) };
    // A heat of three and one of two, with the hub; 100 s in all.
    let mut starts = vec![took(30, "a"), took(20, "b"), took(15, "c"), took(15, "d"), took(10, "reference")];
    starts.extend([took(5, HUB), took(5, HUB)]);
    assert_eq!(time_of_least_rounds(&run, &starts), Some(400 * SECOND));
    let guessed = time_of_least_rounds(&run, &starts[..2]).unwrap();
    assert!(
        guessed > 4 * 50 * SECOND,
        "those that were not started yet take what their class does: {guessed:?}"
    );
    let in_round = |round: usize| vec![Heat { round, ..first_heat(&run) }; 2 * (round + 1)];
    let [first, third, fourth] = [0, 2, 3].map(in_round);
    run.study.design.budget = 400 * SECOND;
    assert_eq!(too_slow(&run, &first, &starts), None);
    run.study.design.budget = 399 * SECOND;
    assert_eq!(too_slow(&run, &first[..1], &starts), None, "the first round is not over");
    let why = too_slow(&run, &first, &starts).unwrap();
    assert!(
        why.starts_with("at this pace 4 rounds take longer than the budget of 6m 39s")
            && why.ends_with("go on with `--resume --budget 7m`"),
        "{why}"
    );
    let mut other = run.clone();
    other.quick = true;
    assert!(too_slow(&other, &first, &starts).unwrap().ends_with("start again with `--budget 7m`"));
    (other.quick, other.race) = (false, Some(model::run::Raced::default()));
    assert!(too_slow(&other, &first, &starts).unwrap().ends_with("start again with `--budget 7m`"));
    // What a heat of a later round takes beyond the budget says nothing about the least rounds.
    let many = vec![took(90, "a"); 9];
    assert!(too_slow(&run, &third, &many).is_some() && too_slow(&run, &fourth, &many).is_none());
    // When it is spent, the reason says the same.
    run.study.design.budget = 310 * SECOND;
    let thrice = [starts.clone(), starts.clone(), starts].concat();
    let heat = Heat { round: 3, ..first_heat(&run) };
    let why = exceeded(&run, &heat, &thrice).unwrap();
    assert_eq!(
        why,
        "the budget of 5m 10s is spent after 3 rounds; at least 4 rounds are needed, and take about 7m in all: go on with `--resume --budget 7m`"
    );
    run.study.design.budget = 7 * 60 * SECOND;
    assert_eq!((exceeded(&run, &heat, &thrice), too_slow(&run, &third, &thrice)), (None, None));
}

#[test]
fn a_first_look_knows_how_long_it_still_takes() {
    let mut run = run(&["a", "b"]);
    (run.study.design.rounds, run.study.design.budget) = ([2, 2], 3600 * SECOND);
    let took =
        |seconds: u64, name: &str| Start { took_ns: seconds * 1_000_000_000, ..start(0, 0, name, &[0, 1]) };
    let round = [took(30, "a"), took(20, "b"), took(10, "reference"), took(5, HUB)];
    assert_eq!(about_left(&run, &round), Some(65 * SECOND));
    assert_eq!(about_left(&run, &[&round[..], &round].concat()), Some(Duration::ZERO));
    run.study.design.budget = 100 * SECOND;
    assert_eq!(about_left(&run, &round), Some(35 * SECOND), "the budget ends it earlier");
    run.study.design.rounds = [2, 13];
    assert_eq!(about_left(&run, &round), None, "the results decide when it ends");
}

proptest! {
    #[test]
    fn no_run_is_too_large_to_be_summed(n in 0_usize..9, cells in 0_usize..5, size in 1_usize..12, measure in 0_u64..u64::MAX) {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let mut run = run(&names[..n]);
        let cell = run.study.cells[0].clone();
        run.study.cells = vec![cell; cells];
        run.study.design.measure = Duration::from_secs(measure);
        run.study.design.heat = size;
        let sum = forecast(&run).unwrap();
        prop_assert!(sum.heats >= sum.contenders / size && sum.round_most >= sum.round);
        let _ = (too_small(&run), cost(&run, &first_heat(&run), &[]));
    }
}
