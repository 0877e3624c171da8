//! The state that all pages share: the store, the catalog, and the running study.

use super::access::body::Bodies;
use super::job::{Job, Wanted};
use super::outcomes::Mark;
use super::pages::failure::Failure;
use super::turns::Quiet;
use lab::store::Stamp;
use lab::{Catalog, Store, Stored};
use model::Findings;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};

/// A message from the pages to the main thread.
#[derive(Debug)]
pub enum Order {
    /// Run this study.
    Start(Arc<Job>),
    /// Stop.
    Quit,
    /// The pages can't be served any more.
    Failed(String),
}

/// The number of analysed runs that are cached.
const AT_HAND: usize = 16;

/// The state that all pages share.
#[derive(Debug)]
pub struct AppState {
    store: PathBuf,
    /// Studies and contenders.
    pub catalog: Catalog,
    /// Pages and trials take turns.
    pub quiet: Quiet,
    /// Receives request bodies.
    pub bodies: Bodies,
    /// Whether trials count under background load.
    pub may_be_busy: bool,
    orders: Sender<Order>,
    job: Mutex<Option<Arc<Job>>>,
    analysed: Mutex<BTreeMap<String, (Stamp, Arc<Analysed>)>>,
}

/// The findings of a run, small enough to cache.
#[derive(Debug)]
pub struct Analysed {
    /// The outcome of every trial.
    pub marks: Vec<Mark>,
    /// The findings.
    pub findings: Findings,
}

impl AppState {
    /// The state without a running study.
    pub fn new(store: PathBuf, catalog: Catalog, orders: Sender<Order>, may_be_busy: bool) -> Self {
        Self {
            store,
            catalog,
            may_be_busy,
            quiet: Quiet::default(),
            bodies: Bodies::default(),
            orders,
            job: Mutex::default(),
            analysed: Mutex::default(),
        }
    }

    /// Opens the store. Every page opens it anew, because other processes write to it too.
    pub fn store(&self) -> Result<Store, lab::StoreError> {
        Store::open(&self.store)
    }

    /// Runs the work of a page on another thread than the serving one, within the page's turn (see
    /// [`super::turns::gate`]).
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
    pub fn start(&self, wanted: Wanted) -> bool {
        let mut latest = self.job.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|job| !job.is_over()) {
            return false;
        }
        let job = Arc::new(Job::new(wanted, tokio::runtime::Handle::current()));
        *latest = Some(Arc::clone(&job));
        self.orders.send(Order::Start(job)).is_ok()
    }

    /// A run with its findings. It is cached until the run changes in the store: one that has ended can be resumed,
    /// by another process too.
    pub fn analysed(&self, id: &str) -> Result<Arc<Analysed>, Failure> {
        let at_hand = || self.analysed.lock().unwrap_or_else(PoisonError::into_inner);
        let store = self.store()?;
        // Read before the run: a change between the two makes the stamp too old, never too new.
        let stamp = store.stamp(id)?;
        if let Some((_, known)) = at_hand().get(id).filter(|(known, _)| Some(known) == stamp.as_ref()) {
            return Ok(Arc::clone(known));
        }
        let Stored::Run(run, observations, ended) = store.find(Some(id))? else {
            let why = format!("{id} has no trials to compare: it was imported or made with --as-published.");
            return Err(Failure::wrong(why));
        };
        let findings = lab::findings::of(&store, &run, &observations, ended.as_deref())?;
        let observations = lab::findings::all(&store, &run, observations)?;
        let marks = observations.iter().map(Mark::of).collect();
        let analysed = Arc::new(Analysed { marks, findings });
        if let Some(stamp) = stamp {
            let mut known = at_hand();
            while known.len() >= AT_HAND && !known.contains_key(id) {
                known.pop_first();
            }
            known.insert(id.to_owned(), (stamp, Arc::clone(&analysed)));
        }
        Ok(analysed)
    }
}

#[cfg(test)]
#[path = "state/tests.rs"]
mod tests;
