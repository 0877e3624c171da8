//! What is measured next, and whether it is enough. Pure: by the run's seed, and by what was stored.

pub mod budget;
pub mod deal;
pub mod next;
pub mod next_of_fleet;
pub mod orders;
pub mod owed;
pub mod starts_summary;
pub mod stopping_rule;
