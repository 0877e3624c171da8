//! Perf maps: the files `/tmp/perf-PID.map`, in which a program that compiles at run time lists the addresses and names of its functions.

use crate::processes;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// The largest perf map that is read, in bytes.
const MOST_BYTES: u64 = 128 << 20;

/// The largest number of functions in a perf map.
const MOST_FUNCTIONS: usize = 2_000_000;

/// A map may look older than its process by this much: the kernel rounds both dates.
const ROUNDING: Duration = Duration::from_millis(100);

/// How many functions before an address are looked at: a function that was compiled later may lie within an older one.
const LOOKED_AT: usize = 32;

/// The functions of one process.
#[derive(Debug, Default)]
pub struct PerfMap {
    /// By address; of those with the same, the one that was written later comes later.
    functions: Vec<Function>,
}

#[derive(Debug)]
struct Function {
    start: u64,
    end: u64,
    name: String,
}

impl PerfMap {
    /// Parses lines such as `3ef414c0 398 LazyCompile:*handle server.js:7`: address and size in hexadecimal digits, and a name. Other
    /// lines are left out.
    pub fn parse(text: &[u8]) -> Self {
        let text = String::from_utf8_lossy(text);
        let mut functions: Vec<Function> = text.lines().filter_map(function).take(MOST_FUNCTIONS).collect();
        // Stable, so the order in the file decides between equal addresses.
        functions.sort_by_key(|function| function.start);
        Self { functions }
    }

    /// The function at an address.
    pub fn name(&self, address: u64) -> Option<&str> {
        let after = self.functions.partition_point(|function| function.start <= address);
        let mut before = self.functions[..after].iter().rev().take(LOOKED_AT);
        before.find(|function| address < function.end).map(|function| function.name.as_str())
    }
}

fn function(line: &str) -> Option<Function> {
    let (start, rest) = line.trim().split_once(' ')?;
    let (size, name) = rest.trim_start().split_once(' ')?;
    let hex = |digits: &str| u64::from_str_radix(digits.trim_start_matches("0x"), 16).ok();
    let start = hex(start)?;
    let name = name.trim();
    (!name.is_empty()).then_some(Function {
        start,
        end: start.checked_add(hex(size)?)?,
        name: name.to_owned(),
    })
}

/// The perf maps of the processes that have code without a file. They are opened while the processes run, because a process may delete its
/// file when it ends.
#[derive(Debug, Default)]
pub struct PerfMaps {
    files: BTreeMap<u32, File>,
}

impl PerfMaps {
    /// Opens the perf map of a process, if it has one by now. A map that nobody has written to since the process began is ignored: an
    /// earlier process with the same ID left it, and its names are another program's.
    pub fn open(&mut self, pid: u32) {
        if self.files.contains_key(&pid) {
            return;
        }
        let Some(since) = processes::began(pid).and_then(|began| began.checked_sub(ROUNDING)) else { return };
        if let Some(file) = candidates(pid).iter().find_map(|path| opened(path, since)) {
            self.files.insert(pid, file);
        }
    }

    /// Reads all maps that are open.
    pub fn read(self) -> BTreeMap<u32, PerfMap> {
        self.files.into_iter().filter_map(|(pid, file)| Some((pid, read(file)?))).collect()
    }
}

/// The perf map of a process that may have ended: a JVM can write it as its last act. A map that was last written before `since`, when
/// sampling began, is ignored: an earlier process with the same ID may have left it.
pub fn at_end(pid: u32, since: SystemTime) -> Option<PerfMap> {
    read(opened(&of_pid(pid), since)?)
}

/// Removes the perf maps that these processes, which have ended, wrote at or after `since`, and what .NET writes beside them.
pub fn remove(pids: impl IntoIterator<Item = u32>, since: SystemTime) {
    for pid in pids {
        for path in [of_pid(pid), PathBuf::from(format!("/tmp/perfinfo-{pid}.map"))] {
            // Of a link, its own date counts, and only the link is removed.
            let is_its = |file: fs::Metadata| !file.is_dir() && file.modified().is_ok_and(|at| at >= since);
            if fs::symlink_metadata(&path).is_ok_and(is_its) {
                // Where that is forbidden, another user's server has written it.
                let _ = fs::remove_file(&path);
            }
        }
    }
}

fn read(mut file: File) -> Option<PerfMap> {
    let mut text = Vec::new();
    file.seek(SeekFrom::Start(0)).ok()?;
    file.take(MOST_BYTES).read_to_end(&mut text).ok()?;
    Some(PerfMap::parse(&text))
}

/// The path of the perf map of a process with this ID, as this process sees it.
fn of_pid(pid: u32) -> PathBuf {
    PathBuf::from(format!("/tmp/perf-{pid}.map"))
}

