//! Processes that are watched and never outlive drome-bench.

use anyhow::{Context, Result, bail};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::fs::File;
use std::io::{Read, Seek};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// A server that does not listen, or does not answer, after this time is given up.
pub const PATIENCE: Duration = Duration::from_secs(20);

/// Length of a tick of /proc, the same on every architecture that drome supports.
pub const TICK_NS: f64 = 1e7;

/// A running process; dropping this kills and reaps it.
pub struct Running {
    child: Child,
    output: File,
    errors: File,
}

/// A server that listens.
pub struct Listening {
    pub process: Running,
    pub port: u16,
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
    /// Starts a command, on one core if that is given.
    pub fn start(core: Option<usize>, command: &Command) -> Result<Self> {
        let (output, errors) = (tempfile::tempfile()?, tempfile::tempfile()?);
        // Both replace themselves by the program, so the child's pid and CPU clock are the program's. setpriv makes the
        // kernel kill the program when drome-bench is killed.
        let mut guarded = Command::new("setpriv");
        guarded.args(["--pdeathsig", "KILL"]);
        if let Some(core) = core {
            guarded.args(["taskset", "-c", &core.to_string()]);
        }
        guarded.arg(command.get_program()).args(command.get_args());
        guarded.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let child = guarded
            .stdin(Stdio::null())
            .stdout(output.try_clone()?)
            .stderr(errors.try_clone()?)
            .spawn()
            .context("can't start setpriv, which is in Debian's package util-linux")?;
        Ok(Self { child, output, errors })
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// CPU time that it has used so far, in nanoseconds.
    pub fn cpu_ns(&self) -> Option<u64> {
        net::clock::process_cpu_ns(self.pid() as i32)
    }

    /// Its resident memory that no file backs (`RssAnon` in `/proc/PID/status`).
    pub fn anonymous_bytes(&self) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid())).ok()?;
        bytes_behind(&status, "RssAnon:")
    }

    /// The first line that it prints, once it is there.
    pub fn first_line(&mut self) -> Result<String> {
        self.wait_until("prints nothing", |process| {
            let printed = read(&mut process.output)?;
            Ok(printed.split_once('\n').map(|(line, _)| line.to_owned()))
        })
    }

    /// Waits until `look` finds something, but not longer than the process runs, nor than [`PATIENCE`]. `not_yet` is what it does until then.
    fn wait_until<T>(
        &mut self,
        not_yet: &str,
        mut look: impl FnMut(&mut Self) -> Result<Option<T>>,
    ) -> Result<T> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = look(self)? {
                return Ok(found);
            }
            if let Some(status) = self.child.try_wait()? {
                let printed = read(&mut self.output)? + &read(&mut self.errors)?;
                bail!("it ended with {status}: {}", first_line(&printed));
            }
            if Instant::now() > deadline {
                bail!("it {not_yet} after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
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
        let cpu_ns = own_ns + children_cpu_ns(self.pid()).context("an ended process has no stat")?;
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

impl Listening {
    /// Starts a server, on one core if that is given, and waits until it listens on its port.
    pub fn start(core: Option<usize>, port: u16, command: &Command) -> Result<Self> {
        let mut process = Running::start(core, command)?;
        process.wait_until("does not listen", |_| {
            Ok(TcpStream::connect_timeout(&(Ipv4Addr::LOCALHOST, port).into(), PATIENCE).ok().map(drop))
        })?;
        Ok(Self { process, port })
    }
}

/// A port on which nothing listens.
pub fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

/// The first line that a failed program printed.
pub fn first_line(text: &str) -> &str {
    text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("it printed nothing")
}

/// The value of a line such as `Rss: 12 kB`, as files in /proc have them.
pub fn bytes_behind(text: &str, key: &str) -> Option<u64> {
    let kb = text.lines().find_map(|line| line.strip_prefix(key))?;
    kb.trim().strip_suffix(" kB")?.parse::<u64>().ok()?.checked_mul(1024)
}

/// CPU time of all ended processes that a process started and waited for, in nanoseconds, a whole number of ticks. That process must have
/// ended as well, and must not have been waited for yet.
fn children_cpu_ns(pid: u32) -> Option<u64> {
    children_ticks(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
        .map(|ticks| ticks * TICK_NS as u64)
}

/// `cutime` and `cstime` of `/proc/PID/stat`. What comes before may have blanks in it, and ends with the last parenthesis.
fn children_ticks(stat: &str) -> Option<u64> {
    let rest: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    rest.get(13..15)?.iter().map(|ticks| ticks.parse::<u64>().ok()).sum()
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
        Running::start(Some(net::cpu::allowed()[0]), Command::new("/bin/sh").args(["-c", script])).unwrap()
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
        let pid = process.pid();
        let error = process.end(Duration::from_millis(10)).err().unwrap().to_string();
        assert_eq!(error, "not done after 0 s");
        assert_eq!(net::clock::process_cpu_ns(pid as i32), None, "it is gone");
    }

    #[test]
    fn a_server_that_ends_says_why_and_one_that_prints_is_read_while_it_runs() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no $WAY >&2; exit 3"]).env("WAY", "way");
        let error = Listening::start(None, free_port().unwrap(), &command).err().unwrap().to_string();
        assert_eq!(error, "it ended with exit status: 3: no way");
        assert_eq!(sh("echo one; exec sleep 60").first_line().unwrap(), "one");
    }

    #[test]
    fn a_server_is_there_when_it_listens_and_gone_when_it_is_dropped() {
        let port = free_port().unwrap();
        let mut command = Command::new("python3");
        command.args(["-m", "http.server", "--bind", "127.0.0.1", &port.to_string()]);
        let server = Listening::start(None, port, &command).unwrap();
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, server.port)).is_ok());
        drop(server);
        assert!(TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err());
    }

    #[test]
    fn what_children_used_is_read_behind_a_name_with_blanks() {
        let stat = "7 (a b) c) Z 1 7 7 0 -1 4 1 2 3 4 100 200 30 4 20 0 1 0 5 6 7";
        assert_eq!((children_ticks(stat), children_ticks("7 (a)")), (Some(34), None));
    }
}
