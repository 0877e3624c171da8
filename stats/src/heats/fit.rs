//! The one model of a cell: every ratio, interval, relation and rank of a report comes from a [`Fit`].
//!
//! `log figure = contender + heat + contender × heat + start` ([`components`](super::components)). All pairs are judged at once by the studentised range, with the standard
//! error and degrees of freedom that each pair has.

use super::components::means;
use super::contrast::{Contrast, Solved};
use super::design::{Best, FitEntrant, FitRules, FitStart};
use super::relation::Relation;
use crate::estimate::{CHANCE, Estimate};
use crate::studentized_range::Critical;

/// The comparison of two contenders, the first with the second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// The first's figure divided by the second's.
    pub ratio: f64,
    /// The interval that holds the true ratio of this one pair in 95 % of runs.
    pub interval: (f64, f64),
    /// The 95 % interval that holds for all pairs of the cell and all looks together. It decides which of the two is better; two one-sided
    /// tests decide whether they are equal.
    pub sure: (f64, f64),
    /// The standard error of the ratio's logarithm.
    pub error: f64,
    /// The decision about the first.
    pub relation: Relation,
}

impl Pair {
    /// The ratio with the interval of this one pair.
    pub fn estimate(&self) -> Estimate {
        Estimate { median: self.ratio, interval: Some(self.interval) }
    }

    /// Half the width of the deciding interval, as a share of the ratio.
    pub fn sure_half_width(&self) -> f64 {
        ((self.sure.1 / self.sure.0).ln() / 2.0).exp_m1()
    }
}

/// The range of ranks that the data allow, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// One more than the number of those that are certainly better.
    pub best: usize,
    /// The number of ranked contenders less those that are certainly worse.
    pub worst: usize,
}

/// The fitted model of one cell.
pub struct Fit {
    pub(super) entrants: Vec<FitEntrant>,
    pub(super) rules: FitRules,
    solved: Solved,
    /// `[one][other]` for one < other.
    pairs: Vec<Vec<Option<Pair>>>,
    pub(super) places: Vec<Option<Place>>,
}

impl Fit {
    /// Fits all starts of a cell. Starts of unknown contenders or without a finite figure are left out.
    pub fn new(entrants: &[FitEntrant], starts: &[FitStart], rules: &FitRules) -> Self {
        let is_sound = |s: &FitStart| s.contender < entrants.len() && s.log_figure.is_finite();
        let mut starts: Vec<FitStart> = starts.iter().copied().filter(is_sound).collect();
        number_heats(&mut starts);
        let (means, within) = means(entrants, &starts);
        let solved = Solved::of(entrants, &means, &within);
        let mut fit = Self {
            entrants: entrants.to_vec(),
            rules: *rules,
            solved,
            pairs: Vec::new(),
            places: Vec::new(),
        };
        fit.pairs = fit.all_pairs();
        fit.places = fit.all_places();
        fit
    }

    /// The comparison of two contenders; `None` where no chain of heats ties them together, or errors can't be judged yet.
    pub fn pair(&self, one: usize, other: usize) -> Option<Pair> {
        if one < other {
            return *self.pairs.get(one)?.get(other - one - 1)?;
        }
        let pair = (*self.pairs.get(other)?.get((one - other).checked_sub(1)?)?)?;
        let turned = |(low, high): (f64, f64)| (1.0 / high, 1.0 / low);
        let (interval, sure) = (turned(pair.interval), turned(pair.sure));
        Some(Pair { ratio: 1.0 / pair.ratio, interval, sure, relation: pair.relation.turned(), ..pair })
    }

    /// Whether the one is certainly better than the other.
    pub fn is_better(&self, one: usize, other: usize) -> bool {
        self.pair(one, other).is_some_and(|pair| pair.relation == Relation::Better)
    }

    /// The ratio of two contenders, even where nothing is known of its error.
    pub fn ratio(&self, one: usize, other: usize) -> Option<f64> {
        let (a, b) = (*self.solved.levels.get(one)?, *self.solved.levels.get(other)?);
        (self.solved.islands[one] == self.solved.islands[other]).then_some((a? - b?).exp())
    }

    /// A contender's mean figure over all heats, as if it had run in each.
    pub fn figure(&self, contender: usize) -> Option<f64> {
        let (level, island) = (self.log_level(contender)?, self.solved.islands[contender]?);
        let heats = self.solved.heat_levels.iter().filter(|h| h.0 == island).map(|h| h.1);
        let (sum, count) = heats.fold((0.0, 0.0), |all, level| (all.0 + level, all.1 + 1.0));
        (count > 0.0).then(|| (level + sum / count).exp())
    }

