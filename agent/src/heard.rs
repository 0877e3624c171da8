//! When the other side was last heard from. Any byte counts, because a large message may take long to arrive.

use crate::{SILENCE, now_ns};
use std::io::Read;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time at which the last byte came from the other side, and how long that side may be silent. Clones share the time.
#[derive(Clone)]
pub struct Heard {
    at_ns: Arc<AtomicU64>,
    silence: Duration,
}

impl Heard {
    /// Begins with now as the time of the last byte, on a link.
    pub fn now() -> Self {
        Self::now_for(SILENCE)
    }

    /// Begins with now as the time of the last byte. `silence`: a side that is silent for this long counts as gone.
    pub fn now_for(silence: Duration) -> Self {
        Self { at_ns: Arc::new(AtomicU64::new(now_ns())), silence }
    }

    /// Notes that something came or went now.
    pub fn hear(&self) {
        self.at_ns.store(now_ns(), Ordering::Relaxed);
    }

    /// How long the other side may be silent.
    pub fn silence(&self) -> Duration {
        self.silence
    }

    /// How long the other side may still be silent.
    pub fn left(&self) -> Duration {
        let since_ns = now_ns().saturating_sub(self.at_ns.load(Ordering::Relaxed));
        self.silence.saturating_sub(Duration::from_nanos(since_ns))
    }

    /// Whether the other side has been silent for too long.
    pub fn is_silent(&self) -> bool {
        self.left().is_zero()
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
        self.heard.hear();
        Ok(count)
    }
}
