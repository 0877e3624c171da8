//! `io_uring` where it is to be had, epoll and the reason where it is not; and what servers inherit of drome's limits.

use crate::common::{DROME, Finished, Home, back_ends, ordinary, process, run, serve};
use serde_json::Value;
use std::process::Command;

/// Runs a program with `io_uring_setup` forbidden by a seccomp filter, as those of containers do it. The call has the
/// number 425 on every architecture.
const FORBIDDEN: &str = r#"
import ctypes, os, struct, sys
LOAD_NUMBER, EQUAL, RETURN = 0x20, 0x15, 0x06
REFUSE, ALLOW, EPERM = 0x00050000, 0x7fff0000, 1
steps = [(LOAD_NUMBER, 0, 0, 0), (EQUAL, 0, 1, 425), (RETURN, 0, 0, REFUSE | EPERM), (RETURN, 0, 0, ALLOW)]
code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(steps), ctypes.addressof(code)))
prctl = ctypes.CDLL(None, use_errno=True).prctl
zero = ctypes.c_ulong(0)
if prctl(38, ctypes.c_ulong(1), zero, zero, zero) or prctl(22, ctypes.c_ulong(2), program, zero, zero):
    sys.exit(os.strerror(ctypes.get_errno()))
os.execv(sys.argv[1], sys.argv[1:])
"#;

/// The same command below another program.
fn below(outer: &[&str], inner: &Command) -> Command {
    let mut command = Command::new(outer[0]);
    command.args(&outer[1..]);
    process::run_by(command, inner)
}

fn load(outer: &[&str], home: &Home, url: &str, args: &[&str]) -> Finished {
    run(&mut below(outer, home.drome(&["load", url, "-n", "200", "-c", "8"]).args(args)))
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.out)
        .unwrap_or_else(|e| panic!("{e}: code {}\n{}\n{}", finished.code, finished.out, finished.err))
}

#[test]
fn at_the_usual_soft_limit_of_descriptors_the_best_back_end_drives_the_sockets() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    let best = *back_ends().last().unwrap();
    let usual = ["sh", "-c", "ulimit -Sn 1024; exec \"$0\" \"$@\""];
    let plan = &json(&load(&usual, &home, &url, &["--format", "json"]))["plan"];
    assert_eq!(plan["io"], best, "{plan}");
    assert_eq!(plan["io_fallback"].is_string(), best != "uring", "{plan}");
    let finished = load(&usual, &home, &url, &[]);
    assert!(finished.out.contains(&format!(", {best}")), "{}", finished.out);
    // Where the hard limit is as low, either will do; but epoll says why.
    let hard = ["sh", "-c", "ulimit -n 1024; exec \"$0\" \"$@\""];
    let plan = &json(&load(&hard, &home, &url, &["--format", "json"]))["plan"];
    assert_eq!(plan["io"] == "epoll", plan["io_fallback"].is_string(), "{plan}");
}

#[test]
fn where_io_uring_is_forbidden_epoll_says_why() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    let forbidden = ["python3", "-c", FORBIDDEN];
    let finished = load(&forbidden, &home, &url, &[]);
    assert!(
        finished.out.contains(", epoll (io_uring: Operation not permitted: "),
        "{}{}",
        finished.out,
        finished.err
    );
    assert!(
        finished.out.contains("seccomp") || finished.out.contains("io_uring_disabled"),
        "{}",
        finished.out
    );
    let tally = json(&load(&forbidden, &home, &url, &["--format", "json"]));
    assert_eq!((&tally["plan"]["io"], &tally["errors"]["total"]), (&"epoll".into(), &0.into()), "{tally}");
    let why = tally["plan"]["io_fallback"].as_str().unwrap();
    assert!(why.starts_with("Operation not permitted: "), "{why}");
    assert!(tally["verdict"]["reasons"].to_string().contains("used epoll"), "{tally}");
    // Who asked for epoll has no fall-back, and who asked for io_uring gets the reason.
    let asked = json(&load(&forbidden, &home, &url, &["--format", "json", "--io", "epoll"]));
    assert!(asked["plan"]["io_fallback"].is_null(), "{asked}");
    let finished = load(&forbidden, &home, &url, &["--io", "uring"]);
    finished.assert_err(1, &["io_uring can't be used here (Operation"]);
}

/// The ring that shows whether rings can be had takes memory that the load's own rings need, until the kernel has it back.
#[test]
fn a_load_that_may_not_lock_memory_for_its_rings_says_so() {
    let (home, server) = (Home::new(), serve(&[]));
    let url = format!("http://{}/hello", server.address);
    // About one ring, and not quite two.
    for (limit_kb, threads) in [(256, "2"), (384, "1"), (384, "1"), (384, "2")] {
        let script = format!("ulimit -l {limit_kb}; exec {} \"$0\" \"$@\"", ordinary());
        let finished = load(&["sh", "-c", &script], &home, &url, &["--io", "uring", "-t", threads]);
        let is_told = finished.err.contains("share the limit of locked memory, and it is used up");
        assert!(finished.code == 0 || is_told || back_ends().len() == 1, "{limit_kb} KiB: {}", finished.err);
    }
}

#[test]
fn a_server_that_falls_back_says_why_and_answers() {
    let home = Home::new();
    let mut command = below(&["python3", "-c", FORBIDDEN], &home.drome(&["serve", "--port", "0"]));
    let mut child = process::spawn_heard(&mut command);
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line)
        .unwrap();
    let finished = load(&["env"], &home, &format!("{}hello", line.trim()), &["--format", "json"]);
    child.kill().unwrap();
    let err = String::from_utf8(child.wait_with_output().unwrap().stderr).unwrap();
    assert_eq!(json(&finished)["requests"]["completed"], 200);
    assert!(err.contains("using epoll, because io_uring can't be used here (Operation not"), "{err}");
}

/// Some servers size their tables by the limit: one that changed from trial to trial would make two servers of one.
#[test]
fn servers_have_the_limit_that_drome_was_started_with_in_every_trial() {
    let home = Home::new();
    let seen = home.path().join("limits");
    let server = format!("ulimit -Sn >> {}; exec {DROME} serve --port {{port}}", seen.display());
    let args =
        ["race", &server, &server, "--duration", "100ms", "--warmup", "10ms", "--rounds", "1", "-c", "4"];
    let finished = run(&mut below(&["sh", "-c", "ulimit -Sn 1024; exec \"$0\" \"$@\""], &home.drome(&args)));
    let limits = std::fs::read_to_string(&seen).unwrap_or_default();
    assert!(limits.lines().count() > 4, "{}{limits}", finished.err);
    assert!(limits.lines().all(|limit| limit == "1024"), "{limits}");
}
