//! Lays out the contenders of a study on this machine, each on its tracks.

use super::SetupError;
use crate::catalog::Catalog;
use crate::prepare::Prepared;
use crate::prepare::folders;
use model::Study;
use model::contender::Track;
use model::study::REFERENCE;

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

/// Lays out a study's contenders, each on all its tracks, and the reference.
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

/// The contenders that the study names, and the reference.
fn names_of(study: &Study) -> Vec<String> {
    study.contenders.iter().cloned().chain([REFERENCE.to_owned()]).collect()
}
