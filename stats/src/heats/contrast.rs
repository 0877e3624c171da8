//! The difference of two levels with its error: where the solved equations and the variances meet.

use super::components::{Mean, Within};
use super::design::FitEntrant;
use super::least_squares::Equations;
use super::variance::{self, Variances};
use crate::mean;

/// How often weights are adapted to each contender's own shrunk variance, so that a contender whose starts lie far apart has less influence
/// on the level of its heats, and so on the other contenders. All starts of one contender still count alike: none is trimmed. Where 5 % of
/// starts are outliers (by 5 to 20 %), this finds a difference of 5 % after six rounds in 44 % of cases instead of 16 %.
const TURNS: usize = 2;

/// The largest weight of a contender, as a multiple of its class's.
const MOST_TRUST: f64 = 4.0;

/// A difference of logarithms, its standard error, and the degrees of freedom of that.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Contrast {
    pub difference: f64,
    pub error: f64,
    pub df: f64,
}

impl Contrast {
    /// The mean of independent values, as their difference from zero; `None` for fewer than two.
    pub fn of_mean(values: &[f64]) -> Option<Self> {
        let (mean, n) = (mean(values)?, values.len() as f64);
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        (n > 1.0).then(|| Self { difference: mean, error: (squares / (n - 1.0) / n).sqrt(), df: n - 1.0 })
    }

    /// The same in units of this length.
    pub fn divided_by(&self, length: f64) -> Self {
        Self { difference: self.difference / length, error: self.error / length, ..*self }
    }

    /// The difference of two contrasts that have nothing in common (Satterthwaite 1946).
    pub fn minus(&self, other: &Self) -> Self {
        let (one, two) = (self.error.powi(2), other.error.powi(2));
        let df = (one + two).powi(2) / (one * one / self.df + two * two / other.df).max(f64::MIN_POSITIVE);
        Self { difference: self.difference - other.difference, error: (one + two).sqrt(), df: df.max(1.0) }
    }
}

/// The solved model: everything about levels, before any decision.
pub(super) struct Solved {
    /// The log level of each contender; `None` for one without a start that can be placed.
    pub levels: Vec<Option<f64>>,
    /// The island of each contender: contenders that heats tie together, directly or through others, have the same number.
    pub islands: Vec<Option<usize>>,
    /// The island and the level of each heat. A contender's figure is its own level plus the mean level of its island's heats.
    pub heat_levels: Vec<(usize, f64)>,
    dependence: Vec<Vec<f64>>,
    /// The contender of each mean, and its share of the variance of one start.
    owner: Vec<(usize, f64)>,
    variances: Variances,
}

impl Solved {
    pub fn of(entrants: &[FitEntrant], starts: &[Mean], within: &[Within]) -> Self {
        let groups = variance::groups(entrants);
        let (beside, least) = (variance::within_heats(&groups, within), within.iter().map(Within::least));
        let least: Vec<f64> = least.collect();
        let of_class = variance::weights(entrants, &groups, starts, &beside);
        let mut equations = Equations::solve(starts, &of_class);
        let mut sums = sums(entrants, starts, &beside, &equations);
        for _ in 0..TURNS {
            let own = variance::shrink(groups.clone(), &sums, &least).own;
            // A contender whose starts happen to agree closely must not dominate the levels of its heats.
            let weight = |(class, own): (&f64, f64)| (1.0 / own).min(MOST_TRUST * class);
            let weights: Vec<f64> = of_class.iter().zip(own).map(weight).collect();
            equations = Equations::solve(starts, &weights);
            sums = self::sums(entrants, starts, &beside, &equations);
        }
        let (mut dependence, mut islands) = (equations.dependence(), equations.islands.clone());
        let mut levels: Vec<Option<f64>> =
            islands.iter().zip(&equations.levels).map(|(island, level)| island.map(|_| *level)).collect();
        for c in (0..entrants.len()).filter(|c| entrants[*c].is_floor) {
            let Some(floor) = Floor::of(c, starts, &equations, &dependence) else { continue };
            (levels[c], islands[c], sums[c]) = (Some(floor.level), Some(floor.island), floor.sum);
            dependence[c] = floor.dependence;
        }
        let heat = |h: usize| Some((equations.island_of_heat(h)?, equations.heat_levels[h]?));
        Self {
            levels,
            islands,
            heat_levels: (0..equations.heat_levels.len()).filter_map(heat).collect(),
            dependence,
            owner: starts.iter().map(|s| (s.contender, 1.0 / s.worth)).collect(),
            variances: variance::shrink(groups, &sums, &least),
        }
    }

