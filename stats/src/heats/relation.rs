//! How one of two stands to the other: the one outcome of a comparison, for ranks, races, and runs compared.

use super::contrast::Contrast;
use super::design::Best;
use crate::estimate::SYSTEMATIC;
use crate::studentized_range::Critical;

/// Smaller differences are treated as noise: how a server was linked changes its rate by as much.
pub const MEANINGLESS: f64 = 0.01;
/// Contenders are called equal when they are within 2 % of each other. So a rate that changes by no more while it is measured counts as
/// settled, and pauses that cost a server no more are not mentioned.
pub const SAME: f64 = 0.02;

/// How one of two stands to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Certainly better.
    Better,
    /// Certainly worse.
    Worse,
    /// Certainly neither: they are within 2 % of each other.
    Equal,
    /// Undecided.
    Open,
}

impl Relation {
    /// The same, seen from the other one.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            same => same,
        }
    }

    /// Whether it is certain which of the two is better.
    pub fn is_difference(self) -> bool {
        matches!(self, Self::Better | Self::Worse)
    }

    /// Judges the difference of one from the other: by its interval at the level of all comparisons (`all`), and where they may be called equal, by
    /// two one-sided tests (`same`; TOST: Schuirmann 1987).
    pub(super) fn of(contrast: &Contrast, best: Best, all: &Critical, same: Option<&Critical>) -> Self {
        let apart = contrast.difference.abs();
        if apart > contrast.half(all) && apart >= MEANINGLESS.ln_1p() {
            let is_better = (contrast.difference > 0.0) == (best == Best::Highest);
            return if is_better { Self::Better } else { Self::Worse };
        }
        let is_equal = same.is_some_and(|same| apart + contrast.half(same) < SAME.ln_1p());
        if is_equal { Self::Equal } else { Self::Open }
    }
}

impl Contrast {
    /// Half the width of the interval at this critical value, with what the measurement itself may cause beyond chance.
    pub fn half(&self, critical: &Critical) -> f64 {
        critical.of_difference(self.df) * self.error + SYSTEMATIC * self.difference.abs()
    }

    /// The interval of the ratio at this critical value.
    pub fn interval(&self, critical: &Critical) -> (f64, f64) {
        let half = self.half(critical);
        ((self.difference - half).exp(), (self.difference + half).exp())
    }
}
