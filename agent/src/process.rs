//! The command that carries the link, such as `ssh`: starts it in its own process group, keeps the end of what it prints to standard error,
//! and ends the whole group.

use crate::{LinkError, text};
use rustix::process::{Pid, Signal, kill_process_group};
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often to check whether the command has ended.
const LOOK: Duration = Duration::from_millis(10);

/// How long a command that has closed its output may take to end.
const LONGEST_END: Duration = Duration::from_secs(10);

/// How long a command that was killed may take to end. One of another user can't be killed; it ends because its input did.
pub const LONGEST_KILL: Duration = Duration::from_secs(1);

/// A shell's exit codes for a command that is not found, and for one that may not be run.
const NOT_FOUND: [i32; 2] = [127, 126];

/// The command, and what it printed to standard error.
pub struct Process {
    child: Mutex<Child>,
    said: Arc<Mutex<Vec<u8>>>,
    listener: Mutex<Option<std::thread::JoinHandle<()>>>,
}

impl Process {
    /// Starts the command, and returns it with its standard input and output. It has its own process group, so that Ctrl-C reaches only
    /// drome, which then ends the command in order.
    pub fn start(name: &str, command: &mut Command) -> Result<(Self, ChildStdin, ChildStdout), LinkError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let not_started = |why: String| LinkError::NotStarted { name: name.to_owned(), program, why };
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => return Err(not_started(error.to_string())),
        };
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(not_started("it has no pipes".to_owned()));
        };
        let said = Arc::new(Mutex::new(Vec::new()));
        let listener = child.stderr.take().map(|stderr| {
            let said = Arc::clone(&said);
            std::thread::spawn(move || listen(stderr, &said))
        });
        Ok((Self { child: Mutex::new(child), said, listener: Mutex::new(listener) }, input, output))
    }

    /// Waits for the command to end, and kills its process group if that takes longer than `patience`. `None`: the command has not ended
    /// even then.
    pub fn end(&self, patience: Duration) -> Option<ExitStatus> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(status) = wait_for_end(&mut child, patience) {
            return Some(status);
        }
        if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        wait_for_end(&mut child, LONGEST_KILL)
    }

    /// The last of what the command printed to standard error, at most 4 KiB, without escapes, in one line.
    pub fn said(&self) -> String {
        // What it printed last may still be on its way. Wait for that, but not for long: another process may hold its standard error open
        // for ever.
        let listener = self.listener.lock().unwrap_or_else(PoisonError::into_inner).take();
        let began = Instant::now();
        while listener.as_ref().is_some_and(|thread| !thread.is_finished())
            && began.elapsed() < Duration::from_millis(500)
        {
            sleep(LOOK);
        }
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        text::line(&String::from_utf8_lossy(&said))
    }

    /// Why the command ended before it had said hello.
    pub fn why_it_ended(&self, name: &str, here: &str, patience: Duration) -> LinkError {
        let status = self.end(patience);
        why(name, here, status, self.said())
    }
}

/// Waits for a command to end, for no longer than `patience`. `None`: it has not ended by then, or it can't be waited for.
pub fn wait_for_end(child: &mut Child, patience: Duration) -> Option<ExitStatus> {
    let began = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if began.elapsed() < patience => sleep(LOOK),
            Ok(status) => return status,
            Err(_) => return None,
        }
    }
}

/// Keeps the last 4 KiB of what the command prints to standard error.
fn listen(mut stderr: impl Read, said: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut chunk) {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend_from_slice(&chunk[..count]);
        let excess = said.len().saturating_sub(text::MOST_TEXT_BYTES);
        said.drain(..excess);
    }
}

/// Why a command on the other machine did not do its work.
#[derive(Debug)]
pub enum RunError {
    /// The other machine can't be reached.
    Link(LinkError),
    /// The command failed there: the last that it printed to standard error, else how it ended.
    Failed(String),
}

/// Runs another command on the other machine, such as one that copies a program there; `input` is its standard input. Returns the first
/// 4 KiB of what it printed. Fails if it ended with an error, or if it takes longer than `patience`; then it is killed.
pub fn run(
    name: &str,
    mut command: Command,
    input: impl Read + Send + 'static,
    patience: Duration,
) -> Result<String, RunError> {
    let (process, mut to, mut from) = Process::start(name, &mut command).map_err(RunError::Link)?;
    std::thread::spawn(move || {
        let mut input = input;
        // An error here means that the command ended early; what it printed says why.
        let _ = std::io::copy(&mut input, &mut to);
    });
    let (tell, told) = std::sync::mpsc::sync_channel(1);
    std::thread::spawn(move || {
        let mut printed = Vec::new();
        let _ = from.by_ref().take(text::MOST_TEXT_BYTES as u64).read_to_end(&mut printed);
        let _ = tell.send(printed);
    });
    let Ok(printed) = told.recv_timeout(patience) else {
        process.end(Duration::ZERO);
        return Err(RunError::Failed(format!("the command did not end within {} s", patience.as_secs())));
    };
    let status = process.end(LONGEST_END);
    if status.is_some_and(|status| status.success()) {
        return Ok(text::cleaned(&String::from_utf8_lossy(&printed)));
    }
    let said = process.said();
    Err(match of_ssh(name, &said) {
        Some(error) => RunError::Link(error),
        None if said.is_empty() => RunError::Failed(how_it_ended(status)),
        None => RunError::Failed(said),
    })
}

