//! How a server is stopped, and checked to be gone.

use super::GuardedServer;
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

/// How long the guard may take at the end, with everything that it has to remove.
const END_PATIENCE: Duration = Duration::from_mins(2);

/// What the guard found left of a server.
#[derive(Debug, Default)]
pub(super) struct Leftovers {
    /// The number of processes that it killed.
    killed: usize,
    /// Why the server's container could not be removed.
    remains: Option<String>,
}

impl GuardedServer {
    /// Asks it to stop, once, and waits for nothing, so that several servers go down at the same time.
    pub fn ask_to_stop(&mut self) {
        if self.ended_early.is_none() {
            self.listen();
            self.ended_early = Some(self.exit.is_some());
            self.signal();
        }
    }

    /// Stops it and checks that nothing is left. An error is the contender's fault; everything is stopped in any case.
    pub fn stop(mut self) -> Result<(), String> {
        if !self.start.removal.is_empty() {
            return self.stop_container();
        }
        self.ask_to_stop();
        let deadline = Instant::now() + STOP_PATIENCE;
        let stopped = self.ends_before(deadline);
        // Workers may outlive their manager by a moment.
        self.await_processes(deadline);
        let left = self.dismiss().killed;
        let is_free = self.frees_its_port_before(deadline);
        let name = signal_name(self.start.stop);
        match (stopped, left) {
            (false, _) => Err(format!("it did not stop within {STOP_PATIENCE:?} of {name} and was killed")),
            (true, n) if n > 0 && self.ended_early == Some(false) => {
                Err(format!("it left {n} process(es) behind after {name}; they were killed"))
            }
            _ if !is_free => Err(self.port_in_use()),
            _ => Ok(()),
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
        if let Some(why) = self.dismiss().remains {
            return Err(format!("its container could not be removed: {why}"));
        }
        let is_free = self.frees_its_port_before(Instant::now() + STOP_PATIENCE);
        if is_free { Ok(()) } else { Err(self.port_in_use()) }
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
    fn frees_its_port_before(&self, deadline: Instant) -> bool {
        let at = self.start.address;
        poll_until(deadline, || ports::is_free(&[at.ip()], at.port()))
    }

    /// Waits until none of its processes is left, or until the deadline.
    fn await_processes(&self, deadline: Instant) {
        poll_until(deadline, || tree::living(self.root()).is_empty());
    }

    fn port_in_use(&self) -> String {
        format!("port {} is still in use after it stopped", self.start.address.port())
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
        drop(self.guard.stdin.take());
        let mut left = Leftovers::default();
        while let Ok(line) = self.lines.recv_timeout(END_PATIENCE) {
            if let Some(n) = line.strip_prefix("left ") {
                left.killed = n.parse().unwrap_or(0);
            }
            if let Some(why) = line.strip_prefix("remains ") {
                left.remains = Some(why.to_owned());
            }
        }
        let _ = self.guard.wait();
        left
    }
}

fn signal_name(signal: StopSignal) -> &'static str {
    match signal {
        StopSignal::Term => "SIGTERM",
        StopSignal::Int => "SIGINT",
        StopSignal::Quit => "SIGQUIT",
        StopSignal::Kill => "SIGKILL",
    }
}
