//! `--output FILE`: writes a command's output to a file, which is afterwards either complete or unchanged. A device or a pipe is
//! written to directly, so it may have received a part.

use crate::failure::WrongInput;
use anyhow::Context;
use std::fs::{self, File, Permissions};
use std::io::{BufWriter, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// A file that can be written.
#[derive(Debug)]
pub struct Output {
    /// The option that names the file.
    option: &'static str,
    path: PathBuf,
}

impl Output {
    /// Checks that the file can be written. Called before anything is measured: hours later is too late to learn
    /// that the folder does not exist. `option`: the option that names the file.
    pub fn to(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        // The target of a link is replaced, not the link.
        let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let output = Self { option, path: target };
        let refused =
            |why: String| WrongInput(format!("{option} {} can't be written: {why}", path.display()));
        if output.path.is_dir() {
            return Err(refused("it is a folder: name a file in it".to_owned()));
        }
        let is_there = output.path.exists();
        let own =
            || if is_there { File::options().append(true).open(&output.path).map(drop) } else { Ok(()) };
        let beside = |()| if output.is_replaced() { output.beside().map(drop) } else { Ok(()) };
        let can_be = own().and_then(beside);
        can_be.map_err(|e| refused(format!("{e}; name a file in a folder that exists and is writable")))?;
        Ok(output)
    }

    /// Removes what an earlier command has written.
    pub fn remove(&self) -> Result<(), WrongInput> {
        if !self.path.is_file() {
            return Ok(());
        }
        fs::remove_file(&self.path).map_err(|e| {
            let (option, path) = (self.option, self.path.display());
            WrongInput(format!(
                "{option} {path} is there from an earlier time and can't be removed: {e}; name another file"
            ))
        })
    }

    /// Writes the whole file.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        self.stream(|to| self.failed(to.write_all(bytes)))
    }

    /// Says what to check if something could not be written.
    fn failed<T>(&self, result: std::io::Result<T>) -> anyhow::Result<T> {
        let (option, path) = (self.option, &self.path);
        result.with_context(|| {
            format!(
                "can't write {option} {}: check the free space, and that the folder still exists",
                path.display()
            )
        })
    }

    /// Writes the whole file piece by piece. If that fails, the file stays as it was (a device or a pipe may have received a part).
    pub fn stream(&self, write: impl FnOnce(&mut dyn Write) -> anyhow::Result<()>) -> anyhow::Result<()> {
        if !self.is_replaced() {
            let mut to = BufWriter::new(self.failed(File::options().write(true).open(&self.path))?);
            write(&mut to)?;
            return self.failed(to.flush());
        }
        let mut file = self.failed(self.beside())?;
        let mut to = BufWriter::new(file.as_file_mut());
        write(&mut to)?;
        self.failed(to.flush())?;
        drop(to);
        self.failed(self.put_in_place(file))
    }

    fn put_in_place(&self, file: NamedTempFile) -> std::io::Result<()> {
        if let Ok(before) = self.path.metadata() {
            file.as_file().set_permissions(before.permissions())?;
        }
        file.persist(&self.path).map(drop).map_err(|e| e.error)
    }

    /// Whether the file is replaced as a whole, so that it can be written again; a device or a pipe is written to directly.
    pub fn is_replaced(&self) -> bool {
        self.path.metadata().is_ok_and(|m| m.is_file()) || !self.path.exists()
    }

    /// A temporary file in the same folder that later replaces the target in one step; removed if that does not
    /// happen.
    fn beside(&self) -> std::io::Result<NamedTempFile> {
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut builder = tempfile::Builder::new();
        // The permissions of any new file, which the user's mask reduces.
        builder.prefix(".drome-").permissions(Permissions::from_mode(0o666));
        builder.tempfile_in(folder.unwrap_or(Path::new(".")))
    }
}
