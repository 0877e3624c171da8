//! Studies and races whose truth and noise are known: what their starts would come to.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stats::heats::{FitEntrant, FitStart, MemberSlice};
use stats::random;

/// What the machine does to heats and starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Noise {
    /// Starts vary by themselves, normally; heats by 10 %.
    Normal,
    /// One start in twenty loses 5 to 20 %.
    Outliers,
    /// The machine becomes 30 % slower over each round.
    Drift,
    /// Two speeds, 25 % apart.
    TwoSpeeds,
    /// Two speeds at which contenders compare differently: each is half a per cent (standard deviation) better at the one and
    /// worse at the other than on average.
    TwoRatios,
    /// A start is much like the one before it in its round.
    Autocorrelated,
    /// Student's t with three degrees of freedom.
    HeavyTailed,
    /// Contenders of one class differ: one in three varies by twice as much.
    Unequal,
}

pub const ALL: [Noise; 8] = [
    Noise::Normal,
    Noise::Outliers,
    Noise::Drift,
    Noise::TwoSpeeds,
    Noise::TwoRatios,
    Noise::Autocorrelated,
    Noise::HeavyTailed,
    Noise::Unequal,
];

pub const NATIVE: usize = 0;
pub const MANAGED: usize = 1;

/// Who takes part: the hub is the last.
#[derive(Clone, Debug)]
pub struct World {
    pub entrants: Vec<FitEntrant>,
    /// Per entrant, the true log figure and the deviation from start to start.
    pub truth: Vec<(f64, f64)>,
    pub hub: Option<usize>,
    /// Contenders of a heat beside the hub.
    pub heat: usize,
    /// How often each contender enters a round.
    pub entries: usize,
    /// The variance of contender × heat as a share of that from start to start.
    pub heat_share: f64,
}

impl World {
    /// A study of native and managed servers, neighbours of a class so far apart (logarithm).
    pub fn study(native: usize, managed: usize, step: f64) -> Self {
        let of = |class: usize, count: usize, sd: f64| {
            (0..count).map(move |i| (FitEntrant::of_class(class), (i as f64 * step, sd)))
        };
        let hub = (FitEntrant { is_ranked: false, ..FitEntrant::of_class(NATIVE) }, (0.3, 0.009));
        let all: Vec<_> = of(NATIVE, native, 0.009).chain(of(MANAGED, managed, 0.031)).chain([hub]).collect();
        let (entrants, truth): (Vec<_>, Vec<_>) = all.into_iter().unzip();
        let hub = Some(entrants.len() - 1);
        Self { entrants, truth, hub, heat: 6, entries: 1, heat_share: 0.0 }
    }

    /// A race of commands so far apart, each twice in a heat.
    pub fn race(commands: usize, step: f64, sd: f64) -> Self {
        let entrants = vec![FitEntrant::of_class(NATIVE); commands];
        let truth = (0..commands).map(|i| (-(i as f64) * step, sd)).collect();
        Self { entrants, truth, hub: None, heat: usize::MAX, entries: 2, heat_share: 0.0 }
    }

