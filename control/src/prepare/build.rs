//! Builds contenders in the cache folder. A build holds for the version that it was made with.

use super::{LOCK, Prepared, changed, command, fill_all, remedy};
use crate::lock::Lock;
use crate::supervise::last_lines;
use std::fs::{self, File};
use std::path::Path;

impl Prepared {
    /// Whether it must be built: because it never was, or only for another version.
    pub fn needs_build(&self) -> bool {
        self.full_version().is_ok_and(|version| self.unbuilt(&version).is_some())
    }

    /// Builds it if necessary; waits while another drome does. The error has the log's last lines and the next step.
    pub fn build(&self) -> Result<(), String> {
        let lock = self.folder.join(LOCK);
        let _lock = Lock::take(&lock).map_err(|e| {
            format!("can't lock {}: {e}; {}", lock.display(), remedy::of_build(&e.to_string(), &self.name))
        })?;
        let version = self.full_version()?;
        let Some(build) = self.contender.build.as_ref().filter(|_| self.unbuilt(&version).is_some()) else {
            return Ok(());
        };
        let log = self.folder.join("build.log");
        let unable = |what: &str, e: std::io::Error| {
            let text = e.to_string();
            format!("{what}: {e}; {}", remedy::of_build(&text, &self.name))
        };
        let (mark, at) = (self.folder.join("built"), log.display());
        if mark.exists() {
            self.clear(&mark).map_err(|e| unable("can't remove the previous build", e))?;
        }
        let out = File::create(&log).map_err(|e| unable(&format!("can't write {at}"), e))?;
        let err = out.try_clone().map_err(|e| unable(&format!("can't write {at}"), e))?;
        let words = fill_all(&build.command, &self.places());
        let status = command(&words).current_dir(self.folder.join("src")).stdout(out).stderr(err).status();
        let status = status
            .map_err(|e| unable(&format!("its build command `{}` can't be run", words.join(" ")), e))?;
        if !status.success() {
            let whole = String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
            let (last, next) = (last_lines(&log), remedy::of_build(&whole, &self.name));
            return Err(format!("its build failed ({status}){last}\n  {next}"));
        }
        if let Some(file) = changed(&self.folder.join("src"), &self.sources) {
            return Err(format!(
                "its build changed its own `{}`, so it may not have the pinned versions: make the build keep \
                 to the lock file (npm ci, pip --require-hashes, cargo --locked)",
                file.display()
            ));
        }
        fs::write(&mark, version).map_err(|e| unable("can't mark it as built", e))
    }

    /// Why it must be built for this version; `None` if it need not.
    pub(super) fn unbuilt(&self, version: &str) -> Option<String> {
        self.contender.build.as_ref()?;
        match fs::read_to_string(self.folder.join("built")) {
            Err(_) => Some("it is not built yet".to_owned()),
            // Older versions of drome did not write down what they built.
            Ok(then) if then.is_empty() || then == version => None,
            Ok(then) => {
                Some(format!("it was built as {then} and is {version} now, so it must be built again"))
            }
        }
    }

    /// Removes the previous build.
    fn clear(&self, mark: &Path) -> std::io::Result<()> {
        fs::remove_file(mark)?;
        fs::remove_dir_all(self.folder.join("build"))?;
        fs::create_dir(self.folder.join("build"))
    }
}
