//! The files whose code was seen. They are opened at once and stay open, so that names can be found after the processes have ended.

use super::image::Layout;
use super::maps;
use super::record::Mapped;
use object::ReadCache;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// The largest number of files that are kept open.
const MOST: usize = 2_048;

/// The largest size of the code that the kernel maps into each process (the vDSO), in bytes.
const MOST_VDSO: u64 = 1 << 20;

/// A file of code.
#[derive(Debug, Default)]
pub struct Image {
    /// The last part of its path, for frames whose function is not known.
    pub label: String,
    /// The open file; `None` if it can't be read.
    file: Option<File>,
    /// Its own tables; `None` if it has none that can be read.
    pub layout: Option<Layout>,
}

impl Image {
    /// A path by which this process can read the file, even if it was renamed or deleted.
    pub fn path(&self) -> Option<PathBuf> {
        self.file.as_ref().map(|file| PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd())))
    }
}

/// All files whose code was seen.
#[derive(Debug, Default)]
pub struct Images {
    list: Vec<Image>,
    /// By device, inode and path: on some file systems the numbers do not identify a file.
    known: BTreeMap<((u32, u32), u64, PathBuf), u32>,
    vdso: Option<u32>,
}

impl Images {
    /// The file that a process has mapped. `None` if it is memory without a file, or there are too many files.
    pub fn of(&mut self, pid: u32, mapped: &Mapped) -> Option<u32> {
        if mapped.path == Path::new("[vdso]") {
            return self.vdso();
        }
        if !mapped.path.is_absolute() || is_memory(&mapped.path) {
            return None;
        }
        let key = (mapped.device, mapped.inode, mapped.path.clone());
        if let Some(index) = self.known.get(&key) {
            return Some(*index);
        }
        let file = opened(pid, mapped);
        let layout = file.as_ref().and_then(|file| {
            let cache = ReadCache::new(file.try_clone().ok()?);
            Layout::read(&cache)
        });
        let index = self.add(Image { label: label(&mapped.path), file, layout })?;
        self.known.insert(key, index);
        Some(index)
    }

    /// A file by its index.
    pub fn get(&self, index: u32) -> Option<&Image> {
        self.list.get(index as usize)
    }

    /// The vDSO: the code that the kernel maps into each process, such as its clock functions. It is the same in all, so this process's own
    /// is read.
    fn vdso(&mut self) -> Option<u32> {
        if self.vdso.is_none() {
            let layout = own_vdso().ok().and_then(|data| Layout::read(&data[..]));
            self.vdso = self.add(Image { label: "[vdso]".to_owned(), file: None, layout });
        }
        self.vdso
    }

    fn add(&mut self, image: Image) -> Option<u32> {
        if self.list.len() >= MOST {
            return None;
        }
        self.list.push(image);
        u32::try_from(self.list.len() - 1).ok()
    }
}

/// Whether this names memory that only looks like a file: shared memory, huge pages, what `memfd_create` made. Just-in-time compilers keep
/// their code in such memory.
fn is_memory(path: &Path) -> bool {
    let text = path.as_os_str().as_encoded_bytes();
    let starts =
        [&b"//anon"[..], b"/memfd:", b"/dev/zero", b"/dev/shm/", b"/SYSV", b"/anon_hugepage", b"/[aio]"];
    starts.iter().any(|start| text.starts_with(start))
}

