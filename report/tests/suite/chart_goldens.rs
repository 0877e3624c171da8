//! Each chart for plain data, as text: what changes here must be looked at.

use crate::made_up::exact_share;
use model::Metric;
use report::chart::heat_map::HeatMap;
use report::chart::history::{Mark, Panel, Timeline};
use report::chart::load::{LoadChart, LoadCurve, Step};
use report::chart::percentiles::{Curve, Percentiles};
use report::chart::ranked::{Ranked, Row};
use report::chart::scatter::{Bubble, Scatter};
use report::chart::slope::{Line, Slope};
use report::chart::trials::{Row as TrialsRow, StartState, Trial, Trials};
use report::chart::{Caption, Point, Unit};

#[test]
fn a_ranking() {
    let row = |label: &str, value: f64, half: f64, tier: usize, is_floor: bool| {
        let point = Point::new(value, Some(value * (1.0 - half)), Some(value * (1.0 + half)));
        Row { label: label.to_owned(), point, is_floor, tier: Some(tier) }
    };
    let unknown = Row { label: "perl-dancer".to_owned(), point: None, is_floor: false, tier: None };
    let rows = vec![
        row("drome serve", 118_400.0, 0.01, 1, true),
        row("nginx", 52_300.0, 0.02, 2, false),
        row("Go fasthttp", 51_900.0, 0.03, 2, false),
        row("Go net/http", 23_050.0, 0.02, 3, false),
        row("Perl Mojolicious under hypnotoad & friends", 1_480.0, 0.08, 4, false),
        unknown,
    ];
    let caption = Caption::new(
        "keep-alive: requests/s",
        "nginx leads with 52,300/s; no significant difference from Go fasthttp.",
    );
    let axis = "requests/s".to_owned();
    let (unit, ceiling, noise_floor) = (Unit::Rate, Some(118_400.0), Some(0.031));
    insta::assert_snapshot!(Ranked { caption, axis, unit, rows, ceiling, noise_floor }.svg());
}

#[test]
fn a_heat_map() {
    let point = |value: f64, half: f64| Point::new(value, Some(value - half), Some(value + half));
    let caption =
        Caption::new("Requests/s, as a multiple of nginx's", "fasthttp is faster at hello, slower at files.");
    let rows = vec!["nginx".to_owned(), "Go fasthttp".to_owned(), "Node".to_owned()];
    let columns = vec!["hello".to_owned(), "png-50k".to_owned()];
    let ratios = vec![
        vec![point(1.0, 0.0), point(1.0, 0.0)],
        vec![point(1.31, 0.04), point(0.71, 0.05)],
        vec![point(0.98, 0.06), None],
    ];
    let shares = |row: Vec<Option<Point>>| row.into_iter().map(|point| point.map(exact_share)).collect();
    let ratios = ratios.into_iter().map(shares).collect();
    insta::assert_snapshot!(HeatMap { caption, rows, columns, ratios }.svg());
}

#[test]
fn a_slope() {
    let line =
        |label: &str, published: f64, measured: f64| Line { label: label.to_owned(), published, measured };
    let caption = Caption::new("Published and measured", "nginx led then and leads now; Node moved up.");
    let lines = vec![
        line("nginx", 351.49, 52_300.0),
        line("Go fasthttp", 341.85, 51_900.0),
        line("Perl HTTP::Daemon", 166.86, 1_480.0),
        line("Node", 125.97, 18_200.0),
        line("Perl HTTP::Server::Simple", 66.37, 1_210.0),
        line("nothing known", 0.0, 12.0),
    ];
    insta::assert_snapshot!(Slope { caption, unit: Unit::Rate, lines }.svg());
}

#[test]
fn a_course_over_the_load() {
    let step = |offered_per_s: f64, ms: Option<f64>, cores: f64| Step {
        offered_per_s,
        latency_ns: ms.map(|ms| ms * 1e6),
        server_cores: Some(cores),
    };
    let load_curve = |label: &str, knee: f64| LoadCurve {
        label: label.to_owned(),
        steps: [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05]
            .map(|share| {
                step(knee * share, (share < 1.0).then(|| 0.2 + 0.4 * share / (1.0 - share)), share.min(1.0))
            })
            .to_vec(),
    };
    let caption = Caption::new("Latency over the load", "nginx keeps p99 below 10 ms up to 49,700/s.");
    let load_curves = vec![load_curve("nginx", 52_300.0), load_curve("Go net/http", 23_050.0)];
    insta::assert_snapshot!(LoadChart { caption, percentile: "p99".to_owned(), load_curves }.svg());
}

