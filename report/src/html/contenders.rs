//! Who took part: versions, settings, the command that starts each, its configuration, the programs that ran; and who did not.

use super::table::Shown;
use crate::{setup, units};
use maud::{Markup, html};
use model::Findings;
use model::environment::Ran;
use model::observation::Entrant;

pub(super) fn section(f: &Findings) -> Markup {
    let present = || f.entrants.iter().filter(|(_, entrant)| entrant.missing.is_none());
    let (table, is_known) = setup::table(f);
    let caption = "How each was set up";
    let shown = Shown { id: "setup-table", caption, table: &table, tags: &[], is_tall: false };
    html! {
        section #contenders aria-labelledby="contenders-title" {
            h2 #contenders-title { "The contenders" }
            @if present().next().is_none() { p { "Nothing is known of how the contenders were set up." } }
            @if is_known { (shown.markup()) }
            @for (name, entrant) in present() { (one(f, name, entrant)) }
            @if !f.missing.is_empty() {
                h3 { "Did not take part" }
                ul.notes { @for missing in &f.missing { li { b { (missing.name) } ": " (missing.why) } } }
            }
        }
    }
}

fn one(f: &Findings, name: &str, entrant: &Entrant) -> Markup {
    let version = units::known(entrant.version.as_deref(), str::to_owned);
    let of_name = |c: &&model::findings::ContenderFindings| c.name == name;
    let ran: Option<&Ran> = f.cells.iter().flat_map(|cell| &cell.contenders).find(of_name).map(|c| &c.ran);
    let programs = ran.map(|ran| ran.executables.as_slice()).unwrap_or_default();
    let command = if f.race.is_some() { entrant.title.clone() } else { line(&entrant.command) };
    html! {
        h3 { @if f.race.is_some() { (name) } @else { (entrant.title) " " span.version { (version) } } }
        dl.facts {
            @if !command.is_empty() { dt { "Command" } dd { pre { code { (command) } } } }
            @for (file, text) in &entrant.files { dt { code { (file) } } dd { pre { code { (text) } } } }
            @for program in programs {
                dt { "Program" }
                dd { code { (program.path) } @if let Some(hash) = &program.sha256 { br; "SHA-256 " code { (hash) } } }
            }
            @if programs.len() > 1 { dt { "Beware" } dd { "More than one program was seen: it was changed in the middle of the run." } }
            @if let Some(hash) = &entrant.source_sha256 { dt { "Declaration and sources" } dd { "SHA-256 " code { (hash) } } }
            @if let Some(fault) = &entrant.faults.fragments { dt { "A known fault" } dd { (fault) } }
            @if let Some(because) = &entrant.because { dt { "Tuned by" } dd { (because) } }
        }
    }
}

/// A command as a shell would take it.
pub(super) fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// A word as a shell takes it for itself.
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
