//! Findings and tallies → text for people and for programs. Pure: no I/O, no clock.

pub mod bars;
pub mod load_json;
pub mod load_text;
pub mod markdown;
mod offered;
pub mod race;
mod ranking;
mod table;
pub mod terminal;
pub mod units;

use model::Findings;

/// The documented JSON of a run's findings (schema 1).
pub fn findings_json(findings: &Findings) -> String {
    let mut text =
        serde_json::to_string_pretty(findings).unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}"));
    text.push('\n');
    text
}