    /// The range of each contender's rank; `None` for one that is not ranked.
    pub fn places(&self) -> &[Option<Place>] {
        &self.places
    }

    /// The ranked contenders, the best estimate first.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.places.len()).filter(|c| self.places[*c].is_some()).collect();
        let key = |c: &usize| match self.rules.best {
            Best::Highest => -self.log_level(*c).unwrap_or(0.0),
            Best::Lowest => self.log_level(*c).unwrap_or(0.0),
        };
        order.sort_by(|a, b| key(a).total_cmp(&key(b)));
        order
    }

    /// Which figure is the best.
    pub(super) fn best(&self) -> Best {
        self.rules.best
    }

    pub(super) fn contrast(&self, one: usize, other: usize) -> Option<Contrast> {
        let n = self.entrants.len();
        (one < n && other < n).then(|| self.solved.contrast(one, other))?
    }

    /// The variance of the difference of two contenders between the starts of a heat; they must have a contrast.
    pub(super) fn variance_of_starts(&self, one: usize, other: usize) -> f64 {
        self.solved.variance_of_starts(one, other)
    }

    fn log_level(&self, contender: usize) -> Option<f64> {
        *self.solved.levels.get(contender)?
    }

    /// The island on which ranks are given: the hub's, or else the one with most ranked contenders.
    fn main_island(&self) -> Option<usize> {
        let islands = &self.solved.islands;
        let of_hub = self.rules.hub.and_then(|hub| *islands.get(hub)?);
        let ranked = || (0..islands.len()).filter(|c| self.entrants[*c].is_ranked).filter_map(|c| islands[c]);
        let count = |island: usize| ranked().filter(|i| *i == island).count();
        of_hub.or_else(|| ranked().max_by_key(|island| (count(*island), usize::MAX - island)))
    }

    fn ranked(&self) -> Vec<usize> {
        let Some(main) = self.main_island() else { return Vec::new() };
        let is_in = |c: &usize| self.entrants[*c].is_ranked && self.solved.islands[*c] == Some(main);
        (0..self.entrants.len()).filter(is_in).collect()
    }

    fn all_pairs(&self) -> Vec<Vec<Option<Pair>>> {
        let critical = Criteria::of(self.ranked().len(), self.rules.chance);
        let n = self.entrants.len();
        let pair =
            |one: usize, other: usize| Some(self.judge(one, other, &self.contrast(one, other)?, &critical));
        (0..n).map(|one| (one + 1..n).map(|other| pair(one, other)).collect()).collect()
    }

    fn judge(&self, one: usize, other: usize, contrast: &Contrast, critical: &Criteria) -> Pair {
        let [a, b] = [one, other].map(|c| &self.entrants[c]);
        let same = Some(&*critical.same).filter(|_| !a.is_floor && !b.is_floor);
        let relation = match Relation::of(contrast, self.rules.best, &critical.all, same) {
            _ if !a.is_ranked || !b.is_ranked => Relation::Open,
            // A lower bound is not known to be worse.
            Relation::Better if b.is_floor => Relation::Open,
            Relation::Worse if a.is_floor => Relation::Open,
            relation => relation,
        };
        Pair {
            ratio: contrast.difference.exp(),
            interval: contrast.interval(&critical.single),
            sure: contrast.interval(&critical.all),
            error: contrast.error,
            relation,
        }
    }

    fn all_places(&self) -> Vec<Option<Place>> {
        let ranked = self.ranked();
        let place = |c: usize| {
            let better = ranked.iter().filter(|other| self.is_better(**other, c)).count();
            let worse = ranked.iter().filter(|other| self.is_better(c, **other)).count();
            ranked.contains(&c).then_some(Place { best: 1 + better, worst: ranked.len() - worse })
        };
        (0..self.entrants.len()).map(place).collect()
    }
}

/// The critical values, as multiples of a standard error.
struct Criteria {
    /// For one pair, 95 %.
    single: std::sync::Arc<Critical>,
    /// For all pairs at once, at this look.
    all: std::sync::Arc<Critical>,
    /// For two one-sided tests, at this look.
    same: std::sync::Arc<Critical>,
}

impl Criteria {
    fn of(ranked: usize, chance: f64) -> Self {
        let student = Critical::student;
        Self { single: student(CHANCE / 2.0), all: Critical::of(ranked, chance), same: student(chance) }
    }
}

/// Numbers heats from 0 without gaps, whatever numbers they came with.
fn number_heats(starts: &mut [FitStart]) {
    let mut known: Vec<usize> = starts.iter().map(|s| s.heat).collect();
    known.sort_unstable();
    known.dedup();
    starts.iter_mut().for_each(|s| s.heat = known.partition_point(|heat| *heat < s.heat));
}
