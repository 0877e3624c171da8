//! The files that a thread has open or in memory. A file is checked again when its last check is older than half a second, and
//! not before; the cache is bounded.

use crate::files::entry::Entry;
use crate::files::kinds;
use crate::files::root::{Missing, Opened, Root};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

/// How long a file is served without another check. A change is seen within a second.
pub const LOOK_NS: u64 = 500_000_000;

/// The least age in seconds of a file's last change for its time to show every later change: file systems count in steps of up to
/// two seconds. A younger file is read again at the next check.
const SETTLED_S: i64 = 2;

/// How often a file that becomes shorter while it is read is opened again.
const ATTEMPTS: usize = 3;

/// The bounds of the cache.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// The number of files, each of which may hold a descriptor.
    pub files: usize,
    /// The bytes of memory.
    pub bytes: usize,
}

/// What is at a path.
#[derive(Debug)]
pub enum Found {
    /// A file.
    File(Rc<Entry>),
    /// A folder.
    Folder,
}

/// Files by path, in two generations: recently requested files are in the young one; when that has half of what may be kept, the
/// old generation is dropped, and the young one becomes the old one.
#[derive(Debug)]
pub struct Cache {
    root: Root,
    root_looked_ns: u64,
    bounds: Bounds,
    young: HashMap<Vec<u8>, Kept>,
    old: HashMap<Vec<u8>, Kept>,
    young_bytes: usize,
}

#[derive(Debug)]
struct Kept {
    entry: Rc<Entry>,
    looked_ns: u64,
    /// Whether its time shows every change from now on.
    is_settled: bool,
}

impl Kept {
    fn is_fresh(&self, now_ns: u64) -> bool {
        now_ns.saturating_sub(self.looked_ns) < LOOK_NS
    }
}

impl Cache {
    /// An empty cache.
    pub fn new(root: Root, bounds: Bounds) -> Self {
        let (young, old) = (HashMap::new(), HashMap::new());
        Self { root, root_looked_ns: 0, bounds, young, old, young_bytes: 0 }
    }

    /// Finds what is at a path that [`resolve`](crate::files::resolve::resolve) returned.
    #[inline]
    pub fn find(&mut self, path: &[u8], now_ns: u64) -> Result<Found, Missing> {
        match self.young.get(path) {
            Some(kept) if kept.is_fresh(now_ns) => Ok(Found::File(Rc::clone(&kept.entry))),
            _ => self.look(path, now_ns),
        }
    }

    /// Whether a folder is at this path; always checks.
    pub fn is_folder(&self, path: &[u8]) -> bool {
        matches!(self.root.open_below(path), Ok(Opened::Folder))
    }

    /// Checks the file system, unless the old generation has the file fresh.
    fn look(&mut self, path: &[u8], now_ns: u64) -> Result<Found, Missing> {
        let kept = self.take(path);
        let kept = match kept {
            Some(kept) if kept.is_fresh(now_ns) => kept,
            kept => match self.load(path, kept.as_ref(), now_ns)? {
                Some(kept) => kept,
                None => return Ok(Found::Folder),
            },
        };
        let entry = Rc::clone(&kept.entry);
        self.keep(path, kept);
        Ok(Found::File(entry))
    }

    fn take(&mut self, path: &[u8]) -> Option<Kept> {
        if let Some(kept) = self.young.remove(path) {
            self.young_bytes -= weight(path, &kept.entry);
            return Some(kept);
        }
        self.old.remove(path)
    }

    fn keep(&mut self, path: &[u8], kept: Kept) {
        self.young_bytes += weight(path, &kept.entry);
        self.young.insert(path.to_owned(), kept);
        if self.young.len() > self.bounds.files / 2 || self.young_bytes > self.bounds.bytes / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
    }

    /// Loads the file as it is now, or keeps the cached one if it is unchanged. `None`: it is a folder.
    fn load(&mut self, path: &[u8], kept: Option<&Kept>, now_ns: u64) -> Result<Option<Kept>, Missing> {
        if now_ns.saturating_sub(self.root_looked_ns) >= LOOK_NS {
            self.root.refresh();
            self.root_looked_ns = now_ns;
        }
        for _ in 0..ATTEMPTS {
            let Opened::File(file, identity) = self.root.open_below(path)? else {
                return Ok(None);
            };
            match kept {
                Some(kept) if kept.is_settled && kept.entry.identity == identity => {
                    return Ok(Some(Kept {
                        entry: Rc::clone(&kept.entry),
                        looked_ns: now_ns,
                        is_settled: true,
                    }));
                }
                _ => {}
            }
            let is_settled = unix_s() - identity.modified.0 > SETTLED_S;
            match Entry::load(file, identity, kinds::of(path)) {
                Ok(entry) => return Ok(Some(Kept { entry: Rc::new(entry), looked_ns: now_ns, is_settled })),
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => {}
                Err(_) => return Err(Missing::Unavailable),
            }
        }
        Err(Missing::Unavailable)
    }
}

