//! From a study, or from bare commands, to a lab and a run that can begin.

use crate::catalog::{Catalog, CatalogError, Entry};
use crate::cores::Cores;
use crate::environment::System;
use crate::instance::{Instance, Place, Work, Works};
use crate::prepare::{Prepared, tag};
use crate::run::Lab;
use crate::{before, clock_text, folders, verify};
use model::contender::{Contender, Faults, Install, Kind, Settings, Start, StopSignal, Track, Version};
use model::observation::{Entrant, Raced};
use model::study::{RACE, REFERENCE};
use model::{Run, Study};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Why a run can't begin.
#[derive(Debug, thiserror::Error)]
pub enum SetupError {
    /// The catalog, or a name that is not in it.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// The cache folder can't be written.
    #[error(
        "can't write the cache folder {path}: {source}; free some space, or set DROME_CACHE to another folder"
    )]
    Cache {
        /// Which folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A recipe that can't be followed.
    #[error("workload `{name}`: {source}")]
    Body {
        /// The workload.
        name: String,
        /// Why.
        source: bodies::BodyError,
    },
    /// A race that can't be run.
    #[error("{0}")]
    Race(String),
}

/// The first look of `--quick`.
const QUICK: ([usize; 2], Duration, Duration) = ([3, 3], Duration::from_millis(200), Duration::from_secs(1));

/// Shortens a study to a first look.
pub fn quicken(study: &mut Study) {
    (study.design.blocks, study.design.warmup, study.design.measure) = QUICK;
}

/// The bodies of all workloads of the catalog.
pub fn works(catalog: &Catalog) -> Result<Works, SetupError> {
    let work = |(name, workload): (&String, &model::Workload)| {
        let work = Work::of(workload).map_err(|source| SetupError::Body { name: name.clone(), source })?;
        Ok((name.clone(), work))
    };
    catalog.workloads.iter().map(work).collect()
}

/// Lays out the sources of these contenders.
pub fn prepare(catalog: &Catalog, names: &[String]) -> Result<Vec<Prepared>, SetupError> {
    let cache = folders::cache();
    let lay_out = |name: &String| {
        let entry = catalog.contender(name)?;
        Prepared::lay_out(name, entry, &cache)
            .map_err(|source| SetupError::Cache { path: cache.clone(), source })
    };
    names.iter().map(lay_out).collect()
}

/// Lays out a study's contenders, each as often as it takes part, and the reference.
pub fn prepare_study(catalog: &Catalog, study: &Study) -> Result<Vec<Prepared>, SetupError> {
    let all = prepare(catalog, &names_of(study))?;
    Ok(all.into_iter().flat_map(|p| on_tracks(p, &study.tracks)).collect())
}

/// A contender on each of these tracks; once, as it comes, if it has no tuned track.
pub fn on_tracks(prepared: Prepared, tracks: &[Track]) -> Vec<Prepared> {
    let Some(tuned) = prepared.tuned() else { return vec![prepared] };
    let is_wanted = |track| tracks.contains(&track);
    let both = [(Track::Default, prepared), (Track::Tuned, tuned)];
    both.into_iter().filter(|(track, _)| is_wanted(*track)).map(|(_, prepared)| prepared).collect()
}

/// A run of a study that has not begun. Contenders that lack something are in it with the reason.
pub fn study_run(
    name: &str,
    study: Study,
    prepared: &[Prepared],
    works: &Works,
    seed: Option<u64>,
    quick: bool,
) -> Run {
    let entrant = |p: &Prepared| (p.name.clone(), p.entrant());
    let workloads = digests(&study, works);
    Run { workloads, ..new_run(name, study, prepared.iter().map(entrant).collect(), 1, seed, quick) }
}

/// How the contenders of a run that was cut off are not any more what they were when it began, a sentence each.
pub fn changes_since(run: &Run, prepared: &[Prepared]) -> Vec<String> {
    let took_part = prepared.iter().filter_map(|p| Some((p, run.contenders.get(&p.name)?)));
    let change = |(now, then): (&Prepared, &Entrant)| {
        let (name, now) = (&now.name, now.entrant());
        let known = then.source_sha256.is_some();
        match (&then.version, now.version, now.missing) {
            _ if then.missing.is_some() => None,
            (_, _, Some(why)) => Some(format!("{name} took part and can't now: {why}")),
            (Some(then), Some(now), _) if *then != now => Some(format!("{name} was {then} and is {now}")),
            _ if known && then.source_sha256 != now.source_sha256 => {
                Some(format!("the folder of {name} says something else"))
            }
            _ => None,
        }
    };
    took_part.filter_map(change).collect()
}

