//! Each chart for plain data, as text: what changes here must be looked at.

use report::chart::heat::Heat;
use report::chart::load::{Course, LoadChart, Step};
use report::chart::percentiles::{Curve, Percentiles};
use report::chart::ranked::{Ranked, Row};
use report::chart::slope::{Line, Slope};
use report::chart::{Caption, Point};

fn caption(title: &str, finding: &str) -> Caption {
    Caption { title: title.to_owned(), finding: finding.to_owned() }
}

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
    let caption =
        caption("keep-alive", "nginx answers 52,300 requests per second; not surely slower: Go fasthttp");
    let axis = "answers per second".to_owned();
    insta::assert_snapshot!(
        Ranked { caption, axis, rows, ceiling: Some(118_400.0), noise_floor: Some(0.031) }.svg()
    );
}

#[test]
fn a_heat_map() {
    let point = |value: f64, half: f64| Point::new(value, Some(value - half), Some(value + half));
    let caption =
        caption("Rates, as a multiple of nginx's", "fasthttp is faster at hello and slower at files");
    let rows = vec!["nginx".to_owned(), "Go fasthttp".to_owned(), "Node".to_owned()];
    let columns = vec!["hello".to_owned(), "png-50k".to_owned()];
    let ratios = vec![
        vec![point(1.0, 0.0), point(1.0, 0.0)],
        vec![point(1.31, 0.04), point(0.71, 0.05)],
        vec![point(0.98, 0.06), None],
    ];
    insta::assert_snapshot!(Heat { caption, rows, columns, ratios }.svg());
}

#[test]
fn a_slope() {
    let line =
        |label: &str, published: f64, measured: f64| Line { label: label.to_owned(), published, measured };
    let caption = caption("Published against measured", "nginx led then and leads now; Node moved up");
    let lines = vec![
        line("nginx", 351.49, 52_300.0),
        line("Go fasthttp", 341.85, 51_900.0),
        line("Node", 125.97, 18_200.0),
        line("Perl HTTP::Daemon", 66.86, 1_480.0),
        line("Perl HTTP::Server::Simple", 66.37, 1_210.0),
        line("nothing known", 0.0, 12.0),
    ];
    insta::assert_snapshot!(Slope { caption, lines }.svg());
}

#[test]
fn a_course_over_the_load() {
    let step = |offered_per_s: f64, ms: Option<f64>, cores: f64| Step {
        offered_per_s,
        latency_ns: ms.map(|ms| ms * 1e6),
        server_cores: Some(cores),
    };
    let course = |label: &str, knee: f64| Course {
        label: label.to_owned(),
        steps: [0.05, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.05]
            .map(|share| {
                step(knee * share, (share < 1.0).then(|| 0.2 + 0.4 * share / (1.0 - share)), share.min(1.0))
            })
            .to_vec(),
    };
    let caption = caption("Latency over the load", "nginx keeps p99 below 10 ms up to 49,700/s");
    let courses = vec![course("nginx", 52_300.0), course("Go net/http", 23_050.0)];
    insta::assert_snapshot!(LoadChart { caption, percentile: "p99".to_owned(), courses }.svg());
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
    let caption = caption("How long an answer takes", "Node's tail is twice nginx's");
    insta::assert_snapshot!(
        Percentiles { caption, curves: vec![curve("nginx", 1e6), curve("Node", 2e6)] }.svg()
    );
}
