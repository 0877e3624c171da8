//! Turns findings and tallies into text for people and for programs. Pure: no I/O, no clock.

pub mod answer;
pub mod bars;
pub mod chart;
pub mod chips;
pub mod ci;
pub mod compare;
mod cpu_time;
mod csv;
mod document;
pub mod figures;
mod foreign_text;
pub mod function_name;
pub mod gate;
pub mod gate_verdict;
pub mod hdr_log;
pub mod history;
pub mod html;
pub mod imported;
pub mod inspections;
pub mod lanes;
pub mod load_json;
mod load_machines;
pub mod load_report;
pub mod machine;
mod machines;
mod markdown_text;
mod memory_growth;
pub mod notes;
pub mod offered;
pub mod open_metrics;
pub mod outcome;
mod page;
mod page_figures;
pub mod progress;
mod protocols;
mod published;
pub mod race;
pub mod ranking;
mod records;
pub mod replays;
pub mod run;
pub mod series;
mod setup;
mod spectrum;
mod steps;
pub mod sweep;
pub mod table;
pub mod text_style;
pub mod trials;
mod tsv;
pub mod units;
pub mod verdict;

pub use document::Document;
pub use records::Records;
pub use text_style::TextStyle;

use model::findings::StartFigure;
use model::{Findings, Measured, Run, StartInCell};
use serde::Serialize;

/// How much detail the report of one measurement has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// The usual figures.
    Summary,
    /// The usual figures and the full latency distribution.
    Spectrum,
}

/// What a report is made from: the run, what was measured, and its findings.
#[derive(Clone, Copy, Debug)]
pub struct RunReport<'a> {
    /// The run: its study, its design and the contenders.
    pub run: &'a Run,
    /// Its heats and starts.
    pub measured: &'a Measured,
    /// The results computed from them.
    pub findings: &'a Findings,
}

impl RunReport<'_> {
    /// The figure that enters the ratios and ranks of its cell; `None` if the start does not count there.
    fn figure(&self, one: &StartInCell<'_>) -> Option<f64> {
        let (cell, own) = (self.findings.cells.get(one.cell)?, one.start);
        let is_its = |start: &&StartFigure| {
            let of = (start.round, start.heat, start.copy, start.contender.as_str());
            of == (own.round, own.heat, own.copy, own.contender.as_str())
        };
        cell.in_heats.starts.iter().find(is_its).map(|start| start.figure)
    }
}

/// The documented JSON of a result.
pub fn json(result: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(result);
    text.unwrap_or_else(|e| format!("{{\"error\":\"{e}\"}}")) + "\n"
}
