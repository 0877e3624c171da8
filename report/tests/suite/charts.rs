//! Every chart, for anything that it may be given: well-formed, no coordinate that is no number, nothing outside the
//! frame, no two texts on one another.

use crate::made_up::exact_share;
use model::Metric;
use model::metric::Percentile;
use proptest::prelude::*;
use report::chart::heat_map::HeatMap;
use report::chart::history::{Mark, Panel, Timeline};
use report::chart::load::{LoadChart, LoadCurve, Step};
use report::chart::percentiles::{Curve, Percentiles};
use report::chart::ranked::{Ranked, Row};
use report::chart::scatter::{Bubble, Scatter};
use report::chart::slope::{Line, Slope};
use report::chart::trials::{Row as TrialsRow, StartState, Trial, Trials};
use report::chart::{Caption, Point, Unit};
use roxmltree::{Document, Node};

/// Left, top, right, bottom.
type Frame = (f64, f64, f64, f64);

fn number(node: &Node, name: &str) -> f64 {
    let text = node.attribute(name).unwrap_or_else(|| panic!("{name} is missing in {node:?}"));
    text.parse().unwrap_or_else(|_| panic!("{name}=\"{text}\" is no number"))
}

/// The place of a text, by what letters take at most.
fn frame_of_text(node: &Node) -> Frame {
    let shown: String = node.children().filter(Node::is_text).filter_map(|n| n.text()).collect();
    let size = if node.attribute("class").unwrap().contains("title") { 14.0 } else { 12.0 };
    let (x, y, width) = (number(node, "x"), number(node, "y"), shown.chars().count() as f64 * size * 0.55);
    let left = match node.attribute("text-anchor").unwrap() {
        "start" => x,
        "middle" => x - width / 2.0,
        _ => x - width,
    };
    (left, y - 9.0, left + width, y + 2.0)
}

/// The smallest that holds all of x, y, x, y, …
fn around(all: &[f64]) -> Frame {
    assert!(all.len() >= 4 && all.len().is_multiple_of(2), "{all:?}");
    let ends = |from: usize| {
        let values = || all.iter().skip(from).step_by(2).copied();
        assert!(values().all(f64::is_finite), "{all:?}");
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (ends(0), ends(1));
    (left, top, right, bottom)
}

fn frame_of_strokes(node: &Node) -> Frame {
    let text = node.attribute("d").unwrap();
    let numbers = text.split(['M', 'L', ' ']).filter(|t| !t.is_empty()).map(|t| t.parse().unwrap());
    around(&numbers.collect::<Vec<_>>())
}

fn frame(node: &Node) -> Option<Frame> {
    let [n1, n2, n3, n4] = match node.tag_name().name() {
        "line" => ["x1", "y1", "x2", "y2"].map(|name| number(node, name)),
        "rect" => {
            let [x, y, w, h] = ["x", "y", "width", "height"].map(|name| number(node, name));
            assert!(w >= 0.0 && h >= 0.0, "{node:?}");
            [x, y, x + w, y + h]
        }
        "circle" => {
            let [x, y, r] = ["cx", "cy", "r"].map(|name| number(node, name));
            [x - r, y - r, x + r, y + r]
        }
        "polyline" => {
            let text = node.attribute("points").unwrap();
            let all: Vec<f64> =
                text.split([' ', ',']).filter(|t| !t.is_empty()).map(|t| t.parse().unwrap()).collect();
            return Some(around(&all));
        }
        "path" => return Some(frame_of_strokes(node)),
        "text" => return Some(frame_of_text(node)),
        _ => return None,
    };
    Some((n1.min(n3), n2.min(n4), n1.max(n3), n2.max(n4)))
}

fn check(svg: &str) {
    let document = Document::parse(svg).unwrap_or_else(|e| panic!("{e}: {svg}"));
    let root = document.root_element();
    let (width, height) = (number(&root, "width"), number(&root, "height"));
    assert!(!root.attribute("aria-label").unwrap().is_empty());
    let nodes = || root.descendants();
    for node in nodes() {
        if let Some((left, top, right, bottom)) = frame(&node) {
            assert!([left, top, right, bottom].iter().all(|v| v.is_finite()), "{node:?}");
            let is_inside = left >= -0.5 && top >= -0.5 && right <= width + 0.5 && bottom <= height + 0.5;
            assert!(
                is_inside,
                "{node:?} leaves the frame of {width} × {height}: {left} {top} {right} {bottom}\n{svg}"
            );
        }
    }
    let texts: Vec<(Node, Frame)> =
        nodes().filter(|n| n.has_tag_name("text")).map(|n| (n, frame_of_text(&n))).collect();
    for (i, (one, a)) in texts.iter().enumerate() {
        for (other, b) in &texts[i + 1..] {
            let do_overlap = a.0 < b.2 && b.0 < a.2 && a.1 < b.3 && b.1 < a.3;
            let empty = one.text().is_none() || other.text().is_none();
            assert!(!do_overlap || empty, "{:?} lies on {:?}\n{svg}", one.text(), other.text());
        }
    }
}

fn caption() -> impl Strategy<Value = Caption> {
    ("\\PC{0,80}", "\\PC{0,400}").prop_map(|(title, finding)| Caption::new(title, format!("x{finding}")))
}

/// What people call servers, and what breaks drawings.
fn label() -> impl Strategy<Value = String> {
    prop_oneof!["[a-z]{1,12}", "[A-Za-z <>&\"/.]{0,60}", Just("漢字のサーバー".to_owned())]
}

/// Ratios of 1 to 10,000, and what should never come.
fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        9 => (0.0..4.0_f64).prop_map(|power| 37.0 * 10_f64.powf(power)),
        1 => prop_oneof![Just(0.0), Just(f64::MIN_POSITIVE), Just(1e15), Just(f64::NAN), Just(f64::INFINITY), Just(-3.0)],
    ]
}

