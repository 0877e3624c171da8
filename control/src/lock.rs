//! Locks between one drome and another: a file that one of them has locked (flock). The kernel releases the lock when the process
//! has ended, however it ended.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long a taken lock is waited for. A process that is killed while it starts another one leaves its locks to its child until the child
/// executes its own program: in 20 of 818 kills, for 5 ms at most, on a busy machine. A drome that asks right then must not be refused.
const A_MOMENT: Duration = Duration::from_millis(200);

/// How often the lock is tried within that time.
const INTERVAL: Duration = Duration::from_millis(2);

/// A lock that is held until it is dropped. Its file is removed with it.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// Closed last, after the file's name is gone: no process can lock a file that is about to lose its name.
    file: File,
}

impl Lock {
    /// Takes the lock; `None` if another process has it, and for more than a moment.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let asked = Instant::now();
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) if asked.elapsed() > A_MOMENT => return Ok(None),
                Err(TryLockError::WouldBlock) => {
                    std::thread::sleep(INTERVAL);
                    continue;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if has_name(&file, path)? {
                return Ok(Some(Self { path: path.to_owned(), file }));
            }
        }
    }

    /// Takes the lock as soon as no other process has it.
    pub fn take(path: &Path) -> io::Result<Self> {
        loop {
            let file = open(path)?;
            file.lock()?;
            if has_name(&file, path)? {
                return Ok(Self { path: path.to_owned(), file });
            }
        }
    }

    /// The locked file, for a process that is started with it: if this process is killed, the lock is held until that one has ended too.
    pub fn shared(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options().create(true).truncate(false).read(true).write(true).open(path)
}

/// Whether the file still has this name. The process that had the lock before may have removed the name after this one opened it: then
/// the lock is on a file that no other process will find.
fn has_name(file: &File, path: &Path) -> io::Result<bool> {
    let own = file.metadata()?;
    match fs::metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (own.dev(), own.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn one_at_a_time_has_it_and_nothing_is_left_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::try_take(&path).unwrap().unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none());
        drop(held);
        assert!(!path.exists());
        // A file that a killed process left is no lock.
        fs::write(&path, "").unwrap();
        assert!(Lock::try_take(&path).unwrap().is_some());
        assert!(!path.exists());
        assert!(Lock::try_take(&folder.path().join("no/lock")).is_err());
    }

    #[test]
    fn a_process_that_was_started_with_it_keeps_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::try_take(&path).unwrap().unwrap();
        let started = Command::new("sleep").arg("60").stderr(held.shared().unwrap()).spawn();
        // As it is after a kill: the file is still there.
        fs::hard_link(&path, folder.path().join("same")).unwrap();
        drop(held);
        fs::rename(folder.path().join("same"), &path).unwrap();
        assert!(Lock::try_take(&path).unwrap().is_none());
        let mut started = started.unwrap();
        started.kill().unwrap();
        started.wait().unwrap();
        assert!(Lock::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn who_has_it_for_a_moment_only_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let held = Lock::try_take(&path).unwrap().unwrap();
        std::thread::scope(|scope| {
            scope.spawn(move || {
                std::thread::sleep(A_MOMENT / 10);
                drop(held);
            });
            assert!(Lock::try_take(&path).unwrap().is_some());
        });
    }

    #[test]
    fn many_that_wait_have_it_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let (inside, most) = (AtomicUsize::new(0), Mutex::new(0));
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let _lock = Lock::take(&path).unwrap();
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        let mut most = most.lock().unwrap();
                        *most = now.max(*most);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(*most.lock().unwrap(), 1);
    }
}
