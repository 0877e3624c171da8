//! Charts as files, by the real binary, from a store in which the truth is known.

use crate::common::example::{MadeStart, example, keep_round, sound};
use crate::common::{Finished, Home, run};
use model::heat::HUB;
use model::run::Entrant;
use model::{Measurement, Run, Usage};
use std::fs;
use std::path::Path;
use store::Store;

const NAMES: [&str; 3] = ["fast", "slow", "reference"];
const ID: &str = "20260101-000000-0000";

fn a_run(cells: usize) -> Run {
    let entrant = |name: &str| Entrant { title: format!("The {name} <one>"), ..Entrant::default() };
    let cells = &[("cell 1", 10), ("cell 2", 20)][..cells];
    Run {
        id: ID.to_owned(),
        ..example(NAMES.map(|name| (name.to_owned(), entrant(name))).into(), cells, [6, 6])
    }
}

fn measured(rate: u64, why_void: Option<&str>) -> Measurement {
    let mut measurement = sound(rate);
    (1..=rate.min(1000)).for_each(|i| measurement.tally.latency.record(100_000 + i * 1_000_000 / rate));
    measurement.usage = measurement.usage.map(|usage| Usage { rss_max_bytes: 9_000_000, ..usage });
    measurement.verdict.valid = why_void.is_none();
    measurement.verdict.reasons = why_void.map(str::to_owned).into_iter().collect();
    measurement
}

/// The number of the round.
type Round = usize;

/// A store with one run, each start as it is said.
fn filled(cells: usize, rounds: Round, start: impl Fn(&str, Round) -> Option<MadeStart>) -> Home {
    let home = Home::new();
    let store = Store::open(&home.store()).unwrap();
    let run = a_run(cells);
    store.add_run(&run).unwrap();
    for round in 0..rounds {
        let starts: Vec<MadeStart> =
            NAMES.iter().chain(&[HUB]).filter_map(|name| start(name, round)).collect();
        keep_round(&store, &run, round, &starts);
    }
    store.end_run(&run.id, "enough is known").unwrap();
    home
}

/// Two cells; one start is void in one of them, another failed.
fn two_of_a_run() -> Home {
    filled(2, 6, |name, round| {
        let rate = match name {
            "fast" => 40_000,
            "slow" => 800,
            _ => 120_000,
        };
        let of = |cell: usize| {
            let is_void = ("slow", 0, 3) == (name, cell, round);
            let why = is_void.then_some("the host took 20 % of the measured CPUs' time");
            (cell, measured(rate + 10 * round as u64, why))
        };
        let failed = (("slow", 2) == (name, round)).then(|| "it <died>".to_owned());
        let cells = (0..2).filter(|cell| failed.is_none() || *cell == 1).map(of).collect();
        Some(MadeStart { contender: name.to_owned(), copy: 0, cells, failed })
    })
}

fn report(home: &Home, args: &[&str]) -> Finished {
    run(home.drome(&[&["report"], args].concat()).current_dir(home.path()))
}

