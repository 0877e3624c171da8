//! Prepares the contenders of a study on this machine, each on its tracks.

use super::new_run::new_run;
use super::{RunRules, SetupError};
use control::catalog::{Catalog, CatalogEntry};
use control::prepare::Prepared;
use control::prepare::assets::CacheError;
use control::prepare::assets::works;
use control::prepare::folders;
use control::remote::RemoteMachine;
use control::verify::origin::AskedAt;
use control::verify::work::Works;
use model::contender::{Track, WithTls};
use model::study::{REFERENCE, Transport};
use model::{Run, Study};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::time::Duration;

/// What takes part in a run: the prepared contenders, and what is requested of them.
#[derive(Debug, Default)]
pub struct Lineup {
    /// The contenders, each on all of its tracks that are wanted.
    pub prepared: Vec<Prepared>,
    /// The workloads.
    pub works: Works,
    /// The other machine on which the contenders are started; `None`: this one.
    pub remote: Option<RemoteMachine>,
}

impl Lineup {
    /// Prepares a study's contenders and the reference, and makes the bodies of all workloads.
    pub fn of_study(catalog: &Catalog, study: &Study) -> Result<Self, SetupError> {
        let all = prepare(catalog, &names_of(study))?;
        let prepared = all.into_iter().flat_map(|p| on_tracks(p, &study.tracks)).collect();
        Ok(Self { prepared, works: works(catalog)?, remote: None })
    }

    /// Sets how long each contender may take from its start to its first good answer; `None` leaves it as it is declared.
    pub fn wait_for_answers(&mut self, ready: Option<Duration>) {
        for prepared in &mut self.prepared {
            let run = &mut prepared.contender.run;
            run.ready = ready.unwrap_or(run.ready);
        }
    }

    /// Sets where each contender that is started on this machine is asked; `None`: at 127.0.0.1.
    pub fn ask_at(&mut self, asked_at: Option<&AskedAt>) {
        self.prepared.iter_mut().for_each(|prepared| prepared.asked_at = asked_at.cloned());
    }

    /// Sets what each contender of a race speaks: this, at its only port.
    pub fn speak(&mut self, transport: Transport) {
        let speaks = vec![transport.protocol];
        for Prepared { contender, .. } in &mut self.prepared {
            let tls = WithTls { args: Vec::new(), files: Vec::new(), speaks: speaks.clone(), instead: true };
            contender.tls = transport.tls.map(|_| tls);
            contender.speaks.clone_from(&speaks);
        }
    }

    /// Sets what is sent to each contender: the message of a call.
    pub fn send(&mut self, message: &[u8]) {
        self.works.values_mut().for_each(|work| work.send = message.to_vec());
    }

    /// Describes a run of the study as these contenders are now. Those that lack something are in it with the reason.
    pub fn run(&self, name: &str, study: Study, rules: RunRules) -> Run {
        let tls = study.cells.iter().any(|cell| cell.tls.is_some());
        let entrants = self.prepared.iter().map(|p| (p.name.clone(), p.entrant(tls))).collect();
        let workloads = digests(&study, &self.works);
        Run { workloads, ..new_run(name, study, entrants, 1, rules) }
    }
}

/// The digests of the bodies of the study's workloads.
fn digests(study: &Study, works: &Works) -> BTreeMap<String, String> {
    let names = study.cells.iter().map(|cell| &cell.workload);
    let bodies = names.filter_map(|name| Some((name, works.get(name)?.body.as_deref()?)));
    bodies.map(|(name, body)| (name.clone(), model::hex(Sha256::digest(body)))).collect()
}

/// Writes the sources of these contenders to the cache folder.
pub fn prepare(catalog: &Catalog, names: &[String]) -> Result<Vec<Prepared>, SetupError> {
    names.iter().map(|name| write_sources(name, catalog.contender(name)?)).collect()
}

/// Writes the sources of a contender to the cache folder.
pub(super) fn write_sources(name: &str, entry: &CatalogEntry) -> Result<Prepared, SetupError> {
    let cache = folders::cache();
    Prepared::write_sources(name, entry, &cache)
        .map_err(|source| CacheError::Folder { path: cache, source }.into())
}

/// A contender on each of these tracks; if it has no tuned track, only once, as it is declared.
pub fn on_tracks(prepared: Prepared, tracks: &[Track]) -> Vec<Prepared> {
    let Some(tuned) = prepared.tuned() else { return vec![prepared] };
    let is_wanted = |track| tracks.contains(&track);
    let both = [(Track::Default, prepared), (Track::Tuned, tuned)];
    both.into_iter().filter(|(track, _)| is_wanted(*track)).map(|(_, prepared)| prepared).collect()
}

/// The contenders that the study names, and the reference.
fn names_of(study: &Study) -> Vec<String> {
    study.contenders.iter().cloned().chain([REFERENCE.to_owned()]).collect()
}
