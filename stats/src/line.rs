//! A straight line through points, by least squares.

/// A line, as far as it is asked for.
pub(crate) struct Line {
    /// The rise per unit of x.
    pub slope: f64,
    /// The variance of the slope, by the scatter of the points around the line. It is known with two degrees of freedom fewer than there are
    /// points, and for two points it is not a number.
    pub variance: f64,
}

impl Line {
    /// Through points (x, y); `None` if all have the same x.
    pub fn through(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let (x, y) =
            (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
        let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
        let slope = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum::<f64>() / spread;
        let squares: f64 = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2)).sum();
        (spread > 0.0).then(|| Self { slope, variance: squares / (n - 2.0) / spread })
    }
}
