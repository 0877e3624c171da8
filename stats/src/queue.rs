//! The queue of one server with a fixed service time and requests that arrive at random times (M/D/1), in closed form. Times are in service
//! times, and `load` is the mean number of arrivals in one, below 1.

/// The share of requests that wait no longer than this before they are served.
///
/// Crommelin's formula (C. D. Crommelin, "Delay probability formulae when the holding times are constant", 1932):
/// `(1 - ρ) Σ (ρ(k - t))^k / k! · e^(-ρ(k - t))` over all k up to t. Its terms alternate and grow with t: it is used for waits of up to some
/// twenty service times.
pub fn waits_at_most(wait: f64, load: f64) -> f64 {
    let (mut sum, mut factorial_log) = (0.0, 0.0);
    for k in 0..=wait as usize {
        if k > 0 {
            factorial_log += (k as f64).ln();
        }
        // Never above 0.
        let x = load * (k as f64 - wait);
        let sign = if k % 2 == 1 { -1.0 } else { 1.0 };
        let power_log = if k == 0 { 0.0 } else { k as f64 * (-x).ln() };
        sum += sign * (power_log - factorial_log - x).exp();
    }
    ((1.0 - load) * sum).clamp(0.0, 1.0)
}

/// The longest wait that [`sojourn`] knows.
const LONGEST_WAIT: f64 = 20.0;

/// The time from arrival to the end of service that a `share` of all requests does not exceed; `None` if that is above 21 service times.
pub fn sojourn(share: f64, load: f64) -> Option<f64> {
    if waits_at_most(LONGEST_WAIT, load) < share {
        return None;
    }
    let (mut low, mut high) = (0.0, LONGEST_WAIT);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if waits_at_most(middle, load) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(high + 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_idle_server_serves_at_once() {
        assert!((waits_at_most(0.0, 0.2) - 0.8).abs() < 1e-12);
        assert!((waits_at_most(1.0, 0.5) - 0.5 * 0.5_f64.exp()).abs() < 1e-12, "nobody or one is there");
        assert!((sojourn(0.5, 0.2).unwrap() - 1.0).abs() < 1e-6);
        let p90 = sojourn(0.9, 0.7).unwrap();
        assert!((waits_at_most(p90 - 1.0, 0.7) - 0.9).abs() < 1e-9, "{p90}");
    }

    /// The shares are by the same formula in 80 decimal digits, in which nothing cancels.
    #[test]
    fn long_waits_at_high_loads_are_known_too() {
        for (wait, load, share) in [
            (4.5, 0.7, 0.961_766_907_196_375_5),
            (15.5, 0.9, 0.962_364_130_001_518),
            (19.5, 0.9, 0.983_565_684_239_471_5),
            (20.0, 0.95, 0.873_611_195_698_828_4),
        ] {
            let found = waits_at_most(wait, load);
            assert!((found - share).abs() < 1e-6, "{wait} {load}: {found}");
        }
        assert_eq!(sojourn(0.99, 0.95), None, "which is longer than it knows");
    }
}
