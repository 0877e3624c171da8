//! The turns of a cell: how long they are, what ran beside them, which of them count, and their sums.

pub mod counting;
pub mod cpu_sampler;
pub(super) mod cycles;
pub mod disturbance;
pub mod figures;
mod memory;
pub mod repeat_limit;
pub mod shape;
pub mod shares;
pub(super) mod sum;
