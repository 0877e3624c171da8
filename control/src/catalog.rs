//! The catalog of contenders, workloads and studies: those that are built in, and those in folders that a user adds, which
//! override by name. Everything is read and checked before anything is started.

mod check;
pub mod narrow;

use drome_catalog::{CONTENDERS, MANIFEST, STUDIES, WORKLOADS};
use include_dir::Dir;
use model::study::REFERENCE;
use model::{Contender, Study, Workload};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// All contenders, workloads and studies.
#[derive(Clone, Debug, Default)]
pub struct Catalog {
    /// Contenders by name.
    pub contenders: BTreeMap<String, CatalogEntry>,
    /// Workloads by name.
    pub workloads: BTreeMap<String, Workload>,
    /// Studies by name.
    pub studies: BTreeMap<String, Study>,
}

/// A contender and the files of its `src/`, by path below it.
#[derive(Clone, Debug)]
pub struct CatalogEntry {
    /// Its declaration.
    pub contender: Contender,
    /// Its sources.
    pub sources: BTreeMap<PathBuf, Vec<u8>>,
}

/// An error in the catalog, or an unknown name.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    /// A file has a value that is not allowed.
    #[error("{file}:{line}: {message}")]
    File {
        /// The file.
        file: String,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong, what is allowed, and the nearest match.
        message: String,
    },
    /// A name that does not exist.
    #[error("there is no {kind} `{name}`{hint}; available: {all}")]
    Unknown {
        /// Study, contender or workload.
        kind: &'static str,
        /// The name as given.
        name: String,
        /// What was meant, or how a file of one's own is named.
        hint: String,
        /// All names that exist.
        all: String,
    },
    /// A folder that can't be read.
    #[error("can't read the catalog {path}: {source}")]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

impl Catalog {
    /// Reads the catalog that is compiled in.
    pub fn built_in() -> Result<Self, CatalogError> {
        let mut catalog = Self::default();
        let tree = |dir: &Dir<'_>, root: &str| {
            let mut files = BTreeMap::new();
            collect(dir, &mut files);
            files.into_iter().map(|(path, bytes)| (Path::new(root).join(path), bytes)).collect::<Vec<_>>()
        };
        let files =
            [tree(&CONTENDERS, "contenders"), tree(&WORKLOADS, "workloads"), tree(&STUDIES, "studies")];
        catalog.add(&files.into_iter().flatten().collect(), Path::new(""))?;
        catalog.check()?;
        Ok(catalog)
    }

    /// Adds the folders `contenders`, `workloads` and `studies` below `root`, where they exist.
    pub fn add_folder(&mut self, root: &Path) -> Result<(), CatalogError> {
        let mut files = BTreeMap::new();
        let folder = |source| CatalogError::Folder { path: root.to_owned(), source };
        std::fs::read_dir(root).map_err(folder)?;
        for part in ["contenders", "workloads", "studies"] {
            if root.join(part).is_dir() {
                read_tree(root, Path::new(part), &mut files).map_err(folder)?;
            }
        }
        self.add(&files, root)?;
        self.let_reference_serve(&files, root);
        self.check()
    }

    /// Lets the reference serve the workloads of a folder, unless the folder has a reference of its own. A workload without a file
    /// needs code that makes its answer, which only the built-in ones have.
    fn let_reference_serve(&mut self, files: &BTreeMap<PathBuf, Vec<u8>>, root: &Path) {
        let own = Path::new("contenders").join(REFERENCE).join("contender.toml");
        let named =
            |path: &PathBuf| Some(path.strip_prefix("workloads").ok()?.file_stem()?.to_str()?.to_owned());
        let added: Vec<String> =
            files.keys().filter_map(named).filter(|n| self.workloads.contains_key(n)).collect();
        let Some(entry) = self.contenders.get_mut(REFERENCE).filter(|_| !files.contains_key(&own)) else {
            return;
        };
        if added.is_empty() {
            return;
        }
        for name in added {
            if let Some(file) = &self.workloads[&name].file {
                entry.contender.serves.entry(name).or_insert(format!("/{file}"));
            }
        }
        let root = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        entry.contender.run.command.extend(["--catalog".to_owned(), root.display().to_string()]);
    }

    /// Finds a study by name.
    pub fn study(&self, name: &str) -> Result<&Study, CatalogError> {
        find("study", &self.studies, name)
    }

    /// Finds a contender by name.
    pub fn contender(&self, name: &str) -> Result<&CatalogEntry, CatalogError> {
        find("contender", &self.contenders, name)
    }

    /// Finds a workload by name.
    pub fn workload(&self, name: &str) -> Result<&Workload, CatalogError> {
        find("workload", &self.workloads, name)
    }

    fn add(&mut self, files: &BTreeMap<PathBuf, Vec<u8>>, root: &Path) -> Result<(), CatalogError> {
        for (path, bytes) in files {
            let shown = root.join(path).display().to_string();
            let parts: Vec<&str> = path.iter().filter_map(|p| p.to_str()).collect();
            match parts[..] {
                ["contenders", name, "contender.toml"] => {
                    let contender: Contender = parse(&shown, bytes)?;
                    let below = Path::new("contenders").join(name).join("src");
                    let sources = files
                        .iter()
                        .filter_map(|(p, bytes)| {
                            Some((source_name(p.strip_prefix(&below).ok()?), bytes.clone()))
                        })
                        .collect();
                    self.contenders.insert(name.to_owned(), CatalogEntry { contender, sources });
                }
                ["workloads", file] if file.ends_with(".toml") => {
                    self.workloads.insert(file.trim_end_matches(".toml").to_owned(), parse(&shown, bytes)?);
                }
                ["studies", file] if file.ends_with(".toml") => {
                    self.studies.insert(file.trim_end_matches(".toml").to_owned(), parse(&shown, bytes)?);
                }
                _ => {}
            }
        }
        Ok(())
    }
}

