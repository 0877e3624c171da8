//! `drome race --fail-if-slower`: the exit code is the judgement.

use crate::common::{Finished, Home, run};

const DROME: &str = env!("CARGO_BIN_EXE_drome");

fn fast() -> String {
    format!("{DROME} serve --port {{port}}")
}

/// Slower by so much that every machine sees it.
fn slow() -> String {
    format!("{DROME} serve --port {{port}} --spin-ns 20000000")
}

fn race(home: &Home, commands: &[&str], args: &[&str]) -> Finished {
    let load =
        ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
    run(home.drome(&["race"]).args(commands).args(load).args(["--seed", "1"]).args(args))
}

#[test]
fn who_is_slower_by_more_than_the_margin_fails_and_who_is_faster_passes() {
    let home = Home::new();
    let (fast, slow) = (fast(), slow());
    let gate = ["--fail-if-slower", "2%", "--budget", "3min"];
    let failed = race(&home, &[&fast, &slow], &gate);
    assert_eq!(failed.code, 3, "{}{}", failed.out, failed.err);
    assert!(failed.err.contains("is more than 2 % slower: 9"), "{}", failed.err);
    assert!(failed.err.contains("precise enough to show a slowdown of"), "{}", failed.err);
    assert!(
        failed.out.contains("every comparison with the first is decided at the margin of 2 %"),
        "{}",
        failed.out
    );
    let passed = race(&home, &[&slow, &fast], &gate);
    assert_eq!(passed.code, 0, "{}{}", passed.out, passed.err);
    assert!(passed.err.contains("is not more than 2 % slower"), "{}", passed.err);
    let bisected = race(&home, &[&fast, &slow], &[&gate[..], &["--bisect"]].concat());
    assert_eq!(bisected.code, 1, "{}{}", bisected.out, bisected.err);
}

#[test]
fn a_margin_that_the_race_can_not_see_is_not_passed() {
    let home = Home::new();
    let fast = fast();
    let gate = ["--fail-if-slower", "0.001%", "--rounds", "1"];
    // By chance, a race of equals finds a difference now and then.
    let is_open = |args: &[&str], code| {
        let open = race(&home, &[&fast, &fast], args);
        let says = ["may be more than 0.001 % slower or not", "could not be judged"];
        open.code == code && says.iter().any(|words| open.err.contains(words))
    };
    assert!((0..5).any(|_| is_open(&gate, 4)), "never open");
    let bisect = [&gate[..], &["--bisect"]].concat();
    assert!((0..5).any(|_| is_open(&bisect, 125)), "never skipped");
}

#[test]
fn what_is_no_judgement_stops_a_bisection() {
    let home = Home::new();
    let fast = fast();
    for commands in [[fast.as_str(), "sleep 1"], [fast.as_str(), "sh -c 'exit 1' {port}"]] {
        let stopped = race(&home, &commands, &["--fail-if-slower", "2%", "--bisect"]);
        assert_eq!(stopped.code, 128, "{}", stopped.err);
    }
    let alone = race(&home, &[&fast, &fast], &["--bisect"]);
    assert!(alone.code == 128 && alone.err.contains("--fail-if-slower"), "{}", alone.err);
}
