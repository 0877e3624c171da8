//! `cargo xtask test`: runs every test, or the short ones, with a time limit for each, and shows cargo's output as
//! it is printed.

use crate::suites::binaries;
use crate::{command, packages, root, run, run_command, vendor};
use anyhow::{Context, Result, anyhow, bail};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{BufRead, BufReader, ErrorKind};
use std::process::{Child, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

/// The time limit of a test, enough for a slow and busy machine.
const LIMIT_MINUTES: u64 = 10;

/// After this time, Rust's test harness prints that a test is still running.
const TOLD_AFTER_MINUTES: u64 = 1;
const TOLD: &str = " has been running for over 60 seconds";

/// The test binary of `app`, whose name no other binary has, so that [`SLOW`] leaves out nothing elsewhere: libtest skips by a part of the name.
const PROGRAM: &str = "program";

/// The tests of [`PROGRAM`] that `--fast` leaves out: modules that drive real servers for long.
const SLOW: &[&str] = &[
    "agent_sshd::",
    "browser::",
    "busy::",
    "clashes::",
    "contenders::",
    "dialect_ab::",
    "dialect_httperf::",
    "dialect_siege::",
    "dialect_wrk::",
    "doctor::",
    "endings::",
    "faults::",
    "fleet::",
    "fresh::",
    "getting::",
    "heats::",
    "heats_memory::",
    "images::",
    "judges::",
    "kills::",
    "lifetime::",
    "load_from_namespaces::",
    "load_series::",
    "metrics::",
    "narrow::",
    "outcomes::",
    "ports::",
    "profile::",
    "profile_refused::",
    "profile_starts::",
    "race::",
    "race_cells::",
    "race_gate::",
    "race_memory::",
    "race_urls::",
    "resume::",
    "revisions::",
    "revisions_unusual::",
    "run::",
    "servers_on::",
    "servers_on_links::",
    "servers_on_sshd::",
    "stand_ins::",
    "steady::",
    "stops::",
    "sweep::",
    "ui::",
    "verdict_file::",
    "verified::",
];

/// What every call of cargo says here. Always the same packages, so that nothing is compiled twice.
const ALL: [&str; 4] = ["test", "--workspace", "--locked", "--no-fail-fast"];

/// Runs all tests, or the short ones.
pub fn test(is_fast: bool) -> Result<()> {
    if is_fast { fast() } else { test_beside(|| Ok(())) }
}

/// Installs the servers and tools that the tests need, where they are missing.
pub fn install_packages() -> Result<()> {
    packages::ensure(packages::OF_TESTS)?;
    packages::ensure_h2spec(&root())?;
    packages::ensure_grpc_judge(&root())?;
    packages::ensure_for_browser(&root())
}

/// Runs every test, and `other` at the same time: it mostly waits, as do many tests.
pub fn test_beside(other: impl FnOnce() -> Result<()> + Send) -> Result<()> {
    install_packages()?;
    watched(&[&ALL[..], &["--no-run"]].concat())?;
    let binaries =
        binaries(false).chain(binaries(true)).flat_map(|name| ["--test", name]).collect::<Vec<_>>();
    let (parts, other) = std::thread::scope(|scope| {
        let other = scope.spawn(other);
        // Every part runs, whatever fails.
        let parts = [
            watched(&[&ALL[..], &["--test", PROGRAM]].concat()),
            watched(&[&ALL[..], &["--lib", "--bins"], &binaries].concat()),
            watched(&[&ALL[..], &["--doc"]].concat()),
        ];
        (parts, other.join())
    });
    let other = other.map_err(|_| anyhow!("what ran beside the tests panicked"))?;
    let wrong: Vec<String> = parts
        .into_iter()
        .chain([other])
        .filter_map(|part| part.err().map(|error| format!("{error:#}")))
        .collect();
    if !wrong.is_empty() {
        bail!("{}", wrong.join("; "));
    }
    vendor::verify()
}

/// Runs some tests of [`PROGRAM`] with environment variables. `args` are those of Rust's test harness.
pub fn of_program(
    variables: impl IntoIterator<Item = (&'static str, impl AsRef<OsStr>)>,
    args: &[&str],
) -> Result<()> {
    let mut cargo = command("cargo");
    cargo.args(["test", "--locked", "--package", "drome", "--test", PROGRAM, "--"]).args(args);
    run_command(cargo.envs(variables).current_dir(root()))
}

fn fast() -> Result<()> {
    packages::ensure(packages::OF_TESTS)?;
    packages::ensure_h2spec(&root())?;
    packages::ensure_grpc_judge(&root())?;
    let skipped: Vec<&str> = SLOW.iter().flat_map(|module| ["--skip", *module]).collect();
    // `cargo test` builds examples, which some tests run, only if no target is named.
    run("cargo", &["build", "--workspace", "--locked", "--examples"])?;
    let others = binaries(false).flat_map(|name| ["--test", name]).collect::<Vec<_>>();
    let parts = [
        [&ALL[..], &["--lib", "--bins"], &others].concat(),
        [&ALL[..], &["--test", PROGRAM, "--"], &skipped].concat(),
    ];
    // Every part runs, whatever fails.
    let ended: Vec<Result<()>> = parts.iter().map(|part| watched(part)).collect();
    ended.into_iter().collect()
}

/// Runs cargo, shows its output on standard error, and stops it if a test takes too long.
fn watched(args: &[&str]) -> Result<()> {
    eprintln!("$ cargo {}", args.join(" "));
    // Tests wait for servers a part of the time, so more of them run at once than there are cores.
    let threads = available_parallelism().map_or(2, usize::from) + 6;
    let mut command = command("cargo");
    command.args(args).current_dir(root()).stdout(Stdio::piped());
    if std::env::var_os("RUST_TEST_THREADS").is_none() {
        command.env("RUST_TEST_THREADS", threads.to_string());
    }
    let mut cargo = command.spawn().context("can't run cargo")?;
    let late = follow(&mut cargo);
    let status = cargo.wait()?;
    match late {
        Some(test) => bail!("the test {test} did not end within {LIMIT_MINUTES} minutes"),
        None if status.success() => Ok(()),
        None => bail!("`cargo {}` failed ({status})", args.join(" ")),
    }
}

/// Passes on cargo's output until cargo ends. If a test takes too long, kills everything and returns the test's
/// name.
fn follow(cargo: &mut Child) -> Option<String> {
    let pipe = cargo.stdout.take()?;
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut pipe = BufReader::new(pipe);
        let mut line = Vec::new();
        loop {
            line.clear();
            match pipe.read_until(b'\n', &mut line) {
                Ok(0) => return,
                Err(error) if error.kind() != ErrorKind::Interrupted => return,
                _ if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() => return,
                _ => {}
            }
        }
    });
    let mut long = Long::default();
    loop {
        match lines.recv_timeout(Duration::from_secs(1)) {
            Ok(line) => {
                eprint!("{line}");
                long.read(&line, Instant::now());
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return None,
        }
        if let Some(test) = long.late(Instant::now()) {
            kill_tree(cargo.id());
            return Some(test);
        }
    }
}

/// Tests that have been running for long according to the harness, and when the harness printed that.
#[derive(Default)]
struct Long(BTreeMap<String, Instant>);

impl Long {
    fn read(&mut self, line: &str, now: Instant) {
        if line.contains("Running ") || line.starts_with("test result: ") {
            self.0.clear(); // Another binary.
        }
        let Some(rest) = line.trim_end().strip_prefix("test ") else { return };
        if let Some(name) = rest.strip_suffix(TOLD) {
            self.0.insert(name.to_owned(), now);
        } else if let Some((name, _)) = rest.split_once(" ... ") {
            self.0.remove(name);
        }
    }

    fn late(&self, now: Instant) -> Option<String> {
        let left = Duration::from_mins(LIMIT_MINUTES - TOLD_AFTER_MINUTES);
        let mut all = self.0.iter();
        all.find(|(_, since)| now.duration_since(**since) > left).map(|(name, _)| name.clone())
    }
}

/// Kills a process and all its descendants, as far as they are still attached to it.
fn kill_tree(root: u32) {
    let parents: Vec<(i32, i32)> = std::fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, parent(pid)?)))
        .collect();
    let mut tree = vec![root as i32];
    let mut at = 0;
    while at < tree.len() {
        let of = tree[at];
        tree.extend(parents.iter().filter(|(_, parent)| *parent == of).map(|(pid, _)| *pid));
        at += 1;
    }
    for pid in tree.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn parent(pid: i32) -> Option<i32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    fn late_after(minutes: u64, lines: &[&str]) -> Option<String> {
        let (mut long, now) = (Long::default(), Instant::now());
        lines.iter().for_each(|line| long.read(&format!("{line}\n"), now));
        long.late(now + Duration::from_mins(minutes))
    }

    #[test]
    fn a_test_that_does_not_end_is_named_after_ten_minutes() {
        let told = "test race::one has been running for over 60 seconds";
        assert_eq!(late_after(8, &[told]), None);
        assert_eq!(late_after(10, &["test gate::two ... ok", told]), Some("race::one".to_owned()));
    }

    #[test]
    fn a_test_that_has_ended_is_not_named() {
        let told = "test race::one has been running for over 60 seconds";
        assert_eq!(late_after(60, &[told, "test race::one ... ok"]), None);
        assert_eq!(late_after(60, &[told, "test race::one ... FAILED"]), None);
        assert_eq!(late_after(60, &[told, "test result: FAILED. 3 passed; 1 failed;"]), None);
    }

    #[test]
    fn what_is_killed_is_killed_with_all_that_it_started() {
        let mut shell = std::process::Command::new("sh")
            .args(["-c", "sleep 1000 & echo $!; wait"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(shell.stdout.take().unwrap()).read_line(&mut line).unwrap();
        kill_tree(shell.id());
        assert!(!shell.wait().unwrap().success());
        let stat = format!("/proc/{}/stat", line.trim());
        let state = || {
            std::fs::read_to_string(&stat).ok().and_then(|s| Some(s.rsplit_once(')')?.1.trim().as_bytes()[0]))
        };
        while state().is_some_and(|state| state != b'Z') {
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    #[test]
    fn what_is_left_out_is_there() {
        let main = std::fs::read_to_string(root().join("app/tests/suite/main.rs")).unwrap();
        for left_out in SLOW {
            let (module, name) = left_out.split_once("::").unwrap();
            assert!(main.contains(&format!("mod {module};")), "{left_out}");
            let file = root().join(format!("app/tests/suite/{module}.rs"));
            let has_it = || std::fs::read_to_string(&file).unwrap().contains(&format!("fn {name}"));
            assert!(name.is_empty() || has_it(), "{left_out}");
        }
    }

    #[test]
    fn the_program_s_test_binary_is_named_as_here() {
        let manifest = std::fs::read_to_string(root().join("app/Cargo.toml")).unwrap();
        let named = format!("\nname = \"{PROGRAM}\"\npath = \"tests/suite/main.rs\"");
        assert!(manifest.contains(&named), "{manifest}");
    }
}
