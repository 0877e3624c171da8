//! `drome agent` over a real ssh and sshd, on this machine: what works, and what stands in the way, each told in a sentence.

use super::agent::{CLEAN, copies, is_there, other_version};
use super::common::sshd::Sshd;
use super::common::{Finished, Home, wait_for};
use agent::LinkError;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// Sends a signal to processes, of which some may be gone.
pub fn signal(signal: &str, pids: &[u32]) {
    let sent =
        Command::new("kill").arg(signal).args(pids.iter().map(u32::to_string)).stderr(Stdio::null()).status();
    sent.unwrap();
}

/// In one sentence.
fn assert_told(finished: &Finished, told: &str) {
    assert_eq!(finished.code, 1, "{}", finished.err);
    assert!(
        finished.err.contains(told) && finished.err.trim().lines().count() == 1,
        "{told}: {}",
        finished.err
    );
}

#[test]
fn drome_over_there_is_used() {
    let sshd = Sshd::usual();
    let checked = sshd.check("config", &[]);
    checked.assert_out(0, &["round trip"]);
    let link = sshd.link();
    let large = "7".repeat(3 << 20);
    for refused in ["", &large] {
        let told = link.ask::<_, Value>("unheard.of", &refused, None, &mut |_| {});
        assert!(matches!(told, Err(LinkError::Refused(_))), "{told:?}");
    }
    let agent = link.hello().pid;
    drop(link);
    wait_for(|| !is_there(agent), "the agent to end");
    sshd.assert_clean();
}

#[test]
fn who_may_not_log_in_and_an_unknown_host_are_told() {
    let sshd = Sshd::usual();
    assert_told(&sshd.check("wrong-key", &[]), "refuses the key or the user");
    assert_told(&sshd.check("no-host", &[]), "has a host key that `ssh` does not know");
    sshd.assert_clean();
}

#[test]
fn a_host_without_drome_or_with_another_is_told_and_drome_can_be_put_there() {
    let home = Home::new();
    let other = other_version(&home);
    let path = format!("{}:/usr/bin:/bin", other.display());
    let sshd = Sshd::start(home, Path::new(&path), "");
    assert_told(&sshd.check("config", &[]), "has drome 9.9.9");
    drop(sshd);
    // Where only the system's programs are.
    let home = Home::new();
    let bin = home.path().join("system");
    fs::create_dir(&bin).unwrap();
    for program in
        ["sh", "cat", "mkdir", "chmod", "mv", "rm", "ls", "wc", "uname", "sync", "grep", "tail", "sha256sum"]
    {
        let found = ["/usr/bin", "/bin"]
            .iter()
            .map(|folder| Path::new(folder).join(program))
            .find(|file| file.exists());
        std::os::unix::fs::symlink(found.unwrap(), bin.join(program)).unwrap();
    }
    let sshd = Sshd::start(home, &bin, "");
    assert_told(&sshd.check("config", &[]), "has no drome");
    let put = sshd.check("config", &["--put"]);
    put.assert_out(0, &["round trip"]);
    assert_eq!(copies(&sshd.user).len(), 1);
    sshd.assert_clean();
}

#[test]
fn a_full_disk_there_is_told_and_no_part_of_a_copy_stays() {
    let home = Home::new();
    // A limit of a file's size is a full disk that needs no right to mount one.
    let limited = "ForceCommand ulimit -f 200; eval \"$SSH_ORIGINAL_COMMAND\"";
    let sshd = Sshd::start(home, Path::new("/usr/bin:/bin"), limited);
    let full = sshd.check("config", &["--put", "--quiet"]);
    assert_told(&full, "has no room for drome");
    assert_eq!(copies(&sshd.user), Vec::<PathBuf>::new());
    sshd.assert_clean();
}

#[test]
fn a_connection_that_is_cut_is_noticed_on_both_sides() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    // An agent is no process of sshd's own.
    let sessions: Vec<u32> = sshd.sessions().into_iter().filter(|pid| *pid != agent).collect();
    let began = Instant::now();
    signal("-KILL", &sessions);
    wait_for(|| link.lost().is_some() && !is_there(agent), "both sides to notice");
    assert!(began.elapsed() < CLEAN, "{:?}", began.elapsed());
    let told = link.ask::<_, Value>("x", &(), None, &mut |_| {}).unwrap_err().to_string();
    assert!(told.contains("the link to board is lost"), "{told}");
    drop(link);
    sshd.assert_clean();
}

#[test]
fn a_network_that_carries_nothing_any_more_is_noticed_on_both_sides() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    let sessions: Vec<u32> = sshd.sessions().into_iter().filter(|pid| *pid != agent).collect();
    let began = Instant::now();
    // Nothing is said and nothing is closed.
    signal("-STOP", &sessions);
    wait_for(|| link.lost().is_some() && !is_there(agent), "both sides to notice");
    assert!(began.elapsed() < CLEAN, "{:?}", began.elapsed());
    assert!(link.lost().unwrap().contains("nothing came for 5 s"));
    drop(link);
    signal("-KILL", &sessions);
    sshd.assert_clean();
}

#[test]
fn an_agent_that_hangs_is_left_and_ends_when_it_goes_on() {
    let sshd = Sshd::usual();
    let link = sshd.link();
    let agent = link.hello().pid;
    let began = Instant::now();
    signal("-STOP", &[agent]);
    let told = link.ask::<_, Value>("x", &(), None, &mut |_| {}).unwrap_err().to_string();
    assert!(told.contains("nothing came for 5 s") && began.elapsed() < CLEAN, "{told}");
    drop(link);
    assert!(began.elapsed() < CLEAN);
    signal("-CONT", &[agent]);
    wait_for(|| !is_there(agent), "the agent to end");
    sshd.assert_clean();
}