fn files(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

#[test]
fn every_chart_of_a_run_goes_to_a_folder() {
    let home = two_of_a_run();
    let finished = report(&home, &["--format", "svg", "--output", "new/charts"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    let folder = home.path().join("new/charts");
    let kinds = ["course", "percentiles", "ranked", "scatter"];
    let mut expected: Vec<String> =
        kinds.iter().flat_map(|kind| [1, 2].map(|cell| format!("{kind}-{cell}.svg"))).collect();
    expected.insert(2, "heat.svg".to_owned());
    assert_eq!(files(&folder), expected);
    for name in expected {
        let svg = fs::read_to_string(folder.join(&name)).unwrap();
        assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{name}: {svg}");
        assert!(svg.contains("The fast &lt;one&gt;") && !svg.contains("<one>"), "{name}: {svg}");
    }
    let course = fs::read_to_string(folder.join("course-1.svg")).unwrap();
    assert!(course.contains("18 starts: 1 void, 1 failed"), "{course}");
    assert!(
        course.contains("; failed: it &lt;died&gt;") && course.contains("; void: the host took"),
        "{course}"
    );
}

#[test]
fn one_chart_goes_to_standard_output_or_a_file_as_svg_or_png() {
    let home = two_of_a_run();
    let finished = report(&home, &["--format", "svg", "--only-chart", "ranked-2"]);
    finished.assert_out(0, &["<desc>The fast &lt;one&gt; leads with 40,0"]);

    let finished = report(&home, &["--only-chart", "scatter-1", "--output", "one.png"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    let png = fs::read(home.path().join("one.png")).unwrap();
    assert_eq!(&png[..8], b"\x89PNG\r\n\x1a\n");
    // Twice as wide as the chart.
    assert_eq!(u32::from_be_bytes(png[16..20].try_into().unwrap()), 1720);
    assert!(png.len() > 10_000, "{} bytes", png.len());
}

#[test]
fn markdown_shows_charts_by_where_they_are() {
    let home = two_of_a_run();
    let finished = report(&home, &["--output", "site/run.md", "--charts", "site/charts"]);
    assert_eq!(finished.code, 2, "a folder for the text itself is not made: {}", finished.err);
    fs::create_dir(home.path().join("docs")).unwrap();
    let finished = report(&home, &["--output", "docs/run.md", "--charts", "docs/run charts"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    let text = fs::read_to_string(home.path().join("docs/run.md")).unwrap();
    let links: Vec<&str> = text.split("](<").skip(1).filter_map(|rest| rest.split('>').next()).collect();
    assert_eq!(links.len(), 9, "{text}");
    assert!(links.iter().all(|link| home.path().join("docs").join(link).is_file()), "{links:?}");
    let whole = home.path().join("whole");
    for (output, charts) in [
        ("docs/run.md", "charts"),
        ("docs/run.md", "./docs/../docs/inner"),
        ("run.md", "charts"),
        ("./run.md", "."),
        ("docs/run.md", "docs"),
        ("docs/run.md", whole.to_str().unwrap()),
        (whole.join("run.md").to_str().unwrap(), "charts"),
    ] {
        let finished = report(&home, &["--output", output, "--charts", charts]);
        assert_eq!(finished.code, 0, "{output} {charts}: {}", finished.err);
        let file = home.path().join(output);
        let text = fs::read_to_string(&file).unwrap();
        let links: Vec<&str> = text.split("](<").skip(1).filter_map(|rest| rest.split('>').next()).collect();
        let are_there =
            links.iter().all(|link| file.parent().unwrap().join(link).is_file() && !link.starts_with('/'));
        assert!(links.len() == 9 && are_there, "{output} {charts}: {links:?}");
    }
    let words = "![cell 1: requests/s. The fast <one> leads with 40,0";
    assert!(text.contains(words), "{text}");
}

#[test]
fn what_can_not_be_drawn_or_written_is_said_with_the_next_step() {
    let home = two_of_a_run();
    home.write("file", "");
    let refusals: [(&[&str], &str); 7] = [
        (&["--format", "svg"], "has 9 charts: choose one with --only-chart (heat, ranked-1,"),
        (&["--format", "svg", "--output", "all.svg"], "or give a folder for all with --output"),
        (&["--format", "svg", "--only-chart", "pie"], "pie: run 20260101-000000-0000 has heat, ranked-1"),
        (&["--only-chart", "heat"], "--only-chart needs --format svg or --format png"),
        (&["--charts", "there"], "--charts is for --format markdown"),
        (&["--format", "svg", "--output", "file/below"], "name a writable folder"),
        (&["--format", "png", "--only-chart", "heat", "--output", "none/one.png"], "can't be written"),
    ];
    for (args, words) in refusals {
        let finished = report(&home, args);
        assert!(
            finished.code == 2 && finished.err.contains(words) && finished.out.is_empty(),
            "{args:?}: {} {}",
            finished.code,
            finished.err
        );
    }
}

#[test]
fn runs_with_next_to_nothing_have_charts_of_what_there_is() {
    // No start at all.
    let finished = report(&filled(1, 0, |_, _| None), &["--format", "svg", "--output", "charts"]);
    finished.assert_err(2, &["nothing to draw"]);

    // Not one that counts: still every start is shown.
    let home = filled(1, 2, |name, _| {
        Some(MadeStart::measured(name, measured(500, Some("the load generator was the bound"))))
    });
    let finished = report(&home, &["--format", "svg", "--output", "charts"]);
    assert_eq!(
        (finished.code, files(&home.path().join("charts"))),
        (0, vec!["course-1.svg".to_owned()]),
        "{}",
        finished.err
    );

    // One contender, one start.
    let home =
        filled(1, 1, |name, _| (name == "fast").then(|| MadeStart::measured(name, measured(500, None))));
    let finished = report(&home, &["--format", "svg", "--output", "charts"]);
    let expected = ["course-1.svg", "percentiles-1.svg", "ranked-1.svg", "scatter-1.svg"];
    assert_eq!(
        (finished.code, files(&home.path().join("charts"))),
        (0, expected.map(str::to_owned).to_vec()),
        "{}",
        finished.err
    );

    // Not one answer.
    let home = filled(1, 6, |name, _| Some(MadeStart::measured(name, measured(0, None))));
    let finished = report(&home, &["--format", "svg", "--output", "charts"]);
    assert_eq!(finished.code, 0, "{}", finished.err);
    for name in files(&home.path().join("charts")) {
        let svg = fs::read_to_string(home.path().join("charts").join(&name)).unwrap();
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}: {svg}");
    }
}
