//! What services read: metrics, benchmark lists, test results.

use crate::made_up::{compared, figure, findings, race, run};
use model::comparison::{CellComparison, Change, Comparison, DriftOf, FailedContender};
use model::{Gate, Load, Measured, Metric};
use report::{RunReport, ci};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn bencher_gets_values_with_their_bounds() {
    let all = json(&ci::bencher(&findings()));
    let f = findings();
    let nginx = &all[format!("{} / nginx", f.cells[0].title)];
    let rate = &nginx["throughput"];
    assert_eq!(rate["value"], 98_765.0);
    assert!(
        rate["lower_value"].as_f64() < Some(98_765.0) && rate["upper_value"].as_f64() > Some(98_765.0),
        "{rate}"
    );
    assert!(nginx["memory"].get("lower_value").is_none(), "a figure without an interval has none: {nginx}");
    let raced = json(&ci::bencher(&race(80_000.0, 100_000.0, 0.011)));
    assert!(raced.as_object().unwrap().contains_key("./a {port}"), "by labels: {raced}");
}

#[test]
fn one_list_has_what_should_grow_and_one_what_should_shrink() {
    let (bigger, smaller) =
        (json(&ci::bigger_is_better(&findings())), json(&ci::smaller_is_better(&findings())));
    let units = |list: &Value, unit: &str| {
        list.as_array().unwrap().iter().filter(|entry| entry["unit"] == unit).count()
    };
    assert!(units(&bigger, "requests/s") >= 3 && units(&bigger, "ns") == 0, "{bigger}");
    assert!(units(&smaller, "ns") >= 3 && units(&smaller, "requests/s") == 0, "{smaller}");
    for entry in bigger.as_array().unwrap() {
        assert!(
            entry["name"].as_str().unwrap().ends_with(": throughput") && entry["value"].is_f64(),
            "{entry}"
        );
        assert!(entry["range"].as_str().unwrap().starts_with("± "), "{entry}");
    }
}

/// The XML of a race with this margin.
fn junit(b: f64, margin: Option<f64>) -> String {
    let f = race(100_000.0, b, 0.011);
    let mut run = run();
    run.study.design.margin = margin;
    ci::junit(&RunReport { run: &run, measured: &Measured::default(), findings: &f })
}

#[test]
fn a_contender_that_is_too_slow_is_a_failed_test() {
    let failed = junit(90_000.0, Some(0.02));
    assert!(failed.contains("tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\""), "{failed}");
    assert!(
        failed.contains("<failure message=\"./b {port} is more than 2 % slower: 10.0 % slower"),
        "{failed}"
    );
    assert!(junit(98_000.0, Some(0.02)).contains("skipped=\"1\""));
    for passed in [junit(100_000.0, Some(0.02)), junit(90_000.0, None)] {
        assert!(passed.contains("failures=\"0\" errors=\"0\" skipped=\"0\""), "{passed}");
    }
}

#[test]
fn a_contender_that_could_not_be_judged_at_all_is_a_skipped_test() {
    let mut f = race(100_000.0, 100_000.0, 0.011);
    f.cells[0].contenders[1].bound = Some("client".to_owned());
    let mut run = run();
    run.study.design.margin = Some(0.02);
    let skipped = ci::junit(&RunReport { run: &run, measured: &Measured::default(), findings: &f });
    assert!(skipped.contains("tests=\"2\" failures=\"0\" errors=\"0\" skipped=\"1\""), "{skipped}");
    let words =
        "<skipped message=\"./b {port} could not be judged: the load generator limited ./b {port}\"/>";
    let (first, second) = skipped.split_once("./b {port}").unwrap();
    assert!(second.contains(words) && !first.contains("<skipped"), "{skipped}");
}

pub fn comparison() -> Comparison {
    let cell = |title: &str, contenders| CellComparison {
        title: title.to_owned(),
        transport: model::study::Transport::default(),
        workload: "hello".to_owned(),
        load: Load::Closed { connections: 10, per_connection: None },
        metric: Metric::Rate,
        drift: None,
        drift_of: DriftOf::Hub,
        movement: None,
        contenders,
    };
    let contenders = vec![
        compared("Slow", Change::Slower, figure(0.9, 0.01), None),
        compared("Same", Change::NoneSeen, figure(1.0, 0.01), None),
        compared("Open", Change::NoneSeen, figure(0.98, 0.01), None),
        compared("Few", Change::Unknown, None, Some("3 and 3 blocks are too few to be sure")),
        compared("Broken", Change::Unknown, None, None),
    ];
    let failed = |title: &str, cell: &str| FailedContender {
        name: title.to_lowercase(),
        title: title.to_owned(),
        cell: cell.to_owned(),
        failed: 8,
        trials: 8,
    };
    Comparison {
        schema: 1,
        old: "old".to_owned(),
        new: "new".to_owned(),
        notes: Vec::new(),
        confidence: 0.95,
        cells: vec![
            cell("keep-alive", contenders),
            cell("file", vec![compared("Same", Change::Faster, figure(1.2, 0.01), None)]),
        ],
        gone: vec!["gone (file)".to_owned()],
        added: Vec::new(),
        failed: vec![failed("Broken", "keep-alive"), failed("Added", "file"), failed("Added", "another")],
    }
}

#[test]
fn a_comparison_is_judged_cell_by_cell() {
    let all = comparison();
    let counted = |gate: Option<&Gate>| {
        let xml = ci::junit_of_comparison(&all, gate);
        let document = roxmltree::Document::parse(&xml).unwrap();
        let suites = document.descendants().filter(|node| node.has_tag_name("testsuite"));
        let number = |node: roxmltree::Node<'_, '_>, key: &str| node.attribute(key).unwrap().to_owned();
        let keys = ["name", "tests", "failures", "errors", "skipped"];
        let counts = suites.map(|suite| keys.map(|key| number(suite, key)).join(" ")).collect::<Vec<_>>();
        (xml.clone(), counts)
    };
    let (xml, counts) = counted(Some(&Gate::of_comparison(&all, 0.02)));
    assert_eq!(counts, ["keep-alive 5 1 1 2", "file 2 0 1 0", "another 1 0 1 0", "only in old 1 0 0 1"]);
    for words in [
        "<testsuites name=\"new against old\">",
        "<failure message=\"Slow (keep-alive) is more than 2 % slower: 10.0 % slower",
        "<skipped message=\"Open (keep-alive) may be more than 2 % slower or not: ",
        "<skipped message=\"3 and 3 blocks are too few to be sure\"/>",
        "<error message=\"failed in 8 of 8 starts of new\"/>",
        "<testcase name=\"gone (file)\" classname=\"compare\"><skipped message=\"only in old\"/></testcase>",
        "<system-out>20.0 % faster</system-out>",
    ] {
        assert!(xml.contains(words), "{words} in {xml}");
    }
    let (_, counts) = counted(None);
    assert_eq!(counts[0], "keep-alive 5 0 1 1", "without a margin nothing is too slow");
}

#[test]
fn a_contender_without_a_figure_is_an_error_and_all_text_is_escaped() {
    let mut f = findings();
    f.cells[0].title = "<a> & \"b\"".to_owned();
    let xml = ci::junit(&RunReport { run: &run(), measured: &Measured::default(), findings: &f });
    assert!(xml.contains("<testsuite name=\"&lt;a&gt; &amp; &quot;b&quot;\""), "{xml}");
    assert!(xml.contains("errors=\"1\"") && xml.contains("<error message="), "{xml}");
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase")).count();
    assert_eq!(cases, f.cells.iter().map(|cell| cell.contenders.len()).sum::<usize>());
}
