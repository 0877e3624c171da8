//! Histograms, estimates, ranks and seeded randomness. Pure: no I/O and no clock, so that every figure in a report can be
//! computed again from the store, bit for bit.

pub mod counts;
pub mod e_divisive;
pub mod estimate;
pub mod fairness;
pub mod growth;
pub mod heats;
pub mod histogram;
pub mod interval_log;
pub mod kendall;
pub mod knee;
mod line;
pub mod margin;
mod mean;
mod median;
pub mod queue;
pub mod random;
pub mod rate_profile;
pub mod search;
mod signed_rank;
pub mod spectrum;
mod studentized_range;

pub use counts::Counts;
pub use estimate::{Estimate, median_interval};
pub use histogram::Histogram;
pub use mean::{mean, root_mean_square};
pub use median::median;
pub use rate_profile::RateProfile;
