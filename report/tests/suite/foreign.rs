//! Foreign text in every field of every result, rendered in every format: it is shown, and does nothing.

use crate::made_up::{findings, race};
use crate::{ci, formats, history, sweep};
use model::import::{Imported, Source};
use model::{Import, Reading};
use report::{RunReport, TextStyle};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Text that does something wherever it is not escaped.
const FOREIGN: &str = "=1+1|<script>alert(1)</script> **b** `c` [l](http://x/) ![p](y) @user \u{1b}[31m\u{7}\u{0}\u{202e}\u{2066}\r\n# h\n- i,\"q\"\t&lt;&#64;";

/// The result with this text in each of its strings that may have any.
fn foreign<T: Serialize + DeserializeOwned>(result: &T) -> T {
    let mut document = serde_json::to_value(result).unwrap();
    let mut paths = Vec::new();
    strings(&document, String::new(), &mut paths);
    for path in paths {
        let place = document.pointer_mut(&path).unwrap();
        let own = std::mem::replace(place, Value::from(FOREIGN));
        // Words of drome's own, such as the name of a metric, are no text.
        if serde_json::from_value::<T>(document.clone()).is_err() {
            *document.pointer_mut(&path).unwrap() = own;
        }
    }
    serde_json::from_value(document).unwrap()
}

fn strings(value: &Value, path: String, paths: &mut Vec<String>) {
    let key = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::String(_) => paths.push(path),
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(i, value)| strings(value, format!("{path}/{i}"), paths));
        }
        Value::Object(all) => all.iter().for_each(|(name, value)| strings(value, key(name), paths)),
        _ => {}
    }
}

/// Whether a character acts on a terminal or on the order of others.
fn acts(c: char) -> bool {
    (c.is_control() && c != '\n') || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn plain(name: &str, text: &str) {
    assert!(!text.contains(|c| acts(c) && c != '\t'), "{name}: {text:?}");
}

/// Outside of code, no markup is left.
fn markdown(name: &str, text: &str) {
    plain(name, text);
    let mut is_block = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_block = !is_block;
            continue;
        }
        if is_block {
            continue;
        }
        let line = &without_code(line);
        for raw in ["<script", "**b", "[l](", "1|<", "@user", "&lt;&#"] {
            for (at, _) in line.match_indices(raw) {
                let before = &line[..at];
                let is_escaped = before.ends_with('\\') || (raw == "1|<" && line[at..].starts_with("1\\|"));
                assert!(is_escaped, "{name}: {raw:?} in {line}");
            }
        }
        let own = ["# A race", "# imported"].iter().any(|own| line.starts_with(own));
        assert!(own || line != "# h" && !line.starts_with("- i,"), "{name}: {line}");
    }
}

/// A line without its inline code.
fn without_code(line: &str) -> String {
    let (mut out, mut rest) = (String::new(), line);
    while let Some(at) = rest.find('`') {
        let is_escaped = rest[..at].ends_with('\\');
        let fence = rest.len() - at - rest[at..].trim_start_matches('`').len();
        out.push_str(&rest[..at]);
        rest = &rest[at + fence..];
        let closing = "`".repeat(fence);
        let ends = |at: &usize| !rest[at + fence..].starts_with('`') && !rest[..*at].ends_with('`');
        let end = rest.match_indices(&closing).map(|(at, _)| at).find(ends);
        if let Some(end) = end.filter(|_| !is_escaped) {
            rest = &rest[end + fence..];
        }
    }
    out + rest
}

/// Every field is inert, and every line has as many fields as the first.
fn separated(name: &str, text: &str, separator: char) {
    plain(name, &text.replace('\r', ""));
    let (mut rows, mut row, mut field, mut is_quoted) = (Vec::new(), Vec::new(), String::new(), false);
    for c in text.chars() {
        match c {
            '"' if separator == ',' => is_quoted = !is_quoted,
            c if c == separator && !is_quoted => row.push(std::mem::take(&mut field)),
            '\n' if !is_quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            c => field.push(c),
        }
    }
    for row in &rows {
        assert_eq!(row.len(), rows[0].len(), "{name}: {row:?}");
        for field in row.iter().filter(|field| field.parse::<f64>().is_err()) {
            assert!(!field.starts_with(['=', '+', '-', '@']), "{name}: {field:?}");
        }
    }
}

