//! Things that drome on another machine knows by numbers.

use crate::locked;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Things of one kind by their numbers, none of which is given twice.
#[derive(Debug)]
pub struct Numbered<T> {
    next: AtomicU64,
    all: Mutex<BTreeMap<u64, T>>,
}

impl<T> Default for Numbered<T> {
    fn default() -> Self {
        Self { next: AtomicU64::new(0), all: Mutex::default() }
    }
}

impl<T> Numbered<T> {
    /// Adds one, and returns its number.
    pub fn add(&self, one: T) -> u64 {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        locked(&self.all).insert(number, one);
        number
    }

    /// Adds one that may never be taken, because what asked for it failed: beyond `most`, the oldest makes room for it.
    pub fn add_among(&self, one: T, most: usize) -> u64 {
        let number = self.add(one);
        let mut all = locked(&self.all);
        while all.len() > most {
            all.pop_first();
        }
        number
    }

    /// Removes the one of this number.
    pub fn take(&self, number: u64) -> Option<T> {
        locked(&self.all).remove(&number)
    }

    /// Removes all.
    pub fn take_all(&self) -> Vec<T> {
        std::mem::take(&mut *locked(&self.all)).into_values().collect()
    }

    /// Does something with the one of this number.
    pub fn with<A>(&self, number: u64, work: impl FnOnce(&mut T) -> A) -> Result<A, String> {
        let mut all = locked(&self.all);
        let one = all.get_mut(&number);
        one.map(work)
            .ok_or_else(|| format!("nothing here has the number {number}: the agent was started anew"))
    }
}
