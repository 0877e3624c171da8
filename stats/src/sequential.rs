//! Decides whether one contender is faster than another. The test is made several times during a race, so that it is decided as early as
//! possible.
//!
//! In a block every contender has its trials at moments that the shuffle chose. If two contenders were equal, whatever
//! was measured in a block might as well have been measured the other way round: so the chance of a difference this large
//! between equals is counted over all ways in which the shuffle could have dealt the block's figures to the two (Fisher's
//! randomisation test, within blocks). No distribution of the noise is assumed. The test is made only after certain numbers of blocks (the
//! looks), each at a stricter level than 5 %, so that all of them together are wrong in at most 5 % of races between equals.

use crate::random;
use rand::RngExt;

/// The numbers of blocks after which the test is made.
pub const LOOKS: [usize; 7] = [3, 4, 6, 9, 14, 24, 42];

/// The level of each look: a difference is certain if its probability between equals is at most this, divided by
/// the number of the race's comparisons. Three blocks can just reach it (2 of 216 ways), and seven looks together are wrong in less than 5 % of races between equals (`stats/tests/simulation`).
pub const CHANCE: f64 = 0.0093;

/// The number of ways to deal the figures that are sampled, where there are more.
const DEALS: usize = 5_000;

/// The figures of two contenders in one block: logarithms of their rates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pair {
    /// The figures of the first contender.
    pub one: Vec<f64>,
    /// The figures of the second contender.
    pub other: Vec<f64>,
}

impl Pair {
    /// The difference of the means if the figures whose bits are set were the first contender's.
    fn difference(&self, ones: u32) -> f64 {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for (i, value) in self.one.iter().chain(&self.other).enumerate() {
            let side = usize::from(ones >> i & 1 == 0);
            sums[side] += value;
            counts[side] += 1.0;
        }
        sums[0] / counts[0] - sums[1] / counts[1]
    }

    /// How far the block's figures lie apart, of whichever contender they are: their standard deviation.
    fn spread(&self) -> f64 {
        let all = || self.one.iter().chain(&self.other);
        let n = all().count() as f64;
        let mean = all().sum::<f64>() / n;
        (all().map(|value| (value - mean).powi(2)).sum::<f64>() / n).sqrt()
    }

    /// All differences that the shuffle could have made of the figures; the first is what was observed.
    fn deals(&self) -> Vec<f64> {
        let (ones, all) = (self.one.len() as u32, (self.one.len() + self.other.len()) as u32);
        let observed = (1_u32 << ones) - 1;
        let others = (0..1_u32 << all).filter(|deal| deal.count_ones() == ones && *deal != observed);
        std::iter::once(observed).chain(others).map(|deal| self.difference(deal)).collect()
    }
}

/// Whether the difference is certain after these blocks, in a race with this number of comparisons. Always false where their number is not
/// one of [`LOOKS`].
pub fn is_sure(pairs: &[Pair], comparisons: usize, seed: u64) -> bool {
    LOOKS.contains(&pairs.len())
        && chance(pairs, seed).is_some_and(|chance| chance <= CHANCE / comparisons.max(1) as f64)
}

/// Whether the difference was certain at one of the looks so far.
pub fn was_sure(pairs: &[Pair], comparisons: usize, seed: u64) -> bool {
    LOOKS.iter().filter_map(|n| pairs.get(..*n)).any(|pairs| is_sure(pairs, comparisons, seed))
}

/// The probability of a difference as large as this, or larger, between equals. `None` where a block lacks one of the two, or has more than
/// 12 figures.
pub fn chance(pairs: &[Pair], seed: u64) -> Option<f64> {
    let is_whole = |p: &Pair| !p.one.is_empty() && !p.other.is_empty() && p.one.len() + p.other.len() <= 12;
    if pairs.is_empty() || !pairs.iter().all(is_whole) {
        return None;
    }
    let blocks = standardised(pairs);
    let observed: f64 = blocks.iter().map(|deals| deals[0]).sum();
    // A sum that is smaller only by rounding counts as equally large: where figures tie, as those of memory do, rounding must not turn 0
    // into a difference.
    let least = observed.abs() - 1e-9;
    let ways = blocks.iter().try_fold(1_usize, |ways, deals| ways.checked_mul(deals.len()));
    let (as_large, all) = if let Some(ways) = ways.filter(|ways| *ways <= DEALS) {
        (count(&blocks, 0.0, least), ways)
    } else {
        let mut generator = random::generator(seed);
        let mut draw = || -> f64 { blocks.iter().map(|d| d[generator.random_range(0..d.len())]).sum() };
        // What was observed is one of the ways.
        (1 + (1..DEALS).filter(|_| draw().abs() >= least).count(), DEALS)
    };
    Some(as_large as f64 / all as f64)
}

/// Every block's differences, in units of its spread or of the median block's, whichever is larger: a block in which the machine changed
/// its speed does not drown the others. A spread is the same however the figures are dealt, so the test stays exact.
fn standardised(pairs: &[Pair]) -> Vec<Vec<f64>> {
    let spreads: Vec<f64> = pairs.iter().map(Pair::spread).collect();
    let usual = crate::median(&spreads).unwrap_or(0.0);
    let unit = |spread: &f64| Some(spread.max(usual)).filter(|unit| *unit > 0.0).unwrap_or(1.0);
    let scaled = |(pair, spread): (&Pair, &f64)| pair.deals().into_iter().map(|d| d / unit(spread)).collect();
    pairs.iter().zip(&spreads).map(scaled).collect()
}

