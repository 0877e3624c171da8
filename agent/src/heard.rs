//! When the other side was heard last: any byte counts, because a large message may take long.

use crate::{SILENCE, now_ns};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The moment of the last byte from the other side. All handles are of the same moment.
#[derive(Clone)]
pub struct Heard(Arc<AtomicU64>);

impl Heard {
    /// The other side counts as heard now.
    pub fn now() -> Self {
        Self(Arc::new(AtomicU64::new(now_ns())))
    }

    /// Whether the other side is gone.
    pub fn is_silent(&self) -> bool {
        Duration::from_nanos(now_ns().saturating_sub(self.0.load(Ordering::Relaxed))) > SILENCE
    }

    /// The input, each byte of which is noticed.
    pub fn of<R: Read>(&self, input: R) -> Ear<R> {
        Ear { input, heard: self.clone() }
    }
}

/// An input that notices when something comes.
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
