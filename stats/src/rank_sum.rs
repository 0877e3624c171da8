//! How far two independent samples are apart: the centre of all differences between them (Hodges and Lehmann 1963) and
//! its bounds by Mann and Whitney's ranks, exact whatever the distribution of the noise, as long as it is the same in both.

use crate::Estimate;

/// How far `new` lies above `old`, with bounds of this confidence; without bounds where there are too few values. `None` where
/// either is empty.
pub fn shift(new: &[f64], old: &[f64], confidence: f64) -> Option<Estimate> {
    let mut differences: Vec<f64> = new.iter().flat_map(|n| old.iter().map(move |o| n - o)).collect();
    let median = crate::median(&differences)?;
    differences.sort_by(f64::total_cmp);
    let tail = (1.0 - confidence) / 2.0;
    let chances = cumulative(new.len(), old.len());
    let above = chances.iter().position(|chance| *chance > tail);
    let interval = above.and_then(|above| {
        let k = above.checked_sub(1)?;
        let share = (tail - chances[k]) / (chances[above] - chances[k]);
        let between = |a: f64, b: f64| if a == b { a } else { a + share * (b - a) };
        let top = differences.len() - 1;
        let low = between(differences[k], differences[above.min(top)]);
        Some((low, between(differences[top - k], differences[top.saturating_sub(above)])))
    });
    Some(Estimate { median, interval })
}

/// For samples of `m` and `n` values from the same distribution: the probability that in at most k of their pairs the first sample's value
/// is the larger one, for k = 0, 1, ….
fn cumulative(m: usize, n: usize) -> Vec<f64> {
    // Of all ways to choose which m of the m + n ranks are the first sample's, the number with each such count (Mann and Whitney 1947).
    let sums = m * n;
    let mut ways = vec![vec![0.0; sums + 1]; m + 1];
    ways[0][0] = 1.0;
    for rank in 0..m + n {
        for chosen in (1..=m.min(rank + 1)).rev() {
            // The chosen-th value from below has rank - (chosen - 1) values of the second sample below it.
            let below = rank + 1 - chosen;
            for sum in (below..=sums).rev() {
                ways[chosen][sum] += ways[chosen - 1][sum - below];
            }
        }
    }
    let all: f64 = ways[m].iter().sum();
    let mut sum = 0.0;
    ways[m]
        .iter()
        .map(|n| {
            sum += n / all;
            sum
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::uniform;
    use proptest::prelude::*;

    #[test]
    fn the_chances_agree_with_a_table() {
        // The largest U with at most 2.5 % on one side, by Mann and Whitney's table.
        let critical =
            |m, n| cumulative(m, n).iter().position(|chance| *chance > 0.025).unwrap().checked_sub(1);
        let cases = [(3, 3, None), (4, 4, Some(0)), (5, 6, Some(3)), (8, 8, Some(13)), (10, 7, Some(14))];
        for (m, n, expected) in cases {
            assert_eq!(critical(m, n), expected, "{m} and {n}");
        }
        assert!((cumulative(6, 8).last().unwrap() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn too_few_values_have_no_bounds() {
        assert_eq!(shift(&[], &[1.0], 0.95), None);
        let estimate = shift(&[3.0, 3.0, 3.0], &[1.0, 1.0, 1.0], 0.95).unwrap();
        assert_eq!((estimate.median, estimate.interval), (2.0, None));
        assert_eq!(shift(&[3.0; 6], &[1.0; 6], 0.95).unwrap().interval, Some((2.0, 2.0)));
    }

    #[test]
    fn the_bounds_cover_the_truth_as_often_as_they_say() {
        for (m, n) in [(6, 8), (8, 8), (12, 10)] {
            let runs = 2_000;
            let gauss = |seed: u64, k: u64| (0..12).map(|i| uniform(seed, k * 12 + i)).sum::<f64>() - 6.0;
            let covered = (0..runs)
                .filter(|run| {
                    let new: Vec<f64> = (0..m).map(|k| 0.5 + gauss(run * 2, k)).collect();
                    let old: Vec<f64> = (0..n).map(|k| gauss(run * 2 + 1, k)).collect();
                    let (low, high) = shift(&new, &old, 0.95).unwrap().interval.unwrap();
                    low <= 0.5 && 0.5 <= high
                })
                .count();
            let percent = covered as f64 * 100.0 / runs as f64;
            assert!((93.0..=97.0).contains(&percent), "{m} and {n} values: {percent} %");
        }
    }

    proptest! {
        #[test]
        fn either_way_round(new in prop::collection::vec(-1e3..1e3_f64, 1..12), old in prop::collection::vec(-1e3..1e3_f64, 1..12)) {
            let (there, back) = (shift(&new, &old, 0.95).unwrap(), shift(&old, &new, 0.95).unwrap());
            prop_assert!((there.median + back.median).abs() < 1e-9);
            prop_assert_eq!(there.interval.is_some(), back.interval.is_some());
            if let (Some((low, high)), Some((back_low, back_high))) = (there.interval, back.interval) {
                prop_assert!(low <= there.median && there.median <= high);
                prop_assert!((low + back_high).abs() < 1e-9 && (high + back_low).abs() < 1e-9);
            }
        }
    }
}
