//! Takes out of rows what may be private: command lines, configuration files, paths of programs, what servers wrote, and the names of
//! the user and the machine. What is left are figures, versions, digests, and the names of studies, contenders, cells and workloads:
//! nothing is shared but the fields that [`shared_fields`] lists.

mod shared_fields;
mod words;

use super::{Row, SharedError};
use model::environment::Environment;
use model::verdict::STOPPING;
use model::{Heat, Import, Run, Tally, Verdict};
use serde_json::{Value, from_value, to_value};
use shared_fields::SharedFields;
use std::cell::RefCell;
use std::collections::BTreeMap;
use words::{scrubbed, without};

/// What stands in place of what is taken out.
const REDACTED: &str = "redacted";

/// What stands in place of the name of the servers' machine, and of the words by which it is reached.
const ELSEWHERE: &str = "another machine";

/// What stands in place of the title of a race's cell, which is a URL.
const CELL: &str = "url";

/// What it hides in texts, and the names that it has met so far. Some fields are replaced whole.
#[derive(Clone, Debug)]
pub struct Redaction {
    shared_fields: SharedFields,
    /// Words that are taken out of every text.
    hidden: Vec<String>,
    /// The names of the machines that measured heats, in the order in which they were met: the first becomes `machine 1`.
    machines: RefCell<Vec<String>>,
    /// The names of machines that ran the servers (`--server-on`), which texts may contain; the longest first, so that a name is
    /// replaced before one that is a part of it.
    elsewhere: RefCell<Vec<String>>,
}

impl Redaction {
    /// A redaction that hides these words too: names of the user and the machine, and the user's home folder. Very short ones, which
    /// would be found everywhere, stay.
    pub fn new(hidden: Vec<String>) -> Self {
        Self {
            shared_fields: SharedFields::read(),
            hidden: words::worth_hiding(hidden),
            machines: RefCell::default(),
            elsewhere: RefCell::default(),
        }
    }

    /// Takes everything out of a row that may be private.
    pub fn apply(&self, row: &mut Row) -> Result<(), SharedError> {
        match row {
            Row::Run(run) => self.run(run),
            Row::Heat(heat) => self.heat(heat),
            Row::Start(start) => {
                let measured = start.cells.values_mut().filter_map(|cell| cell.measurement.as_deref_mut());
                measured.for_each(|of| causes(&mut of.tally, &mut of.verdict));
            }
            Row::Import(import) => rename(import),
            Row::Replays(replays) => self.servers_on(&mut replays.environment),
            Row::Ended(_) | Row::Slice(_) => {}
            Row::Report(report) => {
                let why = "it is stored as it was printed, with its URL, so it can't be redacted; leave out the report, or leave \
                           out --redact";
                return Err(SharedError::Row {
                    what: format!("the report {}", report.id),
                    why: why.to_owned(),
                });
            }
        }
        *row = self.leaving(row).map_err(|error| SharedError::Row {
            what: format!("a row of the kind {}", row.kind()),
            why: format!("what is left of it after the redaction can't be read ({error}); leave out the run, or leave out --redact"),
        })?;
        if let Row::Run(run) = row {
            name_race(run);
        }
        Ok(())
    }

    /// What is shared of a row.
    fn leaving(&self, row: &Row) -> serde_json::Result<Row> {
        from_value(self.listed(&to_value(row)?))
    }

    fn listed(&self, row: &Value) -> Value {
        let fields =
            row.as_object().map(|row| self.shared_fields.of_object("Row", row, &|text| self.scrubbed(text)));
        Value::Object(fields.unwrap_or_default())
    }

    fn run(&self, run: &mut Run) {
        self.servers_on(&mut run.environment);
        for entrant in run.contenders.values_mut() {
            entrant.command.truncate(1);
            let files = (1..=entrant.files.len()).map(|nth| (format!("file {nth}"), String::new()));
            entrant.files = files.collect();
            if run.race.is_some() {
                // The digest of a short command tells it.
                entrant.source_sha256 = None;
            }
        }
    }

