//! The turns of a cell: they are driven and summed.

pub(super) mod cycles;
mod memory;
pub(super) mod sum;
