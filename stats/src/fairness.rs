//! How evenly connections were served.

/// Jain's index of fairness: (Σx)² / (n·Σx²), from 1/n (one served, the rest starved) to 1 (all the same).
/// `None` where no connection was served. Source: Jain, Chiu, Hawe, DEC-TR-301, 1984.
pub fn jain(served: &[u64]) -> Option<f64> {
    let sum: f64 = served.iter().map(|x| *x as f64).sum();
    let squares: f64 = served.iter().map(|x| (*x as f64).powi(2)).sum();
    (squares > 0.0).then(|| sum * sum / (served.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::jain;

    #[test]
    fn jain_spans_one_over_n_to_one() {
        assert_eq!(jain(&[5, 5, 5, 5]), Some(1.0));
        assert_eq!(jain(&[8, 0, 0, 0]), Some(0.25));
        assert_eq!(jain(&[0, 0]), None);
        assert_eq!(jain(&[]), None);
    }
}
