//! The order of a sweep: every cell once in each repeat, in an order of its own that the seed gives. Pure.

use stats::random;

/// Pairs of repeat and cell, in the order in which they are measured.
pub fn blocks(cells: usize, repeats: usize, seed: u64) -> Vec<(usize, usize)> {
    let block = |repeat: usize| {
        let order = random::shuffled(cells, random::derive(&[seed, repeat as u64]));
        order.into_iter().map(move |cell| (repeat, cell))
    };
    (0..repeats).flat_map(block).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_repeat_has_every_cell_once_in_an_order_of_its_own() {
        let all = blocks(12, 4, 7);
        let orders: Vec<Vec<usize>> =
            all.chunks(12).map(|block| block.iter().map(|(_, cell)| *cell).collect()).collect();
        for (repeat, order) in orders.iter().enumerate() {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(sorted, (0..12).collect::<Vec<_>>());
            assert!(all[repeat * 12..(repeat + 1) * 12].iter().all(|(r, _)| *r == repeat));
            assert_ne!(*order, sorted);
        }
        assert!(orders.windows(2).all(|pair| pair[0] != pair[1]));
        assert_eq!((blocks(12, 4, 7), blocks(0, 3, 1)), (all, Vec::new()));
    }
}
