//! What services read: metrics, benchmark lists, test results.

use crate::made_up::{findings, race, run};
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
    ci::junit(&RunReport { run: &run, observations: &[], findings: &f })
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
fn a_contender_without_a_figure_is_an_error_and_all_text_is_escaped() {
    let mut f = findings();
    f.cells[0].title = "<a> & \"b\"".to_owned();
    let xml = ci::junit(&RunReport { run: &run(), observations: &[], findings: &f });
    assert!(xml.contains("<testsuite name=\"&lt;a&gt; &amp; &quot;b&quot;\""), "{xml}");
    assert!(xml.contains("errors=\"1\"") && xml.contains("<error message="), "{xml}");
    let document = roxmltree::Document::parse(&xml).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase")).count();
    assert_eq!(cases, f.cells.iter().map(|cell| cell.contenders.len()).sum::<usize>());
}
