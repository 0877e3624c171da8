//! The noise floor of a class: how large a difference this run could have detected.

use super::fit::Fit;
use super::relation::MEANINGLESS;
use crate::estimate::SYSTEMATIC;
use crate::median;

impl Fit {
    /// The difference, as a share (0.03: 3 %), beyond which two ranked contenders of this class differ significantly: half the
    /// width of the deciding interval of the usual (median) pair, never less than 1 %. A true difference of this size is found
    /// in every second run, one of 1.3 times this size in four of five. `None` where no two of the class are ranked.
    pub fn noise_floor(&self, class: usize) -> Option<f64> {
        let of_class: Vec<usize> = (0..self.places.len())
            .filter(|c| {
                self.places[*c].is_some() && self.entrants[*c].class == class && !self.entrants[*c].is_floor
            })
            .collect();
        let half = |one: usize, other: usize| {
            let pair = self.pair(one, other)?;
            // Without the share of the effect, which is solved for here: half + SYSTEMATIC · floor = floor.
            let whole = (pair.sure.1 / pair.sure.0).ln() / 2.0 - SYSTEMATIC * pair.ratio.ln().abs();
            Some(whole / (1.0 - SYSTEMATIC))
        };
        let pairs =
            of_class.iter().enumerate().flat_map(|(i, one)| of_class[..i].iter().map(|other| (*one, *other)));
        let halves: Vec<f64> = pairs.filter_map(|(one, other)| half(one, other)).collect();
        Some(median(&halves)?.exp_m1().max(MEANINGLESS))
    }
}
