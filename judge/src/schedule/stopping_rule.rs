//! Decides whether a run in heats has measured enough. It is asked at the looks (`Design::looks`). How often it is asked makes no errors more
//! likely than the run's level says (`stats::heats::LEVEL`). Pure.

use model::{Design, Run};
use std::fmt::Write;

/// A share in percent, without the digits that only its binary form has.
pub fn percent(share: f64) -> f64 {
    (share * 1e6).round() / 1e4
}

/// Two contenders that are next to each other in the order of a cell (in a race any two), and their comparison at the level of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct Neighbours {
    /// Index into the study's cells.
    pub cell: usize,
    /// The one in front.
    pub one: String,
    /// The one behind.
    pub other: String,
    /// The state of their comparison.
    pub standing: Standing,
}

/// The state of the comparison of two contenders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Standing {
    /// It is certain which is faster.
    Decided,
    /// They are certainly within 2 % of each other.
    Equal,
    /// Neither. Has half the width of the ratio's interval, as a share of the ratio; `None`: there are too few starts.
    Open(Option<f64>),
    /// More rounds would not help: the load generator held one of them back.
    HeldBack,
}

/// Whether there is a look after this number of whole rounds.
pub fn is_look(design: &Design, rounds: usize) -> bool {
    design.looks().contains(&rounds)
}

/// Why the run ends at a look; `None` if it goes on. It ends if each of these comparisons is decided, equal, or known so
/// well that the difference, whichever way it goes, is less than the precision that was asked for. A race that was asked to decide goes on
/// until no comparison is open: a difference of 1 % keeps it open.
pub fn stop_reason(run: &Run, rounds: usize, neighbours: &[Neighbours]) -> Option<String> {
    let design = &run.study.design;
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
            "there is nothing to compare: fewer than two contenders have a rank"
        } else {
            "the load generator was the limit in every comparison, so more rounds would not help"
        };
        // In a race that is to decide, contenders without a rank may still get one, once they are shown to be warm.
        let is_final = all > 0 || !design.decide;
        return is_final.then(|| format!("{why}, after {}", rounds_in_words(rounds)));
    }
    let mut known = match design.margin {
        None => format!("every comparison{} is decided or equal", between(run)),
        Some(margin) => {
            format!("every comparison with the first is decided at the margin of {} %", percent(margin))
        }
    };
    if open > 0 {
        let _ = write!(known, ", or its interval is at most ±{precision} % ({open} of {all})");
    }
    if held_back > 0 {
        let _ = write!(known, ", except {held_back} of {all} in which the load generator was the limit");
    }
    Some(format!("{known}, after {}", rounds_in_words(rounds)))
}

/// What is still open when the budget or the maximum number of rounds ends a run: how many comparisons are inconclusive, and which of them
/// has the widest interval.
pub fn still_open(run: &Run, neighbours: &[Neighbours]) -> Option<String> {
    let open: Vec<(&Neighbours, Option<f64>)> = neighbours
        .iter()
        .filter_map(|pair| match pair.standing {
            Standing::Open(half) => Some((pair, half)),
            _ => None,
        })
        .collect();
    let width = |half: &Option<f64>| half.unwrap_or(f64::INFINITY);
    let (least, half) = open.iter().max_by(|a, b| width(&a.1).total_cmp(&width(&b.1)))?;
    let pair = format!("{} and {}", least.one, least.other);
    let widest = |width: &str| format!("the widest interval is that of {pair}, {width}");
    let how = match half {
        Some(half) if *half < 1.0 => widest(&format!("±{:.1} %", half * 100.0)),
        Some(half) if *half < 9.0 => widest(&format!("a factor of {:.1}", 1.0 + half)),
        Some(_) => widest("more than a factor of 10"),
        None => format!("{pair} have too few starts for an interval"),
    };
    let (n, all) = (open.len(), neighbours.len());
    let what = match run.study.design.margin {
        None => format!("comparisons{}", between(run)),
        Some(margin) => format!("comparisons with the first at the margin of {} %", percent(margin)),
    };
    let are = if n == 1 { "is" } else { "are" };
    let held_back = neighbours.iter().filter(|pair| pair.standing == Standing::HeldBack).count();
    let more = match held_back {
        0 => String::new(),
        _ => format!(" (in {held_back} more the load generator was the limit)"),
    };
    Some(format!("{n} of {all} {what} {are} inconclusive{more}; {how}"))
}

