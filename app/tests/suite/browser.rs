//! `drome ui` in a real browser, as people use it: by mouse and by keyboard, light and dark, on a desk and on a telephone.
//! `cargo xtask screenshots` runs this too, and keeps the pictures.

mod driver;
mod flame;

use crate::common::catalog::{keep_alive, study};
use crate::common::ui::{self, Ui};
use crate::common::{Home, assert_has, run};
use driver::{Browser, ENTER, Look, PHONE, TAB, WIDE};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Every page that a store with a run has.
fn pages(run: &str) -> Vec<(&'static str, String)> {
    vec![
        ("runs", "/".to_owned()),
        ("run", format!("/runs/{run}")),
        ("studies", "/studies".to_owned()),
        ("study", "/studies/small".to_owned()),
        ("contenders", "/contenders".to_owned()),
        ("live", "/live".to_owned()),
        ("failure", "/runs/none".to_owned()),
    ]
}

/// The page of a home, and a browser that was opened at the address that was printed. The browser first: there are only a
/// few at a time, and the page has only so long to live.
fn visit(home: Home) -> (Ui, Browser) {
    let browser = Browser::open();
    let ui = ui::open(home, &[]);
    browser.go(&ui.url);
    assert_eq!(browser.path(), "/", "the token leaves the address");
    (ui, browser)
}

/// Where pictures go, when they are wanted.
fn pictures() -> Option<PathBuf> {
    std::env::var_os("DROME_SCREENSHOTS").map(PathBuf::from)
}

fn picture(browser: &Browser, name: &str) {
    if let Some(folder) = pictures() {
        browser.picture(&folder.join(format!("{name}.png")), 1600);
    }
}

/// No violation of the rules that axe knows, at level AA of WCAG 2.2 and its own good practice.
fn assert_accessible(browser: &Browser, what: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/browser/node_modules/axe-core/axe.min.js");
    let axe = std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("{}: {e}; `cargo xtask test` gets what the tests need", file.display()));
    browser.script(&axe, &[]);
    let found = browser.script_that_waits(
        "const done = arguments[0];
         axe.run(document).then((found) => done(found.violations.map((v) => [v.id, v.help, v.nodes.map((n) => n.html + ' ' + n.failureSummary)])))",
    );
    assert_eq!(found, json!([]), "{what}: {found:#}");
}

#[test]
fn a_study_in_heats_is_watched_to_its_end() {
    let home = ui::home("6, 6");
    let design =
        [("rounds", "[2, 2]"), ("slice", "'40ms'"), ("measure", "'200ms'"), ("warmup_limit", "'1s'")];
    home.write_study("turns", &study(&["plain", "spins"], &keep_alive(4), &design));
    let (ui, browser) = visit(home);
    browser.go(&format!("{}/studies/turns", ui.origin()));
    browser.click("input[value=full]");
    browser.click("form .primary");
    browser.wait_until("location.pathname === '/live'", "the live page");
    browser.wait_until(
        "document.querySelector('[data-status]').textContent.includes('round 2 of 2, heat 1 (')",
        "the second round",
    );
    let shown = browser.text();
    assert_has(&shown, &["of at least 2 heats; about ", "of 3 comparisons decided", "Starts"]);
    browser.wait_until("document.querySelector('[data-over]')", "the end");
    let starts = browser.script(
        "return [...document.querySelectorAll('td[data-label=Starts]')].map((cell) => cell.textContent)",
        &[],
    );
    assert_eq!(starts, json!(["2", "2", "2"]), "none of them is told as 0");
    assert_accessible(&browser, "a study in heats");
}

