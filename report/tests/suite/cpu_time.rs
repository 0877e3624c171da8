//! How the servers of a run differ in CPU time, in every report of a run.

use crate::html::fixture::study;
use crate::made_up::*;
use model::Findings;
use model::findings::{ProfiledPair, ProfiledPart};
use report::TextStyle;

/// What a function may be called.
const EVIL: &str = "<script>alert(1)</script>::a|b `c`";

fn part(function: &str, ns_per_answer: f64) -> ProfiledPart {
    ProfiledPart { function: function.to_owned(), ns_per_answer, standard_error_ns: 50.0 }
}

/// These findings of a run whose servers were sampled.
fn sampled(mut f: Findings, contender: &str) -> Findings {
    let pair = ProfiledPair {
        contender: contender.to_owned(),
        against: "A".to_owned(),
        sentence: format!(
            "{contender} spends 4.1 µs more CPU time per answer than A, 3.2 µs of it in {EVIL}."
        ),
        ns_per_answer: 4_100.0,
        standard_error_ns: 60.0,
        parts: vec![
            part(EVIL, 2_610.0),
            part("malloc", 595.0),
            part("<alloc::collections::btree::map::BTreeMap<K,V> as core::ops::drop::Drop>::drop", -312.0),
        ],
    };
    let same = ProfiledPair {
        contender: "C".to_owned(),
        sentence: "A and C spend the same CPU time per answer, within the error of sampling (±210 ns)."
            .to_owned(),
        parts: Vec::new(),
        ..pair.clone()
    };
    f.profiles = vec![pair, same];
    f
}

/// The end of a report, from the title of the section on.
fn end(text: &str) -> &str {
    &text[text.find("Where the CPU time goes").unwrap_or_else(|| panic!("{text}"))..]
}

#[test]
fn a_race_says_where_the_cpu_time_goes() {
    let f = sampled(race(100_000.0, 80_000.0, 0.011), "B");
    let at_80 = TextStyle { width: Some(80), ..TextStyle::default() };
    insta::assert_snapshot!("cpu_time_of_a_race_at_80", end(&report::run::document(&f).terminal(&at_80)));
    insta::assert_snapshot!("cpu_time_of_a_race_in_markdown", end(&report::run::document(&f).markdown()));
}

#[test]
fn a_study_says_where_the_cpu_time_goes() {
    let f = sampled(findings(), "nginx, keep-alive with a long title");
    let at_80 = TextStyle { width: Some(80), ..TextStyle::default() };
    insta::assert_snapshot!("cpu_time_of_a_study_at_80", end(&report::run::document(&f).terminal(&at_80)));
    insta::assert_snapshot!("cpu_time_of_a_study_in_markdown", end(&report::run::document(&f).markdown()));
    let wide = report::run::document(&f).terminal(&TextStyle::default());
    assert!(wide.ends_with("BTreeMap<K,V> as core::ops::drop::Drop>::drop\n"), "{wide}");
}

#[test]
fn the_page_has_a_section_of_its_own() {
    let mut study = study(1, 1, 1, "");
    study.findings = sampled(study.findings, "B");
    let page = study.page();
    assert!(page.contains("<a href=\"#cpu-time\">Where the CPU time goes</a>"), "{page}");
    let (_, section) = page.split_once("<section id=\"cpu-time\"").unwrap();
    let (section, _) = section.split_once("</section>").unwrap();
    insta::assert_snapshot!("cpu_time_in_html", section.replace("><", ">\n<"));
}

#[test]
fn json_has_the_differences_where_there_are_any() {
    let f = sampled(race(100_000.0, 80_000.0, 0.011), "B");
    let json = report::json(&f);
    insta::assert_snapshot!("cpu_time_in_json", &json[json.find("\"profiles\"").unwrap()..]);
    assert_eq!(serde_json::from_str::<Findings>(&json).unwrap(), f);
    assert!(!report::json(&race(1.0, 2.0, 0.01)).contains("\"profiles\""));
}

#[test]
fn without_profiles_there_is_no_section() {
    let (f, race) = (findings(), race(100_000.0, 80_000.0, 0.011));
    let style = TextStyle::default();
    let all = [
        report::run::document(&f).terminal(&style),
        report::run::document(&f).markdown(),
        report::run::document(&race).terminal(&style),
        report::run::document(&race).markdown(),
    ];
    assert!(all.iter().all(|text| !text.contains("CPU time goes")));
}
