//! What was read from pages of other tools, as a page: the tables that a terminal shows, and never a rank.

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
        @if cells.is_empty() { p { "Nothing was read that can be shown in a table." } }
        @for (i, cell) in cells.iter().enumerate() { (one(i, cell)) }
    };
    let foot = html! { "Made by drome " (import.drome) ". Others measured these figures; drome has only read them." };
    super::document(&import.title, &import.drome, &top, &main, &foot)
}

fn one(i: usize, cell: &Cell) -> Markup {
    let (id, table, notes) = (format!("cell-{}", i + 1), table(cell), notes(cell));
    let table_id = format!("{id}-figures");
    let shown =
        Shown { id: &table_id, caption: "As it was reported", table: &table, tags: &[], is_tall: false };
    html! {
        section #(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (cell.title) }
            p.asked { (about(cell)) "." }
            (shown.markup())
            @if !notes.is_empty() { ul.notes { @for note in &notes { li { (note) } } } }
        }
    }
}
