//! Imported results of other tools as an HTML page: the tables of the terminal, without ranks.

use super::table::Shown;
use crate::imported::text::{about, notes, preface, table};
use crate::imported::{Cell, cells};
use maud::{Markup, html};
use model::Import;

/// The whole page.
pub fn import_page(import: &Import) -> String {
    let cells = cells(import);
    let top = html! {
        header {
            p.kind { "drome · imported" }
            h1 { (import.title) }
            ul.facts { @for line in preface(import) { li { (line) } } }
        }
    };
    let main = html! {
        @if cells.is_empty() { p { "The import has nothing that a table can show." } }
        @for (i, cell) in cells.iter().enumerate() { (one(i, cell)) }
    };
    let foot =
        html! { "Made by drome " (import.drome) ". These figures were not measured by drome but imported." };
    super::document(&import.title, &import.drome, &top, &main, &foot)
}

fn one(i: usize, cell: &Cell) -> Markup {
    let (id, table, notes) = (format!("cell-{}", i + 1), table(cell), notes(cell));
    let table_id = format!("{id}-figures");
    let caption = format!("As reported: {}", cell.title);
    let shown = Shown {
        id: &table_id,
        caption: &caption,
        table: &table,
        chips: &[],
        has_filter: true,
        is_tall: false,
    };
    html! {
        section #(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (cell.title) }
            p.asked { (about(cell)) "." }
            (shown.markup())
            @if !notes.is_empty() { ul.notes { @for note in &notes { li { (note) } } } }
        }
    }
}