fn point() -> impl Strategy<Value = Option<Point>> {
    (value(), proptest::option::of((0.5..1.0_f64, 1.0..2.0_f64))).prop_map(|(value, around)| {
        Point::new(value, around.map(|(low, _)| low * value), around.map(|(_, high)| high * value))
    })
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let row = (label(), point(), any::<bool>(), proptest::option::of(1..9_usize));
    let row = row.prop_map(|(label, point, is_floor, tier)| Row { label, point, is_floor, tier });
    proptest::collection::vec(row, 0..=60)
}

fn unit() -> impl Strategy<Value = Unit> {
    prop_oneof![Just(Unit::Rate), Just(Unit::Time), Just(Unit::Bytes), Just(Unit::Ratio)]
}

fn metric() -> impl Strategy<Value = Metric> {
    prop_oneof![Just(Metric::Rate), Just(Metric::Latency(Percentile::P99)), Just(Metric::Rss)]
}

fn trial() -> impl Strategy<Value = Trial> {
    let state = prop_oneof![
        4 => Just(StartState::Valid),
        1 => "\\PC{0,40}".prop_map(StartState::Void),
        1 => "\\PC{0,40}".prop_map(StartState::Failed),
    ];
    let place = (0..900_usize, prop_oneof![9 => 0..40_usize, 1 => Just(usize::MAX / 2)], 0..3_usize);
    (place, proptest::option::of(value()), state).prop_map(|((nth, round, copy), figure, state)| Trial {
        nth,
        round,
        copy,
        figure,
        state,
    })
}

fn panel() -> impl Strategy<Value = Panel> {
    let mark = (0..120_usize, "\\PC{0,30}", any::<bool>()).prop_map(|(at, words, is_own)| Mark {
        at,
        words,
        is_own,
    });
    let (points, steps) = (proptest::collection::vec(point(), 0..90), proptest::collection::vec(mark, 0..5));
    (label(), any::<bool>(), unit(), points, steps).prop_map(|(label, is_reference, unit, points, steps)| {
        Panel { label, is_reference, unit, quantity: "of its median", points, steps }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_ranking(caption in caption(), rows in rows(), unit in unit(), ceiling in proptest::option::of(value()), floor in proptest::option::of(0.0..0.5_f64)) {
        check(&Ranked { caption, axis: "requests/s".to_owned(), unit, rows, ceiling, noise_floor: floor }.svg());
    }

    #[test]
    fn what_an_answer_costs(caption in caption(), bubbles in proptest::collection::vec((label(), point(), point(), proptest::option::of(value()), any::<bool>()), 0..=60)) {
        let bubble = |(label, cpu, p99, rss_bytes, is_reference)| Some(Bubble { label, cpu_ns: cpu?, p99_ns: p99?, rss_bytes, is_reference });
        let bubbles = bubbles.into_iter().filter_map(bubble).collect();
        check(&Scatter { caption, axis: "p99 at saturation".to_owned(), bubbles }.svg());
    }

    #[test]
    fn every_trial(caption in caption(), metric in metric(), rows in proptest::collection::vec((label(), proptest::collection::vec(trial(), 0..14)), 0..=60)) {
        let rows = rows.into_iter().map(|(label, trials)| TrialsRow { label, trials }).collect();
        check(&Trials { caption, metric, rows }.svg());
    }

    #[test]
    fn a_history(caption in caption(), days in proptest::collection::vec("[0-9]{4}-[0-9]{2}-[0-9]{2}", 0..90), panels in proptest::collection::vec(panel(), 0..=60)) {
        check(&Timeline { caption, days, panels }.svg());
    }

    #[test]
    fn a_heat_map(caption in caption(), rows in proptest::collection::vec((label(), proptest::collection::vec(point(), 0..9)), 0..=60), columns in proptest::collection::vec(label(), 0..9)) {
        let shares = |(label, row): (String, Vec<Option<Point>>)| (label, row.into_iter().map(|point| point.map(exact_share)).collect());
        let (rows, ratios) = rows.into_iter().map(shares).unzip();
        check(&HeatMap { caption, rows, columns, ratios }.svg());
    }

    #[test]
    fn a_slope(caption in caption(), is_time in any::<bool>(), lines in proptest::collection::vec((label(), value(), value()), 0..=60)) {
        let lines = lines.into_iter().map(|(label, published, measured)| Line { label, published, measured }).collect();
        let unit = if is_time { Unit::Time } else { Unit::Rate };
        check(&Slope { caption, unit, lines }.svg());
    }

    #[test]
    fn a_course_over_the_load(caption in caption(), load_curves in proptest::collection::vec((label(), proptest::collection::vec((value(), proptest::option::of(value()), proptest::option::of(0.0..64.0_f64)), 0..12)), 0..=60)) {
        let step = |(offered_per_s, latency_ns, server_cores)| Step { offered_per_s, latency_ns, server_cores };
        let load_curves = load_curves.into_iter().map(|(label, steps)| LoadCurve { label, steps: steps.into_iter().map(step).collect() }).collect();
        check(&LoadChart { caption, percentile: "p99".to_owned(), load_curves }.svg());
    }

    #[test]
    fn percentile_curves(caption in caption(), curves in proptest::collection::vec((label(), proptest::collection::vec((0.0..1.0_f64, value()), 0..30)), 0..=60)) {
        let curves = curves.into_iter().map(|(label, points)| Curve { label, points }).collect();
        check(&Percentiles { caption, axis: "latency".to_owned(), curves }.svg());
    }
}
