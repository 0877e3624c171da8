//! Tests of the section about CPU time.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use profile::{Counters, Difference, Report, Side, Work, example};

fn report(text: &str) -> Report {
    let work = Work { answers: 10_000, cpu_ns: None };
    let profile = example::folded(&format!("# period_ns=1000000\n{text}"));
    Report { schema: Report::SCHEMA, work, profile, ..Report::default() }
}

/// The profiles of a race of these two.
fn raced(a: &str, b: &str) -> Vec<RunProfile> {
    let (a, b) = (report(a), report(b));
    let [of_a, of_b] = [("A", &a), ("B", &b)].map(|(name, report)| Side {
        name,
        profile: &report.profile,
        work: report.work,
    });
    let difference = Difference::between(&of_a, &of_b);
    let stored = [
        ("A", StoredProfile::of("old", &a, None, 0.001)),
        ("B", StoredProfile::of("B", &b, difference.as_ref(), 0.001)),
    ];
    stored.map(|(name, stored)| RunProfile { name: name.to_owned(), stored: Some(stored) }).into()
}

#[test]
fn the_difference_stands_above_the_functions_and_each_contender_has_its_graph() {
    let profiles = raced("main;read 300\nmain;work 100\n", "main;read 300\nmain;<T as \"x\">::work 500\n");
    let page = section("run/1", &profiles).into_string();
    let order = ["B spends 40.0 µs more CPU time per answer than A", "<h3>A, old</h3>", "<h3>B</h3>"];
    let order = order.map(|part| page.find(part));
    assert!(order.iter().all(Option::is_some) && order.is_sorted(), "{order:?}: {page}");
    // 300 of 400 samples of 1 ms over 10,000 answers.
    let row = "<code>read</code></th><td class=\"n\" data-label=\"Per answer\">30.0 µs</td><td class=\"n\" data-label=\"Share\">75.0 %</td>";
    assert!(page.contains(row), "{page}");
    assert!(page.contains("&lt;T as &quot;x&quot;&gt;::work") && !page.contains("<T as"), "{page}");
    assert!(page.contains(">+50.0 µs<") && page.contains(">−10.0 µs<"), "{page}");
    for name in ["A", "B"] {
        assert!(page.contains(&format!("href=\"/runs/run%2F1/flame/{name}\"")), "{page}");
    }
}

#[test]
fn what_was_counted_is_told_per_answer_where_it_is_known() {
    let told = |counters: Counters| {
        let stored = StoredProfile::of("a", &Report { counters, ..report("main;read 3\n") }, None, 0.1);
        section("run-1", &[RunProfile { name: "A".to_owned(), stored: Some(stored) }]).into_string()
    };
    let page =
        told(Counters { received_bytes: Some(1_350_000), cycles: Some(20_000), ..Counters::default() });
    assert!(page.contains("Per answer: 2.00 cycles, 135 bytes received."), "{page}");
    assert!(!told(Counters::default()).contains("Per answer:"), "nothing is known");
}

#[test]
fn a_run_without_profiles_has_no_section_and_one_that_can_not_be_read_is_named() {
    assert_eq!(section("run-1", &[]).into_string(), "");
    let newer = RunProfile { name: "A".to_owned(), stored: None };
    let page = section("run-1", &[newer]).into_string();
    assert!(page.contains("The profile of A can't be read"), "{page}");
    let stored =
        StoredProfile { schema: StoredProfile::SCHEMA + 1, ..StoredProfile::of("a", &report(""), None, 0.1) };
    assert_eq!(profiles::read(&serde_json::to_string(&stored).unwrap()), None);
    assert_eq!(profiles::read("no json"), None);
}

#[test]
fn a_contender_without_samples_has_no_figures() {
    let idle =
        RunProfile { name: "A".to_owned(), stored: Some(StoredProfile::of("idle", &report(""), None, 0.1)) };
    let page = section("run-1", &[idle]).into_string();
    assert!(page.contains("No CPU time per answer is known.") && !page.contains("<table"), "{page}");
}
