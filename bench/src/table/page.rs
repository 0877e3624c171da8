//! The table of docs/bench.md, made from the committed docs/bench.json, so that nobody edits a figure by hand.

use super::markdown;
use super::record::Record;
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;

/// The committed measurement.
const COMMITTED: &str = "docs/bench.json";

/// The page that shows it.
const PAGE: &str = "docs/bench.md";

const BEGIN: &str = "<!-- bench: made by `cargo xtask bench --render` from docs/bench.json -->";
const END: &str = "<!-- bench: end -->";

/// Replaces the table in the page.
pub fn render(root: &Path) -> Result<()> {
    let file = root.join(PAGE);
    fs::write(&file, wanted(root)?).with_context(|| format!("can't write {}", file.display()))
}

/// The page as it should be.
fn wanted(root: &Path) -> Result<String> {
    let file = root.join(COMMITTED);
    let record = Record::read(&file)?.with_context(|| format!("there is no {COMMITTED}"))?;
    put_between(&read(root)?, &section(&record))
}

fn read(root: &Path) -> Result<String> {
    fs::read_to_string(root.join(PAGE)).with_context(|| format!("can't read {PAGE}"))
}

fn put_between(page: &str, text: &str) -> Result<String> {
    let parts = page.split_once(BEGIN).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    let Some((before, after)) = parts else {
        bail!("{PAGE} has no line `{BEGIN}` with a line `{END}` below it");
    };
    Ok(format!("{before}{BEGIN}\n{text}\n{END}{after}"))
}

/// When and on what machine it was measured, and a table with a line per figure.
fn section(record: &Record) -> String {
    let head = ["work", "figure", "here", "bound"].map(str::to_owned);
    let mut lines = vec![
        format!("Measured {}: {}; {}.", record.date, record.machine, markdown::versions(record)),
        String::new(),
        markdown::line(&head),
        "| --- | --- | ---: | ---: |".to_owned(),
    ];
    lines.extend(record.rows.iter().map(|row| {
        let median = markdown::shown(row);
        let here = if row.is_ok() == Some(false) { format!("**{median}**") } else { median };
        markdown::line(&[row.title.clone(), row.figure.clone(), here, markdown::bound(row)])
    }));
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::model::Bound;
    use super::super::record::{Row, SCHEMA, Unit};
    use super::*;

    fn record(median: f64) -> Record {
        let row = Row {
            work: "body".to_owned(),
            title: "a body".to_owned(),
            figure: "client CPU per request".to_owned(),
            unit: Unit::Ns,
            over: Some("wrk".to_owned()),
            by_round: vec![Some(median)],
            median: Some(median),
            unknown: None,
            bound: Bound::AtMost(0.5),
            parts: Vec::new(),
            doubt: None,
            others_cores: None,
        };
        Record {
            schema: SCHEMA,
            date: "2026-01-01".to_owned(),
            machine: "a machine".to_owned(),
            versions: [("wrk".to_owned(), Some("4.1".to_owned()))].into(),
            setting: None,
            rows: vec![row],
        }
    }

    fn project(page: &str, record: &Record) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("docs")).unwrap();
        fs::write(root.path().join(COMMITTED), serde_json::to_string(record).unwrap()).unwrap();
        fs::write(root.path().join(PAGE), page).unwrap();
        root
    }

    fn is_current(root: &Path) -> bool {
        wanted(root).unwrap() == read(root).unwrap()
    }

    #[test]
    fn the_page_shows_the_committed_measurement() {
        let root = xtask::root();
        assert!(
            is_current(&root),
            "the table in {PAGE} differs from {COMMITTED}: run `cargo xtask bench --render`"
        );
    }

    #[test]
    fn the_page_is_outdated_until_it_is_rendered_and_after_the_measurement_or_a_figure_changes() {
        let empty = format!("above\n{BEGIN}\n{END}\nbelow\n");
        let root = project(&empty, &record(0.43));
        assert!(!is_current(root.path()));
        render(root.path()).unwrap();
        assert!(is_current(root.path()));
        let page = fs::read_to_string(root.path().join(PAGE)).unwrap();
        assert!(page.starts_with("above\n") && page.ends_with("\nbelow\n"), "{page}");
        assert!(page.contains("| a body | client CPU per request | 0.430 × wrk | ≤ 0.50 × wrk |"), "{page}");
        assert!(!is_current(project(&page, &record(0.44)).path()));
        assert!(!is_current(project(&page.replace("0.430", "0.420"), &record(0.43)).path()));
    }

    #[test]
    fn a_missed_bound_is_bold_and_missing_markers_are_an_error() {
        let text = section(&record(0.61));
        assert!(text.contains("| **0.610 × wrk** |"), "{text}");
        let root = project("no table", &record(0.43));
        let error = wanted(root.path()).unwrap_err().to_string();
        assert!(error.contains("docs/bench.md has no line"), "{error}");
    }
}
