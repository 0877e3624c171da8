//! A rate that changes over time in straight pieces: the number of arrivals until a moment, and the moment by which a number of arrivals is
//! reached. The two are each other's inverse.

/// One piece of a profile: a rate that changes linearly from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSegment {
    /// The rate at its start, per second; above 0.
    pub from_per_s: f64,
    /// The rate at its end, per second; above 0.
    pub to_per_s: f64,
    /// The length of the piece, in nanoseconds; above 0.
    pub length_ns: f64,
}

/// A rate over all time from 0: its segments, then the last rate without end.
#[derive(Clone, Debug, PartialEq)]
pub struct RateProfile {
    /// The pieces by start; never empty.
    pieces: Vec<Piece>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Piece {
    start_ns: f64,
    /// The start of the next piece.
    end_ns: f64,
    /// The number of arrivals until the start.
    start_n: f64,
    /// 1e9 divided by the rate: kept beside the rate so that even gaps come out exactly.
    gap_ns: f64,
    per_ns: f64,
    /// The change of the rate per nanosecond, per nanosecond.
    slope: f64,
}

impl RateProfile {
    /// The segments one after another, then `then_per_s` without end.
    pub fn new(segments: &[RateSegment], then_per_s: f64) -> Self {
        let (mut start_ns, mut start_n) = (0.0, 0.0);
        let mut pieces = Vec::with_capacity(segments.len() + 1);
        for segment in segments {
            let piece = Piece::new(start_ns, start_n, *segment);
            start_n += piece.count(segment.length_ns);
            start_ns = piece.end_ns;
            pieces.push(piece);
        }
        let rest = RateSegment { from_per_s: then_per_s, to_per_s: then_per_s, length_ns: f64::INFINITY };
        pieces.push(Piece::new(start_ns, start_n, rest));
        Self { pieces }
    }

    /// The number of arrivals until `ns`: the integral of the rate.
    pub fn count_until(&self, ns: f64) -> f64 {
        let piece = self.piece(|piece| piece.start_ns <= ns);
        piece.start_n + piece.count(ns - piece.start_ns)
    }

    /// The moment, in nanoseconds, by which there are `n` arrivals.
    #[inline]
    pub fn moment_ns(&self, n: f64) -> f64 {
        let piece = self.piece(|piece| piece.start_n <= n);
        // Rounding must not move the last arrivals of a piece past the first of the next.
        (piece.start_ns + piece.moment_ns(n - piece.start_n)).min(piece.end_ns)
    }

    /// The last piece that has begun.
    #[inline]
    fn piece(&self, has_begun: impl Fn(&Piece) -> bool) -> &Piece {
        let next = self.pieces.partition_point(has_begun);
        &self.pieces[next.max(1) - 1]
    }
}

impl Piece {
    fn new(start_ns: f64, start_n: f64, segment: RateSegment) -> Self {
        let per_ns = segment.from_per_s / 1e9;
        let slope = (segment.to_per_s / 1e9 - per_ns) / segment.length_ns;
        let end_ns = start_ns + segment.length_ns;
        Self { start_ns, end_ns, start_n, gap_ns: 1e9 / segment.from_per_s, per_ns, slope }
    }

    /// The number of arrivals within the piece's first nanoseconds.
    fn count(&self, ns: f64) -> f64 {
        if self.slope == 0.0 { ns / self.gap_ns } else { ns * (self.per_ns + self.slope * ns / 2.0) }
    }

    /// The root of `per_ns t + slope t²/2 = n`, written so that nothing cancels, up or down.
    #[inline]
    fn moment_ns(&self, n: f64) -> f64 {
        if self.slope == 0.0 {
            return n * self.gap_ns;
        }
        let square = self.per_ns * self.per_ns + 2.0 * self.slope * n;
        2.0 * n / (self.per_ns + square.max(0.0).sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn segments() -> impl Strategy<Value = (Vec<RateSegment>, f64)> {
        let rate = 0.1..1e6_f64;
        let segment = (rate.clone(), rate.clone(), 1e6..1e11_f64);
        let segment = segment.prop_map(|(from_per_s, to_per_s, length_ns)| RateSegment {
            from_per_s,
            to_per_s,
            length_ns,
        });
        (prop::collection::vec(segment, 0..5), rate)
    }

    /// The integral by the midpoint rule, which is exact for straight lines.
    fn integral(segments: &[RateSegment], then_per_s: f64, until_ns: f64) -> f64 {
        let (mut left_ns, mut n) = (until_ns, 0.0);
        for segment in segments {
            let part_ns = left_ns.min(segment.length_ns);
            let rise_per_s = segment.to_per_s - segment.from_per_s;
            let middle = segment.from_per_s + rise_per_s * part_ns / 2.0 / segment.length_ns;
            n += middle * part_ns / 1e9;
            left_ns -= part_ns;
        }
        n + then_per_s * left_ns / 1e9
    }

    #[test]
    fn a_ramp_by_hand() {
        let up = RateSegment { from_per_s: 1000.0, to_per_s: 3000.0, length_ns: 10e9 };
        let profile = RateProfile::new(&[up], 3000.0);
        let counts = [0.0, 5e9, 10e9, 11e9].map(|ns| profile.count_until(ns).round());
        assert_eq!(counts, [0.0, 7_500.0, 20_000.0, 23_000.0]);
        assert!((profile.moment_ns(7_500.0) - 5e9).abs() < 1.0);
    }

    proptest! {
        #[test]
        fn the_count_is_the_integral((segments, then) in segments(), ns in 0.0..6e11_f64) {
            let (got, expected) = (RateProfile::new(&segments, then).count_until(ns), integral(&segments, then, ns));
            prop_assert!((got - expected).abs() <= 1e-9 * expected + 1e-6, "{got} {expected}");
        }

        #[test]
        fn moment_and_count_are_inverse((segments, then) in segments(), share in 0.0..1.0_f64) {
            let profile = RateProfile::new(&segments, then);
            let n = share * profile.count_until(6e11);
            let back = profile.count_until(profile.moment_ns(n));
            prop_assert!((back - n).abs() <= 1e-9 * n + 1e-6, "{back} {n}");
        }

        #[test]
        fn moments_go_forward((segments, then) in segments(), mut ns in prop::collection::vec(0.0..1e7_f64, 2..50)) {
            let profile = RateProfile::new(&segments, then);
            ns.sort_unstable_by(f64::total_cmp);
            let moments: Vec<f64> = ns.iter().map(|n| profile.moment_ns(*n)).collect();
            prop_assert!(moments.windows(2).all(|w| w[0] <= w[1] + 0.01), "{moments:?}");
        }
    }
}
