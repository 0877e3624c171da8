//! Pages and measurements take turns. No page is built while a server is under load: on a machine of two cores, building a page
//! takes time from the server or the load generator, and the figures would include the page. A measurement is divided into steps:
//! a start, a part of a warm-up or a cycle of a heat.
//! Pages that are requested during a step wait for its end, and the next step waits for them. `access/gate.rs` applies this to all
//! pages; a stream of events waits for its own turn.
//!
//! During a step drome only copies a piece of the page to watching browsers (at the very beginning), sends the constant style and
//! script, sets the flag that stops a study, and refuses requests without access. All of it is counted as background load (see `control/src/processes/other_load.rs`).

use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// Whose turn it is. The lock is fair: requests are served in order, so neither side starves.
#[derive(Clone, Debug, Default)]
pub struct Turns(Arc<RwLock<()>>);

/// Held while a page is built.
#[derive(Debug)]
pub struct PageTurn(#[allow(dead_code, reason = "held, not used")] OwnedRwLockReadGuard<()>);

/// Held during a step.
#[derive(Debug)]
pub struct StepTurn(#[allow(dead_code, reason = "held, not used")] OwnedRwLockWriteGuard<()>);

impl Turns {
    /// Waits for the end of the current step, however long it takes.
    pub async fn page(&self) -> PageTurn {
        PageTurn(Arc::clone(&self.0).read_owned().await)
    }

    /// Waits for the pages that are being built; called from a thread of the lab.
    pub fn step(&self, pages: &Handle) -> StepTurn {
        StepTurn(pages.block_on(Arc::clone(&self.0).write_owned()))
    }
}

#[cfg(test)]
#[path = "turns/tests.rs"]
mod tests;
