//! What only a run of a fleet has: its heats are measured on several machines, each heat whole on one.

use crate::environment::Environment;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The fleet of machines that measures the heats of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Fleet {
    /// The number of machines that the run was planned for. The run's budget is the study's times this number, because the budget limits the
    /// sum of all machines' time.
    pub machines: usize,
}

/// The machine that measured a heat of a fleet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HeatMachine {
    /// Its name. Heats of the same name are of the same machine.
    pub name: String,
    /// Which attempt of the heat it was, counted from 1. Attempts that were lost with their machine left nothing.
    pub attempt: usize,
    /// The machine's properties.
    pub environment: Environment,
}
