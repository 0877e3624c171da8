//! What the turns of a cell add up to; `active_cell.rs` drives them.

pub(super) mod cycles;
mod memory;
pub(super) mod sum;