/// The memory that it takes to keep an entry at a path.
fn weight(path: &[u8], entry: &Entry) -> usize {
    path.len() + entry.memory_bytes() + size_of::<Kept>()
}

fn unix_s() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs() as i64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::entry::{Content, MEMORY_BYTES};
    use std::fs;
    use std::path::Path;
    use std::time::Duration;

    const BOUNDS: Bounds = Bounds { files: 8, bytes: 1024 * 1024 };

    fn cache(folder: &Path) -> Cache {
        Cache::new(Root::open(folder).unwrap(), BOUNDS)
    }

    fn text(cache: &mut Cache, path: &str, now_ns: u64) -> String {
        let Found::File(entry) = cache.find(path.as_bytes(), now_ns).unwrap() else { panic!("a folder") };
        let Content::Memory(bytes) = &entry.content else { panic!("not in memory") };
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Writes a file as if long ago.
    fn write(path: &Path, text: &str, age_s: u64) {
        fs::write(path, text).unwrap();
        let then = SystemTime::now() - Duration::from_secs(age_s);
        fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
    }

    #[test]
    fn a_change_is_seen_at_the_next_look_and_not_before() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        write(&file, "one", 100);
        let mut cache = cache(folder.path());
        assert_eq!(text(&mut cache, "a", 0), "one");
        write(&file, "two", 50);
        assert_eq!(text(&mut cache, "a", LOOK_NS - 1), "one");
        assert_eq!(text(&mut cache, "a", LOOK_NS), "two");
        fs::remove_file(&file).unwrap();
        assert_eq!(text(&mut cache, "a", LOOK_NS + 1), "two");
        assert!(matches!(cache.find(b"a", 2 * LOOK_NS), Err(Missing::NotFound)));
    }

    #[test]
    fn a_file_that_stays_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        write(&folder.path().join("a"), "one", 100);
        let mut cache = cache(folder.path());
        let mut entry = |now_ns| match cache.find(b"a", now_ns) {
            Ok(Found::File(entry)) => entry,
            other => panic!("{other:?}"),
        };
        assert!(Rc::ptr_eq(&entry(0), &entry(5 * LOOK_NS)));
    }

    #[test]
    fn a_change_that_time_and_length_do_not_show_is_seen_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        fs::write(&file, "one").unwrap();
        let then = fs::metadata(&file).unwrap().modified().unwrap();
        let mut cache = cache(folder.path());
        assert_eq!(text(&mut cache, "a", 0), "one");
        fs::write(&file, "two").unwrap();
        fs::File::options().write(true).open(&file).unwrap().set_modified(then).unwrap();
        assert_eq!(text(&mut cache, "a", LOOK_NS), "two");
    }

    #[test]
    fn a_folder_that_is_replaced_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let (site, aside) = (folder.path().join("site"), folder.path().join("aside"));
        fs::create_dir(&site).unwrap();
        write(&site.join("a"), "old", 100);
        let mut cache = cache(&site);
        assert_eq!(text(&mut cache, "a", LOOK_NS), "old");
        fs::rename(&site, &aside).unwrap();
        fs::create_dir(&site).unwrap();
        write(&site.join("a"), "new", 100);
        assert_eq!(text(&mut cache, "a", 2 * LOOK_NS), "new");
    }

    #[test]
    fn what_is_kept_is_bounded_and_what_is_asked_for_stays() {
        let folder = tempfile::tempdir().unwrap();
        for i in 0..100 {
            write(&folder.path().join(i.to_string()), "x", 100);
        }
        let mut cache = cache(folder.path());
        let mut first = None;
        for i in 0..100 {
            cache.find(i.to_string().as_bytes(), 0).unwrap();
            let Ok(Found::File(entry)) = cache.find(b"0", 0) else { panic!() };
            assert!(Rc::ptr_eq(first.get_or_insert(Rc::clone(&entry)), &entry), "asked for and gone");
            assert!(cache.young.len() + cache.old.len() <= BOUNDS.files + 1);
        }
        let bytes: usize = cache.young.iter().map(|(path, kept)| weight(path, &kept.entry)).sum();
        assert_eq!(bytes, cache.young_bytes);
    }

    #[test]
    fn large_files_are_kept_by_their_descriptor() {
        let folder = tempfile::tempdir().unwrap();
        for (name, length) in [("in", MEMORY_BYTES), ("out", MEMORY_BYTES + 1)] {
            write(&folder.path().join(name), &"x".repeat(length as usize), 100);
            let Ok(Found::File(entry)) = cache(folder.path()).find(name.as_bytes(), 0) else { panic!() };
            assert_eq!(matches!(entry.content, Content::Memory(_)), name == "in");
            assert_eq!(entry.length(), length);
        }
        assert!(matches!(cache(folder.path()).find(b"", 0), Ok(Found::Folder)));
    }
}
