//! The knee of a server: the offered rate above which the achieved rate does not follow any more.
//!
//! Two lines meet there: achieved = offered below, and a line above that is level, or falls where a server that is
//! asked for too much does less. They are fitted by least absolute *relative* deviations, so that one step in which
//! the machine was busy with something else does not move them, and a step of a tenth of the rate counts as much as one
//! at the full rate. In the simulation of `stats/tests/queues` the knee is then within 1.5 % of the capacity on average
//! and always within 6 % (up to two per cent of noise, M/D/1 and M/M/1, level or falling above). The largest achieved rate is 1 to 2 % too
//! high, since it is the luckiest one; a line that must be level is 3 % too low where the server falls.
//!
//! Why not where latency takes off: it does not. Mean waiting times go as ρ/(1 − ρ) (Pollaczek and Khinchine), a
//! hyperbola without a corner: a point of largest curvature (Kneedle: Satopää and others 2011) depends on how the axes
//! are scaled, that is on the lowest and highest rate that happened to be swept. Which latency is too much is for
//! people to say; see [`crate::search`].

/// The slopes of the lines above the knee that are tried: the achieved rate that is lost for each unit of offered rate more.
const FALLS: [f64; 11] = [0.0, -0.1, -0.2, -0.3, -0.4, -0.5, -0.6, -0.7, -0.8, -0.9, -1.0];

/// The highest offered rate must lose more than this share, or there is no evidence of a knee.
const LOST: f64 = 0.03;

/// An offered and an achieved rate, per second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// The rate at which requests became due.
    pub offered: f64,
    /// The rate of answers.
    pub achieved: f64,
}

/// Finds the knee. `None` where the achieved rate followed as far as it was measured, or where fewer than two points show
/// that it does not.
pub fn knee(points: &[Point]) -> Option<f64> {
    let is_known = |p: &&Point| p.offered > 0.0 && p.achieved >= 0.0 && (p.offered + p.achieved).is_finite();
    let points: Vec<Point> = points.iter().filter(is_known).copied().collect();
    let highest = points.iter().max_by(|a, b| a.offered.total_cmp(&b.offered))?;
    if highest.achieved > highest.offered * (1.0 - LOST) {
        return None;
    }
    let lines = FALLS.iter().flat_map(|fall| points.iter().map(move |p| (knee_through(*p, *fall), *fall)));
    let fitted = lines
        .filter(|(knee, _)| *knee > 0.0)
        .map(|(knee, fall)| (deviation(&points, knee, fall), knee))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let above = points.iter().filter(|p| p.offered > fitted.1).count();
    (above >= 2).then_some(fitted.1)
}

/// Where a line of this fall through a point meets achieved = offered. The best line goes through a point.
fn knee_through(p: Point, fall: f64) -> f64 {
    (p.achieved - fall * p.offered) / (1.0 - fall)
}

fn deviation(points: &[Point], knee: f64, fall: f64) -> f64 {
    let fitted = |offered: f64| {
        if offered <= knee { offered } else { (knee + fall * (offered - knee)).max(f64::MIN_POSITIVE) }
    };
    points.iter().map(|p| (p.achieved / fitted(p.offered) - 1.0).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SHARES: [f64; 15] = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0, 1.05, 1.1, 1.2];

    fn points(capacity: f64, fall: f64) -> Vec<Point> {
        let achieved = |x: f64| if x <= 1.0 { x } else { 1.0 + fall * (x - 1.0) };
        SHARES.map(|x| Point { offered: capacity * x, achieved: capacity * achieved(x) }).to_vec()
    }

    #[test]
    fn what_follows_all_the_way_has_no_knee() {
        let straight = SHARES.map(|x| Point { offered: x, achieved: x * 0.99 });
        assert_eq!((knee(&straight), knee(&[])), (None, None));
        let one = [Point { offered: 1.0, achieved: 0.5 }];
        assert_eq!(knee(&one), None, "one point above says nothing of a line");
        let broken = [Point { offered: f64::NAN, achieved: 1.0 }, Point { offered: 0.0, achieved: 0.0 }];
        assert_eq!(knee(&broken), None);
    }

    #[test]
    fn one_step_that_went_wrong_does_not_move_it() {
        let mut some = points(1000.0, 0.0);
        some[5].achieved *= 0.5;
        some[13].achieved *= 0.7;
        assert!((knee(&some).unwrap() / 1000.0 - 1.0).abs() < 1e-9);
    }

    proptest! {
        #[test]
        fn two_lines_without_noise_are_found_exactly(capacity in 1.0..1e7_f64, fall in 0..11_usize, order in any::<u64>()) {
            let exact = points(capacity, FALLS[fall]);
            let shuffled: Vec<Point> =
                crate::random::shuffled(exact.len(), order).into_iter().map(|i| exact[i]).collect();
            prop_assert!((knee(&shuffled).unwrap() / capacity - 1.0).abs() < 1e-9);
        }

        #[test]
        fn it_goes_with_the_unit(rates in prop::collection::vec((1.0..2e3_f64, 0.2..1.0_f64), 2..30), unit in 0.01..100.0_f64) {
            let scaled = |unit: f64| -> Vec<Point> {
                rates.iter().map(|(x, y)| Point { offered: x * unit, achieved: x * y * unit }).collect()
            };
            if let (Some(one), Some(other)) = (knee(&scaled(1.0)), knee(&scaled(unit))) {
                // Lines that fit equally well may change places by rounding; the deviation may not.
                let slack = |k: f64, unit: f64| FALLS.iter().map(|f| deviation(&scaled(unit), k, *f)).fold(f64::INFINITY, f64::min);
                prop_assert!((slack(one, 1.0) - slack(other, unit)).abs() < 1e-6);
            }
        }
    }
}
