//! Tests of the page of a run.

use super::super::example::{cell, findings, with_share};
use super::*;
use model::Metric;
use model::findings::{CellFindings, ContenderFindings, HeldEqual, RaceFindings};
use model::run::Entrant;
use std::collections::BTreeMap;

fn drawn(cells: &[CellFindings]) -> String {
    page(findings(cells))
}

fn page(findings: Findings) -> String {
    of_run(&Analysed { outcomes: Vec::new(), findings }, &[]).into_string()
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
        assert!(page.contains("starts were sound."), "how well the machine behaved: {page}");
    }
    assert!(!one.contains("<h3>"), "one cell needs no heading of its own: {one}");
    assert!(two.contains("<h3>a new connection</h3>"), "{two}");
}

#[test]
fn a_run_of_which_nothing_is_known_is_a_page() {
    let page = drawn(&[]);
    assert!(!page.contains("<figure") && page.contains("Nothing has been measured yet."), "{page}");
    let page = drawn(&[cell("keep-alive", &[])]);
    assert!(page.contains("No start has finished yet.") && !page.contains("<table"), "{page}");
}

#[test]
fn a_single_measurement_leads_to_the_formats_of_its_command() {
    let of = |title: &str| {
        let title = title.to_owned();
        let id = "20260101-000000-0001".to_owned();
        let [started_at, ended] = ["2026-01-01T00:00:00Z", "complete"].map(str::to_owned);
        let (terminal, json) = ("a < b".to_owned(), "{}".to_owned());
        of_printed(&Printed { id, title, started_at, ended, terminal, json }).into_string()
    };
    let (load, sweep) = (of("load http://127.0.0.1:1/"), of("sweep http://127.0.0.1:1/"));
    let link = |name: &str| format!("href=\"/runs/20260101-000000-0001/{name}\"");
    assert!(load.contains("a &lt; b") && load.contains(&link("json")), "{load}");
    assert!(!load.contains(&link("markdown")) && !load.contains(&link("csv")), "{load}");
    assert!(["json", "markdown", "csv"].iter().all(|name| sweep.contains(&link(name))), "{sweep}");
}

/// A race of two commands, of which only the first has a label of its own.
fn race() -> Findings {
    let commands = [("A", "old", "./old --port {port}"), ("B", "./new <b>", "./new <b>")];
    let contenders: Vec<ContenderFindings> = commands
        .map(|(name, title, _)| ContenderFindings { title: title.to_owned(), ..with_share(name, 0.9) })
        .into();
    let entrant = |(name, title, command): (&str, &str, &str)| {
        let command = ["sh", "-c", command].map(str::to_owned).to_vec();
        (name.to_owned(), Entrant { title: title.to_owned(), command, ..Entrant::default() })
    };
    let held_equal = HeldEqual {
        body_bytes: Some(12),
        connections: 4,
        server_cpus: vec![0],
        client_cpus: vec![1],
        warmup_s: 0.2,
        measure_s: 0.5,
        prepare: None,
    };
    let race = RaceFindings {
        metric: Metric::Rate,
        elapsed_s: 9.0,
        rounds: 6,
        decided: None,
        faster: None,
        ratio: None,
        pairs: Vec::new(),
        held_equal,
        running: false,
    };
    Findings {
        race: Some(race),
        entrants: commands.map(entrant).into_iter().collect::<BTreeMap<_, _>>(),
        ..findings(&[cell("keep-alive", &contenders)])
    }
}

#[test]
fn a_race_says_which_letter_is_which_command_and_what_was_the_same_for_all() {
    let page = page(race());
    assert!(page.contains("<b>A, old</b> <code>./old --port {port}</code>"), "{page}");
    assert!(page.contains("<b>B</b> <code>./new &lt;b&gt;</code>"), "the label is the command: {page}");
    assert!(
        page.contains("<th scope=\"row\">A: old ") && page.contains("<th scope=\"row\">B: ./new &lt;b&gt; ")
    );
    assert!(page.contains("<li>same for all: a body of 12 bytes, "), "{page}");
    assert!(page.contains("<li>not decided after 6 rounds, 12 starts, 9.0 s</li>"), "{page}");
    assert!(!page.contains("/compare"), "races can't be compared: {page}");
    let study = drawn(&[cell("keep-alive", &[with_share("reference", 1.0)])]);
    assert!(!study.contains("class=\"letters\"") && !study.contains("same for all"), "{study}");
    assert!(study.contains("href=\"/compare?run=run-1\""), "{study}");
}
