//! The state that all pages share: the store, the catalog, and the running study.

use super::access::body::Bodies;
use super::job::{Job, WantedStudy};
use super::outcomes::TrialOutcome;
use super::pages::failure::Failure;
use super::recent::Recent;
use super::turns::Turns;
use control::Catalog;
use model::Findings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use store::{Store, Stored};

/// A message from the pages to the main thread.
#[derive(Debug)]
pub enum PageOrder {
    /// Run this study.
    Start(Arc<Job>),
    /// Stop.
    Quit,
    /// The pages can't be served any more.
    Failed(String),
}

/// The number of analysed runs that are cached.
const ANALYSED: usize = 16;

/// The number of verdicts that are cached, a line each.
const VERDICTS: usize = 500;

/// The state that all pages share.
#[derive(Debug)]
pub struct AppState {
    store: PathBuf,
    /// Studies and contenders.
    pub catalog: Catalog,
    /// Pages and measurements take turns.
    pub turns: Turns,
    /// Receives request bodies.
    pub bodies: Bodies,
    /// Whether measurements count under background load.
    pub may_be_busy: bool,
    orders: Sender<PageOrder>,
    job: Mutex<Option<Arc<Job>>>,
    analysed: Recent<Arc<Analysed>>,
    verdicts: Recent<Arc<str>>,
    installed: Mutex<BTreeMap<String, bool>>,
}

/// The findings of a run, small enough to cache.
#[derive(Debug)]
pub struct Analysed {
    /// The outcome of every start in each cell.
    pub outcomes: Vec<TrialOutcome>,
    /// The findings.
    pub findings: Findings,
}

impl AppState {
    /// The state without a running study.
    pub fn new(store: PathBuf, catalog: Catalog, orders: Sender<PageOrder>, may_be_busy: bool) -> Self {
        Self {
            store,
            catalog,
            may_be_busy,
            turns: Turns::default(),
            bodies: Bodies::default(),
            orders,
            job: Mutex::default(),
            analysed: Recent::new(ANALYSED),
            verdicts: Recent::new(VERDICTS),
            installed: Mutex::default(),
        }
    }

    /// Opens the store. Every page opens it anew, because other processes write to it too.
    pub fn store(&self) -> Result<Store, store::StoreError> {
        Store::open(&self.store)
    }

    /// Runs the work of a page on another thread than the serving one, within the page's turn.
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let app = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&app)).await.unwrap_or_else(|_| Err(Failure::bug()))
    }

    /// The latest study that was started here, running or ended.
    pub fn job(&self) -> Option<Arc<Job>> {
        self.job.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The running study.
    pub fn under_way(&self) -> Option<Arc<Job>> {
        self.job().filter(|job| !job.is_over())
    }

    /// Starts a study; false if another one is running.
    pub fn start(&self, wanted: WantedStudy) -> bool {
        let mut latest = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|job| !job.is_over()) {
            return false;
        }
        let job = Arc::new(Job::new(wanted, tokio::runtime::Handle::current()));
        *latest = Some(Arc::clone(&job));
        self.orders.send(PageOrder::Start(job)).is_ok()
    }

    /// Remembers whether a contender was found on this machine; `None`: that could not be found out.
    pub fn know_installed(&self, name: &str, is_installed: Option<bool>) {
        let mut known = self.installed.lock().unwrap_or_else(PoisonError::into_inner);
        match is_installed {
            Some(is_installed) => known.insert(name.to_owned(), is_installed),
            None => known.remove(name),
        };
    }

    /// Whether a contender was found on this machine when it was last looked for; `None`: it was not.
    pub fn is_installed(&self, name: &str) -> Option<bool> {
        self.installed.lock().unwrap_or_else(PoisonError::into_inner).get(name).copied()
    }

    /// A run with its findings. It is cached until the run changes in the store: one that has ended can be resumed,
    /// by another process too.
    pub fn analysed(&self, id: &str) -> Result<Arc<Analysed>, Failure> {
        let store = self.store()?;
        // Read before the run: a change between the two makes the stamp too old, never too new.
        let stamp = store.stamp(id)?;
        if let Some(known) = stamp.as_ref().and_then(|stamp| self.analysed.get(id, stamp)) {
            return Ok(known);
        }
        let Stored::Run(run, ended) = store.find(Some(id))? else {
            let why = format!("{id} has nothing to compare: it was imported or made with --as-published.");
            return Err(Failure::wrong(why));
        };
        let findings = lab::findings::of(&store, &run, ended.as_deref())?;
        let observations = lab::findings::all(&store, &run.id)?;
        let outcomes = observations.iter().map(TrialOutcome::of).collect();
        let analysed = Arc::new(Analysed { outcomes, findings });
        if let Some(stamp) = stamp {
            self.analysed.keep(id, stamp, Arc::clone(&analysed));
        }
        Ok(analysed)
    }

    /// The verdicts of these runs in a line each, by run. When the time `within` is over, only those that are cached: a
    /// long list must not delay the next step.
    pub fn verdicts(&self, runs: &[String], within: Duration) -> Result<BTreeMap<String, Arc<str>>, Failure> {
        let began = Instant::now();
        let store = self.store()?;
        let mut lines = BTreeMap::new();
        for id in runs {
            let Some(stamp) = store.stamp(id)? else { continue };
            let mut line = self.verdicts.get(id, &stamp);
            if line.is_none() && began.elapsed() < within {
                // A run that can't be read is listed too; its own page says what is wrong.
                let told = self.analysed(id).map(|run| report::verdict::in_one_line(&run.findings));
                line = told.ok().map(Arc::from);
                if let Some(line) = &line {
                    self.verdicts.keep(id, stamp, Arc::clone(line));
                }
            }
            lines.extend(line.map(|line| (id.clone(), line)));
        }
        Ok(lines)
    }
}

#[cfg(test)]
#[path = "state/tests.rs"]
mod tests;
