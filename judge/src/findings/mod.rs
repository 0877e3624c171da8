//! From what is stored of a run to its findings, and from findings to comparisons and histories.

pub mod analyse;
pub mod compare;
pub mod history;
pub mod race;
