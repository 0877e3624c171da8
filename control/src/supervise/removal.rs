//! Removes what a server leaves outside of its own processes: its container. The guard runs the command, because it outlives drome.

use crate::shell::{self, Ended};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long a removal may take, with all of its attempts.
const PATIENCE: Duration = Duration::from_secs(20);

/// The number of attempts: a tool refuses while it is removing the container itself.
const ATTEMPTS: u32 = 4;

/// The time between attempts.
const PAUSE: Duration = Duration::from_millis(250);

/// Parts of what tools print where nothing is left to remove, in lower case.
const NOTHING_LEFT: [&str; 2] = ["no such container", "no container with name or id"];

/// Runs a command that removes something, until it succeeds or finds nothing to remove. The error says what the command printed. Its
/// output goes through a file in this folder.
pub fn run(command: &[String], folder: &Path) -> Result<(), String> {
    let deadline = Instant::now() + PATIENCE;
    let mut attempt = 1;
    loop {
        let why = match once(command, folder, deadline) {
            Ok(None) => return Ok(()),
            Ok(Some(why)) => why,
            Err(error) => error.to_string(),
        };
        if attempt == ATTEMPTS || Instant::now() + PAUSE >= deadline {
            return Err(format!("`{}` failed: {why}", command.join(" ")));
        }
        attempt += 1;
        std::thread::sleep(PAUSE);
    }
}

/// One attempt; `Some`: what the command printed when it failed.
fn once(command: &[String], folder: &Path, deadline: Instant) -> io::Result<Option<String>> {
    let (program, args) =
        command.split_first().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no command"))?;
    let path = folder.join("removal.log");
    let out = File::create(&path)?;
    let mut removal = Command::new(program);
    removal.args(args).current_dir("/").stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
    let patience = deadline.saturating_duration_since(Instant::now());
    let ended = shell::finish(&mut removal, patience, &AtomicBool::new(false))?;
    let text = String::from_utf8_lossy(&fs::read(&path)?).trim().to_owned();
    Ok(match ended {
        Ended::Exited(status) if status.success() || is_nothing_left(&text) => None,
        Ended::Exited(_) => Some(text),
        Ended::TimedOut | Ended::Stopped => Some(format!("it did not end in time; {text}")),
    })
}

fn is_nothing_left(printed: &str) -> bool {
    let printed = printed.to_lowercase();
    NOTHING_LEFT.iter().any(|words| printed.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Vec<String> {
        ["sh", "-c", script].map(str::to_owned).to_vec()
    }

    #[test]
    fn a_removal_succeeds_is_repeated_or_says_why_it_failed() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(run(&sh("true"), folder.path()), Ok(()));
        let nothing = "echo 'Error response from daemon: No such container: x' >&2; exit 1";
        assert_eq!(run(&sh(nothing), folder.path()), Ok(()));
        let count = folder.path().join("count").display().to_string();
        let third = format!("echo >> {count}; [ $(wc -l < {count}) = 3 ]");
        assert_eq!(run(&sh(&third), folder.path()), Ok(()));
        let failed = run(&sh("echo out; echo it is busy >&2; exit 2"), folder.path()).unwrap_err();
        assert!(failed.contains("out\nit is busy"), "{failed}");
        let none = run(&["/no/such/tool".to_owned()], folder.path()).unwrap_err();
        assert!(none.contains("/no/such/tool` failed"), "{none}");
        assert!(run(&[], folder.path()).is_err());
    }

    #[test]
    fn a_removal_that_hangs_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let hanging = sh("echo half; exec sleep 100");
        let why = once(&hanging, folder.path(), Instant::now() + Duration::from_millis(500)).unwrap();
        assert_eq!(why.as_deref(), Some("it did not end in time; half"));
    }
}
