//! Whether contenders compare differently on different machines: the interaction of contender and machine, where each heat is measured
//! whole on one machine. The speed of a machine itself is in the heats' effects and does not matter.
//!
//! A permutation test. The residuals of the starts' figures, after the effects of contender and heat, are summed by contender and machine;
//! if machines make no difference, it does not matter which machine had which heat. Each machine's p-value comes from the distribution of
//! the largest statistic of any machine over shuffled assignments of heats to machines, which controls the family-wise error.

use super::FitStart;
use crate::random;

/// The number of shuffles. The smallest probability that they can show is 1 in 2,000.
const SHUFFLES: u64 = 1_999;

/// Effects of contenders and heats are fitted in turn until they change by less than this, in logarithms.
const EXACT: f64 = 1e-10;

/// The largest number of turns of that fit.
const MOST_TURNS: usize = 1_000;

/// The input of [`machines`]: the starts of a cell and the machine of each heat.
#[derive(Clone, Copy, Debug)]
pub struct MachinesAsked<'a> {
    /// The starts, their contenders and heats by index.
    pub starts: &'a [FitStart],
    /// The machine of each heat, by index.
    pub machine_of: &'a [usize],
    /// The probability of naming any machine although none differs.
    pub chance: f64,
    /// The seed of the shuffles.
    pub seed: u64,
}

/// One machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfMachine {
    /// The number of its heats.
    pub heats: usize,
    /// Its speed as a share of the mean of all machines: the mean of its heats' effects.
    pub speed: f64,
    /// The probability that it would differ at least this much by chance; `None`: there are too few heats to tell.
    pub probability: Option<f64>,
    /// The contender that compares most differently on it, and its figure there as a share of the figure that all machines together
    /// predict.
    pub most: Option<(usize, f64)>,
}

/// Compares the machines; `None` if there are fewer than two with a start.
pub fn machines(asked: &MachinesAsked<'_>) -> Option<Vec<OfMachine>> {
    let machines = asked.machine_of.iter().max()? + 1;
    let known = |start: &&FitStart| start.heat < asked.machine_of.len() && start.log_figure.is_finite();
    let starts: Vec<&FitStart> = asked.starts.iter().filter(known).collect();
    let fit = Additive::of(&starts, asked.machine_of.len());
    let heats: Vec<usize> = (0..asked.machine_of.len()).filter(|heat| fit.has_heat(*heat)).collect();
    let labels: Vec<usize> = heats.iter().map(|heat| asked.machine_of[*heat]).collect();
    let of_machine = |machine: usize| labels.iter().filter(|label| **label == machine).count();
    let counts: Vec<usize> = (0..machines).map(of_machine).collect();
    if counts.iter().filter(|count| **count > 0).count() < 2 {
        return None;
    }
    let seen = statistics(&fit, &starts, asked.machine_of, machines);
    let probabilities = can_tell(&counts, asked.chance).then(|| {
        let mut at_least = vec![1_u64; machines];
        let mut shuffled = asked.machine_of.to_vec();
        for nth in 0..SHUFFLES {
            let order = random::shuffled(labels.len(), random::derive(&[asked.seed, nth]));
            for (heat, from) in heats.iter().zip(order) {
                shuffled[*heat] = labels[from];
            }
            let largest = statistics(&fit, &starts, &shuffled, machines).into_iter().fold(0.0, f64::max);
            for (count, own) in at_least.iter_mut().zip(&seen) {
                // A shuffle that only renames machines gives the same but for rounding.
                *count += u64::from(largest >= own * (1.0 - 1e-9));
            }
        }
        at_least.into_iter().map(|count| count as f64 / (SHUFFLES + 1) as f64).collect::<Vec<f64>>()
    });
    let mean =
        |heats: &[usize]| heats.iter().map(|heat| fit.heats[*heat]).sum::<f64>() / heats.len().max(1) as f64;
    let own_heats = |machine: usize| -> Vec<usize> {
        heats.iter().copied().filter(|heat| asked.machine_of[*heat] == machine).collect()
    };
    let levels: Vec<Option<f64>> = (0..machines)
        .map(|m| Some(own_heats(m)).filter(|own| !own.is_empty()).map(|own| mean(&own)))
        .collect();
    let there: Vec<f64> = levels.iter().copied().flatten().collect();
    let all = there.iter().sum::<f64>() / there.len().max(1) as f64;
    let of = |machine: usize| OfMachine {
        heats: counts[machine],
        speed: levels[machine].map_or(1.0, |level| (level - all).exp()),
        probability: probabilities.as_ref().and_then(|all| all.get(machine).copied()),
        most: fit.most(&starts, asked.machine_of, machine),
    };
    Some((0..machines).map(of).collect())
}

