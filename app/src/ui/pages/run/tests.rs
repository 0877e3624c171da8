//! Tests of the page of a run.

use super::super::example::{cell, findings, with_share};
use super::*;
use model::findings::CellFindings;

fn drawn(cells: &[CellFindings]) -> String {
    of_run(&Analysed { outcomes: Vec::new(), findings: findings(cells) }).into_string()
}

#[test]
fn the_verdict_stands_above_one_chart_and_that_above_the_tables() {
    let contenders = [with_share("reference", 1.0), with_share("<fast>", 0.9)];
    let one = drawn(&[cell("keep-alive", &contenders)]);
    let two = drawn(&[cell("keep-alive", &contenders), cell("a new connection", &contenders)]);
    for page in [&one, &two] {
        let order = ["id=\"verdict\"", "<figure", "<table"].map(|part| page.find(part));
        assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}: {page}");
        assert_eq!(page.matches("<figure").count(), 1, "{page}");
        assert!(page.contains("src=\"/runs/run-1/chart\"") && !page.contains("<fast>"), "{page}");
        assert!(page.contains("trials were sound."), "how well the machine behaved: {page}");
    }
    assert!(!one.contains("<h3>"), "one cell needs no heading of its own: {one}");
    assert!(two.contains("<h3>a new connection</h3>"), "{two}");
}

#[test]
fn a_run_of_which_nothing_is_known_is_a_page() {
    let page = drawn(&[]);
    assert!(!page.contains("<figure") && page.contains("Nothing has been measured yet."), "{page}");
    let page = drawn(&[cell("keep-alive", &[])]);
    assert!(page.contains("No trial has finished yet.") && !page.contains("<table"), "{page}");
}
