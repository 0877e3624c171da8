//! A run as one self-contained HTML file: no network, no other file, no script but its own. Every text is escaped. Only the
//! charts, which escape their own text, and the two files beside this one are inserted as they are.

use crate::{RunReport, chart, imported, ranking, run};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use model::Import;
use model::text::printable;
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("report.js");

/// The whole page.
pub fn page(told: &RunReport) -> String {
    let (f, document) = (told.findings, run::page(told));
    let (kind, title) = match f.race {
        Some(_) => ("race".to_owned(), "A race"),
        None => (format!("study {}", f.study), f.title.as_str()),
    };
    let top = head(&kind, title, ranking::preface(f).iter().map(String::as_str));
    let top = html! { (top) (document.contents()) };
    let drome = &f.environment.drome;
    let foot =
        html! { "Made by drome " (drome) " from run " code { (f.run) } ". This file needs no network." };
    whole(&f.title, drome, &top, &document.sections(), &foot)
}

/// Imported results of other tools as a page.
pub fn import_page(import: &Import) -> String {
    let document = imported::document(import);
    let top = head("imported", &import.title, document.preface());
    let main = html! {
        @if import.items.is_empty() { p { "The import has nothing that a table can show." } }
        (document.sections())
    };
    let foot =
        html! { "Made by drome " (import.drome) ". These figures were not measured by drome but imported." };
    whole(&import.title, &import.drome, &top, &main, &foot)
}

/// The kind of page, its title, and what must be known before it is read.
fn head<'t>(kind: &str, title: &str, preface: impl Iterator<Item = &'t str>) -> Markup {
    html! {
        header {
            p.kind { "drome · " (kind) }
            h1 { (title) }
            ul.facts { @for line in preface { li { (line) } } }
        }
    }
}

/// The frame of a page around its content.
fn whole(title: &str, drome: &str, top: &Markup, main: &Markup, foot: &Markup) -> String {
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
                a.skip href="#main" { "Skip to the content" }
                (top)
                main #main tabindex="-1" { (main) }
                footer { p { (foot) } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    // Nothing of a page's own is such a character; `maud` escapes all others.
    markup.into_string().chars().map(printable).collect()
}

/// The Content-Security-Policy: nothing may be fetched, and only the page's own script and style, identified by their hashes, are
/// allowed.
fn policy(style: &str) -> String {
    let [style, script] = [style, SCRIPT].map(|text| BASE64_STANDARD.encode(Sha256::digest(text)));
    format!(
        "default-src 'none'; style-src 'sha256-{style}'; script-src 'sha256-{script}'; base-uri 'none'; form-action 'none'"
    )
}
