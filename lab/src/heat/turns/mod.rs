//! The turns of a cell: they are driven, what ran beside them is sampled, and they are summed.

pub mod cpu_sampler;
pub(super) mod cycles;
mod memory;
pub(super) mod sum;
