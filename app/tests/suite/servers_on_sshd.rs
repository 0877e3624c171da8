//! A race whose servers are behind a real ssh that is cut, an agent that hangs, and a full disk there: each is told in a sentence that names
//! the machine, and nothing is left on either side. It needs root, as CI has it.

use super::agent_sshd::signal;
use super::servers_on_links::{in_a_long_window, packets_in_a_second};
use crate::common::namespace::{Namespace, folder_of_drome};
use crate::common::process;
use crate::common::sshd::Sshd;
use crate::common::{DROME, Finished, Home, run, wait_for};
use std::fs;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Five seconds of silence, and as many for all that runs to end, on a machine that is busy.
const BOUND: Duration = Duration::from_secs(30);

/// Home, the other machine, and the sshd there.
struct Two {
    home: Home,
    sshd: Sshd,
    namespace: Namespace,
}

impl Two {
    fn new() -> Self {
        let namespace = Namespace::new();
        Self { home: Home::new(), sshd: Sshd::within(&namespace), namespace }
    }

    /// The race has ended soon after that moment, with one sentence.
    fn assert_told(&self, race: Child, why: &str, since: Instant) {
        let ended = process::ended(race);
        assert!(since.elapsed() < BOUND, "{:?}: {}", since.elapsed(), ended.err);
        let lost = format!("the link to {} is lost: {why}", self.sshd.transport("config"));
        // The lines before it say which starts are repeated.
        assert_one_line(&ended, "drome: run", &lost);
    }

    /// Nothing is left on either side soon after that moment.
    fn assert_clean(&self, since: Instant) {
        wait_for(|| self.namespace.dromes().is_empty(), "the agent and its servers to end");
        assert!(since.elapsed() < BOUND, "{:?}", since.elapsed());
        self.sshd.assert_clean();
        self.home.assert_clean();
    }
}

/// drome could not do its work: one line says so by these words, and has all of that sentence.
fn assert_one_line(ended: &Finished, words: &str, sentence: &str) {
    let told: Vec<&str> = ended.err.lines().filter(|line| line.contains(words)).collect();
    assert!(
        ended.code == 1 && told.len() == 1 && told[0].contains(sentence),
        "{}, not `{sentence}`: {}",
        ended.code,
        ended.err
    );
}

/// A race of the same server twice, started by this ssh.
fn race(home: &Home, board: &str) -> Command {
    let server = format!("{DROME} serve --listen {{host}} --port {{port}}");
    let mut command = home.drome(&["race", &server, &server, "--url", "http://127.0.0.1:{port}/hello"]);
    command.args(["--server-on", board, "-c", "8", "--warmup", "100ms"]);
    command
}

/// A race over ssh while the servers are loaded in turns.
fn in_turns(two: &Two) -> Child {
    let mut command = race(&two.home, &two.sshd.transport("config"));
    command.args(["--duration", "30s", "--budget", "1h"]);
    let child = process::spawn_heard(&mut command);
    // The agent, and a server and a hub with what guards them.
    wait_for(|| two.namespace.dromes().len() >= 5, "the servers to run there");
    wait_for(|| packets_in_a_second(&two.namespace) > 2_000, "the load");
    child
}

/// Those of the processes that are this program, or a part of it.
fn named(pids: Vec<u32>, program: &str) -> Vec<u32> {
    let name = |pid: u32| fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let found: Vec<u32> = pids.into_iter().filter(|pid| name(*pid).starts_with(program)).collect();
    assert!(!found.is_empty(), "no {program} runs");
    found
}

/// The agent, which whoever has logged in has started.
fn agent_of(sshd: &Sshd) -> u32 {
    let is_agent = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0).nth(1) == Some(&b"agent"[..])
    };
    sshd.sessions().into_iter().find(is_agent).expect("an agent at work")
}

#[test]
fn a_session_that_is_killed_in_a_window_ends_the_race_on_both_sides() {
    let two = Two::new();
    let race = in_a_long_window(&two.home, &two.namespace, &two.sshd);
    let sessions = named(two.sshd.sessions(), "sshd");
    let cut = Instant::now();
    signal("-KILL", &sessions);
    two.assert_told(race, "", cut);
    two.assert_clean(cut);
}

/// An agent that is stopped; dropping this has it go on, and then it ends.
struct Stopped(u32);

impl Stopped {
    fn now(agent: u32) -> Self {
        signal("-STOP", &[agent]);
        Self(agent)
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        signal("-CONT", &[self.0]);
    }
}

#[test]
fn an_agent_that_hangs_in_a_window_is_told_and_ends_with_its_servers_when_it_goes_on() {
    let two = Two::new();
    let race = in_a_long_window(&two.home, &two.namespace, &two.sshd);
    let (stopped, since) = (Stopped::now(agent_of(&two.sshd)), Instant::now());
    two.assert_told(race, "nothing came for 5 s", since);
    // Nothing there can end while what is to end it does not run.
    drop(stopped);
    two.assert_clean(Instant::now());
}

#[test]
fn an_agent_that_hangs_in_turns_is_told_and_its_servers_end_when_it_is_killed() {
    let two = Two::new();
    let race = in_turns(&two);
    let agent = agent_of(&two.sshd);
    let (stopped, since) = (Stopped::now(agent), Instant::now());
    two.assert_told(race, "nothing came for 5 s", since);
    signal("-KILL", &[agent]);
    two.assert_clean(Instant::now());
    drop(stopped);
}

/// A race over an ssh behind which this folder, below the home folder there, is on a disk without any room. `variable` names it.
fn raced_on_a_full_disk(folder: &str, variable: &str, more: &[&str]) -> (String, Finished) {
    let home = Home::new();
    // Room for the folder itself, where no other process sees it; it is gone with the session.
    let session = format!(
        "ForceCommand exec unshare --mount sh -c 'mount -t tmpfs -o size=4k,nr_inodes=1 full \"$HOME/{folder}\" && \
         export {variable}=\"$HOME/{folder}\" && eval \"exec $SSH_ORIGINAL_COMMAND\"'"
    );
    let sshd = Sshd::start(Home::new(), Path::new(&folder_of_drome()), &session);
    fs::create_dir(sshd.user.join(folder)).unwrap();
    let board = sshd.transport("config");
    let began = Instant::now();
    let ended = run(race(&home, &board).args(["--duration", "100ms", "--rounds", "2"]).args(more));
    assert!(began.elapsed() < 2 * BOUND, "{:?}", began.elapsed());
    sshd.assert_clean();
    home.assert_clean();
    (board, ended)
}

#[test]
fn a_full_disk_there_is_told_with_what_has_no_room() {
    const FULL: &str = "No space left on device";
    // What drome makes for itself.
    let (board, ended) = raced_on_a_full_disk("full", "DROME_CACHE", &[]);
    assert_one_line(&ended, FULL, &format!("{board}: can't write the cache folder "));
    assert!(ended.err.contains("free some space"), "{}", ended.err);
    // What a server gets.
    let (board, ended) = raced_on_a_full_disk("full", "TMPDIR", &[]);
    assert_one_line(&ended, FULL, &format!("{board}: can't make a folder in "));
    // drome itself.
    let (board, ended) = raced_on_a_full_disk(".cache", "UNUSED", &["--put"]);
    assert_one_line(&ended, FULL, &format!("{board} has no room for drome in its home folder"));
}
