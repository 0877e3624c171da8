//! Flame graphs and the page of a race in a real browser: zoom, search and the keyboard without loading the page again.

use super::driver::{Browser, DOWN, ENTER, ESCAPE, LEFT, Look, PHONE, RIGHT, UP, WIDE};
use super::{assert_accessible, luminance, picture, visit};
use crate::common::raced::{self, HOSTILE, RUN};
use crate::common::ui::Ui;
use crate::common::{Home, run, serve};
use serde_json::{Value, json};

/// The flame graph of B: all, main, serve, and in it parse, a function with a hostile name, and `write_[k]`.
fn graph() -> (Ui, Browser) {
    let (ui, browser) = visit(raced::home());
    browser.look(WIDE);
    browser.go(&format!("{}/runs/{RUN}/flame/B", ui.origin()));
    browser.script("window.stayed = true", &[]);
    (ui, browser)
}

/// The name of the box that has the focus.
fn focused(browser: &Browser) -> String {
    let label = browser.script("return document.activeElement.getAttribute('aria-label') ?? ''", &[]);
    label.as_str().unwrap().split(',').next().unwrap().to_owned()
}

/// The names of all boxes that can be seen, in their order.
fn shown(browser: &Browser) -> Value {
    browser.script(
        "return [...document.querySelectorAll('.flame .frame')].filter((box) => getComputedStyle(box).display !== 'none')
             .map((box) => box.getAttribute('aria-label').split(',')[0])",
        &[],
    )
}

/// How wide the box of a function is, as a share of the picture, or of the file that is the picture.
fn width(browser: &Browser, name: &str) -> f64 {
    let width = browser.script(
        "const box = [...document.querySelectorAll('.flame .frame')]
             .find((box) => box.getAttribute('aria-label').startsWith(arguments[0]));
         const width = (part) => part.getBoundingClientRect().width;
         return width(box.querySelector('rect')) / width(document.querySelector('svg:root, .flame'))",
        &[json!(name)],
    );
    width.as_f64().unwrap()
}

fn assert_width(browser: &Browser, name: &str, expected: f64) {
    let width = width(browser, name);
    assert!((width - expected).abs() < 0.01, "{name} is {width} of the picture, not {expected}");
}

fn text_of(browser: &Browser, css: &str) -> String {
    let text = browser.script("return document.querySelector(arguments[0]).textContent", &[json!(css)]);
    text.as_str().unwrap().to_owned()
}

#[test]
fn a_flame_graph_is_walked_and_zoomed_by_keyboard() {
    let (_ui, browser) = graph();
    browser.script("document.querySelector('.flame [tabindex=\"0\"]').focus()", &[]);
    assert_eq!(focused(&browser), "all");
    let walk = [
        (UP, "all"),
        (DOWN, "main"),
        (RIGHT, "main"),
        (DOWN, "serve"),
        (DOWN, HOSTILE),
        (DOWN, HOSTILE),
        (RIGHT, "write_[k]"),
        (RIGHT, "write_[k]"),
        (LEFT, HOSTILE),
        (LEFT, "parse"),
        (LEFT, "parse"),
        (UP, "serve"),
        (DOWN, HOSTILE),
        (LEFT, "parse"),
    ];
    for (step, (key, expected)) in walk.into_iter().enumerate() {
        browser.press(key);
        assert_eq!(focused(&browser), expected, "step {}", step + 1);
    }
    let reached = "return document.querySelectorAll('.flame [tabindex=\"0\"]').length";
    assert_eq!(browser.script(reached, &[]), 1, "the tabulator leads to one box, and then out");
    assert_width(&browser, "parse", 0.125);

    browser.press(ENTER);
    assert_eq!(shown(&browser), json!(["all", "main", "serve", "parse"]));
    assert_width(&browser, "parse", 1.0);
    assert_width(&browser, "main", 1.0);
    assert_eq!(focused(&browser), "parse");
    let here = text_of(&browser, "[data-flame-here]");
    assert_eq!(here, "parse, 12.5 % of CPU time, 10.0 µs per answer");
    let told = text_of(&browser, "[aria-live][data-flame-zoomed]");
    assert!(told.starts_with("Zoomed to parse, 12.5 %"), "{told}");
    // From there to a caller, and into that.
    browser.press(UP);
    browser.press(RIGHT);
    assert_eq!(focused(&browser), "serve");
    browser.press(ENTER);
    assert_eq!(shown(&browser).as_array().unwrap().len(), 6);

    // Back, step by step, and no further than to everything.
    browser.press(ESCAPE);
    assert_eq!(shown(&browser), json!(["all", "main", "serve", "parse"]));
    for _ in 0..2 {
        browser.press(ESCAPE);
        assert_eq!(shown(&browser).as_array().unwrap().len(), 6);
        assert_width(&browser, "parse", 0.125);
    }
    assert_eq!(focused(&browser), "parse", "where it came from");
    assert_eq!(browser.script("return window.stayed", &[]), true, "nothing was loaded again");
}

