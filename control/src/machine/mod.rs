//! The machine: its processors, what is known of it, and the conditions on it.

pub mod awake;
pub(crate) mod control_groups;
pub mod cores;
pub mod cpu_time;
pub mod digest;
pub mod environment;
pub mod pinned;
pub mod ports;
pub mod segments;
pub mod system;
pub mod topology;
