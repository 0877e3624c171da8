//! Reports of runs that went wrong: each says what can't be concluded. Each is compared with a stored
//! snapshot.

use control::machine::environment::fixture;
use judge::example;
use judge::example::in_heats;
use judge::findings::compare;
use model::environment::Ends;
use model::study::REFERENCE;
use model::{Conditions, Findings, Run, Start};
use stats::random::uniform;

/// The outcome of a trial.
enum Fate {
    Rate(f64),
    Void(f64),
    Crash,
}

/// The starts of this number of rounds of a run; `fate` decides the outcome of each.
fn started(run: &Run, rounds: usize, fate: impl Fn(&Start) -> Fate) -> Vec<Start> {
    let mut all = Vec::new();
    for round in 0..rounds {
        for name in run.contenders.keys() {
            for copy in 0..run.copies {
                let start = |rate| Start { copy, ..example::start(round, name, rate) };
                all.push(match fate(&start(None)) {
                    Fate::Rate(rate) => start(Some(rate)),
                    Fate::Crash => start(None),
                    Fate::Void(rate) => {
                        let mut start = start(Some(rate));
                        for m in start.cells.values_mut().filter_map(|of| of.measurement.as_mut()) {
                            m.verdict.valid = false;
                            m.verdict
                                .reasons
                                .push("the host took 20 % of the measured CPUs' time".to_owned());
                        }
                        start
                    }
                });
            }
        }
    }
    all
}

/// The rate of a sound trial, with 2 % of noise.
fn rate(start: &Start) -> f64 {
    let speed = match start.contender.as_str() {
        REFERENCE => 100_000.0,
        "fast" | "A" => 80_000.0,
        _ => 50_000.0,
    };
    let nth = start.round * 100 + start.contender.len() * 10 + start.copy;
    speed * (1.0 + 0.04 * (uniform(7, nth as u64) - 0.5))
}

fn study() -> Run {
    example::run(&["fast", "slow"])
}

fn race() -> Run {
    let mut run = example::run(&["A", "B"]);
    run.contenders.remove(REFERENCE);
    (run.name, run.copies, run.study.design.decide) = ("race".to_owned(), 2, true);
    run
}

fn reported(run: &Run, starts: &[Start], ended: Option<&str>) -> String {
    let found = in_heats::findings(run, starts, ended);
    report::run::document(&found).terminal(&report::TextStyle::default())
}

#[test]
fn one_round_only() {
    let ended = Some("the budget of 1s is spent after 1 round");
    let run = study();
    insta::assert_snapshot!(
        "one_round_of_a_study",
        reported(&run, &started(&run, 1, |t| Fate::Rate(rate(t))), ended)
    );
    let run = race();
    insta::assert_snapshot!(
        "one_round_of_a_race",
        reported(&run, &started(&run, 1, |t| Fate::Rate(rate(t))), ended)
    );
}

#[test]
fn all_trials_of_one_contender_void() {
    let ended = Some("the budget of 10m is spent after 8 rounds");
    let fate = |t: &Start| match t.contender.as_str() {
        "slow" | "B" => Fate::Void(rate(t)),
        _ => Fate::Rate(rate(t)),
    };
    let run = study();
    insta::assert_snapshot!("one_contender_void_in_a_study", reported(&run, &started(&run, 8, fate), ended));
    let run = race();
    insta::assert_snapshot!("one_contender_void_in_a_race", reported(&run, &started(&run, 8, fate), ended));
}

#[test]
fn all_trials_of_the_reference_void() {
    let fate = |t: &Start| if t.contender == REFERENCE { Fate::Void(rate(t)) } else { Fate::Rate(rate(t)) };
    let run = study();
    insta::assert_snapshot!("reference_void", reported(&run, &started(&run, 8, fate), Some("enough")));
    let sound = in_heats::findings(&run, &started(&run, 8, |t| Fate::Rate(rate(t))), Some("enough"));
    let void = in_heats::findings(&run, &started(&run, 8, fate), Some("enough"));
    insta::assert_snapshot!("reference_void_in_the_later_run", compared(&sound, &void, false));
}

