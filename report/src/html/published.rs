//! The figures that the study's page published beside those measured here, and the unequal conditions on that page.

use super::charts::Charts;
use super::table::Shown;
use crate::table::Table;
use crate::{page, page_figures};
use maud::{Markup, html};
use model::Findings;

/// Whether the study reproduces a page.
pub(super) fn is_there(f: &Findings) -> bool {
    f.page.is_some() || !f.unequal.is_empty()
}

pub(super) fn section(f: &Findings, charts: &Charts) -> Markup {
    if !is_there(f) {
        return Markup::default();
    }
    html! {
        section #published aria-labelledby="published-title" {
            h2 #published-title { "Published and measured" }
            @if let Some(source) = &f.source { p { "The source of the published figures: " (source) "." } }
            @if let Some(page) = &f.page { p { "The published figures were measured on " (page.hardware) "." } }
            @for (i, cell) in f.cells.iter().enumerate() { (one(f, charts, i, cell)) }
            @if let Some(words) = page_figures::elsewhere(f) { p { (words) } }
            @if let Some(table) = page_figures::versions(f) { (versions(&table)) }
            @if !f.unequal.is_empty() {
                h3 { "Unequal conditions on the page" }
                ul.notes { @for sentence in &f.unequal { li { (sentence) } } }
            }
        }
    }
}

fn one(f: &Findings, charts: &Charts, i: usize, cell: &model::findings::CellFindings) -> Markup {
    let all = page::comparisons(f, cell);
    html! {
        @for (nth, one) in all.iter().enumerate() { (compared(one, &cell.title, &format!("published-{}-{}", i + 1, nth + 1))) }
        @if !all.is_empty() { (charts.published(i)) }
        @if let Some(others) = page_figures::of_cell(f, cell) {
            (other_figures(&others, &cell.title, i))
        }
    }
}

fn compared(one: &page::Comparison<'_>, title: &str, id: &str) -> Markup {
    let table = one.table();
    let caption = format!("Published and measured: {title}{}", one.kind.words());
    let shown = Shown { id, caption: &caption, table: &table, chips: &[], has_filter: false, is_tall: false };
    html! {
        (shown.markup())
        p.key { (one.agreement()) }
    }
}

fn other_figures(table: &Table, title: &str, i: usize) -> Markup {
    let (id, caption) = (format!("page-figures-{}", i + 1), format!("Other figures on the page: {title}"));
    Shown { id: &id, caption: &caption, table, chips: &[], has_filter: false, is_tall: false }.markup()
}

fn versions(table: &Table) -> Markup {
    let caption = "Versions on the page and here";
    Shown { id: "page-versions", caption, table, chips: &[], has_filter: false, is_tall: false }.markup()
}