#[test]
fn a_flame_graph_is_zoomed_by_clicks_searched_and_reset() {
    let (_ui, browser) = graph();
    // The sixth box is the last: write.
    browser.click(".flame a:nth-of-type(6) rect");
    assert_eq!(shown(&browser), json!(["all", "main", "serve", "write_[k]"]));
    browser.click(".flame a:nth-of-type(2) rect");
    assert_eq!(shown(&browser).as_array().unwrap().len(), 6, "a caller");

    browser.fill("#q", "WRITE");
    let matched = || text_of(&browser, "[aria-live][data-flame-matched]");
    assert!(
        matched().starts_with("37.5 % of the CPU time") && matched().contains("“WRITE”"),
        "{}",
        matched()
    );
    let found = || {
        browser.script(
            "return [...document.querySelectorAll('.flame .found')].map((box) => box.getAttribute('aria-label').split(',')[0])",
            &[],
        )
    };
    assert_eq!(found(), json!(["write_[k]"]));
    let fill = |css: &str| {
        browser.script("return getComputedStyle(document.querySelector(arguments[0])).fill", &[json!(css)])
    };
    assert_ne!(fill(".flame .found rect"), fill(".flame .user rect"), "it stands out");
    // Enter in the search loads nothing.
    browser.press(ENTER);
    assert_eq!(found(), json!(["write_[k]"]));
    browser.script("document.querySelector('#q').value = ''", &[]);
    browser.fill("#q", "<script>");
    assert_eq!(found(), json!([HOSTILE]));
    browser.fill("#q", "x");
    assert_eq!(matched(), "No function in this graph matches “<script>x”.");

    browser.click(".flame a:nth-of-type(4) rect");
    assert_eq!(shown(&browser).as_array().unwrap().len(), 4);
    browser.click("[data-flame-reset]");
    assert_eq!(shown(&browser).as_array().unwrap().len(), 6);
    assert_eq!((found(), matched()), (json!([]), String::new()));
    assert_eq!(browser.script("return document.querySelector('#q').value", &[]), "");
    assert_eq!(browser.script("return window.stayed", &[]), true, "nothing was loaded again");
    assert!(browser.path().ends_with("/flame/B"), "{}", browser.path());
}

#[test]
fn an_address_with_a_zoom_and_a_search_can_be_walked_out_of() {
    let (ui, browser) = graph();
    browser.go(&format!("{}/runs/{RUN}/flame/B?frame=3&q=parse", ui.origin()));
    assert_eq!(shown(&browser), json!(["all", "main", "serve", "parse"]));
    assert!(text_of(&browser, "[data-flame-matched]").starts_with("12.5 %"));
    browser.press(ESCAPE);
    assert_eq!(shown(&browser).as_array().unwrap().len(), 6);
    assert_width(&browser, "parse", 0.125);
}

#[test]
fn a_flame_graph_in_a_file_is_zoomed_searched_and_walked_by_itself() {
    let (home, server) = (Home::new(), serve(&[]));
    let path = home.path().join("server.svg");
    let (file, url) = (path.display().to_string(), format!("http://{}/hello", server.address));
    let finished = run(&mut home.drome(&["load", &url, "-c", "8", "-d", "1s", "--profile", &file]));
    if !crate::profile::is_allowed(&finished, &path) {
        return;
    }
    let browser = Browser::open();
    browser.look(WIDE);
    browser.go(&format!("file://{file}"));
    let width = browser.script("return document.documentElement.getBoundingClientRect().width", &[]);
    assert!(width.as_f64().unwrap() > 1400.0, "all of the window but a scroll bar: {width}");
    assert_width(&browser, "all", 1.0);
    let all = shown(&browser);
    let second = all[1].as_str().unwrap().to_owned();
    browser.click(".flame a:nth-of-type(2) rect");
    assert_eq!(shown(&browser).as_array().unwrap()[..2], [json!("all"), json!(second)]);
    assert_width(&browser, &second, 1.0);
    browser.press(ESCAPE);
    assert_eq!(shown(&browser), all);
    browser.press(UP);
    assert_eq!(focused(&browser), "all");
    browser.fill("input[type=search]", "ALL");
    let matched = text_of(&browser, "[data-flame-matched]");
    assert!(matched.starts_with("100.0 % of the CPU time"), "{matched}");
    browser.click("[data-flame-reset]");
    assert_eq!(text_of(&browser, "[data-flame-matched]"), "");
    picture(&browser, "flame-file");
}

#[test]
fn a_race_and_its_flame_graph_fit_and_are_accessible_in_light_and_dark() {
    let (ui, browser) = visit(raced::home());
    for (name, path) in [("race", format!("/runs/{RUN}")), ("flame", format!("/runs/{RUN}/flame/B?q=parse"))]
    {
        browser.look(WIDE);
        browser.go(&format!("{}{path}", ui.origin()));
        for look in [WIDE, PHONE] {
            let mut fills = Vec::new();
            for is_dark in [false, true] {
                browser.look(Look { is_dark, ..look });
                let what = format!("ui-{name}-{}-{}", look.width, if is_dark { "dark" } else { "light" });
                browser.assert_fits(&what);
                assert_accessible(&browser, &what);
                let paper = browser.script("return getComputedStyle(document.body).backgroundColor", &[]);
                assert_eq!(is_dark, luminance(&paper) < 0.3, "{what}: {paper}");
                if name == "flame" {
                    assert_readable(&browser, is_dark, &what);
                    fills.push(colours(&browser));
                }
                picture(&browser, &what);
            }
            assert!(fills.is_empty() || fills[0] != fills[1], "each theme has its own colours: {fills:?}");
        }
    }
}

/// The colours of the boxes of each kind, and of their text.
fn colours(browser: &Browser) -> Value {
    browser.script(
        "const fill = (css) => getComputedStyle(document.querySelector(css)).fill;
         return ['.user', '.kernel', '.found'].map((kind) => [fill(`.flame ${kind} rect`), fill(`.flame ${kind} text`)])",
        &[],
    )
}

/// Text is dark on light boxes and light on dark ones; of a box that was found it is the reverse.
fn assert_readable(browser: &Browser, is_dark: bool, what: &str) {
    for pair in colours(browser).as_array().unwrap() {
        let [fill, text] = [luminance(&pair[0]), luminance(&pair[1])];
        assert!((fill - text).abs() > 0.4, "{what}: {pair}");
    }
    let colours = colours(browser);
    assert_eq!(luminance(&colours[0][0]) < 0.5, is_dark, "{what}: {colours}");
}
