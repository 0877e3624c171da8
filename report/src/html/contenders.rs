//! The contenders: versions, settings, start commands, configuration files and programs; and those that did not take part.

use super::table::Shown;
use crate::{setup, units};
use maud::{Markup, html};
use model::Findings;
use model::environment::Executable;
use model::observation::Entrant;

pub(super) fn section(f: &Findings) -> Markup {
    let present = || f.entrants.iter().filter(|(_, entrant)| entrant.missing.is_none());
    let (table, is_known) = setup::table(f);
    let caption = "How each contender was set up";
    let shown =
        Shown { id: "setup-table", caption, table: &table, chips: &[], has_filter: false, is_tall: false };
    html! {
        section #contenders aria-labelledby="contenders-title" {
            h2 #contenders-title { "The contenders" }
            @if present().next().is_none() { p { "The setup of the contenders is unknown." } }
            @if is_known { (shown.markup()) }
            @for (name, entrant) in present() { (one(f, name, entrant)) }
            (others(f))
            @if !f.missing.is_empty() {
                h3 { "Did not take part" }
                ul.notes { @for missing in &f.missing { li { b { (missing.name) } ": " (missing.why) } } }
            }
        }
    }
}

fn one(f: &Findings, name: &str, entrant: &Entrant) -> Markup {
    let version = units::known(entrant.version.as_deref(), str::to_owned);
    let programs = programs(f, name);
    let command = if f.race.is_some() { entrant.raced_command().to_owned() } else { line(&entrant.command) };
    if !is_more_known(f, entrant, programs) {
        return Markup::default();
    }
    let what = if f.race.as_ref().is_some_and(|race| race.running) { "URL" } else { "Command" };
    html! {
        h3 { @if f.race.is_some() { (name) } @else { (entrant.title) " " span.version { (version) } } }
        dl.facts {
            @if let Some(image) = &entrant.image {
                dt { "Image" }
                dd { code { (image.name) } br; code { (image.id) } @if let Some(digest) = &image.digest { br; code { (digest) } } }
            }
            @if !command.is_empty() { dt { (what) } dd { pre { code { (command) } } } }
            @for (file, text) in &entrant.files { dt { code { (file) } } dd { pre { code { (text) } } } }
            @for program in programs {
                dt { "Program" }
                dd { code { (program.path) } @if let Some(hash) = &program.sha256 { br; "SHA-256 " code { (hash) } } }
            }
            @if programs.len() > 1 { dt { "Warning" } dd { "More than one program was seen: it was replaced during the run." } }
            @if let Some(hash) = &entrant.source_sha256 { dt { "Declaration and sources" } dd { "SHA-256 " code { (hash) } } }
            @if let Some(fault) = &entrant.faults.fragments { dt { "Known fault" } dd { (fault) } }
            @if let Some(because) = &entrant.because { dt { "Reason for the tuning" } dd { (because) } }
        }
    }
}

/// The contenders of which only the version is known, as in runs of older versions of drome.
fn others(f: &Findings) -> Markup {
    let is_one = |(name, entrant): &(&String, &Entrant)| {
        entrant.missing.is_none() && !is_more_known(f, entrant, programs(f, name))
    };
    let names: Vec<String> = f
        .entrants
        .iter()
        .filter(is_one)
        .map(|(_, entrant)| {
            format!("{} {}", entrant.title, units::known(entrant.version.as_deref(), str::to_owned))
        })
        .collect();
    html! {
        @if !names.is_empty() { p { "Only the version is known of " (names.join(", ")) "." } }
    }
}

fn is_more_known(f: &Findings, entrant: &Entrant, programs: &[Executable]) -> bool {
    let has_source =
        entrant.source_sha256.is_some() || entrant.because.is_some() || entrant.faults.fragments.is_some();
    f.race.is_some()
        || has_source
        || !entrant.command.is_empty()
        || !entrant.files.is_empty()
        || !programs.is_empty()
}

/// The programs that were seen to run.
fn programs<'f>(f: &'f Findings, name: &str) -> &'f [Executable] {
    let found = f.cells.iter().flat_map(|cell| &cell.contenders).find(|c| c.name == name);
    found.map(|c| c.ran.executables.as_slice()).unwrap_or_default()
}

/// A command line, quoted for a shell.
fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word, quoted for a shell if necessary.
pub(super) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=,@%+{}".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_can_be_pasted() {
        let words = ["sh", "-c", "echo \"it's $0\"", "", "{dir}"].map(str::to_owned);
        assert_eq!(line(&words), r#"sh -c 'echo "it'\''s $0"' '' {dir}"#);
    }
}
