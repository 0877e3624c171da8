//! What /proc says about the processes that are profiled.

use procfs::process::Process;
use procfs::{Current, Uptime};
use std::time::{Duration, SystemTime};

/// A thread of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Thread {
    /// The process ID.
    pub pid: i32,
    /// The thread ID; equal to `pid` for the first thread of a process.
    pub tid: i32,
}

/// All threads of these processes that exist now.
pub fn threads(pids: &[i32]) -> Vec<Thread> {
    let tasks = |pid: &i32| Process::new(*pid).and_then(|process| process.tasks());
    let of = |pid: &i32| -> Vec<Thread> {
        tasks(pid).into_iter().flatten().flatten().map(|task| Thread { pid: *pid, tid: task.tid }).collect()
    };
    pids.iter().flat_map(of).collect()
}

/// The file name of the program that a process runs; `None` if it has ended or may not be looked at.
pub fn program(pid: u32) -> Option<String> {
    let path = std::fs::read_link(format!("/proc/{pid}/exe")).ok()?;
    let name = path.file_name()?.to_string_lossy().into_owned();
    // The kernel adds this if the file has been deleted.
    Some(name.strip_suffix(" (deleted)").map_or_else(|| name.clone(), str::to_owned))
}

/// When a process began, by the clock that files' dates have, exact to a few hundredths of a second; `None` if it has ended. The kernel
/// stores this as a time since the machine was booted.
pub fn began(pid: u32) -> Option<SystemTime> {
    let stat = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.stat()).ok()?;
    let since_start = stat.starttime as f64 / procfs::ticks_per_second().max(1) as f64;
    let booted = SystemTime::now().checked_sub(Uptime::current().ok()?.uptime_duration())?;
    booted.checked_add(Duration::try_from_secs_f64(since_start).ok()?)
}

/// The ID of a process in its own PID namespace, which the name of its perf map contains.
pub fn pid_inside(pid: u32) -> Option<i32> {
    let status = Process::new(i32::try_from(pid).ok()?).and_then(|process| process.status()).ok()?;
    status.nspid.and_then(|pids| pids.last().copied())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn a_process_began_when_it_was_started() {
        let before = SystemTime::now();
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let (after, began) = (SystemTime::now(), began(child.id()).unwrap());
        child.kill().unwrap();
        child.wait().unwrap();
        let rounding = Duration::from_millis(50);
        assert!(began + rounding >= before && began <= after + rounding, "{before:?} {began:?} {after:?}");
        assert_eq!(super::began(child.id()).or(super::began(u32::MAX)), None, "it has ended");
    }

    #[test]
    fn a_process_is_found_with_its_threads() {
        let mut child = Command::new("sleep").arg("100").spawn().unwrap();
        let pid = child.id() as i32;
        assert_eq!(threads(&[pid]), [Thread { pid, tid: pid }]);
        assert!(pid_inside(child.id()).is_some());
        // Where all of the usual programs are in one file, that is it.
        assert!(program(child.id()).is_some_and(|name| !name.is_empty() && !name.contains('/')));
        assert_eq!(program(u32::MAX), None);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(threads(&[pid]), Vec::<Thread>::new());
        assert_eq!(pid_inside(u32::MAX), None);
    }
}
