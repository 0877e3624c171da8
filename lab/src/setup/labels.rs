//! Short labels for commands: what tells them apart, instead of whole command lines.

use super::SetupError;
use model::run::Entrant;
use std::collections::{BTreeMap, BTreeSet};

/// A longer label is cut: it stands in headlines and in the rows of tables.
const LONGEST: usize = 40;

/// A label for each command: the words that are not in all of the commands, paths without the folders that they share.
/// Labels that would be the same get a number.
pub fn short_labels(commands: &[&str]) -> Vec<String> {
    let lines: Vec<Vec<&str>> = commands.iter().map(|command| command.split_whitespace().collect()).collect();
    let own: Vec<Vec<&str>> = lines.iter().map(|line| own_words(line, &lines)).collect();
    let labels = lines.iter().zip(&own).map(|(line, words)| {
        let words: Vec<String> = words.iter().enumerate().map(|(i, word)| short(word, i, &own)).collect();
        match words.first() {
            None => program(line),
            // An option says little without the program that it belongs to.
            Some(first) if first.starts_with('-') => format!("{} {}", program(line), words.join(" ")),
            Some(_) => words.join(" "),
        }
    });
    numbered(&labels.map(|label| cut(&label)).collect::<Vec<_>>())
}

/// The title of a race: the labels of its contenders, in the order of their letters.
pub fn race_title(entrants: &BTreeMap<String, Entrant>) -> String {
    entrants.values().map(|entrant| entrant.title.as_str()).collect::<Vec<_>>().join(" against ")
}

/// Gives the contenders of a race the labels that the user chose, one for each in the order of the commands; without
/// any, they keep their short ones.
pub fn name_entrants(entrants: &mut BTreeMap<String, Entrant>, names: &[String]) -> Result<(), SetupError> {
    if names.is_empty() {
        return Ok(());
    }
    let trimmed: Vec<&str> = names.iter().map(|name| name.trim()).collect();
    let distinct: BTreeSet<&str> = trimmed.iter().copied().filter(|name| !name.is_empty()).collect();
    if trimmed.len() != entrants.len() || distinct.len() != trimmed.len() {
        return Err(SetupError::Race(format!(
            "--name: {} for {} commands: give each command a different name, in the order of the commands, or none",
            trimmed.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "),
            entrants.len()
        )));
    }
    for (entrant, name) in entrants.values_mut().zip(trimmed) {
        name.clone_into(&mut entrant.title);
    }
    Ok(())
}

/// The words of a command that some other command does not have; an option stays with its value.
fn own_words<'c>(line: &[&'c str], lines: &[Vec<&'c str>]) -> Vec<&'c str> {
    let is_own = |word: &str| lines.iter().any(|other| !other.contains(&word));
    let is_option = |word: &str| word.starts_with('-');
    let mut own = Vec::new();
    for (i, word) in line.iter().enumerate() {
        let has_own_value = || line.get(i + 1).is_some_and(|next| is_own(next) && !is_option(next));
        if is_own(word) || (is_option(word) && has_own_value()) {
            own.push(*word);
        }
    }
    own
}

/// A word of a label. Of a path, only the parts that differ from the paths at the same place in the other labels.
fn short(word: &str, place: usize, own: &[Vec<&str>]) -> String {
    let parts = parts(word);
    let Some(name) = parts.last().filter(|_| word.contains('/')) else { return word.to_owned() };
    let at_place = own.iter().map(|words| words.get(place).filter(|word| word.contains('/')));
    let others: Option<Vec<Vec<&str>>> = at_place.map(|word| Some(self::parts(word?))).collect();
    let Some(others) = others else { return (*name).to_owned() };
    let shortest = others.iter().map(Vec::len).min().unwrap_or(0);
    let is_start = |n: &usize| others.iter().all(|other| other[*n] == parts[*n]);
    let start = (0..shortest).take_while(is_start).count();
    let is_end =
        |n: &usize| others.iter().all(|other| other[other.len() - 1 - n] == parts[parts.len() - 1 - n]);
    let end = (0..shortest - start).take_while(is_end).count();
    match &parts[start..parts.len() - end] {
        [] => (*name).to_owned(),
        kept => kept.join("/"),
    }
}

/// The folders and the file of a path.
fn parts(path: &str) -> Vec<&str> {
    path.split('/').filter(|part| !matches!(*part, "" | ".")).collect()
}

/// The name of the program, without its folder and without variables set before it.
fn program(line: &[&str]) -> String {
    let word = line.iter().find(|word| !word.contains('=')).copied().unwrap_or("command");
    parts(word).last().copied().unwrap_or(word).to_owned()
}

fn cut(label: &str) -> String {
    if label.chars().count() <= LONGEST {
        return label.to_owned();
    }
    let kept: String = label.chars().take(LONGEST - 1).collect();
    format!("{}…", kept.trim_end())
}

/// Appends ` #1`, ` #2` to labels that are the same.
fn numbered(labels: &[String]) -> Vec<String> {
    let count = |among: &[String], label: &String| among.iter().filter(|other| *other == label).count();
    let label = |(i, label): (usize, &String)| {
        if count(labels, label) == 1 {
            return label.clone();
        }
        format!("{label} #{}", count(&labels[..=i], label))
    };
    labels.iter().enumerate().map(label).collect()
}

#[cfg(test)]
#[path = "labels/tests.rs"]
mod tests;