/// What the end of the command means; `said`: what it printed to standard error.
fn why(name: &str, here: &str, status: Option<ExitStatus>, said: String) -> LinkError {
    if let Some(error) = of_ssh(name, &said) {
        return error;
    }
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    if says(&["unrecognized subcommand"]) {
        let there = "that has no `drome agent`".to_owned();
        return LinkError::OtherVersion { name: name.to_owned(), here: here.to_owned(), there };
    }
    let code = status.and_then(|status| status.code());
    let is_missing = says(&["not found", "No such file or directory", "Exec format error", "cannot execute"]);
    if code.is_some_and(|code| NOT_FOUND.contains(&code)) || (is_missing && !says(&["ssh:"])) {
        let said = if said.is_empty() { "it can't be run there".to_owned() } else { said };
        return LinkError::NoDrome { name: name.to_owned(), said };
    }
    failed(name, status, &said)
}

/// Recognizes what ssh and sudo print when they refuse a login. `None`: `said` is something else.
fn of_ssh(name: &str, said: &str) -> Option<LinkError> {
    let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
    let (name, all) = (name.to_owned(), said.to_owned());
    if says(&["Host key verification failed", "REMOTE HOST IDENTIFICATION HAS CHANGED"]) {
        Some(LinkError::UnknownHost { name, said: all })
    } else if says(&["Permission denied (", "Too many authentication failures", "a password is required"]) {
        Some(LinkError::Denied { name, said: all })
    } else if says(&["ssh: connect to host", "ssh: Could not resolve hostname"]) {
        Some(LinkError::Unreachable { name, said: all })
    } else {
        None
    }
}

fn how_it_ended(status: Option<ExitStatus>) -> String {
    match (status.and_then(|status| status.signal()), status.and_then(|status| status.code())) {
        (Some(signal), _) => format!("the command ended by signal {signal}"),
        (None, Some(code)) => format!("the command ended with exit code {code}"),
        (None, None) => "the command ended and can't be waited for".to_owned(),
    }
}

fn failed(name: &str, status: Option<ExitStatus>, said: &str) -> LinkError {
    let ended = how_it_ended(status);
    let said = if said.is_empty() { String::new() } else { format!(" and printed: {said}") };
    let why = format!("{ended} before drome answered{said}; run it by hand to see why");
    LinkError::Lost { name: name.to_owned(), why }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As one that another user runs, which can't be killed.
    #[test]
    fn a_command_that_does_not_end_is_not_waited_for() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let began = Instant::now();
        assert_eq!(wait_for_end(&mut child, Duration::from_millis(50)), None);
        assert!(began.elapsed() < Duration::from_mins(1));
        child.kill().unwrap();
        let ended = wait_for_end(&mut child, Duration::from_mins(1));
        assert_eq!(ended.and_then(|status| status.signal()), Some(9));
    }

    #[test]
    fn what_a_command_printed_says_why_there_is_no_link() {
        let ended = |code: i32, said: &str| {
            why("pi", "0.1.0", Some(ExitStatus::from_raw(code << 8)), said.to_owned()).to_string()
        };
        for (code, said, expected) in [
            (255, "root@pi: Permission denied (publickey).", "refuses the key"),
            (
                255,
                "ssh: connect to host 10.77.1.2 port 22: No route to host",
                "pi can't be reached (ssh: connect",
            ),
            (255, "ssh: Could not resolve hostname pi: Name or service not known", "pi can't be reached"),
            (255, "Host key verification failed.", "host key that `ssh` does not know"),
            (127, "bash: line 1: drome: command not found", "has no drome"),
            (1, "sudo: drome: command not found", "has no drome"),
            (255, "exec of \"drome\" failed: No such file or directory", "has no drome"),
            (126, "", "has no drome that runs in a non-interactive shell (it can't be run there)"),
            (2, "error: unrecognized subcommand 'agent'", "install the same version"),
            (3, "", "with exit code 3 before drome answered; run it by hand"),
        ] {
            let told = ended(code, said);
            assert!(told.contains(expected) && told.contains("pi"), "{said}: {told}");
        }
        let killed = why("pi", "0.1.0", Some(ExitStatus::from_raw(9)), String::new()).to_string();
        assert!(killed.contains("by signal 9"), "{killed}");
    }
}