#[test]
fn a_study_is_started_by_keyboard_watched_live_and_stopped() {
    let (ui, browser) = visit(ui::home("100, 100"));
    browser.go(&format!("{}/studies/small", ui.origin()));
    // The first key leads past the sections; further ones to the button.
    browser.press(TAB);
    let focused = || browser.script("return document.activeElement.textContent.trim()", &[]);
    assert_eq!(focused(), "Skip to the content");
    browser.press(ENTER);
    for _ in 0..30 {
        browser.press(TAB);
        let outline = browser.script("return getComputedStyle(document.activeElement).outlineStyle", &[]);
        assert_eq!(outline, "solid", "the focus can be seen: {}", focused());
        if focused() == "Start the study" {
            break;
        }
    }
    assert_eq!(focused(), "Start the study");
    browser.script("document.querySelector('input[value=full]').checked = true", &[]);
    browser.press(ENTER);
    browser.wait_until("location.pathname === '/live'", "the live page");

    // It renews itself: nobody loads it again.
    browser.script("window.stayed = true", &[]);
    browser.wait_until(
        "document.querySelector('[data-status]').textContent.includes('ound 2')",
        "the second round",
    );
    assert_eq!(browser.script("return window.stayed", &[]), true);
    // A machine that is busy otherwise makes starts void: with the first sound one there is a dot.
    browser.wait_until(
        "document.querySelectorAll('.lane .dot').length === 3",
        "two contenders and the reference",
    );
    let squares = browser.script("return document.querySelectorAll('.mark.valid, .mark.void').length", &[]);
    assert!(squares.as_u64() >= Some(3), "{squares}");
    let shown = browser.text();
    assert_has(
        &shown,
        &["Plain <script>alert(1)</script>", "Spins & spins", "MB", "left", "of at least 100 heats"],
    );
    let finished = browser.script("return document.querySelector('[aria-live][data-said]').textContent", &[]);
    assert!(finished.as_str().unwrap().starts_with("round "), "{finished}");
    assert_accessible(&browser, "live");
    for look in [WIDE, PHONE] {
        browser.look(look);
        browser.assert_fits("live");
    }
    browser.look(WIDE);

    browser.click("form[action='/live/stop'] button");
    browser.wait_until("document.querySelector('[data-over]')", "the end");
    browser.wait_until("document.querySelector('.now a.button')", "the way to the report");
    assert!(browser.text().contains("every finished cell is kept"), "{}", browser.text());
    browser.click(".now a.button");
    browser.wait_until("location.pathname.startsWith('/runs/')", "the report");
    assert!(browser.text().contains("A small <b>study</b>"), "{}", browser.text());
}

#[test]
fn two_runs_are_ticked_and_compared() {
    let (home, _) = ui::with_runs();
    let (ui, browser) = visit(home);
    browser.go(&ui.origin());
    let is_disabled = || browser.script("return document.querySelector('.choose button').disabled", &[]);
    assert_eq!(is_disabled(), true, "none is ticked");
    browser.click("tbody tr:nth-child(1) input");
    assert_eq!(is_disabled(), true, "one is");
    browser.click("tbody tr:nth-child(2) input");
    assert_eq!(is_disabled(), false);
    browser.click(".choose button");
    browser.wait_until("location.pathname === '/compare'", "the comparison");
    let shown = browser.text();
    assert!(shown.contains(" against ") && shown.contains("Plain <script>"), "{shown}");
    // Unknown where the load generator held the reference back in one of the two only.
    let drifts = ["The machine itself ran at", "The drift of the machine itself is unknown"];
    assert!(drifts.iter().any(|drift| shown.contains(drift)), "{shown}");
    assert_accessible(&browser, "compare");
    for is_dark in [false, true] {
        for look in [WIDE, PHONE] {
            browser.look(Look { is_dark, ..look });
            browser.assert_fits("compare");
        }
    }
}

/// What `ab` prints.
const REPORT: &str = "# alpha\n\nServer Software:        alpha\nServer Hostname:        127.0.0.1\nServer Port:            80\n\
    Document Path:          /hello\nDocument Length:        12 bytes\n\nConcurrency Level:      10\n\
    Time taken for tests:   2.845 seconds\nComplete requests:      1000\nFailed requests:        0\n\
    Total transferred:      438000 bytes\nHTML transferred:       228000 bytes\n\
    Requests per second:    351.49 [#/sec] (mean)\nTime per request:       28.450 [ms] (mean)\n";

