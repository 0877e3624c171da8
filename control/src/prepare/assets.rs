//! Makes what workloads need on this machine: their bodies, and the folder with their files.

use crate::catalog::Catalog;
use crate::lock::Lock;
use crate::prepare::{fill_folder, folders, tag};
use crate::verify::work::{Work, Works};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Why something can't be made in the cache folder.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The folder can't be written.
    #[error(
        "can't write the cache folder {path}: {source}; free some space, or set DROME_CACHE to another folder"
    )]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// A workload's recipe can't be followed.
    #[error("workload `{name}`: {source}")]
    Body {
        /// The workload.
        name: String,
        /// The reason.
        source: bodies::BodyError,
    },
}

/// Makes the bodies of all workloads of the catalog.
pub fn works(catalog: &Catalog) -> Result<Works, CacheError> {
    let work = |(name, workload): (&String, &model::Workload)| {
        let work = Work::of(workload).map_err(|source| CacheError::Body { name: name.clone(), source })?;
        Ok((name.clone(), work))
    };
    catalog.workloads.iter().map(work).collect()
}

/// The folder with the workloads' files, which is made if it is missing.
pub fn assets(works: &Works) -> Result<PathBuf, CacheError> {
    let cache = folders::cache();
    lay_assets(&cache, works).map_err(|source| CacheError::Folder { path: cache.clone(), source })
}

/// Writes the workloads' files into a folder that is named for its content.
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
    let (parent, folder) = (cache.join("assets"), cache.join("assets").join(&tag));
    if folder.is_dir() {
        return Ok(folder);
    }
    std::fs::create_dir_all(&parent)?;
    let _lock = Lock::take(&parent.join("lock"))?;
    // Another drome may have written them meanwhile.
    if !folder.is_dir() {
        fill_folder(&folder, &parent.join("draft"), files)?;
    }
    Ok(folder)
}