/// Where a process may have its perf map. The first path is below the process's own root and has its ID there, both of which differ in a
/// container.
fn candidates(pid: u32) -> Vec<PathBuf> {
    let inside = processes::pid_inside(pid).map_or_else(|| pid.to_string(), |inside| inside.to_string());
    vec![PathBuf::from(format!("/proc/{pid}/root/tmp/perf-{inside}.map")), of_pid(pid)]
}

/// Opens a file that was modified at this time or later.
fn opened(path: &Path, since: SystemTime) -> Option<File> {
    // Opening a pipe would wait for a writer.
    let is_its = |file: fs::Metadata| file.is_file() && file.modified().is_ok_and(|at| at >= since);
    if fs::metadata(path).is_ok_and(is_its) { File::open(path).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn functions_are_found_by_address() {
        let map = PerfMap::parse(
            b"1000 100 LazyCompile:*handle /srv/a b.js:7\n0x2000 10 py::f:/srv/a.py\nnot a line\n1000 zz a\n3000 10 \n\
              1000 80 handle, compiled again\n1040 8 stub\nffffffffffffffff 2 over\n",
        );
        assert_eq!(map.name(0x1000), Some("handle, compiled again"));
        assert_eq!(map.name(0x1041), Some("stub"), "it lies within another");
        assert_eq!(map.name(0x1050), Some("handle, compiled again"));
        assert_eq!(map.name(0x10ff), Some("LazyCompile:*handle /srv/a b.js:7"));
        assert_eq!(map.name(0x2000), Some("py::f:/srv/a.py"));
        assert_eq!(
            [map.name(0), map.name(0x1100), map.name(0x2010), map.name(0x3000), map.name(u64::MAX)],
            [None; 5]
        );
    }

    #[test]
    fn a_perf_map_is_read_as_it_is_at_the_end() {
        let own = std::process::id();
        let path = format!("/tmp/perf-{own}.map");
        let mut maps = PerfMaps::default();
        maps.open(own);
        fs::write(&path, "1000 10 first\n").unwrap();
        maps.open(own);
        fs::write(&path, "1000 10 first\n2000 10 second\n").unwrap();
        fs::remove_file(&path).unwrap();
        maps.open(own);
        let maps = maps.read();
        assert_eq!((maps[&own].name(0x1000), maps[&own].name(0x2000)), (Some("first"), Some("second")));
    }

    #[test]
    fn a_perf_map_that_an_earlier_process_with_the_same_number_has_left_is_not_read() {
        let mut child = std::process::Command::new("sleep").arg("100").spawn().unwrap();
        let (pid, path) = (child.id(), of_pid(child.id()));
        let began = processes::began(pid).unwrap();
        let opened_when_modified = |at: SystemTime| {
            let mut maps = PerfMaps::default();
            fs::write(&path, "1000 10 other\n").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
            maps.open(pid);
            maps.files.contains_key(&pid)
        };
        let hour = Duration::from_hours(1);
        let opened = [began - hour, began, began + hour].map(opened_when_modified);
        fs::remove_file(&path).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(opened, [false, true, true]);
    }

    #[test]
    fn a_perf_map_that_was_written_at_the_end_is_read_unless_it_is_an_older_one() {
        // No process has so high a number.
        let pid = 4_000_000_000 + std::process::id();
        let began = SystemTime::now() - std::time::Duration::from_secs(10);
        assert!(at_end(pid, began).is_none());
        fs::write(of_pid(pid), "1000 10 late\n").unwrap();
        let (own, older) = (at_end(pid, began), at_end(pid, began + std::time::Duration::from_hours(1)));
        fs::remove_file(of_pid(pid)).unwrap();
        assert_eq!(own.unwrap().name(0x1000), Some("late"));
        assert!(older.is_none(), "it was there before the processes were sampled");
    }

    #[test]
    fn maps_that_were_left_behind_are_removed_unless_they_are_older() {
        let pid = 4_000_000_000 + std::process::id() / 2;
        let paths = [of_pid(pid), PathBuf::from(format!("/tmp/perfinfo-{pid}.map"))];
        let began = SystemTime::now() - Duration::from_secs(10);
        for path in &paths {
            fs::write(path, "1000 10 a\n").unwrap();
        }
        remove([pid], began + Duration::from_hours(1));
        assert!(paths.iter().all(|path| path.exists()), "they were there before");
        remove([pid, pid + 1], began);
        assert!(!paths.iter().any(|path| path.exists()));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "[0-9a-fx \n]{0,60}", address in any::<u64>()) {
            let _ = PerfMap::parse(text.as_bytes()).name(address);
        }
    }
}