#[test]
fn a_file_is_dropped_or_chosen_and_a_large_one_is_refused() {
    let (ui, browser) = visit(Home::new());
    browser.go(&ui.origin());
    let drop = "const given = new DataTransfer();
        given.items.add(new File([arguments[0]], arguments[1], {type: 'text/plain'}));
        document.querySelector('main').dispatchEvent(
            new DragEvent('drop', {dataTransfer: given, bubbles: true, cancelable: true}));";
    browser.script(drop, &[json!(REPORT), json!("dropped.txt")]);
    browser.wait_until("location.pathname.startsWith('/runs/')", "what was dropped");
    assert!(browser.text().contains("dropped.txt") && browser.text().contains("351"), "{}", browser.text());

    browser.go(&ui.origin());
    let file = ui.home.write("chosen.txt", REPORT).display().to_string();
    browser.fill("#file", &file);
    browser.wait_until("location.pathname.startsWith('/runs/')", "what was chosen");
    assert!(browser.text().contains("chosen.txt"), "{}", browser.text());

    // What is too large is not even sent.
    browser.go(&ui.origin());
    let large = "const given = new DataTransfer();
        given.items.add(new File([new Uint8Array(21 << 20)], 'large.txt'));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: given, bubbles: true, cancelable: true}));";
    browser.script(large, &[]);
    browser.wait_until("!document.querySelector('[data-drop-failure]').hidden", "the refusal");
    assert!(browser.text().contains("21 MiB, more than 20") && browser.path() == "/", "{}", browser.text());

    let two = "const given = new DataTransfer();
        ['a.txt', 'b.txt'].forEach((name) => given.items.add(new File(['x'], name)));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: given, bubbles: true, cancelable: true}));";
    browser.script(two, &[]);
    assert!(browser.text().contains("one file at a time") && browser.path() == "/", "{}", browser.text());

    // What is no report is refused by the server, and the page says why.
    browser.script(drop, &[json!("no figures"), json!("words.txt")]);
    browser.wait_until(
        "document.querySelector('p.failure[role=alert]:not([hidden])')?.textContent.includes('no report and no table')",
        "the reason",
    );
    assert!(browser.text().contains("words.txt") && browser.path() == "/", "{}", browser.text());
}

#[test]
fn every_page_fits_and_is_accessible_in_light_and_dark_on_a_desk_and_on_a_telephone() {
    let (home, ids) = ui::with_runs();
    let (ui, browser) = visit(home);
    let compare = ("compare", format!("/compare?run={}&run={}", ids[0], ids[1]));
    for (name, path) in pages(&ids[0]).into_iter().chain([compare]) {
        browser.look(WIDE);
        browser.go(&format!("{}{path}", ui.origin()));
        if name == "contenders" {
            browser.wait_until(
                "document.querySelector('[data-asked]').textContent.endsWith('are installed.')",
                "all answers",
            );
        }
        for look in [WIDE, PHONE] {
            for is_dark in [false, true] {
                browser.look(Look { is_dark, ..look });
                let shade = if is_dark { "dark" } else { "light" };
                let what = format!("ui-{name}-{}-{shade}", look.width);
                browser.assert_fits(&what);
                assert_accessible(&browser, &what);
                let paper = browser.script("return getComputedStyle(document.body).backgroundColor", &[]);
                assert_eq!(is_dark, luminance(&paper) < 0.3, "{what}: {paper}");
                picture(&browser, &what);
            }
        }
    }
}

/// From 0 to 1, of `rgb(…)`.
fn luminance(colour: &Value) -> f64 {
    let numbers =
        colour.as_str().unwrap().split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<f64>().ok());
    numbers.take(3).sum::<f64>() / (3.0 * 255.0)
}

