//! `drome agent` as a program: it obeys its standard input, ends with it, and can be put on another machine.

use super::common::process::{self, spawn};
use super::common::{Home, processes_with, run, wait_for};
use agent::{Link, Message, hello};
use serde_json::Value;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Both sides are clean within this time of a loss.
pub const CLEAN: Duration = Duration::from_secs(10);

/// What this drome says of itself.
pub fn own() -> agent::Hello {
    hello(env!("CARGO_PKG_VERSION"))
}

/// A folder with a link to drome: another machine's PATH.
pub fn folder_with_drome(home: &Home) -> PathBuf {
    let folder = home.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    symlink(env!("CARGO_BIN_EXE_drome"), folder.join("drome")).unwrap();
    folder
}

/// The words by which drome of another home is reached, as ssh reaches that of another machine.
fn transport(home: &Home, folder: &Path) -> String {
    format!("env HOME={} PATH={}:/usr/bin:/bin", home.path().display(), folder.display())
}

#[test]
fn an_agent_is_checked() {
    let home = Home::new();
    let words = transport(&home, &folder_with_drome(&home));
    let checked = run(&mut home.drome(&["agent", "--check", &words]));
    assert_eq!(checked.code, 0, "{}", checked.err);
    for shown in
        [concat!("drome ", env!("CARGO_PKG_VERSION")), "machine  ", " cores", "clock  ", "round trip  "]
    {
        assert!(checked.out.contains(shown), "{shown}: {}", checked.out);
    }
    home.assert_clean();
}

#[test]
fn an_agent_that_is_not_there_or_another_is_told() {
    let home = Home::new();
    let check = |words: &str| run(&mut home.drome(&["agent", "--check", words]));
    let empty = home.path().join("empty");
    fs::create_dir(&empty).unwrap();
    let none = check(&format!("sh -c 'PATH={}; exec \"$@\"' sh", empty.display()));
    none.assert_err(1, &["has no drome", "--put"]);
    let other = other_version(&home);
    let other = check(&transport(&home, &other));
    other.assert_err(1, &["has drome 9.9.9"]);
    let motd = check("sh -c 'echo Welcome; exec cat >/dev/null' sh");
    assert!(motd.err.contains("its first words are \"Welcome\""), "{}", motd.err);
    let nothing = check("/nowhere/ssh-of-mine");
    assert!(nothing.err.contains("can't be run"), "{}", nothing.err);
    for wrong in [vec!["agent", "--put"], vec!["agent", "--check", "ssh -evil"]] {
        assert_eq!(run(&mut home.drome(&wrong)).code, 2, "{wrong:?}");
    }
    home.assert_clean();
}

/// A folder with another version of drome: a shell script that answers with another hello.
pub fn other_version(home: &Home) -> PathBuf {
    let frame = Message::Hello(hello("9.9.9 other")).frame();
    let folder = home.path().join("other");
    fs::create_dir(&folder).unwrap();
    fs::write(folder.join("hello"), frame).unwrap();
    let script = format!("#!/bin/sh\ncat {}/hello\nexec cat >/dev/null\n", folder.display());
    fs::write(folder.join("drome"), script).unwrap();
    fs::set_permissions(folder.join("drome"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

#[test]
fn an_agent_ends_with_its_input_and_refuses_what_is_no_request() {
    let home = Home::new();
    let obeyed = |input: &[u8]| {
        let mut command = home.drome(&["agent"]);
        let mut child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
        child.stdin.take().unwrap().write_all(input).unwrap();
        process::ended(child)
    };
    let ended = obeyed(b"");
    assert_eq!((ended.code, &ended.err[..]), (0, ""));
    assert!(ended.out.contains("\"protocol\":1"), "{}", ended.out);
    assert_eq!(obeyed(&Message::Hello(own()).frame()).code, 0);
    for (input, told) in [
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "does not answer as drome"),
        (Message::Hello(hello("9.9.9")).frame(), "has drome 9.9.9"),
        ([Message::Hello(own()).frame(), vec![0xff; 100]].concat(), "longer than any may be"),
        (
            [Message::Hello(own()).frame(), b"\x09\0\0\0\"unheard\"".to_vec()].concat(),
            "unknown variant `unheard`",
        ),
        ([Message::Hello(own()).frame(), vec![5, 0, 0, 0, 7]].concat(), "in the middle of a message"),
    ] {
        let refused = obeyed(&input);
        refused.assert_err(1, &[told]);
        assert_eq!(refused.err.lines().count(), 1, "{}", refused.err);
    }
    home.assert_clean();
}

#[test]
fn an_agent_that_hears_nothing_ends() {
    let home = Home::new();
    let mut command = home.drome(&["agent"]);
    let mut child = spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()));
    let mut input = child.stdin.take().unwrap();
    input.write_all(&Message::Hello(own()).frame()).unwrap();
    let began = Instant::now();
    let ended = process::ended(child);
    ended.assert_err(1, &["nothing came for 5 s"]);
    assert!(began.elapsed() < CLEAN);
    drop(input);
}