/// Which comparisons are meant: in a race all are.
fn between(run: &Run) -> &'static str {
    if run.race.is_some() { "" } else { " between neighbouring ranks" }
}

/// `1 round`, `4 rounds`.
pub fn rounds_in_words(n: usize) -> String {
    if n == 1 { "1 round".to_owned() } else { format!("{n} rounds") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::example::in_heats::run;

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
        stop_reason(&run(&["a"]), 6, &pairs(standings))
    }

    #[test]
    fn it_is_enough_when_no_comparison_is_open_or_the_open_ones_are_known_well() {
        use Standing::{Decided, Equal, HeldBack, Open};
        let all = "every comparison between neighbouring ranks is decided or equal";
        assert_eq!(told(&[Decided, Equal]), Some(format!("{all}, after 6 rounds")));
        let but_one =
            format!("{all}, except 1 of 3 in which the load generator was the limit, after 6 rounds");
        assert_eq!(told(&[Decided, Equal, HeldBack]), Some(but_one));
        let none = told(&[HeldBack]).unwrap();
        assert!(none.starts_with("the load generator was the limit in every comparison"), "{none}");
        assert!(told(&[]).unwrap().starts_with("there is nothing to compare"), "one has no neighbour");
        assert_eq!(told(&[Decided, Open(Some(0.031))]), None);
        assert_eq!(told(&[Decided, Open(None)]), None, "nothing is known of it");
        let close = told(&[Decided, Open(Some(0.03))]);
        assert_eq!(close, Some(format!("{all}, or its interval is at most ±3 % (1 of 2), after 6 rounds")));
        let mut decides = run(&["a"]);
        decides.study.design.decide = true;
        assert_eq!(stop_reason(&decides, 6, &pairs(&[Decided, Open(Some(0.001))])), None);
        assert!(stop_reason(&decides, 6, &pairs(&[Decided, Equal])).is_some());
        assert_eq!(stop_reason(&decides, 6, &[]), None, "who has no rank yet may have one later");
    }

    #[test]
    fn what_is_open_names_the_comparison_that_is_known_least() {
        use Standing::{Decided, Open};
        let mut run = run(&["a"]);
        let open = |standings: &[Standing]| still_open(&run, &pairs(standings)).unwrap_or_default();
        assert_eq!(open(&[Decided]), "");
        let two = open(&[Open(Some(0.04)), Decided, Open(Some(0.071))]);
        assert_eq!(
            two,
            "2 of 3 comparisons between neighbouring ranks are inconclusive; the widest interval is that of c2 and c3, ±7.1 %"
        );
        assert!(
            open(&[Open(Some(0.04)), Open(None)])
                .ends_with("; c1 and c2 have too few starts for an interval")
        );
        assert!(open(&[Open(Some(1.49))]).ends_with("c0 and c1, a factor of 2.5"));
        assert!(open(&[Open(Some(21.04))]).ends_with("c0 and c1, more than a factor of 10"));
        run.race = Some(model::run::Raced::default());
        let words = still_open(&run, &pairs(&[Open(Some(0.04))])).unwrap_or_default();
        assert!(words.starts_with("1 of 1 comparisons is inconclusive; the widest"), "{words}");
        run.study.design.margin = Some(0.02);
        let words = still_open(&run, &pairs(&[Open(Some(0.04))])).unwrap_or_default();
        assert!(words.starts_with("1 of 1 comparisons with the first at the margin of 2 % is"), "{words}");
    }
}
