//! The process between drome and a server. It is the parent of all that the server starts, even of what
//! cuts itself loose, and ends all of it when drome is gone, however drome went: its standard input closes.
//!
//! It says on its standard output: `pid N` once the server is started, or `error …`; `exit …` when the
//! server has ended; `left N` when, at the end, N processes had to be killed. The server's folder goes with it.

use crate::tree;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process, pidfd_open, set_child_subreaper};
use std::fs::File;
use std::io::{Read, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// How long killed processes may take to disappear.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// Runs the guard. `args`: the CPUs, comma-separated; the server's soft limit of descriptors, or nothing; its folder; the
/// log; the command.
pub fn run(args: &[String]) -> ExitCode {
    let [cpus, descriptors, dir, log, program, args @ ..] = args else {
        eprintln!("the guard is started by drome itself");
        return ExitCode::from(2);
    };
    // drome raised its own limit, and some servers size their tables by theirs.
    let limited = descriptors.parse().map_or(Ok(()), net::limits::set_descriptors);
    let result = limited.and_then(|()| guard(cpus, Path::new(dir), Path::new(log), program, args));
    // Whoever asked for the folder may be gone by now.
    let _ = std::fs::remove_dir_all(dir);
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error {error}"));
            ExitCode::FAILURE
        }
    }
}

fn guard(cpus: &str, dir: &Path, log: &Path, program: &str, args: &[String]) -> std::io::Result<()> {
    let cpus: Vec<usize> = cpus.split(',').filter_map(|cpu| cpu.parse().ok()).collect();
    if !cpus.is_empty() {
        net::cpu::pin(&cpus)?;
    }
    // Whatever the server starts and leaves behind becomes a child of this process.
    set_child_subreaper(Some(rustix::process::getpid()))?;
    let log = File::options().create(true).append(true).open(log)?;
    let spawned = Command::new(program)
        .args(args)
        .current_dir(dir)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            return Err(std::io::Error::new(error.kind(), format!("can't start `{program}`: {error}")));
        }
    };
    say(&format!("pid {}", child.id()));
    let ended = pidfd_open(Pid::from_child(&child), PidfdFlags::empty())?;
    let input = stdin();
    let mut waiting = vec![PollFd::new(&input, PollFlags::IN), PollFd::new(&ended, PollFlags::IN)];
    loop {
        match poll(&mut waiting, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        if waiting.len() == 2 && !waiting[1].revents().is_empty() {
            say(&format!("exit {}", child.wait()?));
            waiting.truncate(1);
        }
        if !waiting[0].revents().is_empty() && input.lock().read(&mut [0; 64])? == 0 {
            break;
        }
    }
    let left = kill_all();
    let _ = child.wait();
    say(&format!("left {left}"));
    Ok(())
}

/// Kills every descendant until there is none; returns how many there were at first.
fn kill_all() -> usize {
    let own = std::process::id() as i32;
    let first = tree::living(own);
    let deadline = Instant::now() + KILL_PATIENCE;
    let mut living = first.clone();
    while !living.is_empty() && Instant::now() < deadline {
        for pid in living.iter().filter_map(|pid| Pid::from_raw(*pid)) {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(2));
        living = tree::living(own);
    }
    first.len()
}

/// A reader that is gone is no reason to stop guarding.
fn say(line: &str) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
