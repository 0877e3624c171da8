//! The turns of a cell: how long they are, how they are disturbed, which of them count, and their figures.

pub mod counting;
pub mod disturbance;
pub mod figures;
pub mod repeat_limit;
pub mod shape;
pub mod shares;
