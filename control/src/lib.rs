//! Servers under control, on this machine or on another one: contenders are read from the catalog, installed, built, started, verified, watched
//! and stopped; the machine itself is described and its cores are divided.

pub mod assets;
pub mod catalog;
pub mod containers;
pub mod cpu_sampler;
pub mod fault;
pub mod hub;
pub mod lock;
pub mod machine;
pub mod poll_while;
pub mod prepare;
pub mod remote;
pub mod revision;
pub mod server;
mod shell;

pub use catalog::{Catalog, CatalogError};

use std::hash::{BuildHasher, Hasher, RandomState};

/// The current time in RFC 3339, UTC, to the second.
pub fn clock_text() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// 64 random bits of the system's: every new hasher has keys from there.
pub fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}
