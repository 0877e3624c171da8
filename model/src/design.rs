//! How much a study measures, and when it stops. There are two ways: in heats of live servers that are loaded in turns, or in blocks of
//! trials, each with a fresh start of its server. The form in a file: `design/file.rs`.

mod file;

use crate::metric::Metric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How much is measured, and when to stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "file::Design", into = "file::Design")]
pub struct Design {
    /// The smallest and the largest number of blocks; of rounds, where there are heats.
    pub blocks: [usize; 2],
    /// The length of the load before the measurement, which is not counted; the shortest such time, where there are heats.
    pub warmup: Duration,
    /// The length of a trial's measurement; where there are heats, of the counted load of one start in one cell.
    pub measure: Duration,
    /// Whether to stop as soon as every contender is certainly faster or slower than the first contender (in a race) or the reference (in a
    /// study).
    pub decide: bool,
    /// The share of the first contender's speed that another may lose. A run with `decide` then ends as soon as every contender is
    /// certainly slower by more than that, or certainly not.
    pub margin: Option<f64>,
    /// The figure by which the run decides and contenders are ranked; see [`Study::metric`](crate::Study::metric).
    pub metric: Metric,
    /// Stop as soon as the intervals of these ratios are within this share of them: in heats, the ratios of neighbours in the ranking that are
    /// neither decided nor equal; in blocks, those to the reference.
    pub precision: f64,
    /// The longest time of the run: a trial or a heat that would exceed it is not started.
    pub budget: Duration,
    /// How heats are made; `None`: the study measures in blocks.
    pub heats: Option<Heats>,
}

/// The part of a design that only heats have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Heats {
    /// The largest number of contenders that are alive together, without the hub.
    pub size: usize,
    /// The length of one contender's turn.
    pub slice: Duration,
    /// The longest load before the measurement, settled or not.
    pub warmup_limit: Duration,
}

impl Heats {
    /// The shortest slice that is allowed: of a shorter one, nothing is left once its cold start is dropped.
    pub const LEAST_SLICE: Duration = Duration::from_millis(20);
    /// The smallest number of slices from which a start gets a figure of any use.
    pub const LEAST_SLICES: u32 = 5;
}

impl Default for Heats {
    fn default() -> Self {
        let [slice, warmup_limit] = [Duration::from_millis(100), Duration::from_mins(2)];
        Self { size: 6, slice, warmup_limit }
    }
}

impl Design {
    /// The number of whole cycles that a heat counts in each cell.
    pub fn cycles(&self, heats: &Heats) -> usize {
        let cycles = self.measure.as_nanos().div_ceil(heats.slice.as_nanos().max(1));
        usize::try_from(cycles).unwrap_or(usize::MAX).max(1)
    }

    /// The numbers of rounds after which the run checks whether it has measured enough; the last is the largest number of rounds.
    pub fn looks(&self) -> Vec<usize> {
        stats::heats::looks(self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Design, String> {
        toml::from_str(text).map_err(|e| e.message().to_owned())
    }

    const HEATS: &str = "rounds = [4, 13]\nbudget = \"60min\"\n";
    const BLOCKS: &str =
        "blocks = [6, 12]\nwarmup = \"500ms\"\nmeasure = \"2s\"\nprecision = 0.03\nbudget = \"20min\"\n";

    #[test]
    fn a_file_of_blocks_reads_as_it_did_and_is_written_as_it_was() {
        let design = read(BLOCKS).unwrap();
        assert_eq!((design.blocks, design.heats), ([6, 12], None));
        assert_eq!((design.warmup, design.measure), (Duration::from_millis(500), Duration::from_secs(2)));
        let text = toml::to_string(&design).unwrap();
        for key in ["rounds", "heat", "slice", "warmup_limit"] {
            assert!(!text.contains(key), "{text}");
        }
        assert_eq!(read(&text).unwrap(), design);
        let one = read(&format!("{BLOCKS}heat = 1\n")).unwrap();
        assert_eq!(one, design, "a heat of one is a block");
    }

    #[test]
    fn heats_have_defaults_and_read_as_they_were_written() {
        let design = read(HEATS).unwrap();
        let heats = design.heats.unwrap();
        assert_eq!((design.blocks, heats), ([4, 13], Heats::default()));
        assert_eq!((design.measure, design.warmup), (Duration::from_secs(2), Duration::from_millis(200)));
        assert_eq!(design.cycles(&heats), 20);
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
        let own = format!("{HEATS}heat = 4\nslice = \"50ms\"\nmeasure = \"3s\"\nwarmup_limit = \"30s\"\n");
        let design = read(&own).unwrap();
        assert_eq!((design.heats.unwrap().size, design.cycles(&design.heats.unwrap())), (4, 60));
        assert_eq!(read(&toml::to_string(&design).unwrap()).unwrap(), design);
    }

    #[test]
    fn what_can_not_be_measured_is_refused_and_what_is_allowed_is_said() {
        let cases = [
            (format!("{HEATS}heat = 0"), "0 is out of range: must be a heat of 1 to 12 contenders"),
            (format!("{HEATS}heat = 1000"), "1000 is out of range: must be a heat of 1 to 12"),
            (format!("{HEATS}slice = \"0s\""), "0s is out of range: must be a slice from 20ms to 2s"),
            (format!("{HEATS}slice = \"1h\""), "1h is out of range: must be a slice from 20ms to 2s"),
            (format!("{HEATS}measure = \"400ms\""), "`measure` (400ms) has room for fewer than 5 slices"),
            (
                format!("{HEATS}warmup = \"2min\"\nwarmup_limit = \"1min\""),
                "`warmup_limit` (1m) is shorter than `warmup` (2m)",
            ),
            (format!("{HEATS}heat = 1"), "a heat of 1 is measured in blocks: write `blocks = [4, 13]`"),
            (format!("{HEATS}blocks = [6, 12]"), "`blocks` and `rounds` exclude each other"),
            (format!("{BLOCKS}heat = 6"), "heats of 6 are counted in rounds: write `rounds = [6, 12]`"),
            (format!("{BLOCKS}slice = \"100ms\""), "`slice` applies to heats only"),
            (HEATS.replace("[4, 13]", "[4, 101]"), "[4, 101] is out of range: must be at most 100 rounds"),
            (BLOCKS.replace("[6, 12]", "[0, 12]"), "[0, 12] is out of range"),
            (BLOCKS.replace("warmup = \"500ms\"\n", ""), "missing field `warmup`"),
            (HEATS.replace("budget = \"60min\"\n", ""), "missing field `budget`"),
        ];
        for (text, why) in cases {
            let error = read(&text).unwrap_err();
            assert!(error.contains(why), "{text}\n{error}");
        }
    }
}
