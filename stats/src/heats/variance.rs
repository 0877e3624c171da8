//! How much contenders vary from start to start: a variance for each class, and for each contender its own, shrunk towards
//! the usual one in its class. Four starts alone say too little about a variance, one pooled variance is wrong for most
//! contenders, and weights that mute outlying starts would call noise a difference (simulated: 49 % of runs).

use super::components::{Mean, Within};
use super::design::FitEntrant;
use super::least_squares::Equations;
use super::special::{inverse_trigamma, trigamma};
use statrs::function::gamma::digamma;

/// The usual variance of a class counts for at most this number of degrees of freedom. Where a third of a class varies twice as much as the
/// others, a value of 8 makes 9 to 11 % of studies of 51 equal contenders decide wrongly within four looks, and 5 makes 5 to 9 %; where all
/// vary alike, 5 makes intervals 4 % wider after four rounds, and no wider after nine.
const MOST_PRIOR: f64 = 5.0;
/// How much variances differ within a class is estimated as if this number of further contenders had been seen, whose variances differ as
/// little as is ever assumed.
const SUPPOSED: f64 = 10.0;
/// The starts of a server are never taken to agree better than to 0.05 %: a handful of equal figures is chance, or a coarse clock.
const LEAST_VARIANCE: f64 = 2.5e-7;
/// The degrees of freedom of all contenders together that are added to those of a class, for weights only: otherwise a class of one
/// contender might be taken to be free of noise, because the levels of its heats can follow it and leave no residuals.
const SHARED: f64 = 2.0;
/// Variances and weights are found in turns until they change by less than 0.01 %, in at most this number of turns.
const TURNS: usize = 40;

/// What is known about the variation between starts.
pub(super) struct Variances {
    /// The group of each contender.
    pub groups: Vec<usize>,
    /// The degrees of freedom of each group's contenders together.
    pub group_freedom: Vec<f64>,
    /// The degrees of freedom that each group's usual variance counts for.
    pub prior_freedom: Vec<f64>,
    /// The shrunk variance of each contender.
    pub own: Vec<f64>,
    /// The degrees of freedom of each contender's starts alone.
    pub own_freedom: Vec<f64>,
}

/// Groups contenders by class. Floors (contenders whose figures are lower bounds) have groups of their own, because they vary by other
/// causes.
pub(super) fn groups(entrants: &[FitEntrant]) -> Vec<usize> {
    let key = |c: usize| (entrants[c].is_floor, entrants[c].class);
    let mut known = Vec::new();
    let mut place = |c: usize| {
        known.iter().position(|k| *k == key(c)).unwrap_or_else(|| {
            known.push(key(c));
            known.len() - 1
        })
    };
    (0..entrants.len()).map(&mut place).collect()
}

/// What each contender's starts show within heats about the variance of one of them, as squares and degrees of freedom. The contenders of a
/// group share the error of what is supposed about contender × heat.
pub(super) fn within_heats(groups: &[usize], within: &[Within]) -> Vec<(f64, f64)> {
    let of_group = |group: usize| {
        let alike = within.iter().zip(groups).filter(|(_, own)| **own == group);
        alike.map(|(own, _)| own.freedom()).sum::<f64>()
    };
    within.iter().zip(groups).map(|(own, group)| own.of_start(of_group(*group))).collect()
}

/// The weight of each contender: the inverse of its class's variance, found together with it. At the fixed point a class's squared
/// residuals sum to its variance times the degrees of freedom that they leave: restricted maximum likelihood (Patterson and
/// Thompson 1971; Harville 1977). Each contender's own weights start from these.
pub(super) fn weights(
    entrants: &[FitEntrant],
    groups: &[usize],
    starts: &[Mean],
    within: &[(f64, f64)],
) -> Vec<f64> {
    let count = groups.iter().max().map_or(0, |g| g + 1);
    let mut beside = vec![(0.0, 0.0); count];
    for (c, own) in within.iter().enumerate().filter(|(c, _)| !entrants[*c].is_floor) {
        beside[groups[c]] = (beside[groups[c]].0 + own.0, beside[groups[c]].1 + own.1);
    }
    let mut of_group = vec![1.0; count];
    for _ in 0..TURNS {
        let weights = by_contender(entrants, groups, &of_group);
        let solved = Equations::solve(starts, &weights);
        let (mut squares, mut freedom): (Vec<f64>, Vec<f64>) = beside.iter().copied().unzip();
        for (i, start) in starts.iter().enumerate().filter(|(_, s)| !entrants[s.contender].is_floor) {
            let Some(residual) = solved.residual(i) else { continue };
            squares[groups[start.contender]] += residual * residual * start.worth;
            freedom[groups[start.contender]] += solved.freedom(i);
        }
        let all = squares.iter().sum::<f64>() / freedom.iter().sum::<f64>().max(1.0);
        let next = |g: usize| {
            let variance = (squares[g] + SHARED * all) / (freedom[g] + SHARED);
            variance.max(LEAST_VARIANCE)
        };
        let found: Vec<f64> = (0..count).map(next).collect();
        let change = |(a, b): (&f64, &f64)| (a / b - 1.0).abs();
        let is_done = found.iter().zip(&of_group).map(change).fold(0.0, f64::max) < 1e-4;
        of_group = found;
        if is_done {
            break;
        }
    }
    by_contender(entrants, groups, &of_group)
}

fn by_contender(entrants: &[FitEntrant], groups: &[usize], of_group: &[f64]) -> Vec<f64> {
    let weight = |(e, g): (&FitEntrant, &usize)| if e.is_floor { 0.0 } else { 1.0 / of_group[*g] };
    entrants.iter().zip(groups).map(weight).collect()
}

