//! When the other side was last heard from. Any byte counts, because a large message may take long to arrive.

use crate::{SILENCE, now_ns};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time at which the last byte came from the other side. Clones share it.
#[derive(Clone)]
pub struct Heard(Arc<AtomicU64>);

impl Heard {
    /// Begins with now as the time of the last byte.
    pub fn now() -> Self {
        Self(Arc::new(AtomicU64::new(now_ns())))
    }

    /// Whether nothing has come from the other side for longer than [`SILENCE`].
    pub fn is_silent(&self) -> bool {
        Duration::from_nanos(now_ns().saturating_sub(self.0.load(Ordering::Relaxed))) > SILENCE
    }

    /// Wraps an input: every read from it updates this time.
    pub fn of<R: Read>(&self, input: R) -> Ear<R> {
        Ear { input, heard: self.clone() }
    }
}

/// An input that notes the time of every read.
pub struct Ear<R> {
    input: R,
    heard: Heard,
}

impl<R: Read> Read for Ear<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.heard.0.store(now_ns(), Ordering::Relaxed);
        Ok(count)
    }
}
