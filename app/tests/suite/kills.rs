//! drome killed at random moments and told to go on: whatever the moment, no finished trial is lost, none is there twice, and no
//! process, folder or lock stays. Eight kills unless `DROME_TEST_KILLS` says otherwise (`cargo xtask kills` makes it a hundred).

use crate::common::{Home, process, processes_with, run, wait_for};
use lab::Store;
use lab::lock::Lock;
use model::Observation;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;

const STUDY: &str = r#"
title = "A study that is cut off"
contenders = ["one", "other"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[design]
blocks = [6, 6]
warmup = "10ms"
measure = "50ms"
precision = 0.9
budget = "2h"
"#;

/// With a process of its own beside it, and a file in its folder.
const CONTENDER: &str = r#"
title = "TITLE"
language = "any"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = ["sh", "-c", "sleep 600 & echo > file; exec {drome} serve --port {port}"]
stop = "SIGKILL"
[serves]
hello = "/hello"
"#;

/// No kill comes later than so long after the start: time for some trials.
const LATEST: Duration = Duration::from_secs(4);

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// What is known of the run at hand.
struct Course<'h> {
    home: &'h Home,
    kept: Vec<Observation>,
    run: Option<String>,
    /// Runs that came to their end.
    ended: usize,
    /// Trials of those.
    trials: usize,
    /// Kills before the run was in the store, or before its first trial was.
    early: usize,
}

impl Course<'_> {
    fn drome(&self) -> Command {
        let own = self.home.path().join("own").display().to_string();
        let mut command = self.home.drome(&["run", "cut", "--catalog", &own]);
        if self.run.is_some() {
            command.arg("--resume");
        }
        command
    }

    /// Nothing is left of what was killed.
    fn assert_nothing_is_left(&self, what: &str) {
        let mark = self.home.path().display().to_string();
        wait_for(|| processes_with(&mark).is_empty(), &format!("every process to be gone {what}"));
        let is_empty = || std::fs::read_dir(self.home.temporary()).unwrap().next().is_none();
        wait_for(is_empty, &format!("every folder to be gone {what}"));
        let beside_the_store =
            std::fs::read_dir(self.home.path()).unwrap().flatten().map(|entry| entry.path());
        for lock in beside_the_store.filter(|path| path.extension().is_some_and(|ending| ending == "lock")) {
            assert!(Lock::try_take(&lock).unwrap().is_some(), "{} is still locked {what}", lock.display());
        }
    }

    /// Everything that was there is there still, in order, and nothing is there twice.
    fn look(&mut self, what: &str) {
        self.assert_nothing_is_left(what);
        let store = Store::open(&self.home.store()).unwrap();
        let Some(listed) = store.runs().unwrap().into_iter().next() else {
            assert!(self.run.is_none(), "the run has gone {what}");
            self.early += 1;
            return;
        };
        if self.run.as_ref() != Some(&listed.id) {
            assert!(self.run.is_none(), "a run was begun anew {what}");
            self.kept.clear();
            self.run = Some(listed.id.clone());
        }
        let (_, now, ended) = store.run(&listed.id).unwrap();
        assert!(now.starts_with(&self.kept), "a finished trial was lost or changed {what}");
        let trials: BTreeSet<_> = now.iter().map(|o| &o.trial).collect();
        assert_eq!(trials.len(), now.len(), "a trial is there twice {what}");
        self.early += usize::from(now.is_empty());
        self.kept = now;
        if ended.is_some() {
            // Two contenders once and the reference twice, in six blocks.
            assert_eq!(self.kept.len(), 24, "{what}");
            (self.ended, self.trials) = (self.ended + 1, self.trials + self.kept.len());
            self.run = None;
            std::fs::remove_file(self.home.store()).unwrap();
        }
    }
}

#[test]
fn killed_at_any_moment_a_run_goes_on_where_it_was() {
    let (kills, seed) = (number("DROME_TEST_KILLS", 8), number("DROME_TEST_SEED", 1));
    let home = Home::new();
    home.write("own/studies/cut.toml", STUDY);
    for name in ["one", "other"] {
        home.write(&format!("own/contenders/{name}/contender.toml"), &CONTENDER.replace("TITLE", name));
    }
    let mut course = Course { home: &home, kept: Vec::new(), run: None, ended: 0, trials: 0, early: 0 };
    for kill in 0..kills {
        let moment = LATEST.mul_f64(stats::random::uniform(seed, kill));
        let mut child = process::spawn(course.drome().stdout(Stdio::null()).stderr(Stdio::null()));
        std::thread::sleep(moment);
        child.kill().unwrap();
        process::wait(&mut child);
        course.look(&format!("after kill {} of {kills}, {moment:?} after the start, seed {seed}", kill + 1));
    }
    let finished = run(&mut course.drome());
    assert_eq!(finished.code, 0, "{}", finished.err);
    course.look("after the last part");
    home.assert_clean();
    println!(
        "{kills} kills: {} runs of 24 trials ended, {} trials, none lost, none twice; {} kills before the first trial of a run; \
         no process, folder or lock left",
        course.ended, course.trials, course.early
    );
    assert!(course.ended >= 1);
}
