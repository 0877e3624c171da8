//! Runs the `--prepare` command before every start in a race, to empty a cache or fill a database. It ends before the server starts.

use crate::fault::Fault;
use crate::shell::{self, Ended};
use crate::supervise::last_lines;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// A command that takes longer is taken for hung.
const PATIENCE: Duration = Duration::from_mins(10);

/// Runs a shell command in drome's own folder, with its output in `log`. If the command fails, the start fails with the last lines
/// of the log.
pub fn run(command: &str, log: &Path, stop: &AtomicBool) -> Result<(), Fault> {
    let unable = |what: &str, e: std::io::Error| Fault::unable(&format!("--prepare `{command}`: {what}"), &e);
    let out = File::create(log).map_err(|e| unable("can't write its log", e))?;
    let ended = shell::run(command, Path::new("."), out, PATIENCE, stop);
    let why = match ended.map_err(|e| unable("can't be run", e))? {
        Ended::Exited(status) if status.success() => return Ok(()),
        Ended::Exited(status) => format!("failed ({status})"),
        Ended::Stopped => return Err(Fault::interrupted()),
        Ended::TimedOut => format!("did not finish within {PATIENCE:?}"),
    };
    Err(Fault::Contender(format!("--prepare `{command}` {why}{}", last_lines(log))))
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
