//! Tests of what the table of a cell shows.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::super::example::{cell, contender, with_share};
use super::*;

fn drawn(cells: &[CellFindings]) -> String {
    sections(cells, &[]).into_string()
}

/// The labels of each section's axis.
fn axes(drawn: &str) -> Vec<&str> {
    let after = drawn.split("<svg class=\"axis\"").skip(1);
    after.map(|rest| rest.split("</svg>").next().unwrap()).collect()
}

#[test]
fn latency_is_shown_where_it_is_known_and_is_never_zero() {
    let known = Some(Figure { median: 123_456.0, low: None, high: None });
    let fast = ContenderFindings { latency_ns_p99: known, ..contender("fast") };
    let page = drawn(&[cell("keep-alive", &[fast, contender("failed")])]);
    assert!(page.contains("data-label=\"p99 at saturation\">123 µs<"), "{page}");
    assert_eq!(page.matches("data-label=\"p99 at saturation\">–<").count(), 1, "{page}");
    assert_eq!(page.matches("data-label=\"p50 at saturation\">–<").count(), 2, "{page}");
    assert!(!page.contains(">0 ns<"), "{page}");
    let page = drawn(&[cell("keep-alive", &[contender("failed")])]);
    assert!(!page.contains("p50") && !page.contains("p99"), "nothing is known of it: {page}");
}

#[test]
fn cells_of_one_metric_have_one_axis() {
    let close = cell("close", &[with_share("a", 1.0), with_share("b", 0.9)]);
    let wide = cell("wide", &[with_share("a", 1.0), with_share("b", 0.01)]);
    let memory = CellFindings { metric: Metric::Rss, ..cell("memory", &[with_share("a", 1.0)]) };
    let page = drawn(&[close.clone(), wide, memory]);
    let axes = axes(&page);
    assert_eq!((axes.len(), axes[0]), (3, axes[1]), "{page}");
    assert_ne!(axes[1], axes[2], "a share of memory is another quantity");
    assert_ne!(self::axes(&drawn(&[close]))[0], axes[0], "alone, it would have another");
}

#[test]
fn cells_that_have_not_begun_are_left_out_and_keep_their_number() {
    let contender_b = "b".to_owned();
    let outcomes = [TrialOutcome { round: 0, cell: 1, contender: contender_b, state: StartState::Valid }];
    let cells = [cell("empty", &[]), cell("begun", &[contender("a"), contender("b")])];
    let page = sections(&cells, &outcomes).into_string();
    assert!(!page.contains("empty") && page.matches("class=\"mark valid\"").count() == 1, "{page}");
}

#[test]
fn states_are_chips_beside_the_name() {
    let held_back = ContenderFindings { bound: Some("client".to_owned()), ..with_share("<fast>", 1.0) };
    let page = drawn(&[cell("keep-alive", &[held_back])]);
    assert!(
        page.contains("&lt;fast&gt;") && page.contains(">limited by the load generator</span>"),
        "{page}"
    );
    assert!(page.contains("class=\"chip open\" title=\"The load generator was at its limit"), "{page}");
}
