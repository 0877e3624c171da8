//! A folder that gets several files. It is made and checked before anything is measured; each file is written as a whole.

use super::output::Output;
use crate::failure::WrongInput;
use anyhow::Context;
use std::fs;
use std::path::{Component, Path, PathBuf};

/// A folder that exists and is writable.
#[derive(Debug)]
pub struct Folder {
    /// The option that names the folder.
    option: &'static str,
    path: PathBuf,
}

impl Folder {
    /// Creates the folder if it is missing. `option`: the option that names it; `extensions`: those of the files that it gets, which may be
    /// there from an earlier time and are replaced.
    pub fn to(option: &'static str, path: &Path, extensions: &[&str]) -> Result<Self, WrongInput> {
        let refused = |e: std::io::Error| {
            let path = path.display();
            WrongInput(format!("{option} {path} can't be written to: {e}; name a writable folder"))
        };
        fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path)).map_err(refused)?;
        for before in fs::read_dir(path).map_err(refused)?.flatten() {
            let before = before.path();
            if before.extension().is_some_and(|extension| extensions.iter().any(|own| extension == *own)) {
                Output::to(option, &before)?;
            }
        }
        Ok(Self { option, path: path.to_owned() })
    }

    /// This folder, or one of this name in it, made if it is not there, or not any more.
    pub fn make(&self, below: Option<&str>) -> anyhow::Result<Self> {
        let path = below.map_or_else(|| self.path.clone(), |name| self.path.join(name));
        fs::create_dir_all(&path).with_context(|| {
            let path = path.display();
            format!("can't make the folder {} {path}: check the free space and its permissions", self.option)
        })?;
        Ok(Self { option: self.option, path })
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        Output::to(self.option, &path)?.write(bytes)?;
        Ok(path)
    }

    /// The path of this folder for links in a file of the folder `other`, or in a text on standard output.
    pub fn from(&self, other: Option<&Path>) -> String {
        let Some(other) = other else { return self.path.display().to_string() };
        let other = if other.as_os_str().is_empty() { Path::new(".") } else { other };
        let whole = fs::canonicalize(&self.path).ok().zip(fs::canonicalize(other).ok());
        // A link that can't be relative has the whole path.
        let Some((to, from)) = whole else { return self.path.display().to_string() };
        let (mut to, mut from) = (to.components().peekable(), from.components().peekable());
        while to.peek().is_some() && to.peek() == from.peek() {
            to.next();
            from.next();
        }
        let way: PathBuf = from.map(|_| Component::ParentDir).chain(to).collect();
        if way.as_os_str().is_empty() { ".".to_owned() } else { way.display().to_string() }
    }
}
