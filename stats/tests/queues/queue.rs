//! Servers of known truth: one worker, Poisson arrivals. Closed forms beside a simulation of the same.

use rand::{Rng, RngExt};

/// How long a request takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Service {
    /// Always the same: M/D/1.
    Fixed,
    /// Exponential: M/M/1.
    Exponential,
}

/// What a window of one trial saw.
#[derive(Debug)]
pub struct Window {
    /// Requests that became due, per second.
    pub due: f64,
    /// The rate of answers, per second.
    pub achieved: f64,
    /// From due to answered, in seconds, sorted.
    pub latencies: Vec<f64>,
}

impl Window {
    /// The latency that this share of all answers does not exceed.
    pub fn quantile(&self, share: f64) -> f64 {
        self.latencies[((self.latencies.len() as f64 * share) as usize).min(self.latencies.len() - 1)]
    }
}

/// A server of this capacity is offered this rate, after a warm-up of a quarter of the time (Lindley's recursion).
pub fn window(service: Service, capacity: f64, rate: f64, length_s: f64, rng: &mut impl Rng) -> Window {
    let exponential = |rng: &mut dyn Rng, per_s: f64| -(1.0 - rng.random::<f64>()).ln() / per_s;
    let (warm, end) = (length_s / 4.0, length_s * 1.25);
    let (mut now, mut free) = (0.0_f64, 0.0_f64);
    let (mut due, mut latencies) = (0_u32, Vec::new());
    loop {
        now += exponential(rng, rate);
        if now >= end {
            break;
        }
        due += u32::from(now >= warm);
        let busy = match service {
            Service::Fixed => 1.0 / capacity,
            Service::Exponential => exponential(rng, capacity),
        };
        free = free.max(now) + busy;
        if (warm..end).contains(&free) {
            latencies.push(free - now);
        }
    }
    latencies.sort_by(f64::total_cmp);
    let achieved = latencies.len() as f64 / length_s;
    Window { due: f64::from(due) / length_s, achieved, latencies }
}

/// The mean waiting time in units of the mean service time (Pollaczek and Khinchine): ρ (1 + c²) / 2 (1 − ρ).
pub fn mean_waiting(service: Service, utilisation: f64) -> f64 {
    let squared_variation = if service == Service::Fixed { 0.0 } else { 1.0 };
    utilisation * (1.0 + squared_variation) / (2.0 * (1.0 - utilisation))
}

/// The chance that a request waits no longer than `t` service times.
pub fn waits_at_most(service: Service, utilisation: f64, t: f64) -> f64 {
    if service == Service::Exponential {
        return 1.0 - utilisation * (-(1.0 - utilisation) * t).exp();
    }
    stats::queue::waits_at_most(t, utilisation)
}

/// The utilisation at which this share of requests is answered within `t` service times, waiting and service.
pub fn keeps(service: Service, share: f64, t: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        let chance = match service {
            Service::Fixed => waits_at_most(service, middle, t - 1.0),
            // The time in an M/M/1 is exponential itself.
            Service::Exponential => 1.0 - (-(1.0 - middle) * t).exp(),
        };
        if chance >= share { low = middle } else { high = middle }
    }
    low
}
