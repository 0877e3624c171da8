//! Takes out of rows what may be private: command lines, configuration files, paths of programs, what servers wrote, and the names of
//! the user and the machine. What is left are figures, versions, digests, and the names of studies, contenders, cells and workloads.

mod measured;
mod words;

use super::{Row, SharedError};
use model::environment::{Environment, FrequencyPolicy};
use model::import::Imported;
use model::observation::{ContainerImage, Entrant};
use model::page::Replays;
use model::{Heat, Import, Run, Study};
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
            hidden: words::worth_hiding(hidden),
            machines: RefCell::default(),
            elsewhere: RefCell::default(),
        }
    }

    /// Takes everything out of a row that may be private.
    pub fn apply(&self, row: &mut Row) -> Result<(), SharedError> {
        match row {
            Row::Run(run) => self.run(run),
            Row::Ended(why) => self.scrub(why),
            Row::Heat(heat) => self.heat(heat),
            Row::Slice(_) => {}
            Row::Start(start) => self.start(start),
            Row::Import(import) => self.import(import),
            Row::Replays(replays) => self.replays(replays),
            Row::Report(report) => {
                let why = "it is stored as it was printed, with its URL, so it can't be redacted; leave out the report, or leave \
                           out --redact";
                return Err(SharedError::Row {
                    what: format!("the report {}", report.id),
                    why: why.to_owned(),
                });
            }
        }
        Ok(())
    }

    fn run(&self, run: &mut Run) {
        let Run {
            id: _,
            name: _,
            study,
            seed: _,
            started_at: _,
            workloads: _,
            quick: _,
            environment,
            contenders,
            copies: _,
            race,
            allow_busy: _,
            command,
            fleet: _,
        } = run;
        self.learn(environment);
        self.study(study);
        self.environment(environment);
        for (letter, entrant) in contenders.iter_mut() {
            self.entrant(entrant);
            if race.is_some() {
                // Labels are parts of commands, and the digest of a short command tells it.
                entrant.title = format!("server {letter}");
                entrant.source_sha256 = None;
            }
        }
        if let Some(race) = race {
            let titles: Vec<&str> = contenders.values().map(|entrant| entrant.title.as_str()).collect();
            study.title = titles.join(" against ");
            study.cells.iter_mut().for_each(|cell| CELL.clone_into(&mut cell.title));
            race.prepare = race.prepare.take().map(|_| REDACTED.to_owned());
        }
        command.clear();
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
        self.learn(&machine.environment);
        self.environment(&mut machine.environment);
    }

    /// Keeps the names of the servers' machine, because reasons and notes have them too: what it calls itself, its address, and the words
    /// by which it is reached with the parts that name it.
    fn learn(&self, environment: &Environment) {
        let Some(on) = environment.servers_on.as_deref() else { return };
        let last = on.name.split_whitespace().last().unwrap_or_default();
        let after_user = last.rsplit('@').next().unwrap_or_default();
        let names = [&on.name, &on.host, &on.address, last, after_user].map(str::to_owned);
        let mut known = self.elsewhere.borrow_mut();
        let all = names.into_iter().chain(known.drain(..)).filter(|name| !ELSEWHERE.contains(name.as_str()));
        let all = words::worth_hiding(all.collect());
        *known = all;
    }

    fn study(&self, study: &mut Study) {
        let Study {
            title,
            source,
            contenders: _,
            tracks: _,
            cells,
            design: _,
            server_on,
            published,
            as_published,
            unequal,
        } = study;
        *server_on = None;
        self.scrub(title);
        self.scrub_all(source);
        cells.iter_mut().for_each(|cell| self.scrub(&mut cell.title));
        if let Some(published) = published {
            self.scrub(&mut published.hardware);
            self.scrub_all(published.without.values_mut());
        }
        as_published.clear();
        self.scrub_all(unequal);
    }

    fn entrant(&self, entrant: &mut Entrant) {
        let Entrant {
            title,
            version,
            missing,
            track: _,
            settings,
            faults,
            class: _,
            alone: _,
            because,
            source_sha256: _,
            command,
            files,
            image,
        } = entrant;
        self.scrub(title);
        self.scrub_all(version);
        let settings =
            [&mut settings.keep_alive, &mut settings.logging, &mut settings.workers, &mut settings.caching];
        self.scrub_all(settings.into_iter().flatten());
        self.scrub_all(&mut faults.fragments);
        self.scrub_all(because);
        *missing = missing.take().map(|_| REDACTED.to_owned());
        if !command.is_empty() {
            *command = vec![REDACTED.to_owned()];
        }
        let file = |nth: usize| (format!("file {}", nth + 1), REDACTED.to_owned());
        *files = (0..files.len()).map(file).collect();
        if let Some(ContainerImage { name, id: _, digest }) = image {
            REDACTED.clone_into(name);
            *digest = None;
        }
    }

    fn environment(&self, environment: &mut Environment) {
        let Environment {
            drome: _,
            hub,
            kernel,
            cpu,
            cores: _,
            server_cpus: _,
            client_cpus: _,
            idle_cpus: _,
            core_notes,
            memory_bytes: _,
            virtualization,
            machine,
            servers_on,
        } = environment;
        if let Some(on) = servers_on {
            ELSEWHERE.clone_into(&mut on.name);
            "a private address".clone_into(&mut on.address);
            ELSEWHERE.clone_into(&mut on.host);
            self.scrub_all([&mut on.os, &mut on.arch]);
            self.environment(&mut on.environment);
        }
        self.scrub_all([hub, kernel, cpu, virtualization].into_iter().flatten());
        self.scrub_all(core_notes);
        let FrequencyPolicy { driver, governor, .. } = &mut machine.frequency;
        self.scrub_all([driver, governor, &mut machine.clock_source].into_iter().flatten());
        self.scrub_all(machine.mitigations.iter_mut().flat_map(BTreeMap::values_mut));
        self.scrub_all(machine.sysctls.values_mut().flatten());
    }

    fn import(&self, import: &mut Import) {
        let Import { id: _, title, imported_at: _, drome: _, sources, items } = import;
        "reports of other tools".clone_into(title);
        for (nth, source) in sources.iter_mut().enumerate() {
            source.name = format!("source {}", nth + 1);
            source.title = None;
            source.strange.clear();
        }
        // Reports with the same command line stay together in a table.
        let mut labels = BTreeMap::new();
        for Imported { source: _, reading, notes, strange } in items {
            notes.clear();
            strange.clear();
            label(&mut reading.command, "command", &mut labels);
            label(&mut reading.url, "url", &mut labels);
            self.scrub_all(
                [&mut reading.title, &mut reading.server, &mut reading.workload].into_iter().flatten(),
            );
        }
    }

    fn replays(&self, replays: &mut Replays) {
        self.learn(&replays.environment);
        self.scrub(&mut replays.title);
        self.environment(&mut replays.environment);
        for replay in &mut replays.replays {
            REDACTED.clone_into(&mut replay.command);
            REDACTED.clone_into(&mut replay.report);
            replay.note = replay.note.take().map(|_| REDACTED.to_owned());
            self.scrub(&mut replay.title);
            self.scrub_all(replay.without.values_mut());
        }
    }

    fn scrub(&self, text: &mut String) {
        let known = self.elsewhere.borrow();
        let text_elsewhere = known.iter().fold(text.clone(), |text, name| without(&text, name, ELSEWHERE));
        *text = scrubbed(&text_elsewhere, &self.hidden);
    }

    fn scrub_all<'t>(&self, texts: impl IntoIterator<Item = &'t mut String>) {
        texts.into_iter().for_each(|text| self.scrub(text));
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
