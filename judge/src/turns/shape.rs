//! The shape of turns in a cell, and how many of them are to count: slices of closed load, windows of open load. Pure.

use model::metric::{BEYOND_P99, LEAST_BEYOND};
use model::{Cell, Design, Load};
use std::time::Duration;

/// The number of answers that all windows of a start are to have together: twice as many as a 99th percentile needs.
const WINDOW_ANSWERS: f64 = 2.0 * LEAST_BEYOND / BEYOND_P99;

/// The longest time that all windows of a start may take together, as a multiple of the measured time that the study asks for.
const LONGEST_OF_MEASURE: u32 = 2;

/// The longest window, if a slice is not longer. Several short windows meet what else happens on the machine at several moments, like all other
/// members of the heat, and one that is disturbed costs little time; but in each, a queue must reach its steady state anew.
const LONGEST_WINDOW: Duration = Duration::from_secs(1);

/// The minimum number of windows of a start, if they are not shorter than slices then.
const WINDOWS: u32 = 4;

/// The longest slice of closed load, however slow the server.
const LONGEST: Duration = Duration::from_secs(2);

/// The part of a slice of closed load that is not counted.
const LEAD_IN: Duration = Duration::from_millis(10);

/// The shape of a turn, and how many turns of each member are to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// How long a turn is under load before it counts.
    pub lead_in: Duration,
    /// The length of its counted part.
    pub length: Duration,
    /// The same at most, where the server is so slow that too few answers came.
    pub longest: Duration,
    /// The number of cycles that are to count.
    pub cycles: usize,
    /// Whether it is a window of open load.
    pub is_window: bool,
}

impl Shape {
    /// The shape of turns under this load. Closed load has slices; open load has windows, in which a queue can reach its steady state.
    pub fn of(cell: &Cell, design: &Design) -> Self {
        let Some(rate) = cell.load.rate_per_s().filter(|_| matches!(cell.load, Load::Open { .. })) else {
            let (length, longest) = (design.slice, LONGEST.max(design.slice));
            return Self { lead_in: LEAD_IN, length, longest, cycles: design.cycles(), is_window: false };
        };
        let per_s = rate.mean_per_s(design.measure.as_nanos() as u64).max(1.0);
        let longest = design.measure.saturating_mul(LONGEST_OF_MEASURE);
        let enough = Duration::try_from_secs_f64(WINDOW_ANSWERS / per_s).unwrap_or(longest);
        let all = enough.clamp(design.measure.min(longest), longest);
        let length = (all / WINDOWS).min(LONGEST_WINDOW).max(design.slice);
        let cycles = (all.as_nanos().div_ceil(length.as_nanos().max(1)) as usize).max(1);
        Self { lead_in: design.slice, length, longest: length, cycles, is_window: true }
    }

    /// About how long a turn takes.
    pub fn turn(&self) -> Duration {
        self.length.saturating_add(self.lead_in).saturating_add(self.length / 10)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(load: &str) -> Cell {
        toml::from_str(&format!("title = \"\"\nworkload = \"hello\"\nload = {load}")).unwrap()
    }

    fn shape(load: &str) -> Shape {
        let design: Design = toml::from_str("rounds = [4, 13]\nbudget = \"60min\"\n").unwrap();
        Shape::of(&cell(load), &design)
    }

    #[test]
    fn closed_load_has_slices_and_open_load_windows_with_enough_answers_together() {
        let ms = Duration::from_millis;
        let closed = shape("{ closed = { connections = 8 } }");
        assert_eq!((closed.length, closed.cycles, closed.is_window), (ms(100), 20, false));
        let open = |rate: &str| {
            let shape = shape(&format!("{{ open = {{ connections = 8, rate_per_s = {rate} }} }}"));
            assert!(shape.is_window && shape.longest == shape.length);
            (shape.length, shape.cycles)
        };
        assert_eq!(open("1e6"), (ms(500), 4), "together as long as the study's measurement");
        assert_eq!(open("5000"), (ms(500), 4));
        assert_eq!(open("500"), (ms(1_000), 4), "twice as long, for a 99th percentile");
        assert_eq!(open("10"), (ms(1_000), 4), "never longer than that");
    }
}
