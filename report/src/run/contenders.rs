//! The contenders: versions, settings, start commands, configuration files and programs; and those that did not take part.

use crate::document::{Document, Value};
use crate::{setup, units};
use model::Findings;
use model::environment::Executable;
use model::run::Entrant;

pub(super) fn document(f: &Findings) -> Document {
    let present = || f.entrants.iter().filter(|(_, entrant)| entrant.missing.is_none());
    let mut document = Document::default().section("contenders", "The contenders");
    if present().next().is_none() {
        document = document.sentence("The setup of the contenders is unknown.");
    }
    document = setup::table(f).into_iter().fold(document, Document::table);
    for (name, entrant) in present().filter(|(name, entrant)| is_more_known(f, entrant, programs(f, name))) {
        let version = units::known(entrant.version.as_deref(), str::to_owned);
        let title = if f.race.is_some() { name.clone() } else { format!("{} {version}", entrant.title) };
        document = document.heading(3, title).facts(facts(f, name, entrant));
    }
    document = document.sentences(others(f));
    if f.missing.is_empty() {
        return document;
    }
    let missing = f.missing.iter().map(|missing| format!("{}: {}", missing.name, missing.why));
    document.heading(3, "Did not take part").items(missing)
}

/// What is known of a contender.
fn facts(f: &Findings, name: &str, entrant: &Entrant) -> Vec<(String, Vec<Value>)> {
    let mut facts: Vec<(String, Vec<Value>)> = Vec::new();
    let mut add = |what: &str, values: Vec<Value>| facts.push((what.to_owned(), values));
    let hash = |hash: &String| Value::Text(format!("SHA-256 `{hash}`"));
    if let Some(image) = &entrant.image {
        let names = [&image.name, &image.id].into_iter().chain(&image.digest);
        add("Image", names.map(|name| Value::Code(name.clone())).collect());
    }
    let command = if f.race.is_some() { entrant.raced_command().to_owned() } else { line(&entrant.command) };
    if !command.is_empty() {
        let is_url = f.race.as_ref().is_some_and(|race| race.running);
        add(if is_url { "URL" } else { "Command" }, vec![Value::Block(command)]);
    }
    entrant.files.iter().for_each(|(file, text)| add(file, vec![Value::Block(text.clone())]));
    let programs = programs(f, name);
    for program in programs {
        let path = Value::Code(program.path.clone());
        add("Program", [path].into_iter().chain(program.sha256.as_ref().map(hash)).collect());
    }
    let warning = "More than one program was seen: it was replaced during the run.".to_owned();
    let texts = [
        ("Warning", (programs.len() > 1).then_some(warning).map(Value::Text)),
        ("Declaration and sources", entrant.source_sha256.as_ref().map(hash)),
        ("Known fault", entrant.faults.fragments.clone().map(Value::Text)),
        ("Reason for the tuning", entrant.because.clone().map(Value::Text)),
    ];
    for (what, text) in texts {
        text.into_iter().for_each(|text| add(what, vec![text]));
    }
    facts
}

/// The contenders of which only the version is known, as in runs of older versions of drome.
fn others(f: &Findings) -> Option<String> {
    let is_one = |(name, entrant): &(&String, &Entrant)| {
        entrant.missing.is_none() && !is_more_known(f, entrant, programs(f, name))
    };
    let with_version = |(_, entrant): (_, &Entrant)| {
        format!("{} {}", entrant.title, units::known(entrant.version.as_deref(), str::to_owned))
    };
    let names: Vec<String> = f.entrants.iter().filter(is_one).map(with_version).collect();
    (!names.is_empty()).then(|| format!("Only the version is known of {}.", names.join(", ")))
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