/// A source's path in the folder where the contender is built: see [`MANIFEST`].
fn source_name(path: &Path) -> PathBuf {
    if path.file_name() == Some(MANIFEST.as_ref()) {
        path.with_file_name("Cargo.toml")
    } else {
        path.to_owned()
    }
}

fn collect(dir: &Dir<'_>, files: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for file in dir.files() {
        files.insert(file.path().to_owned(), file.contents().to_owned());
    }
    dir.dirs().for_each(|dir| collect(dir, files));
}

fn read_tree(root: &Path, below: &Path, files: &mut BTreeMap<PathBuf, Vec<u8>>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(below))? {
        let entry = entry?;
        let path = below.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            read_tree(root, &path, files)?;
        } else {
            files.insert(path, std::fs::read(entry.path())?);
        }
    }
    Ok(())
}

fn find<'c, T>(kind: &'static str, all: &'c BTreeMap<String, T>, name: &str) -> Result<&'c T, CatalogError> {
    all.get(name).ok_or_else(|| CatalogError::Unknown {
        kind,
        name: name.to_owned(),
        hint: hint(kind, name, all.keys().map(String::as_str)),
        all: all.keys().cloned().collect::<Vec<_>>().join(", "),
    })
}

/// What a user may have meant by a name that does not exist: the path of a file of their own, or a similar name.
fn hint<'a>(kind: &str, name: &str, all: impl Iterator<Item = &'a str>) -> String {
    if let Some(own) = name.strip_suffix(".toml") {
        let own = Path::new(own).file_name().unwrap_or_default().display();
        return if kind == "study" {
            format!(
                " (give a study's name, not its path: save the file as DIR/studies/{own}.toml and give `{own} --catalog DIR`)"
            )
        } else {
            " (give a name, not a path, and its folder with --catalog DIR)".to_owned()
        };
    }
    did_you_mean(name, all)
}

/// Asks whether the most similar of `all` was meant, as the end of a sentence; empty: none is similar.
pub fn did_you_mean<'a>(name: &str, all: impl Iterator<Item = &'a str>) -> String {
    let all = all.map(|candidate| (strsim::jaro_winkler(name, candidate), candidate));
    let nearest = all.filter(|(likeness, _)| *likeness > 0.75).max_by(|a, b| a.0.total_cmp(&b.0));
    nearest.map(|(_, near)| format!(" (did you mean `{near}`?)")).unwrap_or_default()
}