fn html(name: &str, text: &str) {
    plain(name, text);
    assert!(!text.contains("<script>alert"), "{name}");
}

fn style() -> TextStyle {
    TextStyle { width: Some(80), ..TextStyle::default() }
}

fn import() -> Import {
    let mut reading = Reading::of("wrk");
    reading.set("rate_per_s", 5.0);
    reading.set_measured("latency_ns_p50", 0.0, 1e6);
    (reading.title, reading.command, reading.url) =
        (Some("a".to_owned()), Some("wrk x".to_owned()), Some("u".to_owned()));
    (reading.server, reading.workload, reading.version) =
        (Some("s".to_owned()), Some("w".to_owned()), Some("1".to_owned()));
    let words = || vec!["x".to_owned()];
    let item = Imported { source: 0, reading, notes: words(), strange: words() };
    let source = Source { name: "f".to_owned(), title: Some("t".to_owned()), bytes: 1, strange: words() };
    Import {
        id: "i".to_owned(),
        title: "t".to_owned(),
        imported_at: "2026-01-01T00:00:00Z".to_owned(),
        drome: "0".to_owned(),
        sources: vec![source],
        items: vec![item],
    }
}

#[test]
fn of_runs_and_races() {
    let (run, mut measured) = formats::trials();
    measured.heats = measured.heats.iter().map(foreign).collect();
    measured.starts = measured.starts.iter().map(foreign).collect();
    for f in [findings(), race(80_000.0, 100_000.0, 0.011)] {
        let mut f = f;
        f.environment.cpu = Some("cpu".to_owned());
        f.environment.kernel = Some("kernel".to_owned());
        f.environment.virtualization = Some("kvm".to_owned());
        // The reports know the cell's server by this name.
        let f = foreign(&f);
        let run = foreign(&run);
        let told = RunReport { run: &run, measured: &measured, findings: &f };
        plain("terminal", &report::run::document(&f).terminal(&style()));
        markdown("markdown", &report::run::document(&f).markdown());
        separated("csv", &report::trials::records(&told).csv(), ',');
        separated("tsv", &report::trials::records(&told).tsv(), '\t');
        html("html", &report::html::page(&told));
        html("junit", &report::ci::junit(&told));
        for json in [report::json(&f), report::ci::bigger_is_better(&f), report::ci::bencher(&f)] {
            serde_json::from_str::<Value>(&json).unwrap();
        }
        for chart in report::chart::of(&told) {
            html("chart", &chart.svg);
        }
    }
}

#[test]
fn of_sweeps_comparisons_histories_and_imports() {
    let s = foreign(&sweep::sweep());
    plain("sweep, terminal", &report::sweep::document(&s).terminal(&style()));
    markdown("sweep, markdown", &report::sweep::document(&s).markdown());
    separated("sweep, csv", &report::sweep::records(&s).csv(), ',');
    let c = foreign(&ci::comparison());
    plain("comparison, terminal", &report::compare::document(&c).terminal(&style()));
    markdown("comparison, markdown", &report::compare::document(&c).markdown());
    html("comparison, junit", &report::ci::junit_of_comparison(&c, None));
    let h = foreign(&history::history());
    plain("history, terminal", &report::history::document(&h).terminal(&style()));
    markdown("history, markdown", &report::history::document(&h).markdown());
    separated("history, csv", &report::history::records(&h).csv(), ',');
    for chart in report::chart::of_history(&h).into_iter().chain(report::chart::of_sweep(&s)) {
        html("chart", &chart.svg);
    }
    let i = foreign(&import());
    plain("import, terminal", &report::imported::document(&i).terminal(&style()));
    markdown("import, markdown", &report::imported::document(&i).markdown());
    separated("import, csv", &report::imported::records(&i).csv(), ',');
    separated("import, tsv", &report::imported::records(&i).tsv(), '\t');
    html("import, html", &report::html::import_page(&i));
    let shown = report::imported::document(&import()).terminal(&style());
    assert!(shown.contains("< 1 ms"), "{shown}");
}
