//! The report of a run, a study's or a race's: what every format has, and with it all that is known, which a page has.

mod contenders;
mod machine;
mod reproduce;
mod starts;

use crate::document::Document;
use crate::text_style::Ink;
use crate::{
    RunReport, answer, bars, chart, cpu_time, notes, page, protocols, race, ranking, setup, verdict,
};
use model::Findings;
use model::findings::{CellFindings, RaceFindings};

/// Explains a ranking.
const KEY: &str = "95 %: confidence interval. –: unknown. ≥ and ≤: the load generator or the network was at its limit, so the figure is a lower or an upper bound.";

/// The whole report.
pub fn document(f: &Findings) -> Document {
    if let (Some(race), Some(cell)) = (&f.race, f.cells.first()) {
        return of_race(f, race, cell);
    }
    let title = Document::titled(format!("{}: {}", f.study, f.title)).items(ranking::preface(f));
    let cells = f.cells.iter().enumerate().map(|(i, cell)| {
        Document::default().section(cell_id(i), &cell.title).and(figures(cell, f)).and(remarks(cell))
    });
    let document = cells.fold(title, Document::and).and(protocols::document(f)).and(setup::document(f));
    let document = if f.missing.is_empty() { document } else { document.heading(2, "Did not take part") };
    let missing = f.missing.iter().map(|missing| (format!("{}: {}", missing.name, missing.why), Ink::Doubt));
    document.painted_items(missing).and(page::document(f)).and(cpu_time::document(f))
}

/// With every start, the contenders, the machine and all charts.
pub(crate) fn page(told: &RunReport) -> Document {
    let (f, all) = (told.findings, chart::of(told));
    let those =
        |is: &dyn Fn(&str) -> bool| all.iter().filter(|chart| is(&chart.name)).cloned().collect::<Vec<_>>();
    let is_general = |name: &str| name.starts_with("heat") || name.starts_with("load-");
    let mut document = verdict::document(f).charts(those(&is_general));
    for (i, cell) in f.cells.iter().enumerate() {
        let number = format!("-{}", i + 1);
        let charts = those(&|name| name.ends_with(&number) && !is_general(name));
        document = document.section(cell_id(i), &cell.title);
        document = match &f.race {
            Some(race) => document
                .table(ranking::race_table(cell))
                .remark(KEY)
                .charts(charts)
                .painted_items(race::lines(f, race, cell)),
            None => document.and(figures(cell, f)).remark(KEY).charts(charts).and(remarks(cell)),
        };
    }
    document
        .and(protocols::document(f))
        .and(cpu_time::document(f))
        .and(page::document(f))
        .and(starts::document(told))
        .and(contenders::document(f))
        .and(machine::document(f))
        .and(reproduce::document(told))
}

fn of_race(f: &Findings, race: &RaceFindings, cell: &CellFindings) -> Document {
    // Readers of a pasted report do not know the machine.
    let machine = [crate::machine::name(&f.environment)]
        .into_iter()
        .chain(crate::machine::of_servers(&f.environment))
        .chain(crate::machine::setup(&f.environment))
        .chain(crate::machine::conditions(&f.conditions));
    Document::default()
        .details(Document::titled("A race"))
        .commands(race::commands(f, cell))
        .table(ranking::race_table(cell))
        .painted_items(race::lines(f, race, cell))
        .details(Document::default().items(machine))
        .and(cpu_time::document(f))
}

fn cell_id(i: usize) -> String {
    format!("cell-{}", i + 1)
}

/// What is certain in a cell of a study, what was measured, and the ranking.
fn figures(cell: &CellFindings, f: &Findings) -> Document {
    Document::default()
        .sentences(answer::of(f, cell))
        .remark(ranking::about(cell))
        .table(ranking::table(cell))
        .bars(bars::of_cell(cell))
}

/// Notes on single contenders.
fn remarks(cell: &CellFindings) -> Document {
    Document::default().painted_items(notes::painted(cell))
}