/// Reads one TOML file; an error names the line, what is allowed and the nearest match.
fn parse<T: DeserializeOwned>(file: &str, bytes: &[u8]) -> Result<T, CatalogError> {
    let error = |line, message| CatalogError::File { file: file.to_owned(), line, message };
    let text = std::str::from_utf8(bytes).map_err(|e| error(1, format!("not UTF-8: {e}")))?;
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
        error(line, with_nearest(e.message()))
    })
}

/// Adds "did you mean" to "unknown field `x`, expected one of `a`, `b`".
fn with_nearest(message: &str) -> String {
    let quoted: Vec<&str> = message.split('`').skip(1).step_by(2).collect();
    match (message.starts_with("unknown"), quoted.split_first()) {
        (true, Some((wrong, allowed))) => message.to_owned() + &did_you_mean(wrong, allowed.iter().copied()),
        _ => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(change: impl Fn(&str) -> String) -> Result<(), String> {
        let text = STUDIES.get_file("raspberry-pi.toml").unwrap().contents_utf8().unwrap();
        let mut catalog = Catalog::built_in().unwrap();
        let files = BTreeMap::from([(PathBuf::from("studies/x.toml"), change(text).into_bytes())]);
        catalog.add(&files, Path::new("")).and_then(|()| catalog.check()).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_compiled_in_is_sound() {
        let catalog = Catalog::built_in().unwrap();
        assert_eq!(catalog.studies["raspberry-pi"].contenders.len(), 9);
        assert!(catalog.contenders.contains_key(REFERENCE));
        assert!(catalog.contenders["nginx"].sources.contains_key(Path::new("nginx.conf")));
    }

    #[test]
    fn an_error_names_the_file_the_line_what_is_allowed_and_the_nearest_match() {
        let cases: [(&str, &str, &[&str]); 10] = [
            ("budget =", "buget =", &["studies/x.toml:32", "buget", "did you mean `budget`?"]),
            ("budget", "precision = 3\nbudget", &["studies/x.toml:32", "3 is out of range", "such as 0.03"]),
            ("[4, 13]", "[13, 4]", &["studies/x.toml:30", "out of range", "at least"]),
            ("\"10min\"", "\"2 parsecs\"", &["studies/x.toml:32", "not a duration", "2s"]),
            ("connections = 10 }", "connections = 0 }", &["studies/x.toml:27", "out of range"]),
            (
                "\"nginx\",",
                "\"ngimx\",",
                &["studies/x.toml", "no contender `ngimx`", "did you mean `nginx`?"],
            ),
            ("\"hello\"", "\"hallo\"", &["no workload `hallo`", "did you mean `hello`?"]),
            ("closed", "close", &["unknown variant `close`", "did you mean `closed`?"]),
            (
                "title    = \"a new connection for every request\"",
                "title = \"keep-alive\"",
                &["studies/x.toml", "two cells have the title `keep-alive`"],
            ),
            ("title    = \"keep-alive\"", "title = \" \"", &["studies/x.toml", "a cell has no title"]),
        ];
        for (from, to, words) in cases {
            let error = study(|text| text.replace(from, to)).unwrap_err();
            for word in words {
                assert!(error.contains(word), "{to}: {error} lacks {word}");
            }
        }
        assert!(study(|_| "x = [".to_owned()).unwrap_err().contains("studies/x.toml:1"));
    }

    #[test]
    fn whoever_gives_the_path_of_a_study_is_told_how_it_is_named() {
        let catalog = Catalog::built_in().unwrap();
        let told = catalog.study("mine/today.toml").unwrap_err().to_string();
        assert!(
            told.contains("save the file as DIR/studies/today.toml and give `today --catalog DIR`"),
            "{told}"
        );
        let told = catalog.study("todya").unwrap_err().to_string();
        assert!(told.starts_with("there is no study `todya` (did you mean `today`?); available: "), "{told}");
    }

    #[test]
    fn a_contender_that_does_not_serve_the_workload_is_refused() {
        let error = study(|text| text.replace("\"hello\"", "\"json\"")).unwrap_err();
        assert!(error.contains("`nginx` does not serve the workload `json`"), "{error}");
    }
}
