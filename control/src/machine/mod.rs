//! The machine: its processors, what is known of it, what else runs on it, and what would spoil a measurement.

pub(crate) mod awake;
mod control_groups;
pub mod cores;
pub(crate) mod cpu_time;
pub mod digest;
pub mod doctor;
pub mod environment;
pub(crate) mod other_load;
pub mod pinned;
pub(crate) mod segments;
pub mod system;
pub mod topology;
