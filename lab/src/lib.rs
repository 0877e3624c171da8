//! The lab: from a study to findings. It starts servers, has the load engine drive them, stores the observations and
//! analyses them. It formats nothing for people. [`Session`] is the main loop.

#[doc(hidden)]
pub mod agent_messages;
#[cfg(test)]
mod bad_input;
pub mod catalog;
pub mod containers;
pub mod extra_start;
pub mod fault;
pub mod findings;
pub mod fleet;
pub mod heat;
mod lab;
pub mod load_from;
pub mod lock;
pub mod machine;
pub(crate) mod poll_while;
pub mod prepare;
pub mod remote;
pub mod revision;
pub mod server;
mod session;
pub mod setup;
pub mod shared;
mod shell;
pub mod store;
pub mod sweep;

pub use catalog::{Catalog, CatalogError};
pub use lab::{Lab, LabError, Show};
pub use session::Session;
pub use store::{Store, StoreError, Stored};

use std::hash::{BuildHasher, Hasher, RandomState};

/// The current time in RFC 3339, UTC, to the second.
pub fn clock_text() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}

/// 64 random bits of the system's: every new hasher has keys from there.
pub(crate) fn random_bits() -> u64 {
    RandomState::new().build_hasher().finish()
}
