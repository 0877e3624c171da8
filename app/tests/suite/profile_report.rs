//! The report of a race whose store has profiles, in every format that has room for them.

use crate::common::raced::{self, HOSTILE, RUN};
use crate::common::{Home, assert_as_schema, assert_has, run, ui};
use serde_json::Value;

const SENTENCE: &str = "B spends 40.0 µs more CPU time per answer than A, 40.0 µs of it in to_vec::";

fn report(home: &Home, format: &str) -> String {
    let finished = run(home.drome(&["report", RUN, "--format", format]).env("LC_ALL", "C.UTF-8"));
    assert_eq!(finished.code, 0, "{}", finished.err);
    finished.out
}

#[test]
fn a_report_says_how_the_servers_differ_in_cpu_time() {
    let home = raced::home();
    let terminal = report(&home, "terminal");
    assert_has(&terminal, &["Where the CPU time goes\n", SENTENCE, "+40.0 µs  to_vec::"]);
    let markdown = report(&home, "markdown");
    assert_has(
        &markdown,
        &["## Where the CPU time goes", SENTENCE, "| B | +40.0 µs | to_vec::\\<script>alert"],
    );
    let html = report(&home, "html");
    assert_has(
        &html,
        &[
            "<a href=\"#cpu-time\">Where the CPU time goes</a>",
            SENTENCE,
            "<td class=\"n\" data-label=\"change\">+40.0 µs</td>",
        ],
    );
    assert!(!html.contains("<script>alert"), "{html}");
    let json: Value = serde_json::from_str(&report(&home, "json")).unwrap();
    assert_as_schema(&home, "report", &json);
    let pair = &json["profiles"][0];
    assert_eq!((&pair["contender"], &pair["against"]), (&"B".into(), &"A".into()));
    assert!(pair["sentence"].as_str().unwrap().starts_with(SENTENCE), "{pair}");
    assert!((pair["ns_per_answer"].as_f64().unwrap() - 40_000.0).abs() < 1.0, "{pair}");
    assert_eq!(pair["parts"].as_array().unwrap().len(), 1, "what sampling explains is left out: {pair}");
    assert_eq!(pair["parts"][0]["function"], HOSTILE);
    let page = ui::open(home, &[]);
    assert!(page.get(&format!("/runs/{RUN}/markdown")).text().contains(SENTENCE));
}

#[test]
fn a_report_of_a_race_without_profiles_has_no_such_section() {
    let home = raced::home();
    store::Store::open(&home.store()).unwrap().keep_profiles(RUN, &[]).unwrap();
    for format in ["terminal", "markdown", "html", "json"] {
        let told = report(&home, format);
        assert!(!told.contains("CPU time goes") && !told.contains("\"profiles\""), "{format}: {told}");
    }
}