/// Whether heats can be dealt to machines in these numbers in enough ways that a single way is rarer than `chance`, and whether there are
/// enough shuffles to show such a probability. Machines with equally many heats are interchangeable.
fn can_tell(counts: &[usize], chance: f64) -> bool {
    let log_factorial = |n: usize| (2..=n).map(|k| (k as f64).ln()).sum::<f64>();
    let heats: usize = counts.iter().sum();
    let mut sizes = counts.to_vec();
    sizes.sort_unstable();
    let alike: f64 = sizes.chunk_by(|a, b| a == b).map(|same| log_factorial(same.len())).sum();
    let ways = log_factorial(heats) - counts.iter().map(|count| log_factorial(*count)).sum::<f64>() - alike;
    // Twice as many as needed: the machine of most interest should not have to be the only extreme one.
    let is_rare = ways >= (2.0 / chance.max(f64::MIN_POSITIVE)).ln();
    let can_be_so_rare = chance * (SHUFFLES + 1) as f64 >= 1.0;
    is_rare && can_be_so_rare
}

/// For each machine, the sum over contenders of the squared mean of their residuals there, each in units of its squared error.
fn statistics(fit: &Additive, starts: &[&FitStart], machine_of: &[usize], machines: usize) -> Vec<f64> {
    let contenders = fit.spread.len();
    let mut sums = vec![(0.0, 0_u32); machines * contenders];
    for (start, rest) in starts.iter().zip(&fit.rests) {
        let sum = &mut sums[machine_of[start.heat] * contenders + start.contender];
        *sum = (sum.0 + rest, sum.1 + 1);
    }
    let of = |machine: usize| {
        let own = &sums[machine * contenders..(machine + 1) * contenders];
        let each = own.iter().zip(&fit.spread).filter(|((_, n), spread)| *n > 0 && **spread > 0.0);
        each.map(|((sum, n), spread)| sum * sum / f64::from(*n) / spread).sum()
    };
    (0..machines).map(of).collect()
}

/// Every figure as the sum of an effect of its contender, one of its heat, and a residual (`rests`).
struct Additive {
    heats: Vec<f64>,
    counts: Vec<usize>,
    rests: Vec<f64>,
    /// The mean of the squared residuals, by contender.
    spread: Vec<f64>,
}

impl Additive {
    /// Fits by least squares: the means of each kind of effect in turn, until they no longer change.
    fn of(starts: &[&FitStart], heats: usize) -> Self {
        let contenders = starts.iter().map(|start| start.contender + 1).max().unwrap_or(0);
        let (mut by_contender, mut by_heat) = (vec![0.0; contenders], vec![0.0; heats]);
        for _ in 0..MOST_TURNS {
            let left = |start: &FitStart| start.log_figure - by_heat[start.heat];
            let own = means(starts, contenders, |start| start.contender, left);
            let change =
                own.iter().zip(&by_contender).map(|(a, b): (&f64, &f64)| (a - b).abs()).fold(0.0, f64::max);
            by_contender = own;
            let left = |start: &FitStart| start.log_figure - by_contender[start.contender];
            by_heat = means(starts, heats, |start| start.heat, left);
            if change < EXACT {
                break;
            }
        }
        let rest = |start: &&FitStart| start.log_figure - by_contender[start.contender] - by_heat[start.heat];
        let rests: Vec<f64> = starts.iter().map(rest).collect();
        let mut squares = vec![(0.0, 0_u32); contenders];
        for (start, rest) in starts.iter().zip(&rests) {
            let sum = &mut squares[start.contender];
            *sum = (sum.0 + rest * rest, sum.1 + 1);
        }
        let mut counts = vec![0; heats];
        starts.iter().for_each(|start| counts[start.heat] += 1);
        let spread = squares.into_iter().map(|(sum, n)| sum / f64::from(n.max(1))).collect();
        Self { heats: by_heat, counts, rests, spread }
    }

    fn has_heat(&self, heat: usize) -> bool {
        self.counts.get(heat).is_some_and(|count| *count > 0)
    }

    /// The contender whose residuals on a machine are farthest from 0, in units of their error, and the factor that their mean stands for.
    fn most(&self, starts: &[&FitStart], machine_of: &[usize], machine: usize) -> Option<(usize, f64)> {
        let of = |contender: usize| {
            let own = starts.iter().zip(&self.rests);
            let own =
                own.filter(|(start, _)| start.contender == contender && machine_of[start.heat] == machine);
            let rests: Vec<f64> = own.map(|(_, rest)| *rest).collect();
            let mean = rests.iter().sum::<f64>() / rests.len().max(1) as f64;
            let size = mean * mean * rests.len() as f64 / self.spread[contender].max(f64::MIN_POSITIVE);
            (!rests.is_empty()).then_some((contender, mean, size))
        };
        let all = (0..self.spread.len()).filter_map(of);
        all.max_by(|a, b| a.2.total_cmp(&b.2)).map(|(contender, mean, _)| (contender, mean.exp()))
    }
}

/// The mean of a value over the starts of each group; 0 for a group without one.
fn means(
    starts: &[&FitStart],
    groups: usize,
    group: impl Fn(&FitStart) -> usize,
    value: impl Fn(&FitStart) -> f64,
) -> Vec<f64> {
    let mut sums = vec![(0.0, 0_u32); groups];
    for start in starts {
        let sum = &mut sums[group(start)];
        *sum = (sum.0 + value(start), sum.1 + 1);
    }
    sums.into_iter().map(|(sum, n)| sum / f64::from(n.max(1))).collect()
}

#[cfg(test)]
mod tests;
