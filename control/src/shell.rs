//! Runs a user's command in a shell, or any other program, and ends all that it started when drome is asked to stop.

use crate::poll_while::poll_until;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often the command is polled.
const INTERVAL: Duration = Duration::from_millis(2);

/// How long a killed command may take to disappear.
const KILL_PATIENCE: Duration = Duration::from_secs(5);

/// How many of the last lines of an output an error shows.
const LAST_LINES: usize = 8;

/// How a command ended.
#[derive(Debug)]
pub enum Ended {
    /// By itself.
    Exited(ExitStatus),
    /// drome was asked to stop.
    Stopped,
    /// It took too long.
    TimedOut,
}

/// Runs a command in a folder until it ends, for at most `patience`. Its output goes to `log`.
pub fn run(
    command: &str,
    folder: &Path,
    log: File,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<Ended> {
    let err = log.try_clone()?;
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(folder).stdin(Stdio::null()).stdout(log).stderr(err);
    finish(&mut shell, patience, stop)
}

/// Runs a program until it ends, for at most `patience`.
pub fn finish(command: &mut Command, patience: Duration, stop: &AtomicBool) -> io::Result<Ended> {
    // A group of its own, so that all of it can be ended.
    let mut child = command.process_group(0).spawn()?;
    let ended = await_end(&mut child, patience, stop)?;
    if !matches!(ended, Ended::Exited(_)) {
        end(&mut child);
    }
    Ok(ended)
}

/// Waits until a program ends, for at most `patience`, and does nothing if it does not.
pub fn await_end(child: &mut Child, patience: Duration, stop: &AtomicBool) -> io::Result<Ended> {
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Ended::Exited(status));
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(Ended::Stopped);
        }
        if begun.elapsed() > patience {
            return Ok(Ended::TimedOut);
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Runs a program that soon ends, and returns what it printed. One that takes longer than `patience` is ended, and that is an error.
pub fn output(command: &mut Command, patience: Duration) -> io::Result<Output> {
    let printed = Printed::by(command)?;
    match finish(command, patience, &AtomicBool::new(false))? {
        Ended::Exited(status) => {
            let [stdout, stderr] = printed.read()?;
            Ok(Output { status, stdout, stderr })
        }
        Ended::Stopped | Ended::TimedOut => {
            Err(io::Error::new(io::ErrorKind::TimedOut, format!("it did not end within {patience:?}")))
        }
    }
}

/// What a program prints, in files: unlike a pipe, a file can be read to its end while a process that the program left still has it open.
#[derive(Debug)]
pub struct Printed([File; 2]);

impl Printed {
    /// Lets a command print to files.
    pub fn by(command: &mut Command) -> io::Result<Self> {
        let files = [tempfile::tempfile()?, tempfile::tempfile()?];
        command.stdout(files[0].try_clone()?).stderr(files[1].try_clone()?);
        Ok(Self(files))
    }

    /// All that came to its standard output, and to its standard error.
    pub fn read(self) -> io::Result<[Vec<u8>; 2]> {
        let mut both = [Vec::new(), Vec::new()];
        for (mut file, bytes) in self.0.into_iter().zip(&mut both) {
            file.seek(SeekFrom::Start(0))?;
            file.read_to_end(bytes)?;
        }
        Ok(both)
    }
}

/// The last lines of what a program printed, but for empty ones.
pub fn last_lines(printed: &str) -> String {
    let lines: Vec<&str> = printed.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n    ")
}

fn end(child: &mut Child) {
    let _ = kill_process_group(Pid::from_child(child), Signal::KILL);
    // A process that waits for a device or a file system that hangs can't be killed, and is left.
    poll_until(Instant::now() + KILL_PATIENCE, || !matches!(child.try_wait(), Ok(None)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_that_is_not_answered_is_given_up_and_what_a_process_left_open_is_not_waited_for() {
        let ask = |script: &str, patience| {
            let mut command = Command::new("sh");
            output(command.args(["-c", script]).stdin(Stdio::null()), patience)
        };
        let begun = Instant::now();
        let error = ask("sleep 30", Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.to_string(), "it did not end within 200ms");
        let printed = ask("echo 1.2; echo odd >&2; sleep 30 & exit 3", Duration::from_mins(1)).unwrap();
        assert_eq!((&printed.stdout[..], &printed.stderr[..]), (&b"1.2\n"[..], &b"odd\n"[..]));
        assert_eq!(printed.status.code(), Some(3));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    }

    #[test]
    fn a_command_that_takes_too_long_is_ended_with_what_it_started() {
        let (folder, go) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let log = File::create(folder.path().join("log")).unwrap();
        let command = "sleep 60 & echo $! > pid; wait";
        let ended = run(command, folder.path(), log, Duration::from_millis(500), &go).unwrap();
        assert!(matches!(ended, Ended::TimedOut), "{ended:?}");
        let pid = std::fs::read_to_string(folder.path().join("pid")).unwrap();
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        let is_gone = || !state().contains("(sleep)") || state().contains(") Z ");
        assert!(
            (0..1000).any(|_| {
                std::thread::sleep(INTERVAL);
                is_gone()
            }),
            "{}",
            state()
        );
    }
}
