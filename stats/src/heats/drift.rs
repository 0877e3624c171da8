//! Decides over all starts of a contender whether its rate still changed while it was measured. A start of a race has five slices, which show
//! nothing by themselves: slices scatter by 4 %. But a server that is not warm yet is cold in the same way in each of its starts, and a machine
//! that drifts is not, so the changes within the starts are taken together. Rates are taken as they are, not relative to other members, because
//! two servers of one kind are cold together.

use super::relation::SAME;
use super::settled::CHANCE_OF_ALARM;
use crate::estimate::CHANCE;
use crate::line::Line;
use crate::studentized_range::Critical;
use std::collections::BTreeMap;

/// A start could have been found cold if changes up to this size are all that its contender's bounds leave: 10 %, as a logarithm. Programs that
/// are still being compiled change by more within half a second, or are known to compile and have to show more ([`super::Warmth::JIT`]).
const LARGEST_UNSEEN: f64 = 0.0953;
/// Fewer slices show no change and no error of it.
const LEAST_SLICES: usize = 4;

/// The change within one start, by a straight line through the logarithms of its slices' rates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StartChange {
    /// From the first slice to the last, as a logarithm.
    pub change: f64,
    /// The variance of this estimate, by the scatter of the slices around the line.
    variance: f64,
    /// The degrees of freedom of the variance.
    freedom: f64,
}

/// How a contender's rate changed from the first slice of a start to the last: the mean over its starts, as a logarithm, with bounds of 95 %
/// on each side.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// The mean.
    pub change: f64,
    /// The lower bound.
    pub low: f64,
    /// The upper bound.
    pub high: f64,
    /// Whether a change of more than 2 % is shown.
    pub is_shown: bool,
}

impl Drift {
    /// Whether the starts would have been found cold if they had been: no large change is within the bounds.
    pub fn is_level(&self) -> bool {
        !self.is_shown && -LARGEST_UNSEEN < self.low && self.high < LARGEST_UNSEEN
    }
}

impl StartChange {
    /// From the slices of a start: (cycle, natural logarithm of the rate). `None` with too few slices, or those of one cycle.
    pub fn of(slices: &[(usize, f64)]) -> Option<Self> {
        let points: Vec<(f64, f64)> =
            slices.iter().filter(|s| s.1.is_finite()).map(|(cycle, log)| (*cycle as f64, *log)).collect();
        let line = Line::through(&points).filter(|_| points.len() >= LEAST_SLICES)?;
        let ends = points
            .iter()
            .map(|p| p.0)
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
        let length = ends.1 - ends.0;
        let freedom = points.len() as f64 - 2.0;
        Some(Self { change: line.slope * length, variance: line.variance * length * length, freedom })
    }
}

/// The drift of each contender of a cell, from the changes within its starts: (contender, heat, change). Those of one heat count as one
/// value, because the machine is the same for them. How much such values scatter beside what slices do is taken from all contenders
/// together. `None` where no contender is in two heats.
pub fn drifts<C: Ord + Copy, H: Ord + Copy>(starts: &[(C, H, StartChange)]) -> BTreeMap<C, Drift> {
    let mut contenders: BTreeMap<C, BTreeMap<H, Vec<StartChange>>> = BTreeMap::new();
    for (contender, heat, change) in starts {
        contenders.entry(*contender).or_default().entry(*heat).or_default().push(*change);
    }
    let of_heats: BTreeMap<C, Vec<f64>> = contenders
        .iter()
        .map(|(contender, heats)| {
            let mean = |of: &Vec<StartChange>| of.iter().map(|s| s.change).sum::<f64>() / of.len() as f64;
            (*contender, heats.values().map(mean).collect())
        })
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let squares = |values: &Vec<f64>| values.iter().map(|v| (v - mean(values)).powi(2)).sum::<f64>();
    let freedom: f64 = of_heats.values().map(|values| values.len() as f64 - 1.0).sum();
    if freedom < 1.0 {
        return BTreeMap::new();
    }
    let of_all = of_heats.values().map(squares).sum::<f64>() / freedom;
    let drift = |(contender, values): (&C, &Vec<f64>)| {
        let heats = values.len() as f64;
        let own = &contenders[contender];
        let (variance, own_freedom) = of_slices(own);
        // A contender whose own slices scatter more than others' is not known better than these allow.
        let (variance, freedom) =
            if variance > of_all / heats { (variance, own_freedom) } else { (of_all / heats, freedom) };
        (*contender, Drift::of(mean(values), variance.sqrt(), freedom))
    };
    of_heats.iter().map(drift).collect()
}

/// The variance of the mean over heats by the scatter of slices alone, and its degrees of freedom.
fn of_slices<H>(heats: &BTreeMap<H, Vec<StartChange>>) -> (f64, f64) {
    let of_heat = |starts: &Vec<StartChange>| {
        let n = starts.len() as f64;
        starts.iter().map(|s| s.variance).sum::<f64>() / (n * n)
    };
    let n = heats.len() as f64;
    let variance = heats.values().map(of_heat).sum::<f64>() / (n * n);
    (variance, heats.values().flatten().map(|s| s.freedom).sum())
}

impl Drift {
    fn of(change: f64, error: f64, freedom: f64) -> Self {
        let half = |chance: f64| Critical::student(chance).of_difference(freedom) * error;
        let (alarm, half) = (half(CHANCE_OF_ALARM), half(CHANCE));
        let is_shown = change - alarm > SAME || change + alarm < -SAME;
        Self { change, low: change - half, high: change + half, is_shown }
    }
}

#[cfg(test)]
mod tests;
