//! The comparisons of a race in heats: all pairs, by the model of its cell.

use super::{FittedCell, takes_part};
use model::findings::{Decided, PairFindings};
use stats::heats::Relation;

/// Every pair of contenders, each compared with one of an earlier letter: first those with the first contender.
pub(super) fn of_race(of: &FittedCell<'_>) -> Vec<PairFindings> {
    let names: Vec<&str> = takes_part(of.run).collect();
    let pairs = names
        .iter()
        .enumerate()
        .flat_map(|(i, against)| names.iter().skip(i + 1).map(move |contender| pair(of, contender, against)));
    if of.run.race.is_some() { pairs.collect() } else { Vec::new() }
}

fn pair(of: &FittedCell<'_>, contender: &str, against: &str) -> PairFindings {
    let (decided, faster) = match of.ranked.relation(contender, against) {
        Some(Relation::Better) => (Some(Decided::Faster), Some(contender)),
        Some(Relation::Worse) => (Some(Decided::Faster), Some(against)),
        Some(Relation::Equal) => (Some(Decided::Equal), None),
        Some(Relation::Open) | None => (None, None),
    };
    PairFindings {
        contender: contender.to_owned(),
        against: against.to_owned(),
        decided,
        faster: faster.map(str::to_owned),
        ratio: of.ranked.ratio(contender, against),
        sure: of.ranked.sure(contender, against),
    }
}
