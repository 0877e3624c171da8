//! Goldens of what comes of a page's own command lines, and of `drome verify`.

use model::Environment;
use model::contender::Track;
use model::inspection::Inspection;
use model::page::{Replay, Replays};

#[test]
fn a_page_as_it_was_measured() {
    let replay = |title: &str, published, rate: Option<f64>, note: Option<&str>| Replay {
        cell: "a new connection for every request".to_owned(),
        contender: title.to_lowercase(),
        title: title.to_owned(),
        version: Some("1.2.3".to_owned()),
        command: "ab -c 10 -n 1000 http://127.0.0.1:8080/hello".to_owned(),
        published,
        rate_per_s: rate,
        completed: rate.map(|_| 1000),
        errors: rate.map(|_| 3),
        latency_ns_mean: rate.map(|rate| 1e10 / rate),
        virtual_max_bytes: Some(38_000_000),
        rss_max_bytes: Some(2_500_000),
        note: note.map(str::to_owned),
        page_version: (title == "nginx").then(|| "0.8".to_owned()),
        page_figures: [("time_per_request_ms".to_owned(), 28.45), ("transfer_kib_per_s".to_owned(), 150.34)]
            .into(),
        figures: rate.map(|rate| ("time_per_request_ns".to_owned(), 1e10 / rate)).into_iter().collect(),
        without: [("transfer_kib_per_s".to_owned(), "it was not counted".to_owned())].into(),
        report: "Requests per second\n".to_owned(),
    };
    let replays = vec![
        replay("nginx", Some(351.49), Some(9000.0), None),
        replay("Go", Some(247.2), Some(8000.0), None),
        replay("Perl", Some(66.0), None, Some("it ended (exit status: 1)")),
    ];
    let mut all = Replays {
        id: "20260102-030405-abcd".to_owned(),
        name: "page".to_owned(),
        title: "A page".to_owned(),
        started_at: "2026-01-02T03:04:05Z".to_owned(),
        is_whole: true,
        environment: Environment { drome: "0.1.0".to_owned(), cores: 2, ..Environment::default() },
        replays,
    };
    let look = report::TextStyle::default();
    insta::assert_snapshot!("replays_in_the_terminal", report::replays::document(&all).terminal(&look));
    insta::assert_snapshot!("replays_in_markdown", report::replays::document(&all).markdown());
    all.is_whole = false;
    assert!(
        report::replays::document(&all)
            .terminal(&look)
            .contains("no ranking; it was interrupted before the last one")
    );
}

#[test]
fn what_catalog_verify_found() {
    let seen = |title: &str, track, wrong: &[&str], missing: Option<&str>| Inspection {
        name: title.to_lowercase(),
        title: title.to_owned(),
        track,
        version: missing.is_none().then(|| "1.2.3".to_owned()),
        missing: missing.map(str::to_owned),
        served: 3,
        right: 3 - wrong.len(),
        wrong: wrong.iter().map(ToString::to_string).collect(),
        known: if title == "fly" {
            vec!["hello (/hello, in fragments): no answer".to_owned()]
        } else {
            Vec::new()
        },
        elapsed_s: 1.25,
        hello_wire_bytes: missing.is_none().then_some(161),
    };
    let all = [
        seen("nginx", Track::Default, &[], None),
        seen("Bad", Track::Tuned, &["hello (/hello): status 500 instead of 200"], None),
        seen("fly", Track::Default, &[], None),
        seen("Go", Track::Default, &[], Some("`go` is not on PATH; get it: https://go.dev/dl")),
    ];
    insta::assert_snapshot!(
        "inspections_in_the_terminal",
        report::inspections::document(&all).terminal(&report::TextStyle::default())
    );
    insta::assert_snapshot!("inspections_in_markdown", report::inspections::document(&all).markdown());
}
