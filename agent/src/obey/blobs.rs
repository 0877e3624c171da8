//! Blobs: bytes that are sent ahead of the requests that name them. Their total size is bounded; the oldest are dropped to make room.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The largest total size that is kept, in bytes.
const MOST_BYTES: usize = 256 << 20;

/// Blobs by number. Numbers rise, so the first is the oldest.
#[derive(Default)]
pub struct Blobs(Mutex<BTreeMap<u64, Blob>>);

#[derive(Default)]
struct Blob {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Blobs {
    /// Adds a part to a blob; an empty part ends it. Fails if the blob has ended already, or is too large.
    pub fn keep(&self, number: u64, part: &[u8]) -> Result<(), String> {
        let mut blobs = self.blobs();
        let blob = blobs.entry(number).or_default();
        if blob.is_whole {
            return Err("these bytes were whole already: report this as an error of drome".to_owned());
        }
        if blob.bytes.len() + part.len() > MOST_BYTES {
            blobs.remove(&number);
            return Err(format!("an agent keeps at most {} MiB: send less", MOST_BYTES >> 20));
        }
        blob.is_whole = part.is_empty();
        blob.bytes.extend_from_slice(part);
        let mut total: usize = blobs.values().map(|blob| blob.bytes.len()).sum();
        while total > MOST_BYTES {
            let Some(oldest) = blobs.keys().copied().find(|other| *other != number) else { break };
            total -= blobs.remove(&oldest).map_or(0, |blob| blob.bytes.len());
        }
        Ok(())
    }

    /// The bytes of a blob that arrived complete; `None` also if it was dropped to make room for later ones.
    pub fn whole(&self, number: u64) -> Option<Vec<u8>> {
        self.blobs().get(&number).filter(|blob| blob.is_whole).map(|blob| blob.bytes.clone())
    }

    fn blobs(&self) -> MutexGuard<'_, BTreeMap<u64, Blob>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
