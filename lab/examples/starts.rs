//! Prints the figure of every start of some races of the same commands, as `stats/tests/simulation/recorded.rs` reads it: contender, heat,
//! copy and figure, with tabs between. Reads what `drome race --format json` prints. Races end as soon as they are decided, so sixty heats
//! take about thirty of them.
//!
//! `cargo run -p drome-lab --example starts -- FINDINGS.json... > stats/tests/simulation/recorded/NAME.tsv`

#![allow(clippy::unwrap_used, reason = "an example may panic")]

use model::Findings;

fn main() {
    let mut heats = 0;
    for file in std::env::args_os().skip(1) {
        let findings: Findings = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        heats += print(&findings, heats);
    }
}

/// Prints the starts of a race, whose heats are numbered from `first` on; returns their number.
fn print(findings: &Findings, first: usize) -> usize {
    let cell = findings.cells.first().unwrap();
    let title = |name: &str| {
        cell.contenders.iter().find(|c| c.name == name).map_or(name.to_owned(), |c| c.title.clone())
    };
    let starts = &cell.in_heats.starts;
    for start in starts {
        let heat = first + start.round;
        println!("{}\t{heat}\t{}\t{:.1}", title(&start.contender), start.copy, start.figure);
    }
    starts.iter().map(|start| start.round + 1).max().unwrap_or(0)
}
