//! What keeps a run whole: one drome at a time is at it, and only as what it began as; the lab's own failures end it and are
//! nobody's; and drome may be rebuilt meanwhile.

use crate::common::catalog::SERVES;
use crate::common::{Home, process, run, trials, wait_for};
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

fn home(rounds: usize) -> Home {
    let home = Home::new();
    home.add_study("small", &["one"], rounds);
    home.add_contender("one", SERVES);
    home
}

/// A run that has begun, with some trials.
fn begun(home: &Home) -> Child {
    let child = process::spawn_unheard(&mut home.with_catalog(&["run", "small"]));
    wait_for(|| trials(home) >= 2, "two trials");
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    process::wait(&mut child);
}

#[test]
fn a_run_that_another_drome_is_at_is_not_joined() {
    let home = home(100);
    let child = begun(&home);
    for cache in ["cache", "another cache"] {
        let cache = home.path().join(cache);
        let finished = run(home.with_catalog(&["run", "small", "--resume"]).env("DROME_CACHE", cache));
        finished.assert_err(1, &["another drome is working on"]);
    }
    let before = trials(&home);
    wait_for(|| trials(&home) > before, "the first drome to go on");
    kill(child);
    // Who was killed has no lock any more.
    let mut child = process::spawn(home.with_catalog(&["run", "small", "--resume"]).stderr(Stdio::null()));
    let before = trials(&home);
    wait_for(|| trials(&home) > before, "the run to go on");
    process::signal(&child, "-INT");
    assert_eq!(process::wait(&mut child).code(), Some(130));
}

#[test]
fn a_run_goes_on_by_the_rules_by_which_it_began() {
    let home = home(100);
    kill(begun(&home));
    // The tests' own helper says --allow-busy by this variable.
    let finished = run(home.with_catalog(&["run", "small", "--resume"]).env_remove("DROME_ALLOW_BUSY"));
    finished.assert_err(
        2,
        &["it began with --allow-busy: use that option again", "or start a new run without --resume"],
    );
}

/// The binary under a name of its own.
fn copy(home: &Home) -> std::path::PathBuf {
    let (original, copy) = (Path::new(env!("CARGO_BIN_EXE_drome")), home.path().join("bin/drome"));
    fs::create_dir(home.path().join("bin")).unwrap();
    if fs::hard_link(original, &copy).is_err() {
        fs::copy(original, &copy).unwrap();
    }
    copy
}

#[test]
fn a_drome_that_is_rebuilt_meanwhile_goes_on_with_the_program_that_it_is() {
    let home = home(5);
    let path = copy(&home);
    let plain = home.with_catalog(&["run", "small"]);
    let mut copied = Command::new(&path);
    copied.args(plain.get_args()).envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let child = process::spawn_heard(&mut copied);
    wait_for(|| trials(&home) >= 2, "two trials");
    // As a build does: another file has the name now, and here it is no drome at all.
    fs::remove_file(&path).unwrap();
    home.write("bin/drome", "#!/bin/sh\nexit 9\n");
    run(Command::new("chmod").args(["+x", path.to_str().unwrap()]));
    let finished = process::ended(child);
    assert_eq!(finished.code, 0, "{}", finished.err);
    for row in home.findings()["cells"][0]["contenders"].as_array().unwrap() {
        assert_eq!(row["failed"], 0, "{row}");
        assert!(row["trials"].as_u64().unwrap() >= 5, "{row}");
    }
    home.assert_clean();
}

#[test]
fn a_failure_of_the_lab_ends_the_run_and_is_no_contenders() {
    let home = home(5);
    // When the contender is started for the third time, the folder of the logs goes: no server's output can be kept any more.
    let (logs, count) = (home.path().join("cache/logs"), home.path().join("count"));
    let script = format!(
        "echo x >> '{0}'; [ $(wc -l < '{0}') = 3 ] && rm -r '{1}'; exec {{drome}} serve --port {{port}}",
        count.display(),
        logs.display()
    );
    home.add_contender("one", &format!("[\"sh\", \"-c\", \"{script}\"]"));
    let finished = run(&mut home.with_catalog(&["run", "small"]));
    finished.assert_err(1, &["the lab failed in heat ", "--resume"]);
    assert!(trials(&home) >= 2, "what was measured is kept");
    for row in home.findings()["cells"][0]["contenders"].as_array().unwrap() {
        assert_eq!(row["failed"], 0, "{row}");
    }
    home.assert_clean();
    let finished = run(&mut home.with_catalog(&["run", "small", "--resume"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert_eq!(trials(&home), 5 * 2);
}
