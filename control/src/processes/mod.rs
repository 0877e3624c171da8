//! Processes on this machine: which are a server's, what they and all others use, and how that is sampled while a server is measured.

mod clocks;
pub mod container;
pub mod control_group;
pub mod cpu_sampler;
pub mod likely_class;
pub mod local;
pub mod other_load;
pub mod programs;
pub(crate) mod stat;
pub mod tree;
pub mod usage;
