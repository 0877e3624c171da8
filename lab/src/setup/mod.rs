//! Sets up a lab and a run that can begin, from a study or from bare commands.

mod commands;
mod contenders;
mod images;
mod labels;
mod new_run;
mod resume;
mod running;
mod same_work;

pub use commands::{RACED, ServerCommand, commands, raced_study};
pub use contenders::{Lineup, on_tracks, prepare};
pub use images::{RacedImage, images};
pub use labels::{name_entrants, race_title, short_labels};
pub use new_run::{RunRules, new_id, quicken, race_run};
pub use resume::{changes_since, work_changes_elsewhere};
pub use running::{not_above_listeners, running};
pub use same_work::same_work;

use crate::lab::Lab;
use control::catalog::CatalogError;
use control::lock::Lock;
use control::machine::cores::Cores;
use control::prepare::assets::{CacheError, assets};
use control::prepare::{Prepared, folders};
use control::remote::{RemoteError, RemoteMachine};
use model::Run;
use model::study::REFERENCE;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use store::Store;

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The catalog is wrong, or a name is not in it.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Something can't be made in the cache folder.
    #[error(transparent)]
    Cache(#[from] CacheError),
    /// No contender of the run can take part.
    #[error("none of the contenders of {study} is installed: install them with `drome install {study}`")]
    Nobody {
        /// The study.
        study: String,
    },
    /// Another drome is working on the run.
    #[error("another drome is working on {run}: wait until it ends, or start a new run without --resume")]
    Running {
        /// The run.
        run: String,
    },
    /// A user asked to stop.
    #[error("interrupted before anything was measured")]
    Interrupted,
    /// The lab failed.
    #[error("the lab failed: {0}")]
    Lab(String),
    /// The race can't be run.
    #[error("{0}")]
    Race(String),
    /// The race can't be run because of a server that is compared with the first one: it does not start, or answers wrongly.
    #[error("{0}")]
    Compared(String),
    /// The study's servers belong on another machine, which only `drome run` reaches.
    #[error(
        "the study has `server-on = \"{words}\"`, and only `drome run` reaches another machine: measure the study with that, or remove \
         the key"
    )]
    NotHere {
        /// How the machine is reached.
        words: String,
    },
    /// The other machine can't be used for servers.
    #[error(transparent)]
    Remote(#[from] RemoteError),
}

/// The number of contenders of a study that can take part, besides the reference; fails if there is none.
pub fn present(run: &Run) -> Result<usize, SetupError> {
    let present = run.contenders.iter().filter(|(name, e)| e.missing.is_none() && *name != REFERENCE).count();
    if present == 0 { Err(SetupError::Nobody { study: run.name.clone() }) } else { Ok(present) }
}

/// Sets up the lab for a run that is kept in this store, or in none. It locks the run: from here on no other drome can continue it,
/// whichever cache folder that one uses.
pub fn lab(
    run: &Run,
    lineup: Lineup,
    stop: Arc<AtomicBool>,
    store: Option<&Store>,
) -> Result<Lab, SetupError> {
    let Lineup { prepared, works, remote } = lineup;
    if let Some(words) = run.study.server_on.as_ref().filter(|_| remote.is_none()) {
        return Err(SetupError::NotHere { words: words.clone() });
    }
    let (cache, assets) = (folders::cache(), assets(&works)?);
    let takes_part = |p: &Prepared| run.contenders.get(&p.name).is_some_and(|e| e.missing.is_none());
    let logs = cache.join("logs").join(&run.id);
    let unable = |source| CacheError::Folder { path: logs.clone(), source };
    std::fs::create_dir_all(&logs).map_err(unable)?;
    let lock = store.map_or_else(|| logs.join("lock"), |store| store.lock(&run.id));
    let unable = |e| SetupError::Lab(format!("can't lock {}: {e}", lock.display()));
    let lock = Lock::try_take(&lock).map_err(unable)?;
    let lock = lock.ok_or_else(|| SetupError::Running { run: run.id.clone() })?;
    let cores = remote.as_ref().map_or_else(Cores::deal, RemoteMachine::cores);
    Ok(Lab {
        prepared: prepared.into_iter().filter(takes_part).map(|p| (p.name.clone(), p)).collect(),
        works,
        _awake: cores.keep_awake(),
        cores,
        remote,
        assets,
        logs,
        stop,
        may_be_busy: run.allow_busy.unwrap_or(false),
        verified: Mutex::default(),
        lock,
    })
}
