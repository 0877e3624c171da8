//! A run as one self-contained HTML file: no network, no other file, no script but its own. `maud` escapes every text. Only the
//! charts, which escape their own text, and the two files beside this one are inserted as they are.

mod charts;
mod contenders;
mod cpu_time;
pub(crate) mod headline;
mod imported;
mod machine;
mod published;
mod reproduce;
mod table;
mod trials;

use crate::text_style::is_unprintable;
use crate::{RunReport, answer, chart, chips, ranking};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use charts::Charts;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::Findings;
use model::findings::CellFindings;
use sha2::{Digest, Sha256};
use table::Shown;

pub use imported::import_page;

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("report.js");

/// The whole page.
pub fn page(told: &RunReport) -> String {
    let (f, charts) = (told.findings, Charts::of(told));
    let top = html! { (top(f)) (contents(told)) };
    let main = html! {
        (headline::section(f, &charts))
        @for (i, cell) in f.cells.iter().enumerate() { (ranked(f, &charts, i, cell)) }
        (cpu_time::section(f))
        (published::section(f, &charts))
        (trials::section(told))
        (contenders::section(f))
        (machine::section(f))
        (reproduce::section(told))
    };
    let drome = &f.environment.drome;
    let foot =
        html! { "Made by drome " (drome) " from run " code { (f.run) } ". This file needs no network." };
    document(&f.title, drome, &top, &main, &foot)
}

/// The frame of a page around its content.
fn document(title: &str, drome: &str, top: &Markup, main: &Markup, foot: &Markup) -> String {
    let style = format!("{STYLE}{}", chart::css());
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy(&style));
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="generator" content={ "drome " (drome) };
                title { (title) " · drome" }
                style { (PreEscaped(&style)) }
            }
            body {
                a.skip href="#main" { "Skip to the findings" }
                (top)
                main #main tabindex="-1" { (main) }
                footer { p { (foot) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Nothing of a page's own is such a character; `maud` escapes all others.
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        c if is_unprintable(c) => char::REPLACEMENT_CHARACTER,
        c => c,
    };
    markup.into_string().chars().map(shown).collect()
}

/// The Content-Security-Policy: nothing may be fetched, and only the page's own script and style, identified by their hashes, are
/// allowed.
fn policy(style: &str) -> String {
    let [style, script] = [style, SCRIPT].map(|text| BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
    )
}

fn top(f: &Findings) -> Markup {
    let kind = if f.race.is_some() { "race".to_owned() } else { format!("study {}", f.study) };
    html! {
        header {
            p.kind { "drome · " (kind) }
            h1 { @if f.race.is_some() { "A race" } @else { (f.title) } }
            ul.facts { @for line in ranking::preface(f) { li { (line) } } }
        }
    }
}

fn contents(told: &RunReport) -> Markup {
    let f = told.findings;
    let cells = f.cells.iter().enumerate().map(|(i, cell)| (cell_id(i), cell.title.as_str()));
    let rest = [
        ("cpu-time", crate::cpu_time::TITLE, !f.profiles.is_empty()),
        ("published", "Published and measured", published::is_there(f)),
        ("trials", "Every start", true),
        ("contenders", "The contenders", true),
        ("machine", "The machine", true),
        ("reproduce", "Reproduce", true),
    ];
    html! {
        nav aria-label="Contents" {
            ul {
                li { a href="#found" { "Findings" } }
                @for (id, title) in cells { li { a href={ "#" (id) } { (title) } } }
                @for (id, title, is_there) in rest {
                    @if is_there { li { a href={ "#" (id) } { (title) } } }
                }
            }
        }
    }
}

fn cell_id(i: usize) -> String {
    format!("cell-{}", i + 1)
}

/// A cell: workload and load, the ranking, the charts, and notes on single contenders.
fn ranked(f: &Findings, charts: &Charts, i: usize, cell: &CellFindings) -> Markup {
    let id = cell_id(i);
    let table = if f.race.is_some() { ranking::race_table(cell) } else { ranking::table(cell) };
    // The rows of the table are the cell's contenders.
    let chips: Vec<_> = cell.contenders.iter().map(|c| chips::of(cell, c)).collect();
    let table_id = format!("{id}-ranking");
    let caption = format!("Ranking: {}", cell.title);
    let shown = Shown {
        id: &table_id,
        caption: &caption,
        table: &table,
        chips: &chips,
        has_filter: true,
        is_tall: false,
    };
    html! {
        section #(id) aria-labelledby={ (id) "-title" } {
            h2 id={ (id) "-title" } { (cell.title) }
            @for sentence in answer::of(f, cell) { p { (sentence) } }
            p.asked { (ranking::asked(cell)) "; " (ranking::floor(cell)) "." }
            (shown.markup())
            p.key { "95 %: confidence interval. –: unknown. ≥ and ≤: the load generator or the network was at its limit, so the figure is a lower or an upper bound." }
            (charts.of_cell(i))
            (notes(cell))
        }
    }
}

fn notes(cell: &CellFindings) -> Markup {
    let notes = crate::notes::of(cell);
    html! {
        @if !notes.is_empty() {
            h3 { "Notes" }
            ul.notes { @for note in notes { li { (note) } } }
        }
    }
}
