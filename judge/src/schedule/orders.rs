//! The orders in which the members of a heat take their turns, and in which a heat goes through the cells. Pure, by seed.
//!
//! A turn may affect the one after it: a warm or a cold cache, a timer that fires. So over every block of cycles each member follows each
//! other one equally often: E. J. Williams, "Experimental designs balanced for the estimation of residual effects of treatments",
//! Australian Journal of Scientific Research A 2, 1949. Which member stands where in the square, and the order of its rows, is shuffled
//! anew for every block.

use stats::random;

/// The orders of `cycles` cycles of `n` members, given by index. With the same seed, the orders of fewer cycles are the beginning of those
/// of more. With more than two members, none has two turns in a row.
pub fn orders(n: usize, cycles: usize, seed: u64) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![Vec::new(); cycles];
    }
    let square = square(n);
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(cycles);
    let mut block = 0;
    while orders.len() < cycles {
        let seed = random::derive(&[seed, block]);
        let who = random::shuffled(n, seed);
        let rows: Vec<Vec<usize>> =
            square.iter().map(|row| row.iter().map(|place| who[*place]).collect()).collect();
        let last = orders.last().and_then(|order| order.last().copied());
        orders.extend(in_turn(rows, last, seed));
        block += 1;
    }
    orders.truncate(cycles);
    orders
}

/// The cells of a round: forwards, and backwards in every other round, so that no cell is always measured on the older server.
pub fn cells(cells: usize, round: usize) -> Vec<usize> {
    if round.is_multiple_of(2) { (0..cells).collect() } else { (0..cells).rev().collect() }
}

/// Rows in which every ordered pair of neighbours occurs once (`n` even, `n` rows) or twice (`n` odd, `2n` rows).
fn square(n: usize) -> Vec<Vec<usize>> {
    // 0, 1, n-1, 2, n-2, …: all differences between neighbours are different.
    let zigzag = |i: usize| if i.is_multiple_of(2) { (n - i / 2) % n } else { i.div_ceil(2) };
    let rows: Vec<Vec<usize>> = (0..n).map(|row| (0..n).map(|i| (zigzag(i) + row) % n).collect()).collect();
    let mirrored = rows.iter().map(|row| row.iter().rev().copied().collect::<Vec<_>>());
    // Of an odd number, the differences of a row are those of its mirror image, the other way round.
    if n.is_multiple_of(2) || n == 1 { rows } else { rows.iter().cloned().chain(mirrored).collect() }
}

/// Puts the rows in a random order in which none begins with the member that ended the one before, where that is possible.
fn in_turn(mut rows: Vec<Vec<usize>>, mut last: Option<usize>, seed: u64) -> Vec<Vec<usize>> {
    let seed = random::derive(&[seed, 1]);
    let mut orders: Vec<Vec<usize>> = Vec::with_capacity(rows.len());
    while !rows.is_empty() {
        let fits: Vec<usize> = (0..rows.len())
            .filter(|row| rows[*row].len() < 3 || rows[*row].first().copied() != last)
            .collect();
        let Some(row) = pick(&fits, seed, orders.len()) else {
            // All rows that are left begin with the member that ended the last row: they are inserted between earlier rows, where they fit.
            return insert_the_rest(orders, rows);
        };
        let row = rows.remove(row);
        last = row.last().copied();
        orders.push(row);
    }
    orders
}

fn pick(from: &[usize], seed: u64, nth: usize) -> Option<usize> {
    let at = (random::uniform(seed, nth as u64) * from.len() as f64) as usize;
    from.get(at.min(from.len().saturating_sub(1))).copied()
}

/// Inserts each row at the first place, not before the first row, at which it repeats no member; at the end, where there is none.
fn insert_the_rest(mut orders: Vec<Vec<usize>>, rest: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    for row in rest {
        let fits = |at: &usize| {
            orders[at - 1].last() != row.first()
                && orders.get(*at).is_none_or(|next| next.first() != row.last())
        };
        let at = (1..=orders.len()).find(fits).unwrap_or(orders.len());
        orders.insert(at, row);
    }
    orders
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// How often each member came after each other one, within cycles.
    fn after(orders: &[Vec<usize>], n: usize) -> Vec<Vec<usize>> {
        let mut count = vec![vec![0; n]; n];
        for order in orders {
            for pair in order.windows(2) {
                count[pair[0]][pair[1]] += 1;
            }
        }
        count
    }

    fn spread(count: &[Vec<usize>]) -> (usize, usize) {
        let pairs = |(i, row): (usize, &Vec<usize>)| {
            row.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, n)| *n).collect::<Vec<_>>()
        };
        let all: Vec<usize> = count.iter().enumerate().flat_map(pairs).collect();
        (all.iter().copied().min().unwrap_or(0), all.iter().copied().max().unwrap_or(0))
    }

    proptest! {
        #[test]
        fn every_cycle_is_everybody_once_and_more_begin_like_fewer(n in 1_usize..14, cycles in 0_usize..60, seed: u64) {
            let all = orders(n, cycles, seed);
            prop_assert_eq!(all.len(), cycles);
            for order in &all {
                let mut sorted = order.clone();
                sorted.sort_unstable();
                prop_assert_eq!(sorted, (0..n).collect::<Vec<_>>());
            }
            prop_assert_eq!(&orders(n, cycles + 9, seed)[..cycles], &all[..]);
        }

        #[test]
        fn over_a_block_everybody_comes_equally_often_after_everybody_and_at_each_place(n in 2_usize..14, seed: u64) {
            let block = if n % 2 == 0 { n } else { 2 * n };
            let all = orders(n, 3 * block, seed);
            let (least, most) = spread(&after(&all, n));
            prop_assert_eq!((least, most), (3 * block / n, 3 * block / n));
            for place in 0..n {
                for who in 0..n {
                    prop_assert_eq!(all.iter().filter(|order| order[place] == who).count(), 3 * block / n);
                }
            }
        }

        #[test]
        fn nobody_has_two_turns_in_a_row(n in 3_usize..14, seed: u64) {
            let all = orders(n, 100, seed);
            prop_assert!(all.windows(2).all(|pair| pair[0].last() != pair[1].first()));
        }

        #[test]
        fn any_number_of_cycles_is_nearly_balanced(n in 3_usize..9, cycles in 20_usize..80, seed: u64) {
            let (least, most) = spread(&after(&orders(n, cycles, seed), n));
            // A begun block may have one pair twice (n odd: of two squares) that another pair has not had yet.
            prop_assert!(most - least <= 2, "{} to {}", least, most);
        }
    }

    #[test]
    fn orders_differ_by_seed_and_cells_turn_round() {
        assert_ne!(orders(7, 20, 1), orders(7, 20, 2));
        assert_eq!((cells(3, 0), cells(3, 1), cells(3, 4)), (vec![0, 1, 2], vec![2, 1, 0], vec![0, 1, 2]));
        assert!(orders(0, 2, 1).concat().is_empty() && cells(0, 1).is_empty());
    }
}
