//! How much a study measures, and when it stops: in rounds of heats of live servers that are loaded in turns. The form in a file:
//! `design/file.rs`.

mod file;

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much is measured, and when to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "file::Design", into = "file::Design")]
pub struct Design {
    /// The smallest and the largest number of rounds.
    pub rounds: [usize; 2],
    /// The largest number of contenders that are alive together, without the hub.
    pub heat: usize,
    /// The length of one contender's turn.
    pub slice: Duration,
    /// The shortest load before the measurement, which is not counted.
    pub warmup: Duration,
    /// The longest load before the measurement, settled or not.
    pub warmup_limit: Duration,
    /// The length of the counted load of one start in one cell.
    pub measure: Duration,
    /// Whether to stop as soon as every contender is certainly faster or slower than the first contender (in a race) or the reference (in a
    /// study).
    pub decide: bool,
    /// The share of the first contender's speed that another may lose. A run with `decide` then ends as soon as every contender is
    /// certainly slower by more than that, or certainly not.
    pub margin: Option<f64>,
    /// The figure by which the run decides and contenders are ranked; see [`Study::metric`](crate::Study::metric).
    pub metric: Metric,
    /// Stop as soon as the intervals of the ratios of neighbours in the ranking that are neither decided nor equal are within this share of
    /// them.
    pub precision: f64,
    /// The longest time of the run: a heat that would exceed it is not started.
    pub budget: Duration,
}

impl Design {
    /// The shortest slice that is allowed: of a shorter one, nothing is left once its cold start is dropped.
    pub const LEAST_SLICE: Duration = Duration::from_millis(20);
    /// The smallest number of slices from which a start gets a figure of any use.
    pub const LEAST_SLICES: u32 = 5;
    /// The largest number of contenders that are alive together, where nothing else is said.
    pub const HEAT: usize = 6;
    /// The length of one contender's turn, where nothing else is said.
    pub const SLICE: Duration = Duration::from_millis(100);
    /// How well a figure is to be known, as a share of it, where nothing else is said.
    pub const PRECISION: f64 = 0.03;
    /// The longest load before the measurement, where nothing else is said.
    pub const WARMUP_LIMIT: Duration = Duration::from_mins(2);

    /// The number of whole cycles that a heat counts in each cell.
    pub fn cycles(&self) -> usize {
        let cycles = self.measure.as_nanos().div_ceil(self.slice.as_nanos().max(1));
        usize::try_from(cycles).unwrap_or(usize::MAX).max(1)
    }

    /// The numbers of rounds after which the run checks whether it has measured enough; the last is the largest number of rounds.
    pub fn looks(&self) -> Vec<usize> {
        stats::heats::looks(self.rounds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Design, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }

    const ROUNDS: &str = "rounds = [4, 13]\nbudget = \"60min\"\n";

    #[test]
    fn it_has_defaults_and_reads_as_it_was_written() {
        let design = read(ROUNDS).unwrap();
        assert_eq!((design.rounds, design.heat, design.slice), ([4, 13], Design::HEAT, Design::SLICE));
        assert_eq!((design.measure, design.warmup), (Duration::from_secs(2), Duration::from_millis(200)));
        assert_eq!((design.warmup_limit, design.cycles()), (Design::WARMUP_LIMIT, 20));
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
        let own = format!("{ROUNDS}heat = 1\nslice = \"50ms\"\nmeasure = \"3s\"\nwarmup_limit = \"30s\"\n");
        let design = read(&own).unwrap();
        assert_eq!((design.heat, design.cycles()), (1, 60));
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
    }

    #[test]
    fn what_can_not_be_measured_is_refused_and_what_is_allowed_is_said() {
        let cases = [
            (format!("{ROUNDS}heat = 0"), "0 is out of range: must be a heat of 1 to 12 contenders"),
            (format!("{ROUNDS}heat = 1000"), "1000 is out of range: must be a heat of 1 to 12"),
            (format!("{ROUNDS}slice = \"0s\""), "0s is out of range: must be a slice from 20ms to 2s"),
            (format!("{ROUNDS}slice = \"1h\""), "1h is out of range: must be a slice from 20ms to 2s"),
            (format!("{ROUNDS}measure = \"400ms\""), "`measure` (400ms) has room for fewer than 5 slices"),
            (
                format!("{ROUNDS}warmup = \"2min\"\nwarmup_limit = \"1min\""),
                "`warmup_limit` (1m) is shorter than `warmup` (2m)",
            ),
            (
                format!("{ROUNDS}blocks = [6, 12]"),
                "`blocks` is no longer understood: write `rounds = [4, 13]`",
            ),
            (ROUNDS.replace("[4, 13]", "[4, 101]"), "[4, 101] is out of range: must be at most 100 rounds"),
            (ROUNDS.replace("[4, 13]", "[0, 12]"), "[0, 12] is out of range"),
            (ROUNDS.replace("budget = \"60min\"\n", ""), "missing field `budget`"),
        ];
        for (text, why) in cases {
            let error = read(&text).unwrap_err();
            assert!(error.contains(why), "{text}\n{error}");
        }
    }
}
