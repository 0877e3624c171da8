//! The formats of a run: what stays readable where there is little room, what is never shown as markup, and what tidy
//! rows hold.

use crate::made_up::*;
use judge::example::in_heats;
use model::heat::{InCell, StartOutcome};
use model::*;
use report::{RunReport, TextStyle};
use std::time::Duration;
use unicode_width::UnicodeWidthStr;

fn look(columns: usize) -> TextStyle {
    TextStyle { width: Some(columns), ..TextStyle::default() }
}

/// What a server may call itself.
const EVIL: &str = "<script>alert(1)</script> a|b `c` **d** [e](f) \x1b[2J\nnext";

fn evil() -> findings::Findings {
    let mut f = findings();
    EVIL.clone_into(&mut f.title);
    f.source = Some(EVIL.to_owned());
    EVIL.clone_into(&mut f.missing[0].why);
    EVIL.clone_into(&mut f.cells[0].title);
    let c = &mut f.cells[0].contenders[1];
    (c.title, c.version, c.notes) = (EVIL.to_owned(), Some(EVIL.to_owned()), vec![EVIL.to_owned()]);
    f
}

#[test]
fn a_ranking_in_a_narrow_terminal() {
    insta::assert_snapshot!("ranking_at_80", report::run::document(&findings()).terminal(&look(80)));
    insta::assert_snapshot!("ranking_at_60", report::run::document(&findings()).terminal(&look(60)));
    insta::assert_snapshot!(
        "race_at_60",
        report::run::document(&race(80_000.0, 100_000.0, 0.011)).terminal(&look(60))
    );
}

#[test]
fn a_ranking_in_ascii_and_in_colour() {
    let ascii = report::run::document(&findings()).terminal(&TextStyle { is_ascii: true, ..look(80) });
    assert!(ascii.is_ascii(), "{ascii}");
    insta::assert_snapshot!("ranking_in_ascii", ascii);
    let colour = report::run::document(&findings()).terminal(&TextStyle { has_colour: true, ..look(80) });
    // As a reader sees it, and as it is kept here.
    insta::assert_snapshot!("ranking_in_colour", colour.replace('\x1b', "␛"));
    assert_eq!(
        plain(&colour),
        report::run::document(&findings()).terminal(&look(80)),
        "colours change nothing else"
    );
}

fn plain(text: &str) -> String {
    [0, 31, 32, 33].iter().fold(text.to_owned(), |text, code| text.replace(&format!("\x1b[{code}m"), ""))
}

#[test]
fn no_line_is_wider_than_the_terminal_and_no_figure_is_lost() {
    let wide = report::run::document(&findings()).terminal(&TextStyle::default());
    let figures = |text: &str| {
        let is_figure = |word: &&str| word.contains(|c: char| c.is_ascii_digit());
        let mut all: Vec<String> = text.split_whitespace().filter(is_figure).map(str::to_owned).collect();
        all.sort();
        all.dedup();
        all
    };
    for columns in 45..200 {
        let shown = report::run::document(&findings()).terminal(&look(columns));
        for line in shown.lines().filter(|line| line.trim_start().contains(' ')) {
            assert!(line.width() <= columns, "{columns}: {line}");
        }
        // But for the chart's scale, and the versions of names that are shortened.
        let missing: Vec<String> = figures(&wide)
            .into_iter()
            .filter(|f| !figures(&shown).contains(f) && !["5000", "1.2.3"].contains(&f.as_str()))
            .collect();
        assert_eq!(missing, Vec::<String>::new(), "{columns}: {shown}");
    }
}

#[test]
fn what_others_brought_is_text_and_nothing_else() {
    let text = report::run::document(&evil()).terminal(&look(80));
    assert!(!text.contains('\x1b') && text.contains("<script>"), "{text}");
    let markdown = report::run::document(&evil()).markdown();
    insta::assert_snapshot!("markup_in_markdown", markdown);
    for raw in ["<script", "a|b", "**d**", "[e](", "\nnext", "\x1b["] {
        let is_raw = |at: usize| !markdown[..at].ends_with('\\') && !in_a_block(&markdown, at);
        assert!(!markdown.match_indices(raw).any(|(at, _)| is_raw(at)), "{raw:?}: {markdown}");
    }
}

/// Within a block of text nothing is markup.
fn in_a_block(markdown: &str, at: usize) -> bool {
    markdown[..at].matches("```").count() % 2 == 1
}

