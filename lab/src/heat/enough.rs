//! Whether a run of heats knows enough. It is asked after 4, 6, 9 and 13 rounds, so that looking does not make the run err more often
//! than it says. Pure.

use crate::schedule::percent;
use model::Design;
use std::fmt::Write;

/// Two contenders that are next to each other in the order of a cell, and what the model says of them at the level of the look.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Index into the study's cells.
    pub cell: usize,
    /// The one in front.
    pub one: String,
    /// The one behind.
    pub other: String,
    /// What is known of the two.
    pub standing: Standing,
}

/// What is known of two contenders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// Which is faster is sure.
    Decided,
    /// They are within 2 % of each other for sure.
    Equal,
    /// Neither. The ratio is known to plus or minus this share of it; unknown: there are too few starts.
    Open(Option<f64>),
    /// There will never be more to know: the load generator held one back.
    HeldBack,
}

/// Whether it is to be asked after so many whole rounds.
pub fn is_look(design: &Design, rounds: usize) -> bool {
    design.looks().contains(&rounds)
}

/// Why a look ends the run, where it does. Every comparison between neighbours is decided, equal, or known so well that the
/// difference, whichever way it goes, is less than the precision that was asked for. A race that was asked to decide goes on
/// until nothing is open: a difference of 1 % is one.
pub fn enough(design: &Design, rounds: usize, neighbours: &[Neighbours]) -> Option<String> {
    let is_known = |pair: &Neighbours| match pair.standing {
        Standing::Decided | Standing::Equal | Standing::HeldBack => true,
        Standing::Open(half) => !design.decide && half.is_some_and(|half| half <= design.precision),
    };
    if !neighbours.iter().all(is_known) {
        return None;
    }
    let open = neighbours.iter().filter(|pair| matches!(pair.standing, Standing::Open(_))).count();
    let held_back = neighbours.iter().filter(|pair| pair.standing == Standing::HeldBack).count();
    let (all, precision) = (neighbours.len(), percent(design.precision));
    if all == held_back {
        let why = if all == 0 {
            "there is nothing to compare, because fewer than two have a rank"
        } else {
            "the load generator held back one of every two neighbours, so that no round tells more"
        };
        // Of a race it may yet be shown that they are warm.
        let is_final = all > 0 || !design.decide;
        return is_final.then(|| format!("{why}, after {}", rounds_in_words(rounds)));
    }
    let mut known = "every comparison between neighbours is decided or equal".to_owned();
    if open > 0 {
        let _ = write!(known, ", or known to ±{precision} % ({open} of {all})");
    }
    if held_back > 0 {
        let _ = write!(known, ", but for {held_back} of {all} in which the load generator held one back");
    }
    Some(format!("{known}, after {}", rounds_in_words(rounds)))
}

/// What is not known yet, for the end of a run that its budget or its most rounds end: how many comparisons are open, and the one
/// that is known least.
pub fn still_open(neighbours: &[Neighbours]) -> Option<String> {
    let open: Vec<(&Neighbours, Option<f64>)> = neighbours
        .iter()
        .filter_map(|pair| match pair.standing {
            Standing::Open(half) => Some((pair, half)),
            _ => None,
        })
        .collect();
    let width = |half: &Option<f64>| half.unwrap_or(f64::INFINITY);
    let (least, half) = open.iter().max_by(|a, b| width(&a.1).total_cmp(&width(&b.1)))?;
    let how = match half {
        Some(half) if *half < 1.0 => format!("known to ±{:.1} %", half * 100.0),
        Some(half) if *half < 9.0 => format!("known to a factor of {:.1}", 1.0 + half),
        Some(_) => "not known to a factor of 10".to_owned(),
        None => "not known, because there are too few starts".to_owned(),
    };
    let (n, all, pair) = (open.len(), neighbours.len(), format!("{} and {}", least.one, least.other));
    Some(format!("{n} of {all} comparisons between neighbours are open; the ratio of {pair} is {how}"))
}

/// `1 round`, `4 rounds`.
pub fn rounds_in_words(n: usize) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::heat::example::run;

    fn pairs(standings: &[Standing]) -> Vec<Neighbours> {
        let pair = |(i, standing): (usize, &Standing)| Neighbours {
            cell: 0,
            one: format!("c{i}"),
            other: format!("c{}", i + 1),
            standing: *standing,
        };
        standings.iter().enumerate().map(pair).collect()
    }

    fn told(standings: &[Standing]) -> Option<String> {
        enough(&run(&["a"]).study.design, 6, &pairs(standings))
    }

    #[test]
    fn it_is_enough_when_no_comparison_is_open_or_the_open_ones_are_known_well() {
        use Standing::{Decided, Equal, HeldBack, Open};
        let all = "every comparison between neighbours is decided or equal";
        assert_eq!(told(&[Decided, Equal]), Some(format!("{all}, after 6 rounds")));
        let but_one =
            format!("{all}, but for 1 of 3 in which the load generator held one back, after 6 rounds");
        assert_eq!(told(&[Decided, Equal, HeldBack]), Some(but_one));
        let none = told(&[HeldBack]).unwrap();
        assert!(none.starts_with("the load generator held back one of every two neighbours"), "{none}");
        assert!(told(&[]).unwrap().starts_with("there is nothing to compare"), "one has no neighbour");
        assert_eq!(told(&[Decided, Open(Some(0.031))]), None);
        assert_eq!(told(&[Decided, Open(None)]), None, "nothing is known of it");
        let close = told(&[Decided, Open(Some(0.03))]);
        assert_eq!(close, Some(format!("{all}, or known to ±3 % (1 of 2), after 6 rounds")));
        let decides = model::Design { decide: true, ..run(&["a"]).study.design };
        assert_eq!(enough(&decides, 6, &pairs(&[Decided, Open(Some(0.001))])), None);
        assert!(enough(&decides, 6, &pairs(&[Decided, Equal])).is_some());
        assert_eq!(enough(&decides, 6, &[]), None, "who has no rank yet may have one later");
    }

    #[test]
    fn what_is_open_names_the_comparison_that_is_known_least() {
        use Standing::{Decided, Open};
        let open = |standings: &[Standing]| still_open(&pairs(standings)).unwrap_or_default();
        assert_eq!(open(&[Decided]), "");
        let two = open(&[Open(Some(0.04)), Decided, Open(Some(0.071))]);
        assert_eq!(
            two,
            "2 of 3 comparisons between neighbours are open; the ratio of c2 and c3 is known to ±7.1 %"
        );
        assert!(
            open(&[Open(Some(0.04)), Open(None)])
                .ends_with("the ratio of c1 and c2 is not known, because there are too few starts")
        );
        assert!(open(&[Open(Some(1.49))]).ends_with("is known to a factor of 2.5"));
        assert!(open(&[Open(Some(21.04))]).ends_with("is not known to a factor of 10"));
    }
}
