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
pub mod margin;
mod mean;
mod median;
pub mod precision;
pub mod random;
pub mod rank;
pub mod rank_sum;
pub mod rate_profile;
pub mod search;
pub mod sequential;
pub mod signed_rank;
pub mod spectrum;
pub mod steady;

pub use counts::Counts;
pub use estimate::{Estimate, centre_interval, median_interval, paired_logs, paired_ratio};
pub use histogram::Histogram;
pub use mean::root_mean_square;
pub use median::median;
pub use rank::{Rank, ranks};
pub use rate_profile::RateProfile;
