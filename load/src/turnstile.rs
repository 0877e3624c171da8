//! Where a worker waits until all are ready, and by which one that fails ends the others.

use crate::worker::Worker;
use crate::{LoadError, Watch};
use model::Tally;
use net::Io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender};

/// What a worker passes before it begins: it says that it is ready, and waits until all are.
pub struct Turnstile<'a> {
    pub ready: SyncSender<std::io::Result<()>>,
    /// Disconnected if the others can't begin.
    pub opens: Receiver<()>,
    pub halted: &'a AtomicBool,
}

impl Turnstile<'_> {
    /// Runs a worker when all others are ready, too.
    pub fn run<I: Io>(
        &self,
        worker: std::io::Result<Worker<'_, I>>,
        watch: &dyn Watch,
    ) -> Result<Tally, LoadError> {
        let (worker, outcome) = match worker {
            Ok(worker) => (Some(worker), Ok(())),
            Err(error) => (None, Err(error)),
        };
        let is_told = self.ready.send(outcome).is_ok();
        let (Some(worker), true, Ok(())) = (worker, is_told, self.opens.recv()) else {
            return Err(LoadError::Worker);
        };
        let others = EndsOthers(self.halted);
        let tally = worker.run(watch)?;
        std::mem::forget(others);
        Ok(tally)
    }
}

/// Ends the other workers when it is dropped: when this worker failed, or panicked.
struct EndsOthers<'a>(&'a AtomicBool);

impl Drop for EndsOthers<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
