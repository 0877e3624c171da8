//! Runs a build under a guard, as a server runs: whatever the build has started ends when the build does, and when drome is gone for
//! whatever reason.

use crate::fault::Fault;
use crate::lock::Lock;
use crate::supervise::{GuardedProcess, GuardedStart, SUCCESS};
use model::contender::StopSignal;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How often drome checks whether it was asked to stop.
const INTERVAL: Duration = Duration::from_millis(20);

/// Runs the command of the second argument in the folder of the first one, in a shell that has nothing else to do.
const IN_FOLDER: &str = "cd \"$1\" && exec sh -c \"$2\"";

/// How a build ended.
#[derive(Debug)]
pub enum BuildEnd {
    /// With success.
    Well,
    /// Otherwise: how, in words.
    Badly(String),
    /// drome was asked to stop.
    Stopped,
}

/// Runs a command by a shell in a folder, for at most `patience`. Its output is added to `log`. After a kill of drome, the guard holds
/// `lock` until nothing of the build is left.
pub fn run(
    command: &str,
    folder: &Path,
    log: &Path,
    lock: &Lock,
    patience: Duration,
    stop: &AtomicBool,
) -> io::Result<BuildEnd> {
    let own = |fault: Fault| io::Error::other(fault.to_string());
    let words = ["sh", "-c", IN_FOLDER, "sh", &folder.display().to_string(), command].map(str::to_owned);
    let mut build = GuardedProcess::start_holding(start(log), lock.shared()?.into(), |_| Ok(words.to_vec()))
        .map_err(own)?;
    let begun = Instant::now();
    loop {
        match build.ends_within(INTERVAL) {
            // The guard was killed, and nothing else may be left that ends what it guarded.
            Err(fault) => {
                build.ask_to_stop();
                return Err(own(fault));
            }
            Ok(Some(how)) if how == SUCCESS => return Ok(BuildEnd::Well),
            Ok(Some(how)) => return Ok(BuildEnd::Badly(how)),
            Ok(None) if stop.load(Ordering::Relaxed) => return Ok(BuildEnd::Stopped),
            Ok(None) if begun.elapsed() > patience => {
                return Ok(BuildEnd::Badly(format!("not finished within {patience:?}")));
            }
            Ok(None) => {}
        }
    }
}

/// A guard's order for a build.
fn start(log: &Path) -> GuardedStart {
    GuardedStart {
        log: log.to_owned(),
        cpus: Vec::new(),
        descriptors: None,
        address: None,
        env: Vec::new(),
        stop: StopSignal::Kill,
        removal: Vec::new(),
    }
}
