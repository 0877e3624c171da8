//! The state that all pages share: the store, the catalog, and the running study.

use super::body::Bodies;
use super::failure::Failure;
use super::marks::Mark;
use super::quiet::Quiet;
use super::sitting::{Sitting, Wanted};
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
    Start(Arc<Sitting>),
    /// Stop.
    Quit,
    /// The pages can't be served any more.
    Failed(String),
}

/// The number of analysed runs that are cached.
const AT_HAND: usize = 16;

/// The state that all pages share.
#[derive(Debug)]
pub struct Desk {
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
    sitting: Mutex<Option<Arc<Sitting>>>,
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

impl Desk {
    /// The state without a running study.
    pub fn new(store: PathBuf, catalog: Catalog, orders: Sender<Order>, may_be_busy: bool) -> Self {
        Self {
            store,
            catalog,
            may_be_busy,
            quiet: Quiet::default(),
            bodies: Bodies::default(),
            orders,
            sitting: Mutex::default(),
            analysed: Mutex::default(),
        }
    }

    /// Opens the store. Every page opens it anew, because other processes write to it too.
    pub fn store(&self) -> Result<Store, lab::StoreError> {
        Store::open(&self.store)
    }

    /// Runs the work of a page on another thread than the serving one, within the page's turn (see
    /// [`super::quiet::gate`]).
    pub async fn work<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let desk = Arc::clone(self);
        tokio::task::spawn_blocking(move || work(&desk)).await.unwrap_or_else(|_| Err(Failure::bug()))
    }

    /// The latest study that was started here, running or ended.
    pub fn sitting(&self) -> Option<Arc<Sitting>> {
        self.sitting.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The running study.
    pub fn under_way(&self) -> Option<Arc<Sitting>> {
        self.sitting().filter(|sitting| !sitting.is_over())
    }

    /// Starts a study; false if another one is running.
    pub fn start(&self, wanted: Wanted) -> bool {
        let mut latest = self.sitting.lock().unwrap_or_else(PoisonError::into_inner);
        if latest.as_ref().is_some_and(|sitting| !sitting.is_over()) {
            return false;
        }
        let sitting = Arc::new(Sitting::new(wanted, tokio::runtime::Handle::current()));
        *latest = Some(Arc::clone(&sitting));
        self.orders.send(Order::Start(sitting)).is_ok()
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
#[path = "desk/tests.rs"]
mod tests;
