//! Tests of flame graphs as they are drawn: names are text, widths are CPU time, and what is zoomed or searched is what is shown.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use profile::{ProfileError, Report, Side, Work, example};

const NOTHING: View<'static> = View { zoomed: 0, sought: "" };

fn tree(text: &str) -> CallTree {
    CallTree::of(&example::folded(text), 0.0)
}

fn graph(tree: &CallTree) -> Graph<'_> {
    Graph {
        title: "CPU time of A",
        tree,
        cpu_ns_per_answer: Some(20_000.0),
        changes_ns: None,
        least_share: 0.001,
    }
}

fn drawn(tree: &CallTree, view: &View<'_>) -> String {
    graph(tree).draw(view, |at| Some(format!("?frame={at}"))).into_string()
}

/// A box as it is drawn.
#[derive(Debug)]
struct Drawn {
    label: String,
    level: usize,
    left: f64,
    width: f64,
    is_hidden: bool,
    is_found: bool,
}

/// The boxes of a page, in order.
fn boxes(page: &str) -> Vec<Drawn> {
    let one = |part: &str| {
        let value = |name: &str| {
            let (_, after) =
                part.split_once(&format!(" {name}=\"")).unwrap_or_else(|| panic!("no {name}: {part}"));
            after.split('"').next().unwrap().to_owned()
        };
        let percent = |name: &str| value(name).trim_end_matches('%').parse::<f64>().unwrap();
        let (head, shape) = part.split_once('>').unwrap();
        assert!(shape.contains("<title>") && shape.contains("<text"), "{part}");
        Drawn {
            label: value("aria-label"),
            level: value("aria-level").parse().unwrap(),
            left: percent("x"),
            width: percent("width"),
            is_hidden: head.contains(" hidden"),
            is_found: head.contains(" found"),
        }
    };
    page.split("<a class=\"frame").skip(1).map(one).collect()
}

fn labels<'d>(boxes: impl Iterator<Item = &'d Drawn>) -> Vec<&'d str> {
    boxes.map(|drawn| drawn.label.split(',').next().unwrap()).collect()
}

#[test]
fn a_box_has_a_name_with_its_share_and_its_time() {
    let page = drawn(&tree("main;write_[k] 30\nmain;jitted_[j] 10\n"), &NOTHING);
    assert!(page.starts_with("<svg class=\"flame\" width=\"100%\" height=\"60\" role=\"tree\""), "{page}");
    assert!(page.contains("aria-label=\"write_[k], 75.0 % of CPU time, 15.0 µs per answer\""), "{page}");
    assert!(page.contains("<title>write_[k]\n75.0 % of CPU time, 15.0 µs per answer</title>"), "{page}");
    for (class, name) in [("kernel", "write_"), ("jit", "jitted"), ("user", "main")] {
        let of_class = page.split("<a class=\"").find(|part| part.contains(&format!("aria-label=\"{name}")));
        assert!(of_class.unwrap().starts_with(&format!("frame {class}")), "{page}");
    }
    let tree = tree("main 1");
    let unknown = Graph { cpu_ns_per_answer: None, ..graph(&tree) }.draw(&NOTHING, |_| None).into_string();
    assert!(unknown.contains("aria-label=\"main, 100.0 % of CPU time\""), "{unknown}");
}

#[test]
fn names_of_functions_are_text_wherever_they_stand() {
    let hostile = "<script>alert(1)</script>\"' onload=\"x&amp</title></svg>";
    let tree = tree(&format!("main;{hostile} 3\n"));
    let pages = [
        drawn(&tree, &NOTHING),
        drawn(&tree, &View { zoomed: 2, sought: hostile }),
        html! { (graph(&tree).matched(hostile)) (graph(&tree).words_of_zoomed(&View { zoomed: 2, sought: "" })) }
            .into_string(),
    ];
    for page in &pages {
        assert!(!page.contains("<script") && !page.contains("\" onload"), "{page}");
        assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot;"), "{page}");
    }
    assert_eq!(
        (pages[0].matches("</svg>").count(), pages[0].matches("</title>").count()),
        (4, 3),
        "{}",
        pages[0]
    );
    assert!(!pages[0].contains("style="), "the policy forbids styles of elements");
}

