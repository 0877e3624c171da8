//! Goldens of a study's history, made up.

use model::Load;
use model::findings::Figure;
use model::history::{Cause, CellHistory, ContenderHistory, History, LeftOut, Point, RunInHistory, Step};

const RUNS: usize = 14;

fn contender(name: &str, title: &str, value: impl Fn(usize) -> Option<f64>) -> ContenderHistory {
    let reference = |i: usize| if i < 5 { 150_000.0 } else { 105_000.0 };
    let point = |i: usize| {
        let of_reference = value(i)?;
        Some(Point {
            version: Some(if i < 9 { "1.2" } else { "1.3" }.to_owned()),
            rate_per_s: reference(i) * of_reference,
            speed: reference(i) * of_reference,
            of_reference: (name != "reference").then_some(of_reference),
            low: (name != "node").then_some(of_reference * 0.99),
            high: (name != "node").then_some(of_reference * 1.01),
        })
    };
    ContenderHistory {
        name: name.to_owned(),
        title: title.to_owned(),
        points: (0..RUNS).map(point).collect(),
        steps: Vec::new(),
        note: None,
    }
}

fn step(at: usize, ratio: f64, cause: Cause) -> Step {
    Step {
        at,
        before: format!("run-{}", at - 1),
        after: format!("run-{at}"),
        ratio: Figure { median: ratio, low: Some(ratio * 0.99), high: Some(ratio * 1.01) },
        p: 0.002,
        cause,
        versions: None,
        drome: None,
        kernel: None,
    }
}

pub fn history() -> History {
    let mut reference = contender("reference", "drome serve", |_| Some(1.0));
    reference.steps = vec![Step {
        kernel: Some([Some("6.1".to_owned()), Some("6.8".to_owned())]),
        ..step(5, 0.7, Cause::Machine)
    }];
    let mut nginx = contender("nginx", "nginx", |i| Some(if i < 9 { 0.66 } else { 0.6 }));
    nginx.steps = vec![
        step(5, 1.03, Cause::Machine),
        Step {
            versions: Some([Some("1.2".to_owned()), Some("1.3".to_owned())]),
            ..step(9, 0.909, Cause::Contender)
        },
    ];
    let mut node = contender("node", "Node.js", |i| (i > 10).then_some(0.1));
    node.note = Some("3 comparable runs: telling a step from chance takes 9 (3 series)".to_owned());
    let in_history = |i: usize| RunInHistory {
        run: format!("run-{i}"),
        started_at: format!("2026-01-{:02}T06:00:00Z", i + 1),
        drome: "0.1.0".to_owned(),
        kernel: Some("6.1".to_owned()),
        machine: None,
    };
    let cell = CellHistory {
        number: Some(1),
        title: "keep-alive".to_owned(),
        transport: model::study::Transport::default(),
        workload: "hello".to_owned(),
        load: Load::Closed { connections: 10, per_connection: None },
        metric: model::Metric::Rate,
        runs: (0..RUNS).map(in_history).collect(),
        left_out: vec![LeftOut {
            runs: vec!["old-1".to_owned(), "old-2".to_owned()],
            why: "different processor (one; shown: another)".to_owned(),
        }],
        reference,
        contenders: vec![nginx, node],
        note: None,
    };
    History {
        schema: 1,
        study: "raspberry-pi".to_owned(),
        title: "Web servers on a small machine".to_owned(),
        level: 0.05,
        level_each: 0.05 / 3.0,
        fewest_runs: 9,
        unended: 1,
        cells: vec![cell],
    }
}

#[test]
fn a_history_for_a_terminal() {
    insta::assert_snapshot!(report::history::document(&history()).terminal(&report::TextStyle::default()));
}

#[test]
fn a_history_as_markdown() {
    insta::assert_snapshot!(report::history::document(&history()).markdown());
}

#[test]
fn a_history_as_csv() {
    let csv = report::history::records(&history()).csv();
    insta::assert_snapshot!(csv.lines().take(20).collect::<Vec<_>>().join("\n"));
    assert_eq!(csv.lines().count(), 1 + 14 + 14 + 3);
}

#[test]
fn a_history_as_json() {
    let mut history = history();
    history.cells[0].runs.truncate(1);
    history.cells[0].contenders.iter_mut().for_each(|c| c.points.truncate(1));
    history.cells[0].reference.points.truncate(1);
    insta::assert_snapshot!(serde_json::to_string_pretty(&history).unwrap());
}

#[test]
fn every_chart_of_a_history_has_a_name_of_its_own() {
    for (numbers, names) in [
        (vec![Some(1), Some(2)], vec!["history-1", "history-2"]),
        // The study's latest run lacks the first cell, and has the others at other places.
        (vec![None, Some(1), Some(2)], vec!["history-3", "history-1", "history-2"]),
        (vec![Some(2), None, None], vec!["history-2", "history-3", "history-4"]),
        (vec![Some(2), None, Some(1), None], vec!["history-2", "history-3", "history-1", "history-4"]),
        (vec![Some(1), Some(1)], vec!["history-1", "history-2"]),
        (vec![None, None], vec!["history-1", "history-2"]),
    ] {
        let mut told = history();
        let cell = told.cells.remove(0);
        told.cells = numbers.iter().map(|number| CellHistory { number: *number, ..cell.clone() }).collect();
        let charts = report::chart::of_history(&told);
        assert_eq!(charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>(), names, "{numbers:?}");
    }
}

#[test]
fn a_reference_that_is_not_ranked_by_rate_is_shown_by_the_speed_whose_steps_are_told() {
    let mut cell = history().cells.remove(0);
    cell.metric = model::Metric::Latency(model::metric::Percentile::P99);
    // At an offered rate, only the latency changes.
    cell.reference.points.iter_mut().flatten().for_each(|point| {
        point.speed /= 1e9;
        point.rate_per_s = 10_000.0;
    });
    let told = History { cells: vec![cell], ..history() };
    let document = report::history::document(&told).terminal(&report::TextStyle::default());
    let row = document.lines().find(|line| line.contains("drome serve")).unwrap();
    assert!(row.contains("█████▁▁▁▁▁▁▁▁▁"), "{row}");
    let chart = report::chart::history::of_cell(&told.cells[0]);
    let values: Vec<f64> = chart.panels[0].points.iter().flatten().map(|point| point.value).collect();
    let step = values[5] / values[4];
    assert!((step - 0.7).abs() < 1e-9 && (values[13] - 1.0).abs() < 1e-9, "{values:?}");
    assert!(
        chart.panels[0].points.iter().flatten().all(|point| point.interval.is_none()),
        "that of the rate"
    );
    let svg = chart.svg();
    for text in ["keep-alive: history, by 1/p99", ">of its median<", "−30.0 %"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(!svg.contains("requests/s"), "{svg}");
}
