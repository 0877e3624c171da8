//! A latency histogram as a few rows, with edges at 1, 2, 5, 10, 20, 50 … of each unit; as many rows as fit.

use stats::Histogram;

/// One row: the durations from the end of the previous row to the end of this one, and their share of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The shortest duration in the row.
    pub from_ns: u64,
    /// All durations in the row are shorter than this.
    pub to_ns: u64,
    /// Their share of all, 0 to 1.
    pub share: f64,
}

/// The rows from the shortest duration to the longest; at most `most` of them.
pub fn rows(histogram: &Histogram, most: usize) -> Vec<Row> {
    [&[1, 2, 5][..], &[1]]
        .iter()
        .map(|steps| with_steps(histogram, steps))
        .find(|rows| rows.len() <= most)
        .unwrap_or_else(|| with_steps(histogram, &[1]).into_iter().take(most).collect())
}

fn with_steps(histogram: &Histogram, steps: &[u64]) -> Vec<Row> {
    let powers = (0..=13).map(|power| 10_u64.pow(power));
    let edges: Vec<u64> = powers.flat_map(|power| steps.iter().map(move |step| step * power)).collect();
    let mut counts = vec![0; edges.len()];
    for (ns, n) in stats::Counts::of(histogram).pairs() {
        counts[edges.partition_point(|edge| edge <= ns).clamp(1, edges.len() - 1) - 1] += n;
    }
    let all = histogram.count() as f64;
    let rows = edges.windows(2).zip(&counts);
    let rows: Vec<Row> =
        rows.map(|(edge, n)| Row { from_ns: edge[0], to_ns: edge[1], share: *n as f64 / all }).collect();
    let is_some = |row: &Row| row.share > 0.0;
    match (rows.iter().position(is_some), rows.iter().rposition(is_some)) {
        (Some(first), Some(last)) => rows[first..=last].to_vec(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_from_the_shortest_to_the_longest_and_hold_all() {
        let mut h = Histogram::new();
        assert_eq!(rows(&h, 10), []);
        [120_000, 130_000, 450_000, 1_500_000].into_iter().for_each(|ns| h.record(ns));
        let row = |from_ns, to_ns, share| Row { from_ns, to_ns, share };
        let expected = [
            row(100_000, 200_000, 0.5),
            row(200_000, 500_000, 0.25),
            row(500_000, 1_000_000, 0.0),
            row(1_000_000, 2_000_000, 0.25),
        ];
        assert_eq!(rows(&h, 10), expected);
        let coarse = [row(100_000, 1_000_000, 0.75), row(1_000_000, 10_000_000, 0.25)];
        assert_eq!(rows(&h, 3), coarse, "coarser where there is no room");
        assert_eq!(rows(&h, 1), coarse[..1]);
        assert_eq!(rows(&h, 0), []);
        h.record(u64::MAX);
        h.record(0);
        assert!((rows(&h, 100).iter().map(|row| row.share).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
