//! The machine: its processors, what is known of it, what else runs on it, and what would spoil a measurement.

pub mod awake;
mod control_groups;
pub mod cores;
pub mod cpu_time;
pub mod digest;
pub mod doctor;
pub mod environment;
pub mod other_load;
pub mod pinned;
pub mod segments;
pub mod system;
pub mod topology;
