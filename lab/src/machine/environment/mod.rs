//! Describes the machine of a run, as far as it tells. Everything is read below one folder, so that tests can use the files of
//! other machines. What can't be read is unknown.

mod conditions;
mod digest;
#[cfg(test)]
pub mod fixture;
mod machine;

pub use conditions::Watch;
pub use digest::{executable, hex, sha256};

use crate::machine::cores::Cores;
use model::Environment;
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

    /// Describes the machine; `cores` are those that drome divides.
    pub fn look(&self, cores: &Cores) -> Environment {
        let allowed = cores.allowed();
        Environment {
            drome: env!("CARGO_PKG_VERSION").to_owned(),
            hub: Some(crate::heat::hub::work()),
            kernel: self.read("proc/sys/kernel/osrelease"),
            cpu: self.cpu_model(),
            cores: allowed.len(),
            server_cpus: cores.server.clone(),
            client_cpus: cores.client.clone(),
            idle_cpus: cores.idle.clone(),
            core_notes: cores.notes.clone(),
            memory_bytes: self.memory("MemTotal"),
            virtualization: self.virtualization(),
            machine: self.machine(&allowed),
        }
    }

    /// The name of the processor; ARM boards tell their model instead.
    fn cpu_model(&self) -> Option<String> {
        let text = self.read("proc/cpuinfo").unwrap_or_default();
        let field = |name: &str| {
            let line =
                text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
            Some(line.split_once(':')?.1.trim().to_owned()).filter(|value| !value.is_empty())
        };
        let device_tree = || self.read("proc/device-tree/model");
        field("model name").or_else(|| field("Model")).or_else(device_tree)
    }

    /// The hypervisor, if there is one: x86 has a flag for it; other machines only tell by their product name.
    fn virtualization(&self) -> Option<String> {
        let cpuinfo = self.read("proc/cpuinfo").unwrap_or_default();
        let is_flagged = cpuinfo.lines().any(|l| l.starts_with("flags") && l.contains(" hypervisor"));
        let product = || self.read("sys/class/dmi/id/product_name");
        let kind = self.read("sys/hypervisor/type");
        if is_flagged {
            return Some(product().or(kind).unwrap_or_else(|| "a hypervisor".to_owned()));
        }
        let vendor = self.read("sys/class/dmi/id/sys_vendor").unwrap_or_default();
        let is_virtual = VIRTUAL_VENDORS.iter().any(|name| vendor.contains(name));
        kind.or_else(|| is_virtual.then(|| product().unwrap_or(vendor)))
    }

    /// Reads a line of `/proc/meminfo`, in bytes.
    pub(crate) fn memory(&self, name: &str) -> Option<u64> {
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

    pub(crate) fn number<T: std::str::FromStr>(&self, path: &str) -> Option<T> {
        self.read(path)?.parse().ok()
    }

    /// The names in a folder, in order; none where it can't be read.
    pub(crate) fn names(&self, path: &str) -> Vec<String> {
        let entries = std::fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.join(path.trim_start_matches('/'))
    }
}

/// Vendors of virtual machines.
const VIRTUAL_VENDORS: [&str; 5] = ["QEMU", "VMware", "innotek", "Xen", "Parallels"];

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

#[cfg(test)]
mod tests;
