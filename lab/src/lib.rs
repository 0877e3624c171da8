//! The lab: from a study to findings. It starts servers, has the load engine drive them, stores the observations and
//! analyses them. It formats nothing for people. [`run`] is the spine.

pub mod analyse;
#[cfg(test)]
mod bad_input;
pub mod before;
pub mod catalog;
pub mod compare;
pub mod cores;
mod cpu_time;
pub mod doctor;
pub mod environment;
#[cfg(test)]
mod example;
pub mod fault;
pub mod findings;
pub mod folders;
pub mod forecast;
pub mod guard;
pub mod heat;
pub mod history;
pub mod image;
pub mod inspect;
pub mod install;
pub mod instance;
pub mod left;
pub mod local;
pub mod lock;
pub mod narrow;
mod other_load;
pub mod pinned;
pub mod plan;
pub mod ports;
pub mod prepare;
pub mod race;
pub mod remedy;
pub mod run;
pub mod sample;
pub mod schedule;
mod seen;
pub mod setup;
pub mod steady;
pub mod store;
pub mod supervise;
pub mod sweep;
pub mod topology;
pub mod tree;
pub mod under_load;
pub mod verdict;
pub mod verify;
pub mod work;

pub use catalog::{Catalog, CatalogError};
pub use run::{Lab, LabError, Show};
pub use store::{Store, StoreError, Stored};

/// The current time in RFC 3339, UTC, to the second.
pub fn clock_text() -> String {
    humantime::format_rfc3339_seconds(std::time::SystemTime::now()).to_string()
}
