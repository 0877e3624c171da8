//! Runs the `--prepare` command before every trial of a race, to empty a cache or fill a database. It ends before the server starts.

use crate::fault::Fault;
use crate::server::supervise::last_lines;
use rustix::process::{Pid, Signal, kill_process_group};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A command that takes longer is taken for hung.
const PATIENCE: Duration = Duration::from_mins(10);

/// How often the command is polled.
const INTERVAL: Duration = Duration::from_millis(2);

/// Runs a shell command in drome's own folder, with its output in `log`. If the command fails, the trial fails with the last lines
/// of the log.
pub fn run(command: &str, log: &Path, stop: &AtomicBool) -> Result<(), Fault> {
    let unable = |what: &str, e: std::io::Error| Fault::unable(&format!("--prepare `{command}`: {what}"), &e);
    let out = File::create(log).map_err(|e| unable("can't write its log", e))?;
    let err = out.try_clone().map_err(|e| unable("can't write its log", e))?;
    // A group of its own, so that all of it can be ended.
    let mut child = Command::new("sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .stdout(out)
        .stderr(err)
        .process_group(0)
        .spawn()
        .map_err(|e| unable("can't be started", e))?;
    let deadline = Instant::now() + PATIENCE;
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                let why = format!("--prepare `{command}` failed ({status}){}", last_lines(log));
                return Err(Fault::Contender(why));
            }
            Ok(None) => {}
            Err(e) => return Err(unable("can't be waited for", e)),
        }
        if stop.load(Ordering::Relaxed) {
            end(&mut child);
            return Err(Fault::interrupted());
        }
        if Instant::now() > deadline {
            end(&mut child);
            let why = format!("--prepare `{command}` did not finish within {PATIENCE:?}{}", last_lines(log));
            return Err(Fault::Contender(why));
        }
        std::thread::sleep(INTERVAL);
    }
}

fn end(child: &mut Child) {
    if let Some(group) = Pid::from_raw(child.id() as i32) {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_succeeds_fails_with_its_last_words_or_is_ended() {
        let folder = tempfile::tempdir().unwrap();
        let (log, go, stop) = (folder.path().join("log"), AtomicBool::new(false), AtomicBool::new(true));
        assert_eq!(run("true", &log, &go), Ok(()));
        let Err(Fault::Contender(why)) = run("echo no database; exit 3", &log, &go) else { panic!() };
        assert!(why.contains("failed (exit status: 3)") && why.ends_with("no database"), "{why}");
        assert_eq!(run("sleep 60; true", &log, &stop), Err(Fault::interrupted()));
        let Err(Fault::Lab(why)) = run("true", &folder.path().join("no/log"), &go) else { panic!() };
        assert!(why.contains("can't write its log"), "{why}");
    }
}