/// Opens what a process has mapped. That process may see other files than this one (as in a container), so the path is taken below that
/// process's root.
fn opened(pid: u32, mapped: &Mapped) -> Option<File> {
    let below_root = mapped.path.strip_prefix("/").unwrap_or(&mapped.path);
    let in_root = Path::new(&format!("/proc/{pid}/root")).join(below_root);
    let by_address = PathBuf::from(format!("/proc/{pid}/map_files/{:x}-{:x}", mapped.start, mapped.end));
    let program = PathBuf::from(format!("/proc/{pid}/exe"));
    let candidates = [&in_root, &mapped.path, &by_address, &program];
    // Device numbers are not compared: overlays have others for files than for their mappings.
    let is_it =
        |path: &&&PathBuf| fs::metadata(path).is_ok_and(|file| file.is_file() && file.ino() == mapped.inode);
    let exact = candidates.iter().find(is_it).and_then(|path| File::open(path).ok());
    exact.or_else(|| {
        // On overlays inodes may differ as well; then the same path is believed.
        let is_file = fs::metadata(&in_root).is_ok_and(|file| file.is_file());
        if is_file { File::open(&in_root).ok() } else { None }
    })
}

/// The last part of a path, without the kernel's remark that the file is deleted.
fn label(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    name.strip_suffix(" (deleted)").unwrap_or(&name).to_owned()
}

/// The bytes of the vDSO of this process.
fn own_vdso() -> std::io::Result<Vec<u8>> {
    let own = maps::of(std::process::id()).unwrap_or_default();
    let mapped = own.iter().find(|mapped| mapped.path == Path::new("[vdso]")).ok_or(ErrorKind::NotFound)?;
    let bytes = (mapped.end - mapped.start).min(MOST_VDSO);
    let mut data = vec![0; bytes as usize];
    File::open("/proc/self/mem")?.read_exact_at(&mut data, mapped.start)?;
    Ok(data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_this_process_are_opened_once() {
        let pid = std::process::id();
        let mut images = Images::default();
        let maps = maps::of(pid).unwrap();
        let indices: Vec<Option<u32>> = maps.iter().map(|mapped| images.of(pid, mapped)).collect();
        let again: Vec<Option<u32>> = maps.iter().map(|mapped| images.of(pid, mapped)).collect();
        assert_eq!(indices, again);
        let program = std::env::current_exe().unwrap();
        let at = maps.iter().position(|mapped| mapped.path == program).unwrap();
        let image = images.get(indices[at].unwrap()).unwrap();
        assert_eq!(image.label, program.file_name().unwrap().to_str().unwrap());
        assert!(image.layout.is_some());
        assert_eq!(fs::read(image.path().unwrap()).unwrap(), fs::read(&program).unwrap());
    }

    #[test]
    fn a_deleted_program_can_still_be_read_while_it_runs() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("sleeper");
        // Another process writes it: a file that this one has open for writing could be inherited by another test's child, and not run.
        assert!(std::process::Command::new("cp").arg("/bin/sleep").arg(&program).status().unwrap().success());
        let mut child = std::process::Command::new(&program).arg("100").spawn().unwrap();
        fs::remove_file(&program).unwrap();
        let find = || {
            let maps = maps::of(child.id()).unwrap_or_default();
            maps.into_iter().find(|mapped| label(&mapped.path) == "sleeper")
        };
        let mapped = (0..500).find_map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            find()
        });
        let mut images = Images::default();
        let index = images.of(child.id(), &mapped.unwrap()).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let image = images.get(index).unwrap();
        assert!(image.layout.is_some(), "{image:?}");
        assert_eq!(fs::read(image.path().unwrap()).unwrap(), fs::read("/bin/sleep").unwrap());
    }

    #[test]
    fn memory_is_no_file() {
        let mut images = Images::default();
        for path in ["", "//anon", "/memfd:jit (deleted)", "[heap]", "/dev/zero", "/anon_hugepage (deleted)"]
        {
            let mapped = Mapped { path: PathBuf::from(path), end: 1, ..Mapped::default() };
            assert_eq!(images.of(1, &mapped), None, "{path}");
        }
        let gone = Mapped {
            path: PathBuf::from("/no/such/lib.so (deleted)"),
            inode: 1,
            end: 1,
            ..Mapped::default()
        };
        let index = images.of(1, &gone).unwrap();
        let image = images.get(index).unwrap();
        assert_eq!((image.label.as_str(), image.path(), image.layout.is_none()), ("lib.so", None, true));
    }
}
