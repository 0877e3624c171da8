//! Growth: by how much something rises per unit of work, such as a server's memory per answer. The level is read several times in each
//! start (a look), and the start's slope is found by least squares; the interval is over starts, because the looks at one start resemble
//! each other.

use crate::estimate::{CHANCE, Estimate, LEAST_STARTS};
use crate::line::Line;
use crate::studentized_range::Critical;

/// The least-squares slope of evenly spaced looks with a step of height 1 in their middle, where the looks reach over one unit of work. A
/// step anywhere else gives a smaller slope.
const STEP_SLOPE: f64 = 1.5;

/// The slope of a start's looks by least squares. `looks`: the work done so far and the level, in any order. `None` for fewer than two
/// looks, or if no work was done between them.
pub fn slope(looks: &[[u64; 2]]) -> Option<f64> {
    let points: Vec<(f64, f64)> = looks.iter().map(|[work, level]| (*work as f64, *level as f64)).collect();
    Some(Line::through(&points)?.slope)
}

/// The work between a start's first look and its last.
fn reach(looks: &[[u64; 2]]) -> Option<u64> {
    let work = || looks.iter().map(|look| look[0]);
    Some(work().max()? - work().min()?)
}

/// The growth per unit of work: the mean of the starts' slopes, with Student's interval over starts. `resolution`: the size of a step of
/// the level that means nothing; the interval is widened by the slope that one such step makes in a start. `None` without a start that has
/// a slope, and no interval for fewer than three.
pub fn growth(starts: &[&[[u64; 2]]], resolution: f64) -> Option<Estimate> {
    let known = starts.iter().filter_map(|looks| Some((slope(looks)?, reach(looks)? as f64)));
    let (slopes, reaches): (Vec<f64>, Vec<f64>) = known.unzip();
    if slopes.is_empty() {
        return None;
    }
    let n = slopes.len() as f64;
    let mean = slopes.iter().sum::<f64>() / n;
    let interval = (slopes.len() >= LEAST_STARTS).then(|| {
        let squares = slopes.iter().map(|slope| (slope - mean).powi(2)).sum::<f64>();
        let error = (squares / (n - 1.0) / n).sqrt();
        let by_chance = Critical::student(CHANCE / 2.0).of_difference(n - 1.0) * error;
        let by_steps = reaches.iter().map(|reach| STEP_SLOPE * resolution / reach).sum::<f64>() / n;
        (mean - by_chance - by_steps, mean + by_chance + by_steps)
    });
    Some(Estimate { median: mean, interval })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{derive, uniform};
    use proptest::prelude::*;

    const PAGE: u64 = 4096;

    /// Looks at a server that had `first` bytes and keeps `bytes_per_answer` of every answer; memory grows in pages.
    fn looks(first: u64, bytes_per_answer: u64, answers: u64) -> Vec<[u64; 2]> {
        let at = |nth: u64| (first + nth * answers * bytes_per_answer) / PAGE * PAGE;
        (0..6).map(|nth| [nth * answers, at(nth)]).collect()
    }

    fn of(starts: &[Vec<[u64; 2]>], resolution: f64) -> Option<Estimate> {
        growth(&starts.iter().map(Vec::as_slice).collect::<Vec<_>>(), resolution)
    }

    fn holds(estimate: Option<Estimate>, truth: f64) -> bool {
        let interval = estimate.and_then(|estimate| estimate.interval);
        interval.is_some_and(|(low, high)| low <= truth && truth <= high)
    }

    #[test]
    fn a_known_leak_is_found_and_a_server_without_one_is_not_accused() {
        let leaking: Vec<_> = (0..6).map(|nth| looks(10_000_000 + nth * 777, 1024, 10_000 + nth)).collect();
        let found = of(&leaking, 131_072.0);
        assert!(holds(found, 1024.0) && !holds(found, 0.0), "{found:?}");
        assert!(holds(found, 1022.0) && !holds(found, 1010.0) && !holds(found, 1040.0), "{found:?}");
        let flat: Vec<_> = (0..6).map(|nth| looks(10_000_000 + nth * 777, 0, 10_000)).collect();
        let found = of(&flat, 131_072.0);
        assert!(holds(found, 0.0) && !holds(found, 8.0), "{found:?}");
        assert!(found.is_some_and(|found| found.median == 0.0));
    }

    #[test]
    fn one_step_in_every_start_is_no_growth() {
        for place in 1..6 {
            let stepped = |nth: usize| [nth as u64 * 1000, if nth < place { 500_000 } else { 631_072 }];
            let starts = vec![(0..6).map(stepped).collect::<Vec<_>>(); 6];
            let found = of(&starts, 131_072.0);
            assert!(holds(found, 0.0), "{place}: {found:?}");
            assert!(!holds(of(&starts, 0.0), 0.0), "without a resolution it is one");
        }
    }

    #[test]
    fn what_can_not_be_known_is_not_said() {
        assert_eq!((of(&[], 1.0), slope(&[]), slope(&[[5, 7]])), (None, None, None));
        assert_eq!(slope(&[[5, 7], [5, 9]]), None, "no answer between them");
        assert_eq!(of(&[vec![[5, 7], [5, 9]]], 1.0), None);
        let two = vec![vec![[0, 0], [10, 30]]; 2];
        assert_eq!(of(&two, 1.0), Some(Estimate { median: 3.0, interval: None }));
        let mixed = [vec![[0, 0], [10, 30]], vec![], vec![[0, 0], [10, 30]], vec![[0, 0], [10, 30]]];
        assert_eq!(of(&mixed, 0.0).and_then(|found| found.interval), Some((3.0, 3.0)));
    }

    #[test]
    fn the_interval_holds_the_truth_as_often_as_it_says() {
        let gauss = |seed: u64| (0..12).map(|nth| uniform(seed, nth)).sum::<f64>() - 6.0;
        let covered = |run: u64| {
            let start = |nth: u64| {
                let slope = 500.0 + 40.0 * gauss(derive(&[run, nth]));
                let level = |look: u64| 1_000_000 + (look as f64 * 100.0 * slope) as u64;
                (0..5_u64).map(|look| [look * 100, level(look)]).collect::<Vec<[u64; 2]>>()
            };
            let starts: Vec<Vec<[u64; 2]>> = (0..6).map(start).collect();
            holds(of(&starts, 0.0), 500.0)
        };
        let covered = (0..2000).filter(|run| covered(*run)).count();
        // 95 %, and four standard errors of 2,000 runs.
        assert!((1861..=1939).contains(&covered), "{covered} of 2,000");
    }

    proptest! {
        #[test]
        fn a_straight_line_has_its_own_slope(
            bytes in 0..1_000_000_u64,
            first in 0..1_u64 << 40,
            answers in prop::collection::btree_set(0..100_000_u64, 2..40)
        ) {
            let looks: Vec<[u64; 2]> = answers.iter().map(|n| [*n, first + n * bytes]).collect();
            let found = slope(&looks).unwrap();
            prop_assert!((found - bytes as f64).abs() < 1.0 + 1e-6 * bytes as f64, "{found} {bytes}");
        }
    }
}