    /// All starts of so many rounds, in order of rounds; `[round]` is where each round ends.
    pub fn run(&self, rounds: usize, noise: Noise, seed: u64) -> (Vec<FitStart>, Vec<usize>) {
        let mut generator = random::generator(random::derive(&[seed, 77]));
        let mut of_heats = random::generator(random::derive(&[seed, 78]));
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        let (mut heat, mut like_before, mut is_slow) = (0, 0.0, false);
        let at_slow: Vec<f64> = self.truth.iter().map(|_| 0.005 * gauss(&mut generator)).collect();
        for round in 0..rounds {
            let dealt = self.deal(random::derive(&[seed, round as u64]));
            let count = dealt.len() as f64;
            for (place, members) in dealt.into_iter().enumerate() {
                is_slow ^= generator.random_range(0.0..1.0) < 0.15;
                let level = match noise {
                    Noise::Drift => -0.3 * place as f64 / count,
                    Noise::TwoSpeeds | Noise::TwoRatios if is_slow => -0.25,
                    Noise::TwoSpeeds | Noise::TwoRatios => 0.0,
                    _ => 0.1 * gauss(&mut generator),
                };
                let deviation = self.heat_share.sqrt();
                let in_heat: Vec<f64> =
                    self.truth.iter().map(|(_, sd)| deviation * sd * gauss(&mut of_heats)).collect();
                for contender in members {
                    let (truth, sd) = self.truth[contender];
                    let truth = truth + in_heat[contender];
                    let own = gauss(&mut generator);
                    let error = match noise {
                        Noise::Outliers if generator.random_range(0.0..1.0) < 0.05 => {
                            sd * own - generator.random_range(0.05..0.2)
                        }
                        Noise::TwoRatios => {
                            sd * own + if is_slow { at_slow[contender] } else { -at_slow[contender] }
                        }
                        Noise::Autocorrelated => {
                            like_before = 0.8 * like_before + 0.6 * own;
                            sd * like_before
                        }
                        Noise::HeavyTailed => {
                            let squares: f64 = (0..3).map(|_| gauss(&mut generator).powi(2)).sum();
                            sd * own / squares.sqrt()
                        }
                        Noise::Unequal if contender % 3 == 1 => 2.0 * sd * own,
                        _ => sd * own,
                    };
                    starts.push(FitStart { contender, heat, log_figure: 11.0 + level + truth + error });
                }
                heat += 1;
            }
            ends.push(starts.len());
        }
        (starts, ends)
    }

    /// The heats of a round: everybody in one of them, dealt anew, as equal in size as can be, with the hub at any place.
    fn deal(&self, seed: u64) -> Vec<Vec<usize>> {
        let all: Vec<usize> = (0..self.truth.len()).filter(|c| Some(*c) != self.hub).collect();
        let count = all.len().div_ceil(self.heat.min(all.len()));
        let mut heats = vec![Vec::new(); count];
        for (i, at) in random::shuffled(all.len(), seed).into_iter().enumerate() {
            heats[i % count].extend(std::iter::repeat_n(all[at], self.entries));
        }
        for (i, heat) in heats.iter_mut().enumerate() {
            heat.extend(self.hub);
            let order = random::shuffled(heat.len(), random::derive(&[seed, i as u64]));
            *heat = order.into_iter().map(|at| heat[at]).collect();
        }
        heats
    }
}

/// The slices of a heat whose members have these true log rates over the whole heat: forty cycles, with a slice of 100 ms for each member.
pub fn slices(logs: &[f64], trouble: &str, seed: u64) -> Vec<MemberSlice> {
    let mut generator = random::generator(random::derive(&[seed, 5]));
    let (mut slices, mut is_slow) = (Vec::new(), false);
    for cycle in 0..40 {
        is_slow ^= generator.random_range(0.0..1.0) < 0.1;
        for (member, log) in logs.iter().enumerate() {
            let mut share = (0.04 * gauss(&mut generator)).exp();
            let chance: f64 = generator.random_range(0.0..1.0);
            match trouble {
                // Another program takes a part of one slice in ten.
                "bursts" if chance < 0.1 => share *= generator.random_range(0.5..1.0),
                "a third of the slices missing" if chance < 1.0 / 3.0 => continue,
                "two speeds" | "a third of the slices missing" if is_slow => share *= 0.75,
                _ => {}
            }
            let answers = (log.exp() * share * 0.1) as u64;
            slices.push(MemberSlice { cycle, member, answers, time_ns: 100_000_000 });
        }
    }
    slices
}

/// A normal number (Box and Muller 1958).
pub fn gauss(generator: &mut ChaCha8Rng) -> f64 {
    let radius: f64 = generator.random_range(f64::MIN_POSITIVE..1.0);
    let angle: f64 = generator.random_range(0.0..1.0);
    (-2.0 * radius.ln()).sqrt() * (std::f64::consts::TAU * angle).cos()
}