    /// The variance of the difference of two contenders between the starts of a heat.
    pub fn variance_of_starts(&self, one: usize, other: usize) -> f64 {
        self.variances.own[one] + self.variances.own[other]
    }

    /// The difference of one level from another; `None` where heats don't tie them together or nothing is left to judge errors by.
    pub fn contrast(&self, one: usize, other: usize) -> Option<Contrast> {
        let difference = self.levels[one]? - self.levels[other]?;
        if self.islands[one] != self.islands[other] || one == other {
            return None;
        }
        let mut of_contender = vec![0.0; self.levels.len()];
        for ((a, b), (owner, share)) in
            self.dependence[one].iter().zip(&self.dependence[other]).zip(&self.owner)
        {
            of_contender[*owner] += (a - b) * (a - b) * share;
        }
        let v = &self.variances;
        of_contender.iter_mut().zip(&v.own).for_each(|(a, own)| *a *= own);
        let whole: f64 = of_contender.iter().sum();
        // Two bounds on how well the variance is known: each contender's is a mean of its own and what is usual in its class,
        // which is itself estimated; and none is known better than its class as a whole.
        let (mut own, mut of_group) = (0.0, vec![0.0; v.group_freedom.len()]);
        let mut usual = vec![0.0; v.group_freedom.len()];
        for (c, part) in of_contender.iter().enumerate().filter(|(_, part)| **part > 0.0) {
            let (g, prior) = (v.groups[c], v.prior_freedom[v.groups[c]]);
            let free = prior + v.own_freedom[c];
            own += part * part / free;
            of_group[g] += part;
            usual[g] += part * prior / free;
        }
        let by_group = |parts: &[f64]| -> f64 {
            let with_part = parts.iter().zip(&v.group_freedom).filter(|(part, _)| **part > 0.0);
            with_part.map(|(part, free)| part * part / free.max(0.0)).sum()
        };
        let doubt = (own + by_group(&usual)).max(by_group(&of_group));
        let df = (whole * whole / doubt).max(1.0);
        let is_judged = v.group_freedom.iter().sum::<f64>() >= 1.0;
        is_judged.then_some(Contrast { difference, error: whole.sqrt(), df })
    }
}

/// The sum of each contender's squared residuals, and the degrees of freedom that they leave, in units of one start, with what the starts show
/// `beside` each other; zeros for floors.
fn sums(
    entrants: &[FitEntrant],
    starts: &[Mean],
    beside: &[(f64, f64)],
    equations: &Equations<'_>,
) -> Vec<(f64, f64)> {
    let own = |(e, own): (&FitEntrant, &(f64, f64))| if e.is_floor { (0.0, 0.0) } else { *own };
    let mut sums: Vec<(f64, f64)> = entrants.iter().zip(beside).map(own).collect();
    for (i, start) in starts.iter().enumerate().filter(|(_, s)| !entrants[s.contender].is_floor) {
        let sum = &mut sums[start.contender];
        sum.0 += equations.residual(i).unwrap_or(0.0).powi(2) * start.worth;
        sum.1 += equations.freedom(i);
    }
    sums
}

/// A contender whose figures are lower bounds, so that they say nothing about the levels of its heats. Its own level is the mean of its
/// figures relative to those levels.
struct Floor {
    level: f64,
    island: usize,
    sum: (f64, f64),
    dependence: Vec<f64>,
}

impl Floor {
    fn of(contender: usize, starts: &[Mean], equations: &Equations, rows: &[Vec<f64>]) -> Option<Self> {
        let placed = |(i, s): (usize, &Mean)| {
            let level = equations.heat_levels[s.heat].filter(|_| s.contender == contender)?;
            Some((i, s.heat, s.log_figure - level, equations.island_of_heat(s.heat)?))
        };
        let all: Vec<_> = starts.iter().enumerate().filter_map(placed).collect();
        // On the island that has most of its starts.
        let count = |island: usize| all.iter().filter(|a| a.3 == island).count();
        let island = all.iter().map(|a| a.3).max_by_key(|island| (count(*island), usize::MAX - island))?;
        let own: Vec<_> = all.into_iter().filter(|a| a.3 == island).collect();
        let n = own.len() as f64;
        let level = own.iter().map(|a| a.2).sum::<f64>() / n;
        let squares = own.iter().map(|a| (a.2 - level).powi(2) * starts[a.0].worth).sum();
        let mut dependence = vec![0.0; starts.len()];
        for (i, heat, ..) in own {
            dependence[i] += 1.0 / n;
            let of_heat = equations.heat_dependence(heat, rows);
            dependence.iter_mut().zip(of_heat).for_each(|(d, h)| *d -= h / n);
        }
        Some(Self { level, island, sum: (squares, n - 1.0), dependence })
    }
}
