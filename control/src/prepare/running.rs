//! A server that already runs: drome has not started it, does not stop it, and sends it no signal.

use crate::processes::stat::{Stat, stat};
use crate::verify::origin::Origin;

/// A server that already runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningServer {
    /// Where requests to it go.
    pub origin: Origin,
    /// Its first process; `None`: its processes are not known.
    process: Option<Known>,
}

/// A process that can't be taken for a later one with the same PID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    pid: i32,
    /// When it was started, in the kernel's ticks since boot.
    started: u64,
}

impl RunningServer {
    /// A server whose first process is `pid`; `None`: its processes are not known. Fails, in words, if there is no such process.
    pub fn new(origin: Origin, pid: Option<i32>) -> Result<Self, String> {
        let known = |pid| {
            let started = started(pid).ok_or_else(|| format!("there is no process {pid}"))?;
            Ok::<Known, String>(Known { pid, started })
        };
        Ok(Self { origin, process: pid.map(known).transpose()? })
    }

    /// Its first process, if it is known.
    pub fn pid(&self) -> Option<i32> {
        self.process.map(|process| process.pid)
    }

    /// Says that its process has ended, if it has. If its processes are not known, only requests that fail show that.
    pub fn ended(&self) -> Option<String> {
        let Known { pid, started: then } = self.process?;
        (started(pid) != Some(then)).then(|| format!("its process {pid} has ended"))
    }
}

/// When a process was started, in the kernel's ticks since boot; `None` if it is not alive.
fn started(pid: i32) -> Option<u64> {
    stat(pid).filter(Stat::is_alive).map(|stat| stat.started_ticks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::SocketAddr;

    fn running(pid: Option<i32>) -> Result<RunningServer, String> {
        RunningServer::new(SocketAddr::from(([127, 0, 0, 1], 81)).into(), pid)
    }

    #[test]
    fn the_end_of_a_known_process_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let pid = child.id() as i32;
        let of_child = running(Some(pid)).unwrap();
        assert_eq!((of_child.pid(), of_child.ended()), (Some(pid), None));
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(of_child.ended(), Some(format!("its process {pid} has ended")));
        assert_eq!(running(Some(pid)), Err(format!("there is no process {pid}")));
        let unknown = running(None).unwrap();
        assert_eq!((unknown.pid(), unknown.ended()), (None, None));
    }
}
