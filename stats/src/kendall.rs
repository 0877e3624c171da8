//! Kendall's tau: how far two orders of the same things agree, from 1 (the same) to −1 (reversed). In the form
//! that allows for ties, tau-b (Kendall, 1945).

/// Kendall's tau of pairs of values of the same things. `None` with fewer than two things, or where one side is all ties.
pub fn tau(pairs: &[(f64, f64)]) -> Option<f64> {
    let (mut agreement, mut untied) = (0_i64, [0_i64; 2]);
    for (i, (a, b)) in pairs.iter().enumerate() {
        for (c, d) in &pairs[..i] {
            let (one, other) = (sign(a - c), sign(b - d));
            agreement += one * other;
            untied[0] += one.abs();
            untied[1] += other.abs();
        }
    }
    let scale = (untied[0] as f64).sqrt() * (untied[1] as f64).sqrt();
    (scale > 0.0).then(|| agreement as f64 / scale)
}

fn sign(x: f64) -> i64 {
    i64::from(x > 0.0) - i64::from(x < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random;

    #[test]
    fn with_ties_it_is_what_others_compute() {
        // The example of SciPy's documentation of kendalltau.
        let pairs = [(12.0, 1.0), (2.0, 4.0), (1.0, 7.0), (12.0, 1.0), (2.0, 0.0)];
        assert!((tau(&pairs).unwrap() + 0.471_404_520_791_031_73).abs() < 1e-12);
    }

    #[test]
    fn without_ties_it_counts_the_swaps_of_a_bubble_sort() {
        for seed in 0..200 {
            let n = 2 + seed as usize % 12;
            let order = random::shuffled(n, seed);
            let pairs: Vec<(f64, f64)> =
                order.iter().enumerate().map(|(i, o)| (i as f64, *o as f64)).collect();
            let (mut left, mut swaps) = (order, 0);
            while let Some(i) = (1..n).find(|i| left[i - 1] > left[*i]) {
                left.swap(i - 1, i);
                swaps += 1;
            }
            let expected = 1.0 - 4.0 * f64::from(swaps) / (n * (n - 1)) as f64;
            assert!((tau(&pairs).unwrap() - expected).abs() < 1e-12, "{pairs:?}");
        }
    }

    #[test]
    fn of_too_little_nothing_is_said() {
        assert_eq!((tau(&[]), tau(&[(1.0, 2.0)]), tau(&[(1.0, 2.0), (1.0, 3.0)])), (None, None, None));
        assert_eq!(tau(&[(1.0, 5.0), (2.0, 9.0)]), Some(1.0));
        assert_eq!(tau(&[(1.0, 9.0), (2.0, 5.0)]), Some(-1.0));
    }
}
