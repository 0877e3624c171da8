//! Pages that are imported, and what the report of them says then.

use super::{Home, run};
use serde_json::Value;

/// Imports, and gives what the report of the latest run says then.
pub fn import(home: &Home, files: &[&str]) -> Value {
    let finished = run(home.drome(&["import"]).args(files));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json = run(&mut home.drome(&["report", "--format", "json"]));
    assert_eq!(json.code, 0, "{}", json.err);
    serde_json::from_str(&json.out).unwrap()
}

pub fn contender<'j>(cell: &'j Value, name: &str) -> &'j Value {
    let rows = cell["contenders"].as_array().unwrap();
    rows.iter().find(|row| row["name"] == name).unwrap_or_else(|| panic!("{name} is not in {rows:?}"))
}

/// A figure, to what a page's digits say.
pub fn assert_figure(row: &Value, name: &str, expected: f64) {
    let read = row["figures"][name].as_f64().unwrap_or_else(|| panic!("{name} is not in {row}"));
    assert!((read - expected).abs() <= 1e-9 * expected.abs(), "{name}: {read} instead of {expected}");
}