#[test]
fn an_agent_knows_no_other_requests_and_goes_on() {
    let home = Home::new();
    let link = Link::start("board", home.drome(&["agent"]), &own(), Duration::from_mins(1)).unwrap();
    let refused = link.ask::<_, Value>("unheard.of", &(), None, &mut |_| {}).unwrap_err().to_string();
    assert!(refused.contains("does not know `unheard.of`"), "{refused}");
    let clock = link.clock(20).unwrap();
    assert!(clock.offset_ns.unsigned_abs() <= clock.bound_ns, "one machine has one clock: {clock:?}");
    let pid = link.hello().pid;
    assert!(is_there(pid));
    drop(link);
    assert!(!is_there(pid));
}

/// Whether the process is there and no zombie.
pub fn is_there(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}

/// The copies below a home folder.
pub fn copies(home: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(home.join(".cache/drome/agents"));
    let mut copies: Vec<_> = entries.into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
    copies.sort();
    copies
}

#[test]
fn drome_is_put_where_it_is_not_once_and_whole() {
    let home = Home::new();
    let words = format!("env HOME={} PATH=/usr/bin:/bin", home.path().display());
    let put = || run(&mut home.drome(&["agent", "--check", &words, "--put"]));
    let first = put();
    first.assert_err(0, &["copying drome"]);
    let there = copies(home.path());
    assert_eq!(there.len(), 1, "{there:?}");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&there[0]), mode(there[0].parent().unwrap())), (0o700, 0o700));
    let own = fs::read(env!("CARGO_BIN_EXE_drome")).unwrap();
    assert!(fs::read(&there[0]).unwrap() == own);

    let second = put();
    assert!(second.code == 0 && !second.err.contains("copying"), "{}", second.err);

    // One that was damaged is not trusted.
    fs::write(&there[0], b"#!/bin/sh\nexit 0\n").unwrap();
    let third = put();
    third.assert_err(0, &["copying drome"]);
    assert_eq!(copies(home.path()), there);

    // A folder that is another one is not used.
    let other = Home::new();
    fs::create_dir_all(other.path().join(".cache/drome")).unwrap();
    symlink(home.temporary(), other.path().join(".cache/drome/agents")).unwrap();
    let words = format!("env HOME={} PATH=/usr/bin:/bin", other.path().display());
    let refused = run(&mut other.drome(&["agent", "--check", &words, "--put"]));
    refused.assert_err(1, &["not this user's own folder"]);
    wait_for(|| processes_with(&home.path().display().to_string()).is_empty(), "everything to end");
    home.assert_clean();
}

#[test]
fn a_build_for_another_architecture_must_be_at_hand() {
    let home = Home::new();
    let folder = home.path().join("far");
    fs::create_dir(&folder).unwrap();
    let uname = folder.join("uname");
    let there = |arch: &str, args: &[&str]| {
        fs::write(&uname, format!("#!/bin/sh\nprintf 'Linux {arch}\\n'\n")).unwrap();
        fs::set_permissions(&uname, fs::Permissions::from_mode(0o755)).unwrap();
        let words = transport(&home, &folder);
        run(home.drome(&["agent", "--check", &words, "--put"]).args(args))
    };
    let none = there("riscv64", &[]);
    none.assert_err(1, &["is riscv64", "--put-from"]);
    let path = there("../../etc/x", &[]);
    path.assert_err(1, &["an invalid architecture"]);
    let builds = home.path().join("builds");
    fs::create_dir(&builds).unwrap();
    symlink(env!("CARGO_BIN_EXE_drome"), builds.join("drome-riscv64")).unwrap();
    let found = there("riscv64", &["--put-from", builds.to_str().unwrap()]);
    assert_eq!(found.code, 0, "{}", found.err);
}