#[test]
fn the_calls_of_a_function_are_within_its_width_and_add_up_to_it() {
    let tree = tree("main;a;x 20\nmain;a;y 30\nmain;a 7\nmain;b;x 40\nthread;c 3\n");
    let page = drawn(&tree, &NOTHING);
    let boxes = boxes(&page);
    assert_eq!(boxes.len(), tree.calls().len());
    assert_eq!((boxes[0].left, boxes[0].width), (0.0, 100.0));
    for (at, (drawn, call)) in boxes.iter().zip(tree.calls()).enumerate() {
        let inside = boxes[at + 1..].iter().take_while(|other| other.level > drawn.level);
        let callees: Vec<&Drawn> = inside.filter(|other| other.level == drawn.level + 1).collect();
        let widths: f64 = callees.iter().map(|callee| callee.width).sum();
        let own = 100.0 * call.own_samples as f64 / 100.0;
        assert!((widths + own - drawn.width).abs() < 0.001, "{drawn:?}: {widths} and {own}");
        let mut left = drawn.left;
        for callee in callees {
            assert!(
                (callee.left - left).abs() < 0.001,
                "{callee:?} is not beside the one before it at {left}"
            );
            left += callee.width;
        }
    }
}

#[test]
fn what_is_zoomed_and_its_callers_are_as_wide_as_the_picture() {
    let tree = tree("main;a;x 20\nmain;a;y 60\nmain;b;x 10\nthread;c 10\n");
    let names: Vec<&str> = tree.calls().iter().map(|call| call.frame.as_str()).collect();
    assert_eq!(names, ["all", "main", "a", "x", "y", "b", "x", "thread", "c"]);
    let page = drawn(&tree, &View { zoomed: 2, sought: "" });
    let boxes = boxes(&page);
    let shown = || boxes.iter().filter(|drawn| !drawn.is_hidden);
    assert_eq!(labels(shown()), ["all", "main", "a", "x", "y"]);
    let places: Vec<(f64, f64)> = shown().map(|drawn| (drawn.left, drawn.width)).collect();
    assert_eq!(places, [(0.0, 100.0), (0.0, 100.0), (0.0, 100.0), (0.0, 25.0), (25.0, 75.0)]);
    // One box can be reached by the tabulator: the one that is zoomed.
    assert_eq!(page.matches("tabindex=\"0\"").count(), 1);
    assert!(page.contains("href=\"?frame=2\" role=\"treeitem\" aria-level=\"3\""), "{page}");
    assert_eq!(
        graph(&tree).words_of_zoomed(&View { zoomed: 2, sought: "" }),
        "a, 80.0 % of CPU time, 16.0 µs per answer"
    );
    for zoomed in [9, usize::MAX] {
        assert_eq!(
            drawn(&tree, &View { zoomed, sought: "" }),
            drawn(&tree, &NOTHING),
            "there is no such box"
        );
    }
}

#[test]
fn a_search_marks_functions_and_says_their_share_of_the_cpu_time() {
    let tree = tree("main;Walk;walk 40\nmain;other;walk 20\nmain;other 40\n");
    let page = drawn(&tree, &View { zoomed: 0, sought: "wALK" });
    let boxes = boxes(&page);
    assert_eq!(labels(boxes.iter().filter(|drawn| drawn.is_found)), ["Walk", "walk", "walk"]);
    let told = graph(&tree).matched("wALK");
    assert!(told.starts_with("60.0 % of the CPU time") && told.contains("“wALK”"), "once: {told}");
    assert_eq!(graph(&tree).matched("none"), "No function in this graph matches “none”.");
    assert_eq!(graph(&tree).matched(""), "");
    let none = drawn(&tree, &NOTHING);
    assert!(!none.contains("found"), "{none}");
}

