//! Ranks contenders by which of them are certainly faster, over all pairs at once. Contenders without a significant difference share
//! a tier and show the range of ranks that the data allow.

use crate::estimate::paired_logs;
use crate::median::median;
use statrs::distribution::{ContinuousCDF, StudentsT};

/// The probability, over all pairs together, that any two equal contenders are called different.
pub const FAMILY_ERROR: f64 = 0.05;

/// The values of one contender by block, and whether the load generator held it back.
#[derive(Clone, Debug)]
pub struct Series {
    /// One value per block (larger is better); `None` where the trial was void, failed or missing.
    pub by_block: Vec<Option<f64>>,
    /// Whether the values are lower bounds, because the load generator was the bound: then no contender is certainly faster than this one.
    pub held_back: bool,
}

/// The place of one contender, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rank {
    /// The tier. Contenders of one tier show no significant difference from its fastest.
    pub tier: usize,
    /// The best rank that the data allow.
    pub low: usize,
    /// The worst rank that the data allow.
    pub high: usize,
}

/// Ranks all contenders; `None` for one without a single value. `noise_floor` is a ratio minus one (0.03: 3 %): smaller differences are
/// treated as noise.
pub fn ranks(all: &[Series], noise_floor: f64) -> Vec<Option<Rank>> {
    let medians: Vec<Option<f64>> =
        all.iter().map(|s| median(&s.by_block.iter().flatten().copied().collect::<Vec<_>>())).collect();
    let faster = surely_faster(all, noise_floor);
    let mut order: Vec<usize> = (0..all.len()).filter(|i| medians[*i].is_some()).collect();
    order.sort_by(|a, b| medians[*b].unwrap_or(0.0).total_cmp(&medians[*a].unwrap_or(0.0)));
    let mut ranks = vec![None; all.len()];
    let (mut tier, mut leader) = (0, None);
    for &i in &order {
        if leader.is_none_or(|l: usize| faster[l][i]) {
            (tier, leader) = (tier + 1, Some(i));
        }
        let low = 1 + order.iter().filter(|j| faster[**j][i]).count();
        let high = order.len() - order.iter().filter(|j| faster[i][**j]).count();
        ranks[i] = Some(Rank { tier, low, high });
    }
    ranks
}

/// `[i][j]` is true when i is certainly faster than j: paired t-tests on the log-ratios by block, Holm's
/// step-down over all pairs (Holm 1979), and a median ratio beyond the noise floor.
fn surely_faster(all: &[Series], noise_floor: f64) -> Vec<Vec<bool>> {
    let mut pairs = Vec::new();
    for i in 0..all.len() {
        for j in i + 1..all.len() {
            let logs = paired_logs(&all[i].by_block, &all[j].by_block);
            if let Some(p) = paired_p(&logs) {
                pairs.push((p, i, j, median(&logs).unwrap_or(0.0)));
            }
        }
    }
    pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut faster = vec![vec![false; all.len()]; all.len()];
    for (k, (p, i, j, log)) in pairs.iter().enumerate() {
        if *p > FAMILY_ERROR / (pairs.len() - k) as f64 {
            break;
        }
        let (winner, loser) = if *log > 0.0 { (*i, *j) } else { (*j, *i) };
        if log.abs() > (1.0 + noise_floor).ln() && !all[loser].held_back {
            faster[winner][loser] = true;
        }
    }
    faster
}

/// The two-sided p-value of a paired t-test that the mean log-ratio is 0. `None` with fewer than three blocks.
pub fn paired_p(logs: &[f64]) -> Option<f64> {
    let n = logs.len() as f64;
    if logs.len() < 3 {
        return None;
    }
    let mean = logs.iter().sum::<f64>() / n;
    let variance = logs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    if variance <= f64::EPSILON * f64::EPSILON {
        return Some(if mean == 0.0 { 1.0 } else { 0.0 });
    }
    let t = mean / (variance / n).sqrt();
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok()?;
    Some(2.0 * student.cdf(-t.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;

    fn series(centre: f64, noise: f64, seed: u64, blocks: u64) -> Series {
        let gauss = |k: u64| (1..=12).map(|i| uniform(seed, k * 12 + i)).sum::<f64>() - 6.0;
        let by_block = (0..blocks).map(|k| Some(centre * (1.0 + noise * gauss(k)))).collect();
        Series { by_block, held_back: false }
    }

    #[test]
    fn clear_differences_make_tiers_of_one() {
        let all = [series(100.0, 0.01, 1, 8), series(300.0, 0.01, 2, 8), series(200.0, 0.01, 3, 8)];
        let got: Vec<_> = ranks(&all, 0.01).into_iter().map(Option::unwrap).collect();
        assert_eq!(
            got.iter().map(|r| (r.tier, r.low, r.high)).collect::<Vec<_>>(),
            [(3, 3, 3), (1, 1, 1), (2, 2, 2)]
        );
    }

    #[test]
    fn equal_contenders_are_called_different_in_at_most_one_run_of_twenty() {
        let runs = 300;
        let wrong = (0..runs)
            .filter(|run| {
                let all: Vec<_> = (0..10).map(|i| series(100.0, 0.02, run * 10 + i, 8)).collect();
                ranks(&all, 0.0).iter().flatten().any(|r| (r.low, r.high) != (1, 10))
            })
            .count();
        assert!(wrong * 20 <= runs as usize, "{wrong} of {runs}");
    }

    #[test]
    fn a_difference_below_the_noise_floor_is_none() {
        let all = [series(100.0, 0.0001, 1, 8), series(101.0, 0.0001, 2, 8)];
        assert_eq!(ranks(&all, 0.02)[0], Some(Rank { tier: 1, low: 1, high: 2 }));
        assert_eq!(ranks(&all, 0.002)[0], Some(Rank { tier: 2, low: 2, high: 2 }));
    }

    #[test]
    fn nobody_is_surely_faster_than_one_that_the_client_held_back() {
        let mut all = [series(100.0, 0.001, 1, 8), series(110.0, 0.001, 2, 8), series(50.0, 0.001, 3, 8)];
        all[0].held_back = true;
        let places = |all: &[Series]| -> Vec<_> {
            ranks(all, 0.01).into_iter().flatten().map(|r| (r.tier, r.low, r.high)).collect()
        };
        assert_eq!(places(&all), [(1, 1, 2), (1, 1, 2), (2, 3, 3)], "a floor of 100 may be 110 or more");
        (all[0].held_back, all[1].held_back) = (false, true);
        assert_eq!(
            places(&all),
            [(2, 2, 2), (1, 1, 1), (3, 3, 3)],
            "a floor of 110 is above 100 all the same"
        );
    }

    #[test]
    fn one_without_values_has_no_rank() {
        let all = [series(100.0, 0.01, 1, 6), Series { by_block: vec![None; 6], held_back: false }];
        assert_eq!(ranks(&all, 0.0)[1], None);
    }

    #[test]
    fn the_t_test_agrees_with_a_table() {
        // t = 2.5706 is the two-sided 5 % point for five degrees of freedom.
        let spread = [-1.0, 1.0, -1.0, 1.0, -1.0, 1.0];
        let se = (6.0_f64 / 5.0).sqrt() / 6.0_f64.sqrt();
        let logs: Vec<f64> = spread.iter().map(|x| x + 2.5706 * se).collect();
        assert!((paired_p(&logs).unwrap() - 0.05).abs() < 1e-4);
    }
}
