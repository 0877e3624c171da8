//! What one measurement says: the counts of the client, the use of the server, and whether to believe them.

use crate::tally::Tally;
use crate::usage::Usage;
use crate::verdict::Verdict;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The result of a measurement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measurement {
    /// What the client counted.
    pub tally: Tally,
    /// What the server used; `None` where its processes are not known.
    pub usage: Option<Usage>,
    /// Whether to believe it.
    pub verdict: Verdict,
}