#[test]
fn what_is_too_narrow_is_left_out() {
    let tree = tree("main;wide 9989\nmain;just 10\nmain;narrow;deep 1\n");
    assert_eq!(tree.calls().len(), 6);
    let page = drawn(&tree, &NOTHING);
    assert_eq!(labels(boxes(&page).iter()), ["all", "main", "just", "wide"]);
    assert!(page.contains("height=\"60\""), "the lowest row is that of the box that is drawn: {page}");
    let narrow = tree.calls().iter().position(|call| call.frame == "narrow").unwrap();
    assert_eq!(drawn(&tree, &View { zoomed: narrow, sought: "" }), page, "it can't be zoomed either");
}

const A: &str = "# period_ns=1000000\nmain;handle;write_[k] 60\nmain;handle;<a & b>::parse 40\n";

fn report(text: &str) -> Report {
    let work = Work { answers: 100, cpu_ns: None };
    Report { work, profile: example::folded(text), ..Report::default() }
}

fn side<'r>(name: &'r str, report: &'r Report) -> Side<'r> {
    Side { name, profile: &report.profile, work: report.work }
}

fn assert_well_formed(svg: &str) {
    let tree = roxmltree::Document::parse(svg).unwrap();
    assert_eq!(tree.root_element().tag_name().name(), "svg");
    assert!(
        !svg.contains("href=") && !svg.contains("@import") && !svg.contains("src=") && !svg.contains("url("),
        "self-contained"
    );
}

#[test]
fn a_file_is_well_formed_and_has_every_box() {
    let svg = file::picture_alone(&report(A), "nginx & co").unwrap();
    assert_well_formed(&svg);
    for text in [
        ">nginx &amp; co</text>",
        "aria-label=\"handle, 100.0 % of CPU time, 1.00 ms per answer\"",
        "aria-label=\"write_[k], 60.0 % of CPU time, 600 µs per answer\"",
        "&lt;a &amp; b&gt;::parse",
        "prefers-color-scheme",
    ] {
        assert!(svg.contains(text), "no {text} in\n{svg}");
    }
    assert_eq!(svg, file::picture_alone(&report(A), "nginx & co").unwrap(), "the same each time");
}

#[test]
fn a_difference_is_red_where_b_takes_more() {
    let (a, b) =
        (report(A), report(&A.replace("write_[k] 60", "write_[k] 90").replace("parse 40", "parse 30")));
    let svg = file::difference(&side("old", &a), &side("new", &b), "old and new").unwrap();
    assert_well_formed(&svg);
    for text in [
        "red: more than in old, blue: less",
        "<a class=\"frame more\" role=\"treeitem\" aria-level=\"4\" aria-label=\"write_[k], 75.0 % of CPU time, 900 µs per answer, +300 µs in itself\"",
        "class=\"frame less\"",
        ", −100 µs in itself",
        "fill-opacity=\"0.550\"",
        "fill-opacity=\"0.183\"",
        "handle, 100.0 % of CPU time, 1.20 ms per answer, +0 ns in itself",
    ] {
        assert!(svg.contains(text), "no {text} in\n{svg}");
    }
    let same = file::difference(&side("a", &a), &side("b", &a), "the same").unwrap();
    assert!(same.contains("fill-opacity=\"0.000\"") && !same.contains("frame more"), "{same}");
}

#[test]
fn hostile_figures_are_drawn_all_the_same() {
    let hostile = report(&format!("# period_ns={}\nmain 200000000000000\n", u64::MAX));
    assert_well_formed(&file::difference(&side("a", &hostile), &side("b", &hostile), "t").unwrap());
    assert_well_formed(&file::picture_alone(&hostile, "t").unwrap());
}

#[test]
fn a_title_that_a_terminal_would_act_upon_is_shown_in_a_file() {
    let svg = file::picture_alone(&report(A), "a\u{1b}[2Jb\u{0}\u{202e}").unwrap();
    assert_well_formed(&svg);
    assert!(svg.contains(">a\u{fffd}[2Jb\u{fffd}\u{fffd}</text>"), "{svg}");
}

#[test]
fn nothing_is_no_picture() {
    for empty in [report(""), report("main 0")] {
        assert!(matches!(file::picture_alone(&empty, "a"), Err(ProfileError::Empty)));
        let difference = file::difference(&side("a", &empty), &side("b", &report(A)), "t");
        assert!(matches!(difference, Err(ProfileError::Empty)));
    }
}