    /// The machine of a heat gets a number in place of its name, the same in all its heats.
    fn heat(&self, heat: &mut Heat) {
        let Some(machine) = &mut heat.machine else { return };
        let mut known = self.machines.borrow_mut();
        let nth = known.iter().position(|name| *name == machine.name).unwrap_or_else(|| {
            known.push(machine.name.clone());
            known.len() - 1
        });
        machine.name = format!("machine {}", nth + 1);
        self.servers_on(&mut machine.environment);
    }

    /// Takes out the names of the servers' machine, and keeps them in mind, because reasons and notes have them too: what it calls itself,
    /// its address, and the words by which it is reached with the parts that name it.
    fn servers_on(&self, environment: &mut Environment) {
        let Some(on) = environment.servers_on.as_deref_mut() else { return };
        let last = on.name.split_whitespace().last().unwrap_or_default();
        let after_user = last.rsplit('@').next().unwrap_or_default();
        let names = [&on.name, &on.host, &on.address, last, after_user].map(str::to_owned);
        let known = self.elsewhere.take();
        let all = names.into_iter().chain(known).filter(|name| !ELSEWHERE.contains(name.as_str()));
        *self.elsewhere.borrow_mut() = words::worth_hiding(all.collect());
        ELSEWHERE.clone_into(&mut on.name);
        "a private address".clone_into(&mut on.address);
        ELSEWHERE.clone_into(&mut on.host);
        self.servers_on(&mut on.environment);
    }

    fn scrubbed(&self, text: &str) -> String {
        let known = self.elsewhere.borrow();
        let text_elsewhere = known.iter().fold(text.to_owned(), |text, name| without(&text, name, ELSEWHERE));
        scrubbed(&text_elsewhere, &self.hidden)
    }
}

/// Titles of a race, which are parts of commands, become letters.
fn name_race(run: &mut Run) {
    if run.race.is_none() {
        return;
    }
    for (letter, entrant) in &mut run.contenders {
        entrant.title = format!("server {letter}");
    }
    let titles: Vec<&str> = run.contenders.values().map(|entrant| entrant.title.as_str()).collect();
    run.study.title = titles.join(" against ");
    run.study.cells.iter_mut().for_each(|cell| CELL.clone_into(&mut cell.title));
}

/// Takes the words of servers and of the system out of the causes of errors, and out of the reasons that repeat them. All figures stay.
fn causes(tally: &mut Tally, verdict: &mut Verdict) {
    let causes = std::mem::take(&mut tally.error_causes);
    for reason in &mut verdict.reasons {
        for secret in causes.keys().chain(&tally.halted).filter(|secret| !secret.is_empty()) {
            *reason = reason.replace(secret.as_str(), REDACTED);
        }
        if reason.starts_with(STOPPING) {
            *reason = format!("{STOPPING}{REDACTED}");
        }
    }
    if !causes.is_empty() {
        let all = causes.values().fold(0, |all: u64, n| all.saturating_add(*n));
        tally.error_causes = BTreeMap::from([(REDACTED.to_owned(), all)]);
    }
}

/// Gives an import, its sources, and the command lines of its readings names that tell nothing.
fn rename(import: &mut Import) {
    "reports of other tools".clone_into(&mut import.title);
    for (nth, source) in import.sources.iter_mut().enumerate() {
        source.name = format!("source {}", nth + 1);
    }
    // Reports with the same command line stay together in a table.
    let mut labels = BTreeMap::new();
    for item in &mut import.items {
        label(&mut item.reading.command, "command", &mut labels);
        label(&mut item.reading.url, "url", &mut labels);
    }
}

/// Gives a text a label in its place: the same text gets the same one.
fn label(text: &mut Option<String>, what: &str, labels: &mut BTreeMap<String, String>) {
    let Some(text) = text else { return };
    let next = format!("{what} {}", labels.len() + 1);
    let label = labels.entry(format!("{what} {text}")).or_insert(next);
    text.clone_from(label);
}

#[cfg(test)]
mod tests;
