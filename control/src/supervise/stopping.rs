//! How a server is stopped, and checked to be gone.

use super::GuardedProcess;
use crate::machine::ports;
use crate::poll_while::poll_until;
use crate::processes::tree;
use model::contender::StopSignal;
use rustix::process::{Pid, Signal, kill_process_group};
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

/// How long a server may take to stop before it is killed.
const STOP_PATIENCE: Duration = Duration::from_secs(5);

/// How long the program that runs a container may take, after the container's first process has ended, to remove the container.
const TOOL_PATIENCE: Duration = Duration::from_secs(20);

/// How long the guard may take at the end, with everything that it has to remove, and again to end itself after it has said so.
const END_PATIENCE: Duration = Duration::from_mins(2);

/// What the guard found left of a server.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// The number of processes that it killed.
    killed: usize,
    /// Why the server's container could not be removed.
    remains: Option<String>,
    /// Which process can't be ended, if one can't.
    unkillable: Option<String>,
}

impl GuardedProcess {
    /// Asks it to stop, once, and waits for nothing, so that several servers go down at the same time.
    pub fn ask_to_stop(&mut self) {
        if self.ended_early.is_none() {
            self.listen();
            self.ended_early = Some(self.exit.is_some());
            self.signal();
        }
    }

    /// Stops it and checks that nothing is left. An error is the contender's fault; everything is stopped in any case.
    pub fn stop(self) -> Result<(), String> {
        if self.start.removal.is_empty() { self.stop_within(STOP_PATIENCE) } else { self.stop_container() }
    }

    /// Stops a server that runs in no container and may take so long until it ends.
    fn stop_within(mut self, patience: Duration) -> Result<(), String> {
        self.ask_to_stop();
        let deadline = Instant::now() + patience;
        let stopped = self.ends_before(deadline);
        // Workers may outlive their manager by a moment.
        self.await_processes(deadline);
        let left = self.dismiss();
        if let Some(why) = left.unkillable {
            return Err(why);
        }
        // It has as long for this as it had to end, which may have taken all of that time.
        let freed = self.frees_its_port();
        let name = signal_name(self.start.stop);
        match (stopped, left.killed) {
            (false, _) => Err(format!("it did not stop within {patience:?} of {name} and was killed")),
            (true, n) if n > 0 && self.ended_early == Some(false) => {
                Err(format!("it left {n} process(es) behind after {name}; they were killed"))
            }
            _ => freed,
        }
    }

    /// Stops a server that runs in a container. The first process of a container is often no program that ends on a signal; it is
    /// killed then, as the tools do it, and that is no fault.
    fn stop_container(mut self) -> Result<(), String> {
        self.ask_to_stop();
        let ignores = self.container.as_ref().is_some_and(|container| container.ignores_sigterm());
        if !ignores && self.ends_before(Instant::now() + STOP_PATIENCE) {
            // The tool removes the container, in processes that outlive the first one.
            self.await_processes(Instant::now() + TOOL_PATIENCE);
        }
        let left = self.dismiss();
        if let Some(why) = left.remains {
            return Err(format!("its container could not be removed: {why}"));
        }
        if let Some(why) = left.unkillable {
            return Err(why);
        }
        self.frees_its_port()
    }

