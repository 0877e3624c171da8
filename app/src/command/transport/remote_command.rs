//! A command that takes something to another machine or fetches it from there. What the other side prints is shown without escapes. A
//! command that neither prints nor reads anything for long is ended, because reading and writing do not fail when the network is gone.

use agent::Heard;
use anyhow::{Context, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use std::io::{BufRead, BufReader, Error, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::{JoinHandle, sleep, spawn};
use std::time::{Duration, Instant};

/// How long the other side may be silent: it may take its time to check and to store what it has read.
pub const SILENCE: Duration = Duration::from_mins(2);

/// The number of bytes that can be written without waiting into a pipe that poll(2) reports as writable (pipe(7): `PIPE_BUF`).
const AT_ONCE: usize = 4096;

/// The longest line that is shown as one.
const LONGEST_LINE: u64 = 4096;

/// The time between two checks whether the command has ended.
const INTERVAL: Duration = Duration::from_millis(10);

/// How long to wait for the last lines of a command that has ended. Another process may keep its output open for ever.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// The command while it runs; dropping this kills it, and does not wait long for it.
pub struct RemoteCommand {
    child: Child,
    /// The command line, for messages.
    shown: String,
    heard: Heard,
    tellers: Vec<JoinHandle<()>>,
}

/// What the command prints, as bytes.
pub struct RemoteOutput(Waiting<ChildStdout>);

/// What the command reads.
pub struct Input(Waiting<ChildStdin>);

struct Waiting<P> {
    pipe: P,
    heard: Heard,
}

impl RemoteCommand {
    /// Starts the command. `shown`: its words for messages; `option`: the option that they come from.
    pub fn start(mut command: Command, shown: &str, option: &str, silence: Duration) -> anyhow::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("can't run `{shown}`: check the words of {option}"))?;
        let heard = Heard::now_for(silence);
        let stderr = child.stderr.take();
        let mut remote = Self { child, shown: shown.to_owned(), heard, tellers: Vec::new() };
        remote.tell(stderr, |line| alert!("{line}"));
        Ok(remote)
    }

    /// What the command reads. It ends when this is dropped.
    pub fn input(&mut self) -> Option<Input> {
        let heard = self.heard.clone();
        self.child.stdin.take().map(|pipe| Input(Waiting { pipe, heard }))
    }

    /// What the command prints.
    pub fn output(&mut self) -> Option<RemoteOutput> {
        let heard = self.heard.clone();
        self.child.stdout.take().map(|pipe| RemoteOutput(Waiting { pipe, heard }))
    }

    /// Shows each line that the command prints, without escapes.
    pub fn tell_output(&mut self, show: impl FnMut(&str) + Send + 'static) {
        let output = self.child.stdout.take();
        self.tell(output, show);
    }

    fn tell(
        &mut self,
        pipe: Option<impl Read + Send + 'static>,
        mut show: impl FnMut(&str) + Send + 'static,
    ) {
        let heard = self.heard.clone();
        self.tellers.extend(pipe.map(|pipe| {
            spawn(move || {
                lines(pipe, &mut |line| {
                    heard.hear();
                    show(line);
                });
            })
        }));
    }

    /// Waits for the end. `unheard`: whether reading or writing was given up because the other side was silent.
    ///
    /// Errors: the command was silent for too long and has been ended, or waiting for it failed.
    pub fn end(mut self, unheard: bool) -> anyhow::Result<ExitStatus> {
        let status = loop {
            if let Some(status) =
                self.child.try_wait().with_context(|| format!("can't wait for `{}`", self.shown))?
            {
                break Some(status);
            }
            if unheard || self.heard.is_silent() {
                break None;
            }
            sleep(INTERVAL);
        };
        let begun = Instant::now();
        while status.is_some()
            && self.tellers.iter().any(|teller| !teller.is_finished())
            && begun.elapsed() < LAST_WORDS
        {
            sleep(INTERVAL);
        }
        let Some(status) = status else {
            bail!(
                "nothing came from `{}` for {} s, so it was ended: check that the machine can be reached, and try again; what is \
                 there already is not sent or stored twice",
                self.shown,
                self.heard.silence().as_secs()
            );
        };
        Ok(status)
    }
}

