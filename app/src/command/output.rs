//! `--output FILE`: what a command says, in a file that is whole or as it was before.

use crate::failure::WrongInput;
use anyhow::Context;
use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that can be written.
#[derive(Debug)]
pub struct Output {
    /// As the user named it.
    option: &'static str,
    path: PathBuf,
}

impl Output {
    /// Asked before anything is measured: hours later is too late to hear that the folder is not there. `option`: how
    /// the file was named.
    pub fn to(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        // What a link points to is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let output = Self { option, path: target };
        let refused =
            |why: String| WrongInput(format!("{option} {} can't be written: {why}", path.display()));
        if output.path.is_dir() {
            return Err(refused("it is a folder: name a file in it".to_owned()));
        }
        let can_be = match output.path.exists() {
            true => File::options().append(true).open(&output.path).map(drop),
            false => Ok(()),
        };
        let can_be =
            can_be.and_then(|()| if output.is_replaced() { output.beside().map(drop) } else { Ok(()) });
        can_be.map_err(|e| {
            refused(format!("{e}; name a file in a folder that is there and may be written to"))
        })?;
        Ok(output)
    }

    /// Writes all of it.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        let (option, path) = (self.option, &self.path);
        self.try_to_write(bytes).with_context(|| {
            format!(
                "{option} {} could not be written; is there room, and is the folder still there?",
                path.display()
            )
        })
    }

    fn try_to_write(&self, bytes: &[u8]) -> std::io::Result<()> {
        if !self.is_replaced() {
            return File::options().write(true).open(&self.path)?.write_all(bytes);
        }
        let mut file = self.beside()?;
        file.write_all(bytes)?;
        if let Ok(before) = self.path.metadata() {
            file.as_file().set_permissions(before.permissions())?;
        }
        file.persist(&self.path).map(drop).map_err(|e| e.error)
    }

    /// A device or a pipe is written to as it is.
    fn is_replaced(&self) -> bool {
        self.path.metadata().is_ok_and(|m| m.is_file()) || !self.path.exists()
    }

    /// A file in the same folder, which takes the place of the wanted one in one step; gone where it does not come to that.
    fn beside(&self) -> std::io::Result<NamedTempFile> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        // What the user's mask leaves of it, as of any new file.
        builder.prefix(".drome-").permissions(Permissions::from_mode(0o666));
        builder.tempfile_in(folder.unwrap_or(Path::new(".")))
    }
}
