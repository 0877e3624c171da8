//! Processes that run on one core and never outlive drome-bench.

use super::machine;
use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A running process; dropping this kills and reaps it.
pub struct Running {
    child: Child,
    output: File,
    errors: File,
}

/// The output and the CPU time of a process that has ended.
pub struct Ended {
    pub status: ExitStatus,
    pub output: String,
    pub errors: String,
    /// The CPU time of all its threads, from start to end, and of the processes that it started and waited for, in nanoseconds.
    pub cpu_ns: u64,
    /// The most of its memory that no file backs, looked at ten times a second; `None`: it was never seen.
    pub anonymous_max_bytes: Option<u64>,
}

/// How often a process is looked at while it runs.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Running {
    /// Starts a program on one core.
    pub fn start(core: usize, program: &Path, args: &[String]) -> Result<Self> {
        let (output, errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        // Both replace themselves by the program, so the child's pid and CPU clock are the program's. setpriv makes the
        // kernel kill the program when drome-bench is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL", "taskset", "-c", &core.to_string()])
            .arg(program)
            .args(args)
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(errors.try_clone()?)
            .spawn()
            .context("can't start setpriv, which is in Debian's package util-linux")?;
        Ok(Self { child, output, errors })
    }

    /// CPU time that it has used so far, in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        net::clock::process_cpu_ns(self.child.id() as i32)
    }

    /// Its resident memory that no file backs (`RssAnon` in `/proc/PID/status`).
    pub fn anonymous_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
        line.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
    }

    /// All that it has printed, if it has ended; `None` while it runs.
    pub fn output_if_ended(&mut self) -> Result<Option<String>> {
        Ok(match self.child.try_wait()? {
            Some(_) => Some(read(&mut self.output)? + &read(&mut self.errors)?),
            None => None,
        })
    }

    /// Waits for its end, but no longer than `limit`.
    pub fn end(mut self, limit: Duration) -> Result<Ended> {
        let pid = Pid::from_child(&self.child);
        let handle = pidfd_open(pid, PidfdFlags::empty()).context("can't watch a process")?;
        let mut ended = [PollFd::new(&handle, PollFlags::IN)];
        let mut anonymous_max_bytes = None;
        let since = Instant::now();
        while poll(&mut ended, Some(&Timespec::try_from(LOOK_EVERY.min(limit))?))? == 0 {
            if since.elapsed() >= limit {
                bail!("not done after {} s", limit.as_secs());
            }
            anonymous_max_bytes = anonymous_max_bytes.max(self.anonymous_bytes());
        }
        // It is not yet reaped, so its clock can still be read.
        let own_ns = self.cpu_ns().context("no clock of an ended process")?;
        let cpu_ns =
            own_ns + machine::children_cpu_ns(self.child.id()).context("an ended process has no stat")?;
        let status = self.child.wait()?;
        Ok(Ended {
            status,
            output: read(&mut self.output)?,
            errors: read(&mut self.errors)?,
            cpu_ns,
            anonymous_max_bytes,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read(file: &mut File) -> Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Running {
        let core = net::cpu::allowed()[0];
        Running::start(core, Path::new("/bin/sh"), &["-c".to_owned(), script.to_owned()]).unwrap()
    }

    #[test]
    fn output_and_cpu_time_of_a_process_are_known_after_its_end() {
        let busy = "i=0; while [ $i -lt 50000 ]; do i=$((i+1)); done; echo out; echo err >&2; exit 3";
        let ended = sh(busy).end(Duration::from_mins(1)).unwrap();
        assert_eq!((ended.output.as_str(), ended.errors.as_str()), ("out\n", "err\n"));
        assert_eq!(ended.status.code(), Some(3));
        let nothing = sh("exit 0").end(Duration::from_mins(1)).unwrap();
        assert!(ended.cpu_ns > nothing.cpu_ns && nothing.cpu_ns > 0);
    }

    #[test]
    fn the_cpu_time_of_a_process_has_that_of_its_children() {
        let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
        let own = sh(busy).end(Duration::from_mins(1)).unwrap().cpu_ns;
        let of_child = sh(&format!("sh -c '{busy}'; true")).end(Duration::from_mins(1)).unwrap().cpu_ns;
        assert!(of_child > own / 2, "{of_child}, {own}");
    }

    #[test]
    fn a_process_that_takes_too_long_is_killed() {
        let process = sh("exec sleep 60");
        let pid = process.child.id();
        let error = process.end(Duration::from_millis(10)).err().unwrap().to_string();
        assert_eq!(error, "not done after 0 s");
        assert_eq!(net::clock::process_cpu_ns(pid as i32), None, "it is gone");
    }
}
