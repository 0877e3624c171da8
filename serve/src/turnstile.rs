//! Where a thread of the server waits until all are ready.

use std::sync::mpsc::{Receiver, Sender};

/// What a thread passes before it serves: it says that it is ready, and waits until all are.
pub struct Turnstile {
    pub ready: Sender<()>,
    /// Disconnected if another thread can't serve.
    pub opens: Receiver<()>,
}

impl Turnstile {
    /// Whether all threads are ready.
    pub fn pass(self) -> bool {
        // Dropped at once: the channel ends when every thread has passed or failed.
        let Self { ready, opens } = self;
        ready.send(()).is_ok() && {
            drop(ready);
            opens.recv().is_ok()
        }
    }
}
