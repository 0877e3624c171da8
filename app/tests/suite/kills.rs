//! drome killed at random moments and told to go on: whatever the moment, nothing that was stored is lost, nothing is there twice, and no
//! process, folder or lock stays. Eight kills unless `DROME_TEST_KILLS` says otherwise (`cargo xtask kills` makes it a hundred).

use crate::common::{Home, process, processes_with, run, wait_for};
use control::lock::Lock;
use model::Measured;
use model::heat::HUB;
use std::collections::BTreeSet;
use std::process::{Command, Stdio};
use std::time::Duration;
use store::Store;

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

/// No kill comes later than so long after the start: time for some heats.
const LATEST: Duration = Duration::from_secs(4);

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().and_then(|n| n.parse().ok()).unwrap_or(default)
}

/// What is known of the run at hand.
struct Course<'h> {
    home: &'h Home,
    kept: Measured,
    run: Option<String>,
    /// Runs that came to their end.
    ended: usize,
    /// Starts of those that were measured.
    starts: usize,
    /// Kills before the run was in the store, or before its first heat was.
    early: usize,
}

impl Course<'_> {
    fn drome(&self) -> Command {
        let mut command = self.home.with_catalog(&["run", "cut"]);
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
            self.kept = Measured::default();
            self.run = Some(listed.id.clone());
        }
        let (_, ended) = store.run(&listed.id).unwrap();
        let now = store.measured(&listed.id).unwrap();
        assert!(now.heats.starts_with(&self.kept.heats), "a heat was lost or changed {what}");
        // Of a start that was alive when drome was killed, the row stays as it is, and another start replaces it.
        assert!(now.starts.starts_with(&self.kept.starts), "a start was lost or changed {what}");
        let has = |slice| now.slices.contains(slice);
        assert!(self.kept.slices.iter().all(has), "a slice was lost or changed {what}");
        let measured = now.starts.iter().filter(|start| !start.cells.is_empty() && start.contender != HUB);
        let measured: Vec<_> = measured.map(|start| (start.round, &start.contender)).collect();
        let once: BTreeSet<_> = measured.iter().collect();
        assert_eq!(once.len(), measured.len(), "a contender was measured twice in a round {what}");
        self.early += usize::from(measured.is_empty());
        if ended.is_some() {
            // Two contenders and the reference, in six rounds.
            assert_eq!(measured.len(), 18, "{what}");
            (self.ended, self.starts) = (self.ended + 1, self.starts + measured.len());
            self.run = None;
            std::fs::remove_file(self.home.store()).unwrap();
        }
        self.kept = now;
    }
}

#[test]
fn killed_at_any_moment_a_run_goes_on_where_it_was() {
    let (kills, seed) = (number("DROME_TEST_KILLS", 8), number("DROME_TEST_SEED", 1));
    let home = Home::new();
    home.add_study("cut", &["one", "other"], 6);
    for name in ["one", "other"] {
        home.write(&format!("own/contenders/{name}/contender.toml"), &CONTENDER.replace("TITLE", name));
    }
    let mut course =
        Course { home: &home, kept: Measured::default(), run: None, ended: 0, starts: 0, early: 0 };
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
        "{kills} kills: {} runs of 18 starts ended, {} starts, none lost, none twice; {} kills before the first heat of a run; \
         no process, folder or lock left",
        course.ended, course.starts, course.early
    );
    assert!(course.ended >= 1);
}
