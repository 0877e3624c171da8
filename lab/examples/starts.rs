//! Prints the figure of every start of a race's only cell, as `stats/tests/simulation/recorded.rs` reads it: contender, heat, copy and
//! figure, with tabs between. Reads what `drome report RUN --format json` prints.
//!
//! `cargo run -p drome-lab --example starts -- FINDINGS.json > stats/tests/simulation/recorded/NAME.tsv`

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use model::Findings;

fn main() {
    let file = std::env::args_os().nth(1).unwrap();
    let findings: Findings = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let cell = findings.cells.first().unwrap();
    let title = |name: &str| {
        cell.contenders.iter().find(|c| c.name == name).map_or(name.to_owned(), |c| c.title.clone())
    };
    for start in &cell.in_heats.as_ref().unwrap().starts {
        println!("{}\t{}\t{}\t{:.1}", title(&start.contender), start.round, start.copy, start.figure);
    }
}
