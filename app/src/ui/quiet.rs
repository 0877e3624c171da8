//! Pages and trials take turns. While a trial is under way no page is made: on a machine of two cores whatever makes a
//! page takes its time from the server or from the load generator, and the figures would tell of the page. Pages that are
//! asked for meanwhile wait for the end of the trial, and the next trial waits for them. What remains is to copy a few
//! hundred bytes of events to those who watch, at the very beginning of a trial, when its server is only being started.

use super::failure::Failure;
use axum::http::StatusCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};
use tokio::time::timeout;

/// A page does not wait longer: it says why instead.
const PATIENCE: Duration = Duration::from_secs(20);

/// Whose turn it is. The lock is fair: who asked first goes first, so neither side starves.
#[derive(Clone, Debug, Default)]
pub struct Quiet(Arc<RwLock<()>>);

/// A page is being made.
#[derive(Debug)]
pub struct Work(#[allow(dead_code, reason = "held, not used")] OwnedRwLockReadGuard<()>);

/// A trial is under way.
#[derive(Debug)]
pub struct Silence(#[allow(dead_code, reason = "held, not used")] OwnedRwLockWriteGuard<()>);

impl Quiet {
    /// Waits for the end of the trial under way.
    pub async fn work(&self) -> Result<Work, Failure> {
        let turn = timeout(PATIENCE, Arc::clone(&self.0).read_owned()).await;
        turn.map(Work).map_err(|_| {
            let why = "A trial is being measured, and nothing else is done meanwhile. Reload this page in a moment.";
            Failure::new(StatusCode::SERVICE_UNAVAILABLE, why)
        })
    }

    /// Waits for the pages that are being made; from a thread of the lab.
    pub fn silence(&self, pages: &Handle) -> Silence {
        Silence(pages.block_on(Arc::clone(&self.0).write_owned()))
    }
}
