//! Checks the files of a catalog against each other.

use super::{Catalog, CatalogError, narrow};
use model::Study;
use model::study::REFERENCE;
use std::collections::BTreeMap;
use std::path::Path;

/// Why a contender that listens at one port only can't be in cells with TLS and without.
const INSTEAD: &str = "listens with TLS instead: put its encrypted cells into a study of their own";

impl Catalog {
    /// Checks that every name in a file exists, and that every contender serves what it is asked for.
    pub(super) fn check(&self) -> Result<(), CatalogError> {
        for (name, entry) in &self.contenders {
            let file = format!("contenders/{name}/contender.toml");
            for workload in entry.contender.serves.keys() {
                self.workload(workload).map_err(|e| in_file(&file, &e))?;
            }
            let tuned = entry.contender.tuned.iter().flat_map(|tuned| &tuned.files).flatten();
            let tls = entry.contender.tls.iter().flat_map(|tls| &tls.files);
            let run = entry.contender.run.files.iter().map(|f| ("run", f));
            let named = run.chain(tuned.map(|f| ("tuned", f))).chain(tls.map(|f| ("tls", f)));
            for (table, template) in named {
                if !entry.sources.contains_key(Path::new(template)) {
                    let why = format!("{table}.files names `{template}`, which is not in src/");
                    return Err(in_file(&file, &why));
                }
            }
        }
        for (name, workload) in &self.workloads {
            if let Some(why) = workload.contradiction() {
                return Err(in_file(&format!("workloads/{name}.toml"), &why));
            }
        }
        for (name, study) in &self.studies {
            self.check_study(&format!("studies/{name}.toml"), study)?;
        }
        Ok(())
    }

    fn check_study(&self, file: &str, study: &Study) -> Result<(), CatalogError> {
        if study.cells.is_empty() || study.contenders.is_empty() {
            return Err(in_file(file, &"a study needs at least one contender and one [[cell]]"));
        }
        narrow::ensure_distinct(study.cells.iter().map(|cell| cell.title.as_str()))
            .map_err(|why| in_file(file, &why))?;
        if study.tracks.is_empty() {
            return Err(in_file(file, &"tracks is empty: use \"default\" and \"tuned\""));
        }
        let pages = study.published.iter();
        let published = pages.flat_map(|p| p.figures.keys().chain(p.cells.values().flat_map(BTreeMap::keys)));
        for contender in study.contenders.iter().chain(published) {
            self.contender(contender).map_err(|e| in_file(file, &e))?;
        }
        for page in &study.as_published {
            if !study.cells.iter().any(|cell| cell.title == page.cell) {
                return Err(in_file(file, &format!("as_published: there is no cell `{}`", page.cell)));
            }
            for name in page.contenders.keys().chain(&page.only) {
                self.contender(name).map_err(|e| in_file(file, &e))?;
            }
            for (name, quirk) in &page.contenders {
                let Some(workload) = &quirk.workload else { continue };
                self.workload(workload).map_err(|e| in_file(file, &e))?;
                if !self.contender(name)?.contender.serves.contains_key(workload) {
                    let why =
                        format!("as_published: contender `{name}` does not serve the workload `{workload}`");
                    return Err(in_file(file, &why));
                }
            }
        }
        for cell in study.published.iter().flat_map(|p| p.cells.keys().chain(p.details.keys())) {
            if !study.cells.iter().any(|c| c.title == *cell) {
                return Err(in_file(file, &format!("published: there is no cell `{cell}`")));
            }
        }
        let has_tls = study.cells.iter().any(|cell| cell.tls.is_some());
        for cell in &study.cells {
            let workload = self.workload(&cell.workload).map_err(|e| in_file(file, &e))?;
            if !workload.is_of(cell.protocol) {
                let (workload, protocol) = (&cell.workload, cell.protocol.name());
                let why =
                    format!("cell `{}`: the workload `{workload}` can't be asked in {protocol}", cell.title);
                return Err(in_file(file, &why));
            }
            if let Some(why) = cell.contradiction() {
                return Err(in_file(file, &format!("cell `{}`: {why}", cell.title)));
            }
            for contender in study.contenders.iter().map(String::as_str).chain([REFERENCE]) {
                let declared = &self.contender(contender)?.contender;
                let is_lost = cell.tls.is_none() && has_tls && declared.is_encrypted_instead();
                let why = is_lost.then(|| INSTEAD.to_owned()).or_else(|| cell.lack(declared));
                if let Some(why) = why {
                    return Err(in_file(file, &format!("contender `{contender}` {why}")));
                }
            }
        }
        Ok(())
    }
}

/// An error of a whole file, not of one of its lines.
fn in_file(file: &str, message: &dyn std::fmt::Display) -> CatalogError {
    CatalogError::File { file: file.to_owned(), line: 1, message: message.to_string() }
}
