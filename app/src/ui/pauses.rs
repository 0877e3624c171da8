//! Pages are built in the pauses of a measurement. No page is built while a server is under load: on a machine of two cores, building a page
//! takes time from the server or the load generator, and the figures would include the page. A measurement is divided into steps:
//! a start, a part of a warm-up or a cycle of a heat.
//! Pages that are requested during a step wait for its end, and the next step waits for them. `access/entrance.rs` applies this to all
//! pages; a stream of events waits by itself.
//!
//! During a step drome only copies a piece of the page to watching browsers (at the very beginning), sends the constant style and
//! script, sets the flag that stops a study, and refuses requests without access. All of it is counted as background load (see `control/src/processes/other_load.rs`).

use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Held by pages or by a step. The lock is fair: requests are served in order, so neither side starves.
#[derive(Clone, Debug, Default)]
pub struct Pauses(Arc<RwLock<()>>);

/// Held while a page is built.
#[derive(Debug)]
pub struct PageHeld(#[allow(dead_code, reason = "held, not used")] OwnedRwLockReadGuard<()>);

/// Held during a step.
#[derive(Debug)]
pub struct StepHeld(#[allow(dead_code, reason = "held, not used")] OwnedRwLockWriteGuard<()>);

impl Pauses {
    /// Waits for the end of the current step, however long it takes.
    pub async fn page(&self) -> PageHeld {
        PageHeld(Arc::clone(&self.0).read_owned().await)
    }

    /// Waits for the pages that are being built; called from a thread of the lab.
    pub fn step(&self, pages: &Handle) -> StepHeld {
        StepHeld(pages.block_on(Arc::clone(&self.0).write_owned()))
    }
}

#[cfg(test)]
#[path = "pauses/tests.rs"]
mod tests;
