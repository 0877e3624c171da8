//! Servers under control, on this machine or on another one: contenders are read from the catalog, installed, built, started, verified, watched
//! and stopped; the machine itself is described and its cores are divided.

pub mod catalog;
pub mod containers;
pub mod doctor;
pub mod fault;
pub mod hub;
pub mod lock;
pub mod machine;
pub mod poll_while;
pub mod prepare;
pub mod processes;
pub mod remote;
pub mod revision;
pub mod server;
mod shell;
pub mod supervise;
pub mod verify;

pub use catalog::{Catalog, CatalogError};

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The current time in RFC 3339, UTC, to the second.
pub fn clock_text() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// What a mutex guards, whether or not a thread panicked while it had it.
pub fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// 64 random bits of the system's: every new hasher has keys from there.
pub fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}
