//! Pages that are imported, and what the report of them says then.

use super::{Home, run};
use serde_json::Value;

/// Imports, and gives what the report of the latest run says then.
pub fn import(home: &Home, files: &[&str]) -> Value {
    let finished = run(home.drome(&["import"]).args(files));
    assert_eq!(finished.code, 0, "{}", finished.err);
    home.findings()
}

/// A figure, to what a page's digits say.
pub fn assert_figure(row: &Value, name: &str, expected: f64) {
    let read = row["figures"][name].as_f64().unwrap_or_else(|| panic!("{name} is not in {row}"));
    assert!((read - expected).abs() <= 1e-9 * expected.abs(), "{name}: {read} instead of {expected}");
}