#[test]
fn zero_variance() {
    let flat =
        |t: &Start| Fate::Rate(if t.contender == REFERENCE || t.contender == "B" { 100.0 } else { 90.0 });
    let run = study();
    let all = started(&run, 8, flat);
    let text = reported(&run, &all, Some("every comparison is decided or known within ±3 %, after 8 rounds"));
    insta::assert_snapshot!("zero_variance_in_a_study", text);
    let found = in_heats::findings(&run, &all, None);
    insta::assert_snapshot!("zero_variance_compared", compared(&found, &found, false));
    let run = race();
    insta::assert_snapshot!(
        "zero_variance_in_a_race",
        reported(&run, &started(&run, 8, flat), Some("enough"))
    );
}

#[test]
fn a_contender_that_crashes_in_half_its_trials() {
    let ended = Some("the budget of 10m is spent after 8 rounds");
    let fate = |t: &Start| match (t.contender.as_str(), t.round % 2) {
        ("slow" | "B", 0) => Fate::Crash,
        _ => Fate::Rate(rate(t)),
    };
    let run = study();
    insta::assert_snapshot!("half_of_the_trials_crash", reported(&run, &started(&run, 8, fate), ended));
    let run = race();
    insta::assert_snapshot!(
        "half_of_the_trials_crash_in_a_race",
        reported(&run, &started(&run, 8, fate), ended)
    );
}

#[test]
fn an_interrupted_run() {
    let run = study();
    let mut all = started(&run, 4, |t| Fate::Rate(rate(t)));
    insta::assert_snapshot!("before_the_first_trial", reported(&run, &[], None));
    all.truncate(all.len() - 3);
    insta::assert_snapshot!("in_the_fourth_round", reported(&run, &all, None));
    let run = race();
    insta::assert_snapshot!("a_race_before_the_first_trial", reported(&run, &[], None));
}

fn compared(old: &Findings, new: &Findings, anyway: bool) -> String {
    let (old, new) = (
        Findings { run: "earlier".to_owned(), ..old.clone() },
        Findings { run: "later".to_owned(), ..new.clone() },
    );
    match compare::compare(&old, &new, anyway) {
        Ok(comparison) => report::compare::document(&comparison).terminal(&report::TextStyle::default()),
        Err(error) => format!("refused: {error}\n"),
    }
}

#[test]
fn runs_with_no_common_contender() {
    let found = |names: &[&str]| {
        let run = example::run(names);
        in_heats::findings(&run, &started(&run, 8, |t| Fate::Rate(rate(t))), None)
    };
    insta::assert_snapshot!("no_common_contender", compared(&found(&["fast"]), &found(&["slow"]), false));
}

#[test]
fn a_baseline_from_another_machine() {
    let on = |tree: &fixture::Tree, conditions: Conditions| {
        let mut run = study();
        run.environment = tree.system().look(&fixture::four());
        run.environment.machine.drome_sha256 = None;
        run.workloads
            .insert("hello".to_owned(), if conditions.steal_ppm.is_some() { "aa" } else { "bb" }.to_owned());
        let mut all = started(&run, 8, |t| Fate::Rate(rate(t)));
        all.iter_mut().for_each(|start| start.conditions = Some(conditions.clone()));
        in_heats::findings(&run, &all, Some("enough"))
    };
    let laptop = on(&fixture::laptop(), Conditions { steal_ppm: Some(0), ..Conditions::default() });
    let warm = Ends { before: Some(61.0), after: Some(82.0) };
    let throttled = Some(vec!["under-voltage".to_owned()]);
    let hot = Conditions { temperature_c: warm, throttled, ..Conditions::default() };
    let pi = on(&fixture::raspberry_pi(), hot);
    insta::assert_snapshot!("another_machine", compared(&laptop, &pi, false));
    insta::assert_snapshot!("another_machine_anyway", compared(&laptop, &pi, true));
    insta::assert_snapshot!("a_run_on_a_raspberry_pi", report::run::document(&pi).markdown());
}