/// The number of ways in which the remaining blocks bring the sum so far to at least this size.
fn count(blocks: &[Vec<f64>], sum: f64, least: f64) -> usize {
    match blocks {
        [] => usize::from(sum.abs() >= least),
        [deals, rest @ ..] => deals.iter().map(|difference| count(rest, sum + difference, least)).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(one: &[f64], other: &[f64]) -> Pair {
        Pair { one: one.to_vec(), other: other.to_vec() }
    }

    #[test]
    fn the_largest_of_all_ways_and_its_mirror_are_as_unlikely_as_that() {
        let block = pair(&[2.0, 2.1], &[1.0, 1.1]);
        assert_eq!(chance(std::slice::from_ref(&block), 1), Some(2.0 / 6.0));
        assert_eq!(chance(&vec![block.clone(); 3], 1), Some(2.0 / 216.0));
        assert!(chance(&vec![block; 12], 1).unwrap() < 0.001);
    }

    #[test]
    fn what_is_equal_is_not_unlikely_at_all() {
        assert_eq!(chance(&vec![pair(&[1.0, 1.0], &[1.0, 1.0]); 3], 1), Some(1.0));
        let mirrored = [pair(&[1.0, 3.0], &[2.0, 2.0]), pair(&[2.0, 2.0], &[1.0, 3.0])];
        assert_eq!(chance(&mirrored, 1), Some(1.0));
    }

    #[test]
    fn figures_that_tie_are_no_difference_however_they_are_rounded() {
        // The same two figures in every block, dealt this way and that: the sum is 0 but for rounding.
        let (x, y) = (12_345_678.0_f64.ln(), 12_349_774.0_f64.ln());
        for blocks in [3, 4, 6, 9] {
            let pairs: Vec<Pair> = (0..blocks).map(|_| pair(&[x, y], &[y, x])).collect();
            assert_eq!(chance(&pairs, 1), Some(1.0), "{blocks}");
            let all_the_same: Vec<Pair> = (0..blocks).map(|_| pair(&[x, x], &[x, x])).collect();
            assert_eq!(chance(&all_the_same, 1), Some(1.0), "{blocks}");
        }
        let mixed = [pair(&[x, x], &[y, x]), pair(&[y, x], &[x, x]), pair(&[x, y], &[x, y])];
        assert_eq!(chance(&mixed, 1), Some(1.0), "0.1 + 0.2 − 0.3 is not 0");
        // Steps of a page that one has and the other has not, always, are a difference.
        assert_eq!(chance(&vec![pair(&[x, x], &[y, y]); 3], 1), Some(2.0 / 216.0));
    }

    #[test]
    fn sampled_ways_agree_with_counted_ones() {
        let pairs: Vec<Pair> = (0..5_u32)
            .map(|i| pair(&[1.0 + f64::from(i % 3), 1.7], &[1.2, 1.1 + f64::from(i % 2)]))
            .collect();
        let blocks = standardised(&pairs);
        let observed: f64 = blocks.iter().map(|d| d[0]).sum();
        let exact = count(&blocks, 0.0, observed.abs() - 1e-9) as f64 / 6.0_f64.powi(5);
        let seven = chance(&pairs, 3).unwrap();
        assert!((exact - seven).abs() < 0.02, "{exact} {seven}");
        let more: Vec<Pair> = pairs.iter().chain(&pairs[..1]).cloned().collect();
        let blocks = standardised(&more);
        let observed: f64 = blocks.iter().map(|d| d[0]).sum();
        let exact = count(&blocks, 0.0, observed.abs() - 1e-9) as f64 / 6.0_f64.powi(6);
        assert!((exact - chance(&more, 3).unwrap()).abs() < 0.02);
    }

    #[test]
    fn a_block_in_which_the_machine_changed_its_speed_does_not_drown_the_others() {
        let clear = pair(&[2.0, 2.01], &[1.9, 1.91]);
        // The machine became slower by a quarter while the one had its second trial.
        let torn = pair(&[2.0, 1.76], &[1.9, 1.91]);
        let pairs: Vec<Pair> = std::iter::repeat_n(clear, 5).chain([torn]).collect();
        assert!(chance(&pairs, 1).unwrap() < CHANCE, "{:?}", chance(&pairs, 1));
    }

    #[test]
    fn a_block_that_lacks_one_says_nothing_and_few_blocks_are_never_sure() {
        assert_eq!(chance(&[pair(&[1.0], &[])], 1), None);
        assert_eq!(chance(&[], 1), None);
        let clear = pair(&[2.0, 2.1], &[1.0, 1.1]);
        let sure = |n: usize, comparisons| is_sure(&vec![clear.clone(); n], comparisons, 1);
        assert_eq!([2, 3, 4, 5].map(|n| sure(n, 1)), [false, true, true, false], "five is no look");
        assert_eq!([3, 4].map(|n| sure(n, 3)), [false, true]);
    }
}
