//! Tests of the judgement against a margin.

use super::*;
use crate::comparison::{CellComparison, ContenderComparison, DriftOf};
use crate::plan::Load;

fn figure(median: f64, low: f64, high: f64) -> Figure {
    Figure { median, low: Some(low), high: Some(high) }
}

fn comparison(ratios: &[(&str, Change, Option<Figure>)]) -> Comparison {
    let contender = |(name, change, ratio): &(&str, Change, Option<Figure>)| ContenderComparison {
        name: (*name).to_owned(),
        title: name.to_uppercase(),
        versions: [None, None],
        ratio: *ratio,
        change: *change,
        note: (*change == Change::Unknown).then(|| "too few trials".to_owned()),
    };
    let cell = CellComparison {
        title: "hello".to_owned(),
        transport: crate::study::Transport::default(),
        workload: "hello".to_owned(),
        load: Load::Closed { connections: 1, per_connection: None },
        metric: Metric::Rate,
        drift: None,
        drift_of: DriftOf::Hub,
        movement: None,
        contenders: ratios.iter().map(contender).collect(),
    };
    Comparison {
        schema: 1,
        old: "old".to_owned(),
        new: "new".to_owned(),
        notes: Vec::new(),
        confidence: 0.95,
        cells: vec![cell],
        gone: Vec::new(),
        added: Vec::new(),
        failed: Vec::new(),
    }
}

fn outcome(ratios: &[(&str, Change, Option<Figure>)]) -> Outcome {
    Gate::of_comparison(&comparison(ratios), 0.02).outcome()
}

#[test]
fn one_slower_contender_is_enough_and_all_others_must_be_known() {
    let same = ("a", Change::NoneSeen, Some(figure(1.0, 0.99, 1.01)));
    let slower = ("b", Change::Slower, Some(figure(0.9, 0.88, 0.92)));
    let a_little = ("c", Change::Slower, Some(figure(0.985, 0.981, 0.989)));
    let open = ("d", Change::NoneSeen, Some(figure(0.99, 0.96, 1.02)));
    let unknown = ("e", Change::Unknown, None);
    assert_eq!(outcome(&[same, a_little]), Outcome::Passed, "certainly slower, but by less than 2 %");
    assert_eq!(outcome(&[same, slower, open, unknown]), Outcome::Slower);
    assert_eq!(outcome(&[same, open]), Outcome::Open, "no difference seen is not the same as none");
    assert_eq!(outcome(&[same, unknown]), Outcome::Open);
    assert_eq!(outcome(&[]), Outcome::Open, "nothing was judged");
}

#[test]
fn the_smallest_slowdown_that_would_be_shown_is_that_of_the_least_known() {
    let gate = |ratios: &[_]| Gate::of_comparison(&comparison(ratios), 0.02).smallest_shown();
    let well = ("a", Change::NoneSeen, Some(figure(1.0, 0.99, 1.01)));
    let badly = ("b", Change::NoneSeen, Some(figure(1.0, 0.9, 1.1)));
    assert!((gate(&[well]).unwrap() - 0.0297).abs() < 1e-4);
    assert!((gate(&[well, badly]).unwrap() - 0.1091).abs() < 1e-4);
    let without = ("c", Change::NoneSeen, Some(Figure { median: 1.0, low: None, high: None }));
    assert_eq!(gate(&[well, without]), None);
}
