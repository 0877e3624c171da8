//! A running container as the machine sees it: its first process, and its control group.

use crate::processes::control_group::ControlGroup;
use procfs::process::Process;
use rustix::process::Signal;

/// A server that runs in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Container {
    /// The guard of the program that runs the container. Processes below the guard that are not in the container belong to that program.
    pub guard: i32,
    /// The container's first process, which is above all others in it. Under docker it is not below the guard.
    pub pid: i32,
    /// The container's control group; `None`: it has none of its own.
    pub group: Option<ControlGroup>,
}

impl Container {
    /// Finds the control group of the container whose first process this is.
    pub fn of(guard: i32, pid: i32) -> Self {
        Self { guard, pid, group: ControlGroup::of(pid) }
    }

    /// What a report says of its figures, where the kernel does not count them by group.
    pub fn caveat(&self) -> Option<&'static str> {
        self.group.is_none().then_some(
            "its container has no control group of its own: CPU time and memory are sums over the container's processes",
        )
    }

    /// Whether SIGTERM does nothing: the kernel drops every signal to the first process of a container for which that process has no
    /// handler.
    pub fn ignores_sigterm(&self) -> bool {
        let caught = Process::new(self.pid).and_then(|process| process.status()).map(|status| status.sigcgt);
        caught.is_ok_and(|caught| caught & (1 << (Signal::TERM.as_raw() - 1)) == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;
    use std::process::{Command, Stdio};

    #[test]
    fn a_handler_of_sigterm_is_seen() {
        for (script, ignores) in
            [("echo; exec sleep 100", true), ("trap 'exit 0' TERM; echo; while :; do sleep 1; done", false)]
        {
            let mut child = Command::new("sh").args(["-c", script]).stdout(Stdio::piped()).spawn().unwrap();
            child.stdout.take().unwrap().read_exact(&mut [0]).unwrap();
            let container = Container { guard: 0, pid: child.id() as i32, group: None };
            assert_eq!(container.ignores_sigterm(), ignores, "{script}");
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let gone = Container { guard: 0, pid: i32::MAX, group: None };
        assert!(!gone.ignores_sigterm() && gone.caveat().is_some());
    }
}
