//! A neighbour: background load that takes half of the time of the servers' cores, in bursts of 5 to 500 ms with pauses of the same
//! lengths.

use stats::random;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The shortest and the longest burst; their logarithms are uniform in between.
const BURST_MS: [f64; 2] = [5.0, 500.0];

/// A neighbour, which runs until this is dropped.
pub struct Neighbour {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
}

impl Neighbour {
    /// Starts one on each of these cores. `seed` decides the bursts.
    pub fn start(cpus: &[usize], seed: u64) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let on = |cpu: &usize| {
            let (stop, cpu) = (Arc::clone(&stop), *cpu);
            std::thread::spawn(move || {
                // If that is refused, it runs anywhere, and may disturb the load generator as well.
                let _ = net::cpu::pin(&[cpu]);
                let mut bursts = (0..).map(|nth| burst(random::derive(&[seed, cpu as u64]), nth));
                while let Some(length) = bursts.next().filter(|_| !stop.load(Ordering::Relaxed)) {
                    let began = Instant::now();
                    while began.elapsed() < length && !stop.load(Ordering::Relaxed) {
                        std::hint::spin_loop();
                    }
                    std::thread::sleep(length);
                }
            })
        };
        let threads = cpus.iter().map(on).collect();
        Self { stop, threads }
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// The length of a burst.
fn burst(seed: u64, nth: u64) -> Duration {
    let [least, most] = BURST_MS;
    Duration::from_secs_f64(least * (most / least).powf(random::uniform(seed, nth)) / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bursts_are_of_all_lengths() {
        let bursts: Vec<f64> = (0..1_000).map(|nth| 1e3 * burst(1, nth).as_secs_f64()).collect();
        assert!(bursts.iter().all(|ms| (5.0..=500.0).contains(ms)));
        let short = bursts.iter().filter(|ms| **ms < 50.0).count();
        assert!((450..550).contains(&short), "half of them are below the geometric mean: {short}");
    }
}
