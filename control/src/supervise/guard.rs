//! The guard: a process between drome and a server. It is the parent of everything that the server starts, detached processes
//! included, and ends them all when drome is gone for whatever reason: the guard's standard input then closes.
//!
//! The server's folder belongs to the guard: it creates the folder first and removes it last, so that no kill of drome can leave the
//! folder behind. The guard writes these lines to its standard output: `dir PATH` when the folder exists, whereupon drome fills it and
//! sends its [`GuardOrder`]; `pid N` when the server has started; `exit …` when it has ended; `left N` when, at the end, N processes had
//! to be killed; `unkillable N` when process N, the server, does not end even so; `remains …` when what the server left elsewhere, its
//! container, could not be removed; `refused …` instead of `pid` when the server's command can't be started; `failed …` at any time when
//! the guard itself can't go on.

use crate::poll_while::poll_until;
use crate::processes::tree;
use crate::supervise::{GuardedStart, removal};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, set_child_subreaper,
};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{BufRead, Error, ErrorKind, Read, Write, stdin, stdout};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// The variable that tells a server written for the catalog where to listen.
const HOST: &str = "DROME_HOST";

/// The first word of the command line of a guard, which is drome itself.
pub const WORD: &str = "__guard";

/// How long killed processes may take to disappear.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How long the program that runs a container may take to end after SIGTERM, so that it does not leave half a container.
const END_PATIENCE: Duration = Duration::from_secs(3);

/// How long a tool's daemon may still take to create a container after the program that asked for it was killed.
const SETTLED: Duration = Duration::from_millis(300);

/// What the guard is to start, as a line of JSON on its standard input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuardOrder {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Everything else about it.
    pub start: GuardedStart,
}

/// Why a guard ends early.
enum Halt {
    /// The server's command can't be started.
    Refused(String),
    /// The guard's own failure.
    Failed(Error),
}

impl From<Error> for Halt {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// Runs the guard.
pub fn run() -> ExitCode {
    // Removed, with all that the server left in it, when this function ends: then no process of the server's is left.
    let folder = tempfile::Builder::new().prefix("drome-").tempdir();
    let halted = match &folder {
        Ok(folder) => guard(folder.path()),
        Err(error) => {
            let what = format!("can't make a folder in {}: {error}", std::env::temp_dir().display());
            Err(Halt::Failed(Error::new(error.kind(), what)))
        }
    };
    match halted {
        Ok(()) => return ExitCode::SUCCESS,
        Err(Halt::Refused(why)) => say(&format!("refused {why}")),
        Err(Halt::Failed(error)) => say(&format!("failed {error}")),
    }
    ExitCode::FAILURE
}

fn guard(dir: &Path) -> Result<(), Halt> {
    say(&format!("dir {}", dir.display()));
    let mut line = String::new();
    if stdin().lock().read_line(&mut line)? == 0 {
        return Ok(());
    }
    let GuardOrder { command, start } = serde_json::from_str(&line).map_err(Error::from)?;
    if !start.cpus.is_empty() {
        net::cpu::pin(&start.cpus)?;
    }
    if let Some(descriptors) = start.descriptors {
        net::limits::set_descriptors(descriptors)?;
    }
    // Whatever the server starts and leaves behind becomes a child of this process.
    set_child_subreaper(Some(rustix::process::getpid())).map_err(Error::from)?;
    let mut child = spawn(&command, &start, dir)?;
    say(&format!("pid {}", child.id()));
    let watched = watch(&mut child);
    let (left, remains) =
        if start.removal.is_empty() { (kill_all(), None) } else { remove(&start.removal, &mut child, dir) };
    say(&format!("left {left}"));
    // It is the guard's own child, so it is gone only when the guard has waited for it.
    if !poll_until(Instant::now() + KILL_PATIENCE, || !is_running(&mut child)) {
        say(&format!("unkillable {}", child.id()));
    }
    if let Some(why) = remains {
        say(&format!("remains {}", why.replace('\n', " ")));
        // If drome is gone, only the log can report this.
        let _ =
            File::options().append(true).open(&start.log).and_then(|mut log| writeln!(log, "drome: {why}"));
    }
    Ok(watched?)
}

/// Ends a server that runs in a container, and removes the container. Returns how many processes had to be killed, and why the
/// container could not be removed.
///
/// The tool removes the container first, while the processes that keep its accounts are alive. A container that is only being created
/// does not exist for the tool yet; therefore the program that creates it is ended after that, and the tool is asked again.
fn remove(removal: &[String], child: &mut Child, dir: &Path) -> (usize, Option<String>) {
    let had_ended = !is_running(child);
    let first = removal::run(removal, dir);
    if is_running(child)
        && let Some(group) = Pid::from_raw(child.id() as i32)
    {
        let _ = kill_process_group(group, Signal::TERM);
        poll_until(Instant::now() + END_PATIENCE, || !is_running(child));
    }
    let left = kill_all();
    if had_ended && first.is_ok() {
        return (left, None);
    }
    std::thread::sleep(SETTLED);
    let last = removal::run(removal, dir);
    kill_all();
    (left, last.err())
}

fn is_running(child: &mut Child) -> bool {
    matches!(child.try_wait(), Ok(None))
}

fn spawn(command: &[String], start: &GuardedStart, dir: &Path) -> Result<Child, Halt> {
    let unable = |e: Error| Error::new(e.kind(), format!("can't write the log {}: {e}", start.log.display()));
    let log = File::options().create(true).append(true).open(&start.log).map_err(unable)?;
    let (program, args) = command.split_first().ok_or_else(|| Halt::Refused("no command".to_owned()))?;
    let spawned = Command::new(program)
        .args(args)
        .current_dir(dir)
        .envs(start.env.iter().map(|(name, value)| (name, value)))
        .envs(start.address.map(|at| (HOST, at.ip().to_string())))
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .process_group(0)
        .spawn();
    spawned.map_err(|error| {
        let why = format!("can't start `{program}`: {error}");
        // No room for one more process is not the server's doing.
        let is_lack = matches!(error.kind(), ErrorKind::OutOfMemory | ErrorKind::WouldBlock);
        if is_lack { Halt::Failed(Error::new(error.kind(), why)) } else { Halt::Refused(why) }
    })
}

/// Waits until drome is gone or asks for the end; reports it if the server ends by itself.
fn watch(child: &mut Child) -> Result<(), Error> {
    let ended = pidfd_open(Pid::from_child(child), PidfdFlags::empty())?;
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
            return Ok(());
        }
    }
}

/// Kills the descendants of this process that no guard has started: builds and other commands. A guard ends what is below it, with the
/// folder, when its own input ends.
pub fn kill_unguarded() {
    let all = tree::living(std::process::id() as i32);
    let guards: Vec<i32> = all.iter().copied().filter(|pid| is_guard(*pid)).collect();
    let guarded: Vec<i32> = guards.iter().flat_map(|guard| tree::living(*guard)).collect();
    let own = all.iter().filter(|pid| !guards.contains(pid) && !guarded.contains(pid));
    for pid in own.filter_map(|pid| Pid::from_raw(*pid)) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn is_guard(pid: i32) -> bool {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|byte| *byte == 0).nth(1) == Some(WORD.as_bytes())
}

/// Kills descendants of this process until none is left; returns how many there were at first.
pub fn kill_all() -> usize {
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

/// Writes a line to drome. A reader that is gone is no reason to stop guarding.
fn say(line: &str) {
    let mut out = stdout().lock();
    let _ = writeln!(out, "{line}");
    let _ = out.flush();
}