#[test]
fn percentile_curves() {
    let curve = |label: &str, scale: f64| Curve {
        label: label.to_owned(),
        points: (0..=40)
            .map(|i| 1.0 - 10_f64.powf(-f64::from(i) / 8.0))
            .map(|share| (share, scale * (0.3 - (1.0 - share).ln())))
            .collect(),
    };
    let caption = Caption::new("How long a request takes", "Node's tail is twice nginx's.");
    let curves = vec![curve("nginx", 1e6), curve("Node", 2e6)];
    insta::assert_snapshot!(Percentiles { caption, axis: "latency".to_owned(), curves }.svg());
}

#[test]
fn what_an_answer_costs() {
    let around = |value: f64, half: f64| {
        Point::new(value, Some(value * (1.0 - half)), Some(value * (1.0 + half))).unwrap()
    };
    let bubble = |label: &str, us: f64, ms: f64, mb: Option<f64>| Bubble {
        label: label.to_owned(),
        cpu_ns: around(us * 1e3, 0.03),
        p99_ns: around(ms * 1e6, 0.08),
        rss_bytes: mb.map(|mb| mb * 1e6),
        is_reference: label == "drome serve",
    };
    let bubbles = vec![
        bubble("drome serve", 6.3, 0.13, Some(3.1)),
        bubble("nginx", 9.6, 0.21, Some(12.8)),
        bubble("Go fasthttp", 10.1, 0.22, Some(21.0)),
        bubble("Go net/http", 31.0, 0.9, Some(28.0)),
        bubble("Java Netty", 22.0, 0.6, Some(310.0)),
        bubble("Perl Mojolicious", 610.0, 14.0, None),
    ];
    let caption = Caption::new("keep-alive: CPU per request, p99 and memory", "nginx uses the least CPU.");
    insta::assert_snapshot!(Scatter { caption, axis: "p99 at saturation".to_owned(), bubbles }.svg());
}

#[test]
fn every_trial() {
    let row = |label: &str, rate: f64, copies: usize, offset: usize| {
        let trial = |i: usize| {
            let (round, copy) = (i / copies, i % copies);
            let drift = 1.0 - 0.01 * round as f64;
            let state = match (label, round) {
                ("Node", 2) => StartState::Void("the host took 20 % of the measured CPUs' time".to_owned()),
                ("Perl", 3) => StartState::Failed("it did not start".to_owned()),
                _ => StartState::Valid,
            };
            let is_measured = !matches!(state, StartState::Failed(_));
            let figure = is_measured.then_some(rate * drift);
            Trial { nth: round * 5 + offset + copy, round, copy, figure, state }
        };
        TrialsRow { label: label.to_owned(), trials: (0..6 * copies).map(trial).collect() }
    };
    let rows = vec![
        row("drome serve", 118_400.0, 2, 0),
        row("nginx", 52_300.0, 1, 2),
        row("Node", 18_200.0, 1, 3),
        row("Perl", 1_480.0, 1, 4),
    ];
    let caption = Caption::new("keep-alive: every start", "30 starts: 1 void, 1 failed.");
    insta::assert_snapshot!(Trials { caption, metric: Metric::Rate, rows }.svg());
}

#[test]
fn a_history() {
    const RUNS: usize = 14;
    let point = |value: f64| Point::new(value, Some(value * 0.985), Some(value * 1.015));
    let wave = |i: usize| 1.0 + 0.008 * (i as f64 * 2.3).sin();
    let panel = |label: &str, unit: Unit, level: &dyn Fn(usize) -> Option<f64>, steps: Vec<Mark>| {
        let points = (0..RUNS).map(|i| point(level(i)? * wave(i))).collect();
        let is_reference = unit == Unit::Rate;
        let quantity = if is_reference { "requests/s" } else { "of reference" };
        Panel { label: label.to_owned(), is_reference, unit, quantity, points, steps }
    };
    let mark = |at: usize, words: &str, is_own: bool| Mark { at, words: words.to_owned(), is_own };
    let panels = vec![
        panel(
            "drome serve (reference)",
            Unit::Rate,
            &|i| Some(if i < 5 { 150_000.0 } else { 105_000.0 }),
            vec![mark(5, "−30.0 % (−31.2 to −28.9)", false)],
        ),
        panel(
            "nginx",
            Unit::Ratio,
            &|i| Some(if i < 9 { 0.66 } else { 0.55 }),
            vec![mark(5, "+0.4 %", false), mark(9, "−16.7 % (−17.5 to −15.6), 1.2 → 1.3", true)],
        ),
        panel("Node.js", Unit::Ratio, &|i| (i > 3 && i != 8).then_some(0.12), Vec::new()),
    ];
    let days = (0..RUNS).map(|i| format!("2026-01-{:02}", i + 1)).collect();
    let caption = Caption::new("keep-alive: history", "14 runs: nginx 16.7 % slower from 2026-01-10 on.");
    insta::assert_snapshot!(Timeline { caption, days, panels }.svg());
}
