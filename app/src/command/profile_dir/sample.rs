//! Samples one contender in a start of its own.

use crate::command::profiler::Profiler;
use control::fault::Fault;
use control::processes::tree::{self, Tree};
use lab::Session;
use lab::extra_start::{ExtraServer, ExtraStart};
use profile::{ProfileError, Report, Side};
use std::collections::BTreeSet;
use std::time::{Duration, SystemTime};

/// A contender's profile.
#[derive(Debug)]
pub struct Profiled {
    /// Its name; its letter in a race.
    pub name: String,
    /// What tables call it.
    pub title: String,
    /// The samples, and what was counted in the same time.
    pub report: Report,
}

/// Why a contender has no profile.
#[derive(Debug)]
pub enum Missing {
    /// Something went wrong with this start.
    Start(String),
    /// This system does not let drome profile, so the next contender can't be profiled either.
    System(ProfileError),
}

impl From<Fault> for Missing {
    fn from(fault: Fault) -> Self {
        Self::Start(fault.to_string())
    }
}

impl From<ProfileError> for Missing {
    fn from(error: ProfileError) -> Self {
        match error {
            ProfileError::NoProcess => Self::Start(error.to_string()),
            error => Self::System(error),
        }
    }
}

impl Profiled {
    /// As one of two that are compared.
    pub fn side(&self) -> Side<'_> {
        Side { name: &self.name, profile: &self.report.profile, work: self.report.work }
    }
}

/// The perf maps that the processes of this start write, because drome asks runtimes for names: removed when this is dropped.
#[derive(Debug)]
struct LeftBehind {
    since: SystemTime,
    pids: BTreeSet<u32>,
}

impl LeftBehind {
    fn from_now() -> Self {
        Self { since: SystemTime::now(), pids: BTreeSet::new() }
    }

    /// Adds the server's current processes, and those that were seen before. Servers that drome did not start are left alone, and a
    /// container has a folder /tmp of its own that is removed with it.
    fn by(&mut self, tree: &Tree, seen: impl IntoIterator<Item = u32>) {
        if matches!(tree, Tree::Below(_)) {
            self.pids.extend(tree::pids(tree).into_iter().filter_map(|pid| u32::try_from(pid).ok()));
            self.pids.extend(seen);
        }
    }
}

impl Drop for LeftBehind {
    fn drop(&mut self) {
        profile::remove_perf_maps(std::mem::take(&mut self.pids), self.since);
    }
}

/// Starts a contender once more, samples it under load for the time of the window, stops it, and looks up the names of its functions, which
/// can take seconds of CPU time: no server is under load then.
pub fn sample(
    session: &Session<'_>,
    extra: &ExtraStart,
    title: &str,
    window: Duration,
) -> Result<Profiled, Missing> {
    // Dropped last: when the server has ended, and the names of its functions are looked up.
    let mut left = LeftBehind::from_now();
    let mut start = start(session, extra)?;
    let Some(tree) = start.tree() else {
        return Err(Missing::Start("its processes are not known".to_owned()));
    };
    left.by(&tree, []);
    // The sampler runs on the load generator's CPUs, so it takes no time from the server's.
    let profiler = Profiler::begin(&tree, start.client_cpus())?;
    let driven = start.drive(window, &profiler)?;
    // While the server runs: it may remove the names of what it compiled at run time when it ends.
    let sampled = profiler.end()?;
    left.by(&tree, sampled.recording.pids_with_own_code());
    let name = extra.contender.clone();
    if let Err(why) = start.stop() {
        note!("profile: {name}: {why}");
    }
    let report = sampled.report(driven.answers, driven.cpu_ns, driven.received_bytes);
    Ok(Profiled { name, title: title.to_owned(), report })
}

/// Starts a contender with an environment that makes runtimes name their functions. If it fails to start with that, it is started again
/// without: some start scripts read what runtimes print, and old runtimes refuse options that they don't know.
fn start<'s>(session: &'s Session<'_>, extra: &ExtraStart) -> Result<ExtraServer<'s>, Fault> {
    match session.begin_extra_start(extra, &profile::environment) {
        Err(Fault::Contender(why)) if !session.is_stopped() => {
            let name = &extra.contender;
            note!(
                "profile: {name} is started again without being told to name its functions: with that it did not \
                 start ({why})"
            );
            session.begin_extra_start(extra, &|_| Vec::new())
        }
        started => started,
    }
}
