//! The turns of a cell: how long they are, what ran beside them, which of them count, and their sums.

pub mod counting;
pub(super) mod cycled;
pub mod figures;
mod memory;
pub mod patience;
pub mod pieces;
pub mod shape;
pub mod shares;
pub mod snapshot;
pub(super) mod sum;