/// The HTML report of a run, as a file that is opened without any server.
fn report_file(ui: &Ui, run_id: &str) -> String {
    let file = ui.home.path().join("report.html").display().to_string();
    let finished = run(&mut ui.home.drome(&["report", run_id, "--format", "html", "--output", &file]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    format!("file://{file}")
}

#[test]
fn the_html_report_is_sorted_and_filtered_and_fits() {
    let (home, ids) = ui::with_runs();
    let (ui, browser) = visit(home);
    // The same from a file as from the local page, which keeps it apart from its own pages.
    for address in [report_file(&ui, &ids[0]), format!("{}/runs/{}/report", ui.origin(), ids[0])] {
        browser.look(WIDE);
        browser.go(&address);
        let column = |n: usize| {
            let cells = "return [...document.querySelectorAll('#trials-table-1 tbody tr:not([hidden])')].map((r) => r.cells[arguments[0]].textContent.trim())";
            let cells = browser.script(cells, &[json!(n)]);
            cells.as_array().unwrap().iter().map(|c| c.as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let all = column(0);
        assert_eq!(all.len(), 24, "every start, with those of the hub: {address}");
        let heads = browser.script(
            "return [...document.querySelectorAll('#trials-table-1 th[scope=col]')].map((h) => h.textContent)",
            &[],
        );
        let who =
            heads.as_array().unwrap().iter().position(|h| h.as_str().unwrap().contains("contender")).unwrap();
        // By keyboard: the button in the head of the column.
        let focus =
            format!("document.querySelectorAll('#trials-table-1 th[scope=col] button')[{who}].focus()");
        browser.script(&focus, &[]);
        browser.press(ENTER);
        let up = column(who);
        let mut sorted = up.clone();
        sorted.sort_by_key(|name| name.to_lowercase());
        assert_eq!(up, sorted, "{address}");
        browser.press(ENTER);
        let down: Vec<String> = column(who);
        assert_eq!(down.iter().rev().collect::<Vec<_>>(), sorted.iter().collect::<Vec<_>>());
        browser.fill("#trials-table-1-filter", "spins");
        assert!(
            column(who).len() == 6 && column(who).iter().all(|name| name.contains("Spins")),
            "{:?}",
            column(who)
        );
        browser.script("document.querySelector('#trials-table-1-filter').value = ''", &[]);
        for look in [WIDE, PHONE] {
            for is_dark in [false, true] {
                browser.look(Look { is_dark, ..look });
                let what = format!("report-{}-{}", look.width, if is_dark { "dark" } else { "light" });
                browser.assert_fits(&what);
                assert_accessible(&browser, &what);
                picture(&browser, &what);
            }
        }
    }
}

#[test]
fn page_weight_and_first_paint_are_told() {
    let (home, _) = ui::with_runs();
    ui::fill(&home, 400, 25);
    let (ui, browser) = visit(home);
    let pages = [
        ("the list of 10,000 starts", "/"),
        ("a run of ten contenders", "/runs/run-of-ten"),
        ("the same again", "/runs/run-of-ten"),
        ("its full report", "/runs/run-of-ten/report"),
    ];
    for (what, path) in pages {
        browser.go(&format!("{}{path}", ui.origin()));
        browser
            .wait_until("performance.getEntriesByName('first-contentful-paint').length", "the first paint");
        let told = browser.script(
            "const all = performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'));
             return [all.reduce((n, e) => n + e.transferSize, 0), performance.getEntriesByName('first-contentful-paint')[0].startTime]",
            &[],
        );
        // RunReport, not judged: a busy machine is no fault of the page.
        println!("{what}: {} bytes in all, first paint after {:.0} ms", told[0], told[1].as_f64().unwrap());
        let contenders = browser.script("return document.querySelectorAll('tr .lane').length", &[]);
        let expected = if path.ends_with("ten") { 11 } else { 0 };
        assert_eq!(contenders, expected, "{what}");
    }
}

/// A study of servers that people know, for pictures. Two runs of it fit into the time that a test's processes have.
const PICTURED: &str = r#"
title = "Four servers on one core"
contenders = ["nginx", "lighttpd", "python-http-server", "perl-mojolicious"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 10 } }
[[cell]]
title = "a new connection for every request"
workload = "hello"
load = { closed = { connections = 10, per_connection = 1 } }
[design]
rounds = [4, 4]
measure = "600ms"
budget = "6min"
"#;

#[test]
#[ignore = "makes the pictures of docs/screenshots: cargo xtask screenshots"]
fn pictures_of_a_real_study() {
    let home = ui::home("6, 6");
    home.write("own/studies/pictured.toml", PICTURED);
    let (ui, browser) = visit(home);
    let both = |name: &str| {
        for (shade, look) in [("dark", Look { is_dark: true, ..PHONE }), ("light", WIDE)] {
            browser.look(look);
            picture(&browser, &format!("{name}-{}-{shade}", look.width));
        }
    };
    browser.look(WIDE);
    browser.go(&ui.origin());
    both("empty");
    for is_watched in [false, true] {
        browser.go(&format!("{}/studies/pictured", ui.origin()));
        if !is_watched {
            both("study");
        }
        browser.click("input[value=full]");
        browser.click("form .primary");
        // Late in the last round, so that there is something to be seen, and something to come.
        let last = "/^round 4.*cycle/i.test(document.querySelector('[data-status]')?.textContent)";
        if is_watched {
            for _ in 0..6 {
                browser.wait_a_minute(last);
            }
            both("live");
        }
        for _ in 0..6 {
            browser.wait_a_minute("document.querySelector('[data-over]')");
        }
    }
    browser.click(".now a.button");
    browser.wait_until("document.querySelector('figure img').complete", "the report");
    both("run");
    browser.click("nav.actions .primary");
    browser.wait_until("location.pathname.endsWith('/report')", "the whole report");
    both("report");
    browser.go(&ui.origin());
    both("runs");
    browser.click("tbody tr:nth-child(1) input");
    browser.click("tbody tr:nth-child(2) input");
    browser.click(".choose button");
    browser.wait_until("location.pathname === '/compare'", "the comparison");
    both("compare");
    browser.go(&format!("{}/contenders", ui.origin()));
    for _ in 0..5 {
        browser
            .wait_a_minute("document.querySelector('[data-asked]').textContent.endsWith('are installed.')");
    }
    both("contenders");
}
