//! What a measurement tells those who watch it, and what they tell it.

use crate::View;
use model::Exchange;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;

/// Receives the moments when the load starts, and when the measured window opens and closes. Called by one worker, never per request.
pub trait Watch: Sync {
    /// The load starts now: nothing has been asked for yet.
    fn started(&self) {}
    /// The window opens now.
    fn opened(&self) {}
    /// The window closed now.
    fn closed(&self) {}
}

/// Watches nothing.
impl Watch for () {}

/// Passes all moments on to two others, in this order.
pub struct Both<'a>(pub &'a dyn Watch, pub &'a dyn Watch);

impl Watch for Both<'_> {
    fn started(&self) {
        self.0.started();
        self.1.started();
    }

    fn opened(&self) {
        self.0.opened();
        self.1.opened();
    }

    fn closed(&self) {
        self.0.closed();
        self.1.closed();
    }
}

/// The state that a measurement shares with its observers: written once a pass of the loop, read for a progress bar.
#[derive(Debug, Default)]
pub struct Progress {
    /// When the load starts, in nanoseconds of the monotonic clock. `None`: at once.
    pub starts_ns: Option<u64>,
    /// Set to end the measurement early.
    pub stop: Arc<AtomicBool>,
    /// Set by a worker that can't go on, so that all workers end; `stop` is left as it is.
    pub halted: AtomicBool,
    /// Whether a TLS handshake has completed on any of the workers; written at handshakes only.
    pub secured: AtomicBool,
    /// When any worker could last expect an answer, in nanoseconds of the monotonic clock.
    pub expected_ns: AtomicU64,
    /// The number of answers so far, over all workers, within the window.
    pub completed: AtomicU64,
    /// The counts of every quarter of a second, if they are wanted.
    pub view: Option<View>,
    /// The receiver of single exchanges, in chunks, if they are wanted.
    pub log: Option<Sender<Vec<Exchange>>>,
}
