//! Machines whose noise is known: what a run of so many blocks would show on them.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stats::random;

/// What the machine does to its trials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Every trial by itself, normal.
    Independent,
    /// The same, on a machine that becomes 30 % faster or slower over the run.
    Drifting,
    /// A trial is much like the one before.
    Autocorrelated,
    /// Student's with three degrees of freedom: now and then far off.
    HeavyTailed,
    /// The machine has two speeds, 25 % apart, and changes between them now and then.
    TwoModes,
}

/// All of them.
pub const ALL: [Noise; 5] =
    [Noise::Independent, Noise::Drifting, Noise::Autocorrelated, Noise::HeavyTailed, Noise::TwoModes];

/// A drawn trial is like the one before by so much.
const MEMORY: f64 = 0.8;

/// How likely a machine of two speeds changes between two trials.
const CHANGE: f64 = 0.1;

/// Logarithms of rates: `[contender][block]`. Contender 0 is faster than all others by `effect`; every trial has
/// noise of standard deviation `sd`, and in a block the contenders stand in an order that the seed gives.
pub fn run(noise: Noise, contenders: usize, blocks: usize, effect: f64, sd: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut generator = random::generator(seed);
    let mut logs = vec![Vec::with_capacity(blocks); contenders];
    let (mut like_before, mut is_slow) = (gauss(&mut generator), false);
    let trials = (contenders * blocks) as f64;
    let mut trial = 0.0;
    for block in 0..blocks {
        // One order a block, as in a run.
        for contender in random::shuffled(contenders, random::derive(&[seed, block as u64])) {
            let own = gauss(&mut generator);
            let machine = match noise {
                Noise::Independent => sd * own,
                Noise::Drifting => sd * own + 0.3 * trial / trials,
                Noise::Autocorrelated => {
                    like_before = MEMORY * like_before + (1.0 - MEMORY * MEMORY).sqrt() * own;
                    sd * like_before
                }
                Noise::HeavyTailed => sd * student3(own, &mut generator),
                Noise::TwoModes => {
                    is_slow ^= generator.random_range(0.0..1.0) < CHANGE;
                    sd * own - if is_slow { 0.25 } else { 0.0 }
                }
            };
            logs[contender].push(machine + if contender == 0 { effect } else { 0.0 });
            trial += 1.0;
        }
    }
    logs
}

/// A normally distributed number (Box and Muller 1958).
pub fn gauss(generator: &mut ChaCha8Rng) -> f64 {
    let (radius, angle): (f64, f64) =
        (generator.random_range(f64::MIN_POSITIVE..1.0), generator.random_range(0.0..1.0));
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}

/// A number of Student's t distribution with three degrees of freedom, scaled to variance 1.
fn student3(own: f64, generator: &mut ChaCha8Rng) -> f64 {
    let squares: f64 = (0..3).map(|_| gauss(generator).powi(2)).sum();
    own / squares.sqrt()
}