/// The variance of each contender, shrunk. `sums`: for each contender the sum of its squared residuals and the degrees of freedom that
/// they leave. `least`: what it can't be less than.
pub(super) fn shrink(groups: Vec<usize>, sums: &[(f64, f64)], least: &[f64]) -> Variances {
    let count = groups.iter().max().map_or(0, |g| g + 1);
    let (mut group_freedom, mut prior_freedom) = (vec![0.0; count], vec![0.0; count]);
    let mut own = vec![0.0; groups.len()];
    let whole = sums.iter().fold((0.0, 0.0), |all, one| (all.0 + one.0, all.1 + one.1));
    for g in 0..count {
        let members: Vec<usize> = (0..groups.len()).filter(|c| groups[*c] == g).collect();
        let of_group: Vec<(f64, f64)> = members.iter().map(|c| sums[*c]).collect();
        group_freedom[g] = of_group.iter().map(|s| s.1).sum();
        let (usual, freedom) = prior(&of_group).unwrap_or((whole.0 / whole.1.max(1.0), 1.0));
        prior_freedom[g] = freedom;
        for c in members {
            let (squares, free) = sums[c];
            own[c] = ((freedom * usual + squares) / (freedom + free)).max(LEAST_VARIANCE).max(least[c]);
        }
    }
    let own_freedom = sums.iter().map(|s| s.1).collect();
    Variances { groups, group_freedom, prior_freedom, own, own_freedom }
}

/// The usual variance in a class, and how many degrees of freedom it is worth: the less its contenders' variances differ beyond
/// chance, the more (Smyth 2004, section 6.2). `None` where no contender has a variance.
fn prior(sums: &[(f64, f64)]) -> Option<(f64, f64)> {
    let judged: Vec<(f64, f64)> = sums.iter().copied().filter(|(_, free)| *free >= 0.5).collect();
    let n = judged.len() as f64;
    if judged.is_empty() {
        return None;
    }
    let pooled = judged.iter().map(|s| s.0).sum::<f64>() / judged.iter().map(|s| s.1).sum::<f64>();
    if judged.len() < 2 {
        return Some((pooled, MOST_PRIOR));
    }
    let log = |(squares, free): &(f64, f64)| {
        (squares / free).max(LEAST_VARIANCE / 100.0).ln() - digamma(free / 2.0) + (free / 2.0).ln()
    };
    let logs: Vec<f64> = judged.iter().map(log).collect();
    let mean = logs.iter().sum::<f64>() / n;
    let spread = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let by_chance = judged.iter().map(|(_, free)| trigamma(free / 2.0)).sum::<f64>() / n;
    let seen = spread - by_chance;
    // A few contenders say little of how much variances differ: they are combined with `SUPPOSED` further ones, which differ the least.
    let least = trigamma(MOST_PRIOR / 2.0);
    let differ = ((n - 1.0) * seen + SUPPOSED * least) / (n - 1.0 + SUPPOSED);
    let usual = if seen <= 0.0 {
        pooled
    } else {
        let half = inverse_trigamma(seen.min(differ));
        (mean + digamma(half) - half.ln()).exp()
    };
    Some((usual, 2.0 * inverse_trigamma(differ.max(least))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_variances_are_taken_together_and_unequal_ones_are_left_alone() {
        let alike: Vec<(f64, f64)> = (0..12).map(|i| (3.0 * (0.8 + 0.04 * f64::from(i)), 3.0)).collect();
        let (usual, freedom) = prior(&alike).unwrap();
        assert!((usual - 1.02).abs() < 0.01 && (freedom - MOST_PRIOR).abs() < 1e-6);
        let unlike: Vec<(f64, f64)> = (0..12).map(|i| (3.0 * 4.0_f64.powi(i % 6), 3.0)).collect();
        assert!(prior(&unlike).unwrap().1 < 2.0);
        assert_eq!((prior(&[]), prior(&[(1.0, 0.0)])), (None, None));
    }

    #[test]
    fn floors_vary_by_themselves() {
        let of = |class, is_floor| FitEntrant { is_floor, ..FitEntrant::of_class(class) };
        let entrants = [of(1, false), of(1, false), of(1, true), of(7, false)];
        assert_eq!(groups(&entrants), [0, 0, 1, 2]);
    }

    #[test]
    fn a_class_that_varies_more_weighs_less() {
        use crate::random::uniform;
        let entrants: Vec<FitEntrant> = (0..8).map(|c| FitEntrant::of_class(usize::from(c >= 4))).collect();
        let noise = |c: usize, h: usize| {
            let gauss = (0..12).map(|i| uniform((c * 50 + h) as u64, i)).sum::<f64>() - 6.0;
            gauss * if c < 4 { 0.01 } else { 0.04 }
        };
        let log_figure = |h: usize, c: usize| noise(c, h) + h as f64;
        let figure = |h, c| Mean { contender: c, heat: h, log_figure: log_figure(h, c), worth: 1.0 };
        let starts: Vec<Mean> = (0..30).flat_map(|h| (0..8).map(move |c| figure(h, c))).collect();
        let groups = groups(&entrants);
        let weights = weights(&entrants, &groups, &starts, &[(0.0, 0.0); 8]);
        let [quiet, loud] = [weights[0], weights[7]].map(|w| (1.0 / w).sqrt());
        assert!((quiet / 0.01 - 1.0).abs() < 0.2 && (loud / 0.04 - 1.0).abs() < 0.2, "{quiet} {loud}");
    }
}