    /// Waits for its end until the deadline.
    fn ends_before(&mut self, deadline: Instant) -> bool {
        while self.exit.is_none() && Instant::now() < deadline {
            match self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(line) => self.hear(&line),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
            }
        }
        self.exit.is_some()
    }

    /// Waits until its port is free. The kernel takes down an `io_uring`, and the listener in it, a moment after its process has gone.
    fn frees_its_port(&self) -> Result<(), String> {
        let Some(at) = self.start.address else { return Ok(()) };
        let is_free = poll_until(Instant::now() + STOP_PATIENCE, || ports::is_free(&[at.ip()], at.port()));
        let in_use = || format!("port {} is still in use after it stopped", at.port());
        is_free.then_some(()).ok_or_else(in_use)
    }

    /// Waits until none of its processes is left, or until the deadline.
    fn await_processes(&self, deadline: Instant) {
        poll_until(deadline, || tree::living(self.root()).is_empty());
    }

    fn signal(&self) {
        let signal = match self.start.stop {
            StopSignal::Term => Signal::TERM,
            StopSignal::Int => Signal::INT,
            StopSignal::Quit => Signal::QUIT,
            StopSignal::Kill => Signal::KILL,
        };
        if let Some(group) = Pid::from_raw(self.pid) {
            let _ = kill_process_group(group, signal);
        }
    }

    /// Ends the guard, and with it all that remains of the server.
    pub(super) fn dismiss(&mut self) -> Leftovers {
        self.dismiss_for(END_PATIENCE)
    }

    /// As [`Self::dismiss`]. A guard that takes longer than `patience` is left: it waits for a process that can't be killed.
    fn dismiss_for(&mut self, patience: Duration) -> Leftovers {
        drop(self.guard.stdin.take());
        let mut left = Leftovers::default();
        let deadline = Instant::now() + patience;
        while let Ok(line) = self.lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if let Some(n) = line.strip_prefix("left ") {
                left.killed = n.parse().unwrap_or(0);
            }
            if let Some(why) = line.strip_prefix("remains ") {
                left.remains = Some(why.to_owned());
            }
            if let Some(pid) = line.strip_prefix("unkillable ") {
                left.unkillable = Some(unkillable(&format!("process {pid}")));
            }
        }
        if !poll_until(deadline, || !matches!(self.guard.try_wait(), Ok(None))) {
            left.unkillable = Some(unkillable(&format!("its guard, process {},", self.guard.id())));
        }
        left
    }
}

fn unkillable(what: &str) -> String {
    format!(
        "{what} could not be ended: a device or a file system that it waits for may hang (`ps` shows it in the state D)"
    )
}

fn signal_name(signal: StopSignal) -> &'static str {
    match signal {
        StopSignal::Term => "SIGTERM",
        StopSignal::Int => "SIGINT",
        StopSignal::Quit => "SIGQUIT",
        StopSignal::Kill => "SIGKILL",
    }
}

#[cfg(test)]
mod tests {
    use super::super::GuardedStart;
    use super::*;
    use std::net::{SocketAddr, TcpListener};
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::{Command, Stdio};
    use std::sync::mpsc::{Sender, channel};

    /// A server at this address whose guard is a shell that runs this script, and what the guard says.
    fn guarded(script: &str, address: SocketAddr) -> (GuardedProcess, Sender<String>) {
        let guard = Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).process_group(0).spawn();
        let (say, lines) = channel();
        let (env, removal, cpus) = (Vec::new(), Vec::new(), Vec::new());
        let (log, stop) = (PathBuf::from("/dev/null"), StopSignal::Term);
        let start = GuardedStart { log, cpus, descriptors: None, address: Some(address), env, stop, removal };
        let (pid, container, exit, ended_early) = (0, None, None, None);
        (GuardedProcess { start, guard: guard.unwrap(), lines, pid, container, exit, ended_early }, say)
    }

    fn nowhere() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn a_guard_that_does_not_end_is_left_and_that_is_told() {
        let (mut server, say) = guarded("exec sleep 30", nowhere());
        let begun = Instant::now();
        // It says all and does not end, or says nothing.
        say.send("left 2".to_owned()).unwrap();
        let left = server.dismiss_for(Duration::from_millis(200));
        assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
        assert_eq!(left.killed, 2);
        let why = left.unkillable.unwrap();
        assert!(why.starts_with(&format!("its guard, process {},", server.guard.id())), "{why}");
        server.guard.kill().unwrap();
        server.guard.wait().unwrap();
    }

    #[test]
    fn a_server_that_takes_all_of_its_time_to_stop_has_time_left_to_free_its_port() {
        let folder = tempfile::tempdir().unwrap();
        let dismissed = folder.path().join("dismissed");
        // A worker that lives longer than the server may take to stop.
        let script = format!("sleep 1 & cat; : > {}", dismissed.display());
        let listener = TcpListener::bind(nowhere()).unwrap();
        let (server, say) = guarded(&script, listener.local_addr().unwrap());
        say.send("exit exit status: 0".to_owned()).unwrap();
        drop(say);
        let holder = std::thread::spawn(move || {
            assert!(poll_until(Instant::now() + Duration::from_mins(1), || dismissed.exists()));
            std::thread::sleep(Duration::from_millis(200));
            drop(listener);
        });
        assert_eq!(server.stop_within(Duration::from_millis(100)), Ok(()));
        holder.join().unwrap();
    }
}