/// The bodies of the study's workloads.
fn digests(study: &Study, works: &Works) -> BTreeMap<String, String> {
    let names = study.cells.iter().map(|cell| &cell.workload);
    let bodies = names.filter_map(|name| Some((name, works.get(name)?.body.as_deref()?)));
    let hex = |body: &[u8]| Sha256::digest(body).iter().map(|byte| format!("{byte:02x}")).collect();
    bodies.map(|(name, body)| (name.clone(), hex(body))).collect()
}

fn new_run(
    name: &str,
    study: Study,
    contenders: BTreeMap<String, Entrant>,
    copies: usize,
    seed: Option<u64>,
    quick: bool,
) -> Run {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let started_at = clock_text();
    Run {
        id: new_id(&started_at),
        name: name.to_owned(),
        study,
        seed: seed.unwrap_or(now.as_nanos() as u64),
        started_at,
        workloads: BTreeMap::new(),
        quick,
        environment: System::here().look(&Cores::deal()),
        contenders,
        copies,
        race: None,
    }
}

/// A name in the store that no other has: the time, and something by chance.
pub fn new_id(started_at: &str) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let digits: String = started_at.chars().filter(char::is_ascii_digit).collect();
    let (day, time) = digits.split_at(8.min(digits.len()));
    format!("{day}-{time}-{:04x}", now.subsec_nanos() >> 14)
}

/// The lab for a run, on a machine that may be busy with other programs or may not.
pub fn lab(
    run: &Run,
    prepared: Vec<Prepared>,
    works: Works,
    stop: Arc<AtomicBool>,
    may_be_busy: bool,
) -> Result<Lab, SetupError> {
    let (cache, assets) = (folders::cache(), assets(&works)?);
    let takes_part = |p: &Prepared| run.contenders.get(&p.name).is_some_and(|e| e.missing.is_none());
    Ok(Lab {
        prepared: prepared.into_iter().filter(takes_part).map(|p| (p.name.clone(), p)).collect(),
        works,
        cores: Cores::deal(),
        assets,
        logs: cache.join("logs").join(&run.id),
        stop,
        may_be_busy,
        verified: Mutex::default(),
    })
}

/// The folder with the workloads' files; it is made where it is not there.
pub fn assets(works: &Works) -> Result<PathBuf, SetupError> {
    let cache = folders::cache();
    lay_assets(&cache, works).map_err(|source| SetupError::Cache { path: cache.clone(), source })
}

/// Writes the workloads' files into a folder that is named for what is in them.
fn lay_assets(cache: &Path, works: &Works) -> std::io::Result<PathBuf> {
    let files: Vec<(&str, &[u8])> = works
        .values()
        .filter_map(|work| Some((work.workload.as_ref()?.file.as_deref()?, work.body.as_deref()?)))
        .collect();
    let mut digest = Sha256::new();
    for (file, body) in &files {
        digest.update(file);
        digest.update(body);
    }
    let tag = tag(digest);
    let (parent, folder) = (cache.join("assets"), cache.join("assets").join(tag));
    if !folder.is_dir() {
        std::fs::create_dir_all(&parent)?;
        let draft = tempfile::tempdir_in(&parent)?;
        for (file, body) in files {
            std::fs::write(draft.path().join(file), body)?;
        }
        std::fs::rename(draft.keep(), &folder)?;
    }
    Ok(folder)
}

/// A raced command gets so long to answer its first request.
const RACE_READY: Duration = Duration::from_secs(30);

/// The one workload of a race: whatever the servers answer.
pub const RACED: &str = "url";

