//! Seeded randomness. Two kinds: a generator for shuffles, and a counter-based one
//! whose k-th value needs no state, so that due times are a pure function of the seed and of k.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The generator for shuffles. `ChaCha8` is the same on every platform and release.
pub fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// One seed from several numbers (study seed, round, cell, …); order matters.
pub fn derive(parts: &[u64]) -> u64 {
    parts.iter().fold(0x9e37_79b9_7f4a_7c15, |seed, part| mix(seed ^ mix(*part)))
}

/// The numbers `0..n` in an order that the seed decides.
pub fn shuffled(n: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(&mut generator(seed));
    order
}

/// The k-th uniform number in (0, 1] of a stream: never 0, so that its logarithm is finite.
pub fn uniform(seed: u64, k: u64) -> f64 {
    let bits = mix(seed.wrapping_add(k.wrapping_mul(0x9e37_79b9_7f4a_7c15))) >> 11;
    (bits + 1) as f64 / (1_u64 << 53) as f64
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014).
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_uniform_stream_has_the_mean_and_variance_of_a_uniform() {
        let n = 100_000;
        let values: Vec<f64> = (0..n).map(|k| uniform(7, k)).collect();
        let mean = values.iter().sum::<f64>() / n as f64;
        let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n as f64;
        assert!((mean - 0.5).abs() < 0.005, "{mean}");
        assert!((variance - 1.0 / 12.0).abs() < 0.002, "{variance}");
        assert!(values.iter().all(|v| *v > 0.0 && *v <= 1.0));
    }

    #[test]
    fn a_shuffle_is_a_permutation_and_depends_on_the_seed() {
        let mut one = shuffled(10, 1);
        assert_ne!(one, shuffled(10, 2));
        assert_eq!(one, shuffled(10, 1));
        one.sort_unstable();
        assert_eq!(one, (0..10).collect::<Vec<_>>());
    }
}
