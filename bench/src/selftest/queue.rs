//! The queue of one server with a fixed service time and requests that arrive at random times (M/D/1), in closed form.

/// The share of requests that wait no longer than `wait_s` before they are served.
///
/// `service_s`: the service time, in seconds; `load`: the mean number of arrivals in a service time, below 1. Crommelin's formula (C. D.
/// Crommelin, "Delay probability formulae when the holding times are constant", 1932): `(1 - ρ) Σ (λ(kD - t))^k / k! · e^(-λ(kD - t))` over
/// all k up to t / D. Its terms alternate and grow with t / D: it is used for waits of up to some twenty service times.
pub fn waits_at_most(wait_s: f64, service_s: f64, load: f64) -> f64 {
    let rate = load / service_s;
    let (mut sum, mut factorial_log) = (0.0, 0.0);
    for k in 0..=(wait_s / service_s) as usize {
        if k > 0 {
            factorial_log += (k as f64).ln();
        }
        // Never above 0.
        let x = rate * (k as f64 * service_s - wait_s);
        let sign = if k % 2 == 1 { -1.0 } else { 1.0 };
        let power_log = if k == 0 { 0.0 } else { k as f64 * (-x).ln() };
        sum += sign * (power_log - factorial_log - x).exp();
    }
    ((1.0 - load) * sum).clamp(0.0, 1.0)
}

/// The time from arrival to the end of service that a `share` of all requests does not exceed, in seconds.
pub fn sojourn_s(share: f64, service_s: f64, load: f64) -> f64 {
    let (mut low, mut high) = (0.0, 20.0 * service_s);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if waits_at_most(middle, service_s, load) < share {
            low = middle;
        } else {
            high = middle;
        }
    }
    high + service_s
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The waits of this number of requests, one after the other (Lindley's recursion).
    fn simulated(service_s: f64, load: f64, requests: u32) -> Vec<f64> {
        let (mut wait, mut state) = (0.0_f64, 0x9e37_79b9_7f4a_7c15_u64);
        let mut waits = Vec::new();
        for _ in 0..requests {
            waits.push(wait);
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let uniform = (state >> 11) as f64 / (1_u64 << 53) as f64;
            let gap = -(1.0 - uniform).ln() * service_s / load;
            wait = (wait + service_s - gap).max(0.0);
        }
        waits.sort_by(f64::total_cmp);
        waits
    }

    #[test]
    fn the_formula_says_what_a_simulation_shows() {
        for load in [0.3, 0.5, 0.8, 0.9] {
            let waits = simulated(0.001, load, 1_000_000);
            for share in [0.75, 0.9, 0.99] {
                let wait = waits[(share * waits.len() as f64) as usize];
                let known = waits_at_most(wait, 0.001, load);
                assert!((known - share).abs() < 0.012 || wait == 0.0, "{load} {share}: {known}");
            }
        }
    }

    #[test]
    fn an_idle_server_serves_at_once() {
        assert!((waits_at_most(0.0, 0.001, 0.2) - 0.8).abs() < 1e-12);
        assert!((sojourn_s(0.5, 0.001, 0.2) - 0.001).abs() < 1e-9);
    }
}