/// Contenders from bare commands, in which `{port}` stands for the port; `path` is what they are asked for.
pub fn commands(
    commands: &[String],
    path: &str,
) -> Result<(Vec<Prepared>, BTreeMap<String, Entrant>), SetupError> {
    let (cache, mut all, mut entrants) = (folders::cache(), Vec::new(), BTreeMap::new());
    for (command, letter) in commands.iter().zip('A'..='Z') {
        if !command.contains("{port}") {
            return Err(SetupError::Race(format!(
                "`{command}` has no {{port}}: every trial starts the server on a free port of its own, so write \
                 {{port}} where the command takes its port"
            )));
        }
        // Without a shell between drome and the server there is one process less to be counted.
        let exec = if command.contains(['|', '&', ';', '<', '>', '(', ')', '$', '`', '\n', '=']) {
            ""
        } else {
            "exec "
        };
        let contender = Contender {
            title: command.clone(),
            language: String::new(),
            kind: Kind::Server,
            homepage: String::new(),
            install: Install::default(),
            build: None,
            version: Version { command: vec!["true".to_owned()], after: None },
            toolchain: None,
            run: Start {
                command: ["sh", "-c", &format!("cd '{}' && {exec}{command}", here())]
                    .map(str::to_owned)
                    .to_vec(),
                files: Vec::new(),
                workers: None,
                stop: StopSignal::Term,
                ready: RACE_READY,
            },
            settings: Settings::default(),
            tuned: None,
            faults: Faults::default(),
            serves: BTreeMap::from([(RACED.to_owned(), path.to_owned())]),
        };
        let entry = Entry { contender, sources: BTreeMap::new() };
        let prepared = Prepared::lay_out(&letter.to_string(), &entry, &cache)
            .map_err(|source| SetupError::Cache { path: cache.clone(), source })?;
        let source_sha256 = Some(prepared.source_sha256.clone());
        let entrant = Entrant { title: command.clone(), source_sha256, ..Entrant::default() };
        entrants.insert(letter.to_string(), entrant);
        all.push(prepared);
    }
    Ok((all, entrants))
}

/// A race as a run: every contender enters a block twice, so that what separates it from itself is known.
/// `prepare` is run before every trial.
pub fn race_run(
    study: Study,
    entrants: BTreeMap<String, Entrant>,
    prepare: Option<String>,
    seed: Option<u64>,
) -> Run {
    let race = Some(Raced { body_bytes: None, prepare });
    Run { race, ..new_run(RACE, study, entrants, 2, seed, false) }
}

/// Writes down what all contenders were found to answer with.
pub fn hold_equal(run: &mut Run, work: &Work) {
    let body_bytes = work.body.as_ref().map(Vec::len);
    run.race = Some(Raced { body_bytes, ..run.race.take().unwrap_or_default() });
}

/// Starts every contender once and asks it: all must give the same body, or the race is of unequal work.
pub fn same_work(lab: &Lab, run: &Run, path: &str) -> Result<Work, SetupError> {
    let mut first: Option<(String, Vec<u8>)> = None;
    std::fs::create_dir_all(&lab.logs)
        .map_err(|source| SetupError::Cache { path: lab.logs.clone(), source })?;
    for (name, prepared) in &lab.prepared {
        let place = Place {
            cpus: lab.cores.server.clone(),
            connections: 1,
            assets: lab.assets.clone(),
            log: lab.logs.join(format!("{name}.log")),
        };
        let trouble =
            |why: String| SetupError::Race(format!("{name} (`{}`): {why}", prepared.contender.title));
        if let Some(command) = run.race.as_ref().and_then(|race| race.prepare.as_deref()) {
            let log = lab.logs.join("prepare.log");
            before::run(command, &log, &lab.stop).map_err(SetupError::Race)?;
        }
        let instance = Instance::start(prepared, &place, &Works::new(), &lab.stop).map_err(trouble)?;
        let answer = verify::get(instance.address, path);
        instance.server.stop().map_err(trouble)?;
        let answer = answer.map_err(|e| trouble(format!("no answer for {path}: {e}")))?;
        if answer.status != 200 {
            return Err(trouble(format!("status {} for {path}, not 200", answer.status)));
        }
        match &first {
            None => first = Some((name.clone(), answer.body)),
            Some((other, body)) if *body != answer.body => {
                return Err(SetupError::Race(format!(
                    "{other} answers {path} with {} bytes, {name} with {} {}: that is not the same work; make them answer \
                     alike, or say --any-body",
                    body.len(),
                    answer.body.len(),
                    if body.len() == answer.body.len() { "others" } else { "bytes" },
                )));
            }
            Some(_) => {}
        }
    }
    Ok(Work { body: first.map(|(_, body)| body), ..Work::default() })
}

fn here() -> String {
    std::env::current_dir().unwrap_or_default().display().to_string()
}

/// A run's name for the list of reference contenders.
pub fn names_of(study: &Study) -> Vec<String> {
    study.contenders.iter().cloned().chain([REFERENCE.to_owned()]).collect()
}
