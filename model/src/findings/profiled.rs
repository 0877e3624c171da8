//! How the CPU times of the servers that were sampled after the run (`--profile`) differ, as far as a report shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Two servers whose samples were compared.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledPair {
    /// The contender; where the run has several cells, followed by the cell, such as `nginx, keep-alive`.
    pub contender: String,
    /// The contender that it is compared with, under the same load.
    pub against: String,
    /// The difference as a sentence.
    pub sentence: String,
    /// CPU time per answer of the contender minus that of the other one, in nanoseconds: negative where it spends less.
    pub ns_per_answer: f64,
    /// The standard error that sampling has in this difference, in nanoseconds; 0 where the clocks of the processes tell both times.
    pub standard_error_ns: f64,
    /// The functions whose own CPU time differs most, the largest difference first. Differences that sampling error explains are left out.
    pub parts: Vec<ProfiledPart>,
}

/// A function's part in a difference.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProfiledPart {
    /// Its name. Names in the kernel end in `_[k]`, names of code that was compiled at run time in `_[j]`.
    pub function: String,
    /// The difference in its own CPU time per answer, without what it calls, in nanoseconds: negative where the contender spends less.
    pub ns_per_answer: f64,
    /// The standard error that sampling has in this difference, in nanoseconds.
    pub standard_error_ns: f64,
}