impl Drop for RemoteCommand {
    fn drop(&mut self) {
        let _ = self.child.kill();
        agent::wait_for_end(&mut self.child, agent::LONGEST_KILL);
    }
}

impl<P: AsFd> Waiting<P> {
    /// Waits until the pipe can be read or written.
    fn ready(&self, flags: PollFlags) -> std::io::Result<()> {
        loop {
            let left = self.heard.left();
            let limit = Timespec::try_from(left).map_err(Error::other)?;
            match poll(&mut [PollFd::new(&self.pipe, flags)], Some(&limit)) {
                Ok(0) if self.heard.is_silent() => return Err(ErrorKind::TimedOut.into()),
                Ok(0) | Err(rustix::io::Errno::INTR) => {}
                Ok(_) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl Read for RemoteOutput {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.0.ready(PollFlags::IN)?;
        let count = self.0.pipe.read(buffer)?;
        self.0.heard.hear();
        Ok(count)
    }
}

impl Write for Input {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.ready(PollFlags::OUT)?;
        let count = self.0.pipe.write(&bytes[..bytes.len().min(AT_ONCE)])?;
        self.0.heard.hear();
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Whether this failed because the other side was silent.
pub fn is_silence(error: &Error) -> bool {
    error.kind() == ErrorKind::TimedOut
}

/// Calls `show` with each line, without escapes.
fn lines(pipe: impl Read, show: &mut dyn FnMut(&str)) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        match pipe.by_ref().take(LONGEST_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => show(agent::cleaned(&String::from_utf8_lossy(&line)).trim_end()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    fn sh(script: &str, silence: Duration) -> RemoteCommand {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        RemoteCommand::start(command, "sh", "--to", silence).unwrap()
    }

    #[test]
    fn lines_are_shown_without_escapes() {
        let all = Arc::new(Mutex::new(Vec::new()));
        let mut remote = sh("printf 'a\\033[31mb\\033]0;title\\007c\\nlast'; exit 3", SILENCE);
        let told = Arc::clone(&all);
        remote.tell_output(move |line| told.lock().unwrap().push(line.to_owned()));
        assert_eq!(remote.end(false).unwrap().code(), Some(3));
        assert_eq!(*all.lock().unwrap(), ["abc", "last"]);
    }

    #[test]
    fn what_is_written_comes_back() {
        let mut remote = sh("cat", SILENCE);
        let mut input = remote.input().unwrap();
        let bytes: Vec<u8> = (0..1_000_000_u32).map(|n| n as u8).collect();
        let sent = bytes.clone();
        let writer = spawn(move || input.write_all(&sent).unwrap());
        let mut read = Vec::new();
        remote.output().unwrap().read_to_end(&mut read).unwrap();
        writer.join().unwrap();
        assert!(read == bytes && remote.end(false).unwrap().success());
    }

    #[test]
    fn a_command_that_is_silent_is_ended_whether_it_is_read_written_or_waited_for() {
        // What it started keeps the pipes for longer than that.
        let silent = || sh("sleep 9 & wait", Duration::from_millis(300));
        let told = |remote: RemoteCommand, unheard| remote.end(unheard).unwrap_err().to_string();
        let mut reads = silent();
        let error = reads.output().unwrap().read(&mut [0; 9]).unwrap_err();
        assert!(is_silence(&error), "{error}");
        assert!(told(reads, true).contains("nothing came from `sh` for"));
        let mut writes = silent();
        let error = writes.input().unwrap().write_all(&vec![0; 10_000_000]).unwrap_err();
        assert!(is_silence(&error), "{error}");
        assert!(told(writes, true).contains("try again"));
        assert!(told(silent(), false).contains("nothing came"));
    }

    #[test]
    fn a_command_that_says_something_now_and_then_has_its_time() {
        let talks = "for n in 1 2 3 4 5 6 7 8 9; do sleep 0.5; echo $n >&2; done";
        assert!(sh(talks, Duration::from_secs(3)).end(false).unwrap().success());
    }
}
