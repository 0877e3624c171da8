//! Letters beside the rows of a table: two contenders that share one show no significant difference. By insertion and absorption
//! (Piepho 2004). With more than ten contenders letters confuse more than they help; ranges of ranks remain.

use super::fit::Fit;

/// The largest number of ranked contenders with which letters are given.
const MOST: usize = 10;

impl Fit {
    /// The letters of each contender, "a" on the best; `None` for one that is not ranked, and for all where more than ten are.
    pub fn letters(&self) -> Vec<Option<String>> {
        let order = self.order();
        let mut letters = vec![None; self.places.len()];
        if order.len() > MOST {
            return letters;
        }
        let is_apart = |one: usize, other: usize| {
            self.is_better(order[one], order[other]) || self.is_better(order[other], order[one])
        };
        for (letter, group) in ('a'..='z').chain('A'..='Z').zip(groups(order.len(), is_apart)) {
            for place in group {
                letters[order[place]].get_or_insert_with(String::new).push(letter);
            }
        }
        letters
    }
}

/// The largest groups within which no two contenders differ significantly, in order of their first.
fn groups(count: usize, is_apart: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = vec![(0..count).collect()];
    groups.retain(|group| !group.is_empty());
    for one in 0..count {
        for other in (one + 1..count).filter(|other| is_apart(one, *other)) {
            let without = |group: &[usize], who: usize| group.iter().copied().filter(|g| *g != who).collect();
            let split = |group: Vec<usize>| {
                let has_both = group.contains(&one) && group.contains(&other);
                if has_both { vec![without(&group, one), without(&group, other)] } else { vec![group] }
            };
            groups = absorb(groups.into_iter().flat_map(split).collect());
        }
    }
    groups.sort();
    groups
}

/// Removes the groups that are part of another.
fn absorb(groups: Vec<Vec<usize>>) -> Vec<Vec<usize>> {
    let is_part = |i: usize, j: usize| {
        let whole = groups[i].iter().all(|g| groups[j].contains(g));
        i != j && whole && (groups[i].len() < groups[j].len() || j < i)
    };
    let keep: Vec<bool> = (0..groups.len()).map(|i| !(0..groups.len()).any(|j| is_part(i, j))).collect();
    groups.into_iter().zip(keep).filter(|(_, keep)| *keep).map(|(group, _)| group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_chain_shares_letters_link_by_link() {
        assert_eq!(groups(4, |one, other| other > one + 1), [[0, 1], [1, 2], [2, 3]]);
        assert_eq!(groups(3, |_, _| true), [[0], [1], [2]]);
        assert_eq!(groups(3, |_, _| false), [[0, 1, 2]]);
        assert!(groups(0, |_, _| true).is_empty());
    }

    proptest! {
        #[test]
        fn two_share_a_letter_if_and_only_if_they_are_not_apart(apart in prop::collection::vec(any::<bool>(), 100)) {
            let is_apart = |one: usize, other: usize| apart[one.min(other) * 10 + one.max(other)];
            let groups = groups(10, is_apart);
            for one in 0..10 {
                for other in one + 1..10 {
                    let share = groups.iter().any(|g| g.contains(&one) && g.contains(&other));
                    prop_assert_eq!(share, !is_apart(one, other));
                }
            }
            prop_assert!(groups.len() <= 52);
        }
    }
}
