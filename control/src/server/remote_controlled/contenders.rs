//! The contenders whose sources were written to this machine, and the bodies that they serve.

use super::numbered::Numbered;
use crate::catalog::CatalogEntry;
use crate::locked;
use crate::poll_while::poll_while;
use crate::prepare::assets::assets;
use crate::prepare::{Prepared, folders, install};
use crate::remote::messages::{InstallStep, Installed, Source, SourcesWritten, WriteSources};
use crate::supervise::guard;
use crate::verify::work::{Work, Works};
use agent::Call;
use model::Workload;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::Ordering;

/// The prepared contenders by number, and the folder of the bodies.
#[derive(Debug, Default)]
pub struct Contenders {
    prepared: Numbered<Prepared>,
    assets: Mutex<Option<PathBuf>>,
}

impl Contenders {
    /// Writes a contender's sources to the cache folder.
    pub fn write_sources(&self, asked: WriteSources) -> Result<SourcesWritten, String> {
        super::file_name(&asked.name)?;
        let entry = CatalogEntry { contender: asked.contender, sources: by_path(asked.sources)? };
        let cache = folders::cache();
        let prepared = Prepared::write_sources(&asked.name, &entry, &cache)
            .map_err(|e| format!("can't write the cache folder {}: {e}", cache.display()))?;
        let version = prepared.version();
        Ok(SourcesWritten { id: self.prepared.add(prepared), version })
    }

    /// Makes the files of these workloads, by the same recipes as everywhere.
    pub fn make_bodies(&self, workloads: &BTreeMap<String, Workload>) -> Result<(), String> {
        let mut works = Works::new();
        for (name, workload) in workloads {
            if let Some(file) = &workload.file {
                super::file_name(file)?;
            }
            works.insert(name.clone(), Work::of(workload).map_err(|e| format!("workload `{name}`: {e}"))?);
        }
        let assets = assets(&works).map_err(|e| e.to_string())?;
        *locked(&self.assets) = Some(assets);
        Ok(())
    }

    /// Installs what these contenders lack.
    pub fn install(&self, ids: &[u64], may: bool, call: &Call<'_>) -> Result<Installed, String> {
        let all = ids.iter().map(|id| self.prepared.with(*id, |one| one.clone()));
        let all = all.collect::<Result<Vec<_>, _>>()?;
        let ask = |what: &str| {
            call.event(&InstallStep::Asks(what.to_owned()));
            may
        };
        let say = |line: &str| call.event(&InstallStep::Says(line.to_owned()));
        // The installation can't be asked to stop, but it ends when its commands are killed.
        let stop = call.stop();
        let stopped = || {
            if stop.load(Ordering::Relaxed) {
                guard::kill_unguarded();
            }
            false
        };
        let failed = poll_while(stopped, || install::install(&all, &ask, &say).err());
        Ok(Installed { failed, versions: all.iter().map(Prepared::version).collect() })
    }

    /// The contender to start, and the folder of the bodies.
    pub fn to_start(&self, id: u64) -> Result<(Prepared, PathBuf), String> {
        let assets = locked(&self.assets).clone().ok_or("the bodies are not made yet")?;
        Ok((self.prepared.with(id, |one| one.clone())?, assets))
    }
}

/// The sources by their paths, which must lead into the contender's own folder.
fn by_path(sources: Vec<Source>) -> Result<BTreeMap<PathBuf, Vec<u8>>, String> {
    if let Some(Source { path, .. }) = sources.iter().find(|source| !is_inside(&source.path)) {
        return Err(format!("the source `{}` would be outside of its folder", path.display()));
    }
    Ok(sources.into_iter().map(|source| (source.path, source.bytes)).collect())
}

fn is_inside(path: &Path) -> bool {
    let mut parts = path.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_stay_in_their_folder_and_come_whole() {
        let source = |path: &str, bytes: &[u8]| Source { path: path.into(), bytes: bytes.to_vec() };
        let sent = [source("a.conf", b"aa"), source("java/B.java", &[0, 255, b'b'])];
        let arrived = serde_json::from_value(serde_json::to_value(&sent).unwrap()).unwrap();
        let two = by_path(arrived).unwrap();
        assert_eq!(
            (&two[Path::new("a.conf")][..], &two[Path::new("java/B.java")][..]),
            (&b"aa"[..], &[0, 255, b'b'][..])
        );
        for path in ["../x", "/etc/passwd", "a/../../x", "", "./x"] {
            assert!(by_path(vec![source("a", b"x"), source(path, b"x")]).is_err(), "{path}");
        }
    }

    #[test]
    fn a_declaration_comes_through_as_it_is() {
        for (name, entry) in crate::Catalog::built_in().unwrap().contenders {
            let text = serde_json::to_string(&entry.contender).unwrap();
            let read: model::Contender = serde_json::from_str(&text).unwrap();
            assert_eq!(read, entry.contender, "{name}");
            if let Some(tuned) = entry.contender.tuned() {
                let text = serde_json::to_string(&tuned).unwrap();
                assert_eq!(serde_json::from_str::<model::Contender>(&text).unwrap(), tuned, "{name}");
            }
        }
    }
}
