//! A cache of values computed from runs. Each is valid until its run changes in the store.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use store::Stamp;

/// A bounded cache by run.
#[derive(Debug)]
pub struct Recent<T> {
    most: usize,
    known: Mutex<BTreeMap<String, (Stamp, T)>>,
}

impl<T: Clone> Recent<T> {
    /// An empty cache for at most `most` runs.
    pub fn new(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// The value of a run, if it is cached and the run still has this stamp.
    pub fn get(&self, id: &str, stamp: &Stamp) -> Option<T> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(id).filter(|(then, _)| then == stamp).map(|(_, value)| value.clone())
    }

    /// Keeps a value. If the cache is full, the value of the run with the smallest id, the earliest, is dropped.
    pub fn keep(&self, id: &str, stamp: Stamp, value: T) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        while known.len() >= self.most && !known.contains_key(id) {
            known.pop_first();
        }
        known.insert(id.to_owned(), (stamp, value));
    }
}
