//! Reads the system's own files. All of them are below one folder, so that tests can use the files of other machines.

use std::path::{Path, PathBuf};

/// A system, given by its root folder.
#[derive(Clone, Debug)]
pub struct System {
    root: PathBuf,
}

impl System {
    /// The system that this process runs on.
    pub fn here() -> Self {
        Self::at(Path::new("/"))
    }

    /// The system whose `proc` and `sys` are below a folder.
    pub fn at(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }

    /// Reads a line of `/proc/meminfo`, in bytes.
    pub fn memory(&self, name: &str) -> Option<u64> {
        let text = self.read("proc/meminfo")?;
        let line = text.lines().find(|line| line.split(':').next() == Some(name))?;
        Some(line.split_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
    }

    /// Reads a small system file, trimmed; `None` where it is missing or empty.
    pub fn read(&self, path: &str) -> Option<String> {
        self.text(path).filter(|text| !text.is_empty())
    }

    /// Reads a small system file, which may be empty.
    fn text(&self, path: &str) -> Option<String> {
        let text = std::fs::read_to_string(self.path(path)).ok()?;
        Some(text.trim_matches(|c: char| c.is_whitespace() || c == '\0').to_owned())
    }

    /// Reads a number from a small system file.
    pub fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The names in a folder, in order; none where it can't be read.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    /// The path of a system file.
    pub(super) fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }

    /// Reads a file that lists CPUs.
    pub fn cpu_list(&self, path: &str) -> Option<Vec<usize>> {
        cpu_list(&self.text(path)?)
    }
}

/// Parses `0-2,5` as the kernel writes it; an empty text is an empty list.
fn cpu_list(text: &str) -> Option<Vec<usize>> {
    let mut cpus = Vec::new();
    for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
        let (low, high) = part.split_once('-').unwrap_or((part, part));
        let (low, high): (usize, usize) = (low.parse().ok()?, high.parse().ok()?);
        if high.checked_sub(low)? > MAX_CPUS {
            return None;
        }
        cpus.extend(low..=high);
    }
    Some(cpus)
}

/// More CPUs than any Linux can be built for: a longer list is malformed.
const MAX_CPUS: usize = 1 << 16;
