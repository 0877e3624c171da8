//! Digests of the programs that ran. A process reads a file only once for as long as it stays the same.

use model::environment::Executable;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::{LazyLock, Mutex, PoisonError};

/// The state of a file, which shows whether it has changed: device, inode, size, time of the last change.
type State = (u64, u64, u64, i64, i64);

/// Digests by file state. Heats start the same programs again and again, and some are a hundred megabytes long.
static KNOWN: LazyLock<Mutex<BTreeMap<State, String>>> = LazyLock::new(Mutex::default);

/// SHA-256 of a file, in hexadecimal; `None` where it can't be read.
pub fn sha256(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok()?;
    let found = file.metadata().ok()?;
    let state = (found.dev(), found.ino(), found.size(), found.mtime(), found.mtime_nsec());
    let known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(&state).cloned();
    if known.is_some() {
        return known;
    }
    let (mut digest, mut buffer) = (Sha256::new(), vec![0; 1 << 16]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => digest.update(&buffer[..n]),
            Err(_) => return None,
        }
    }
    let text = model::hex(digest.finalize());
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(state, text.clone());
    Some(text)
}

/// The program that a process runs, with its digest. It can be read even if it is gone from its folder.
pub fn executable(pid: i32) -> Option<Executable> {
    let link = Path::new("/proc").join(pid.to_string()).join("exe");
    let path = std::fs::read_link(&link).ok()?;
    Some(Executable { path: path.display().to_string(), sha256: sha256(&link) })
}