/// A trial that was measured, one that failed and a void one; the words of each have all that must be escaped.
pub fn trials() -> (Run, Measured) {
    let (_, tally, verdict) = measurement(Load::Closed { connections: 8, per_connection: None });
    let usage = Some(Usage { cpu_ns: 950_000_000, rss_max_bytes: 4096, ..Usage::default() });
    let start = |copy, heat| Start {
        copy,
        took_ns: 812_345_678,
        conditions: Some(Conditions { steal_ppm: Some(0), ..Conditions::default() }),
        ..in_heats::start(0, heat, "A", &[])
    };
    let measured = |copy, heat, measurement| {
        let in_cell = InCell { measurement: Some(Box::new(measurement)), ..in_heats::in_cell() };
        Start { cells: [(0, in_cell)].into(), ..start(copy, heat) }
    };
    let nothing = Tally { duration_ns: 2_000_000_000, ..Tally::default() };
    let void = Verdict { valid: false, reasons: vec!["no answer, none".to_owned()], ..verdict.clone() };
    let empty = Measurement { tally: nothing, usage: Some(Usage::default()), verdict: void };
    let why = "it ended (exit status: 1), with \"no\"\n    memory".to_owned();
    let failed = Start { outcome: StartOutcome::Failed(why), ..start(1, 0) };
    let starts = vec![measured(0, 0, Measurement { tally, usage, verdict }), failed, measured(0, 1, empty)];
    let heats = [0, 1].map(|number| Heat { number, ..in_heats::heat(&["A"]) }).into();
    let mut run = run();
    let load = Load::Open {
        rate_per_s: "1k..3k/2s".parse().unwrap(),
        connections: 8,
        arrivals: Arrivals::Poisson,
        per_connection: None,
    };
    run.study.cells = vec![Cell::plain("a \"cell\"".to_owned(), "hello".to_owned(), load)];
    run.study.design.measure = Duration::from_secs(2);
    (run, Measured { heats, starts, slices: Vec::new() })
}

#[test]
fn trials_as_csv() {
    let (run, measured) = trials();
    let mut found = findings();
    let contender = "A".to_owned();
    let start = findings::StartFigure { contender, copy: 0, round: 0, heat: 0, figure: 10_000.0 };
    found.cells[0].in_heats.starts = vec![start];
    let told = RunReport { run: &run, measured: &measured, findings: &found };
    insta::assert_snapshot!(report::trials::records(&told).csv());
    let none = report::trials::records(&RunReport { measured: &Measured::default(), ..told }).csv();
    assert_eq!(none.lines().count(), 1, "a head and nothing else");
}

#[test]
fn what_the_host_and_others_took_is_that_of_the_measurement_where_it_is_known() {
    let (run, mut measured) = trials();
    let first = measured.starts[0].cells.get_mut(&0).and_then(|of| of.measurement.as_mut()).unwrap();
    first.usage = Some(Usage { steal_ppm: Some(7_000), others_ppm: Some(12_000), ..Usage::default() });
    let told = RunReport { run: &run, measured: &measured, findings: &findings() };
    let tsv = report::trials::records(&told).tsv();
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    let [steal, others] =
        ["steal_ppm", "others_ppm"].map(|name| rows[0].iter().position(|own| *own == name).unwrap());
    assert_eq!((rows[1][steal], rows[1][others]), ("7000", "12000"));
    assert_eq!((rows[2][steal], rows[2][others]), ("0", ""), "it failed, and only its conditions are known");
}

#[test]
fn trials_as_tsv_have_the_columns_of_the_csv_and_a_line_each() {
    let (run, measured) = trials();
    let told = RunReport { run: &run, measured: &measured, findings: &findings() };
    let (csv, tsv) = (report::trials::records(&told).csv(), report::trials::records(&told).tsv());
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(rows.len(), 1 + measured.starts.len(), "{tsv}");
    assert_eq!(rows[0].join(","), csv.lines().next().unwrap());
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{tsv}");
    let reasons = rows[0].iter().position(|name| *name == "reasons").unwrap();
    assert_eq!(rows[2][reasons], r#"it ended (exit status: 1), with "no"\n    memory"#);
    assert_eq!((rows[2][3], rows[3][reasons]), (r#"a "cell""#, "no answer, none"));
}
