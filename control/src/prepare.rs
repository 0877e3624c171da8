//! Contenders on this machine: writes their sources to the cache folder, asks for their versions, and finds what they
//! lack and how to get it.

pub mod assets;
mod build;
pub mod elsewhere;
pub mod folders;
pub mod identity;
pub mod install;
pub mod remedy;
pub mod running;

use crate::catalog::CatalogEntry;
use crate::containers::{Launch, Variables};
use crate::lock::Lock;
pub use crate::remote::messages::Lack;
use crate::remote::remote_server::RemoteContender;
use crate::shell;
use crate::supervise::image;
use crate::verify::origin::{AskedAt, Origin};
use model::Contender;
use model::contender::{Track, tuned_name};
use model::run::Entrant;
use running::RunningServer;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The lock file in a contender's folder, so that only one drome at a time writes its sources and builds it.
const LOCK: &str = "lock";

/// How long a program may take to say its version: runtimes on a small board take seconds. Shorter than the answer to a request of another
/// machine may take.
const VERSION_PATIENCE: Duration = Duration::from_secs(30);

/// A contender whose sources are in the cache folder.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// Its name in the catalog.
    pub name: String,
    /// Its declaration.
    pub contender: Contender,
    /// SHA-256 of its sources and of its whole declaration.
    pub source_sha256: String,
    /// Its track.
    pub track: Track,
    /// The server, if it already runs and drome is not to start it.
    pub running: Option<RunningServer>,
    /// Where it is asked once it was started on this machine; `None`: at 127.0.0.1.
    pub asked_at: Option<AskedAt>,
    /// Its place on another machine, where it is started; `None`: on this one.
    pub remote: Option<RemoteContender>,
    /// How its container is run, in place of its declared command; `None`: it runs in none.
    pub launch: Option<Launch>,
    /// Environment variables that are set when the server starts on this machine and not in a container. Each replaces the variable of the
    /// same name that the server would inherit from drome.
    pub env: Vec<(String, String)>,
    /// Its folder in the cache: `src`, `build`, and the mark of a build, with the version that was built.
    folder: PathBuf,
    /// The files that `src` must have.
    sources: Arc<BTreeMap<PathBuf, Vec<u8>>>,
}

impl Prepared {
    /// Writes the sources to the cache folder, in a folder that is named for their digest, so that other sources have another folder.
    pub fn write_sources(name: &str, entry: &CatalogEntry, cache: &Path) -> std::io::Result<Self> {
        let mut digest = Sha256::new();
        for (path, bytes) in &entry.sources {
            digest.update(path.as_os_str().as_encoded_bytes());
            digest.update((bytes.len() as u64).to_le_bytes());
            digest.update(bytes);
        }
        for word in entry.contender.build.iter().flat_map(|b| &b.command) {
            digest.update(word);
        }
        let mut whole = digest.clone();
        whole.update(serde_json::to_vec(&entry.contender).unwrap_or_default());
        let source_sha256 = model::hex(whole.finalize());
        let tag = tag(digest);
        let folder = cache.join("contenders").join(format!("{name}-{tag}"));
        let src = folder.join("src");
        if changed(&src, &entry.sources).is_some() {
            fs::create_dir_all(folder.join("build"))?;
            let _lock = Lock::take(&folder.join(LOCK))?;
            // Another drome may have written them meanwhile, and may be building from them.
            if changed(&src, &entry.sources).is_some() {
                // A build of other sources is outdated.
                let mark = folder.join("built");
                if mark.exists() {
                    fs::remove_file(mark)?;
                }
                fill_folder(&src, &src.with_extension("draft"), &entry.sources)?;
            }
        }
        Ok(Self {
            name: name.to_owned(),
            contender: entry.contender.clone(),
            source_sha256,
            track: Track::Default,
            running: None,
            asked_at: None,
            remote: None,
            launch: None,
            env: Vec::new(),
            folder,
            sources: Arc::new(entry.sources.clone()),
        })
    }

    /// The same contender on its tuned track; `None` if it has none.
    pub fn tuned(&self) -> Option<Self> {
        let (name, contender) = (tuned_name(&self.name), self.contender.tuned()?);
        Some(Self { name, contender, track: Track::Tuned, running: None, remote: None, ..self.clone() })
    }

    /// The same contender with more variables in the environment of its start, unless it already runs. `more` can look up the values that
    /// variables have so far. If a container's tool does not report those, no variable is added.
    #[must_use]
    pub fn with_environment(&self, more: &Variables<'_>, stop: &AtomicBool) -> Self {
        let mut prepared = self.clone();
        match &mut prepared.launch {
            Some(launch) => *launch = launch.with_environment(more, stop).unwrap_or_else(|_| launch.clone()),
            None => prepared.env = more(&|name| std::env::var_os(name)),
        }
        prepared
    }

    /// Where requests go to a start of it that listens at this address.
    pub fn origin(&self, address: SocketAddr, tls: bool) -> Origin {
        let asked_at = self.asked_at.as_ref();
        let origin = asked_at.map_or_else(|| Origin::from(address), |asked_at| asked_at.origin(address));
        let tls = tls && self.contender.is_encrypted_instead();
        Origin { tls, protocol: self.contender.usual_protocol(), ..origin }
    }

    /// Its entry in a run, in which it is started with TLS or without.
    pub fn entrant(&self, tls: bool) -> Entrant {
        let start = self.contender.start(tls);
        let (version, missing) = match self.version() {
            Ok(version) => (Some(version), None),
            Err(lack) => (None, Some(lack.sentence())),
        };
        let because = self.contender.tuned.as_ref().filter(|_| self.track == Track::Tuned);
        Entrant {
            title: self.contender.title.clone(),
            version,
            missing,
            track: self.track,
            settings: self.contender.settings.clone(),
            faults: self.contender.faults.clone(),
            class: Some(self.contender.class()),
            alone: self.contender.alone,
            because: because.map(|tuned| tuned.because.clone()),
            source_sha256: Some(self.source_sha256.clone()),
            files: self.declared_files(&start.files),
            command: start.command,
            image: None,
        }
    }

    /// These templates with nothing filled in; one that can't be read is left out here and refused at the start.
    fn declared_files(&self, files: &[String]) -> BTreeMap<String, String> {
        let read = |name: &String| fs::read_to_string(self.folder.join("src").join(name)).ok();
        files.iter().filter_map(|name| Some((name.clone(), read(name)?))).collect()
    }

    /// The files that it is built of and runs with.
    pub fn sources(&self) -> &BTreeMap<PathBuf, Vec<u8>> {
        &self.sources
    }

    /// The placeholders that do not depend on a start.
    pub fn places(&self) -> Vec<(&'static str, String)> {
        let text = |path: PathBuf| path.display().to_string();
        vec![
            ("src", text(self.folder.join("src"))),
            ("build", text(self.folder.join("build"))),
            ("drome", text(image::path())),
            ("here", text(std::env::current_dir().unwrap_or_default())),
        ]
    }

    /// These templates of its own, filled in.
    pub fn templates(
        &self,
        files: &[String],
        places: &[(&str, String)],
    ) -> std::io::Result<Vec<(PathBuf, String)>> {
        let read = |name: &String| {
            let text = fs::read_to_string(self.folder.join("src").join(name))?;
            Ok((PathBuf::from(name), fill(&text, places)))
        };
        files.iter().map(read).collect()
    }

    /// Its version if it can run, else what it lacks.
    pub fn version(&self) -> Result<String, Lack> {
        if let Some(remote) = &self.remote {
            let on = |lack: Lack| Lack { why: format!("on {}: {}", remote.machine.name(), lack.why), ..lack };
            return remote.version.clone().map_err(on);
        }
        let install = &self.contender.install;
        let remedy = || {
            if install.apt.is_empty() {
                install.hint.clone().unwrap_or_else(|| format!("see {}", self.contender.homepage))
            } else {
                format!("apt-get install {}", install.apt.join(" "))
            }
        };
        if let Some(missing) = install.needs.iter().find(|program| !on_path(program)) {
            return Err(Lack { why: format!("`{missing}` is not on PATH"), remedy: remedy() });
        }
        let version = self.full_version().map_err(|why| Lack { why, remedy: remedy() })?;
        match self.unbuilt(&version) {
            Some(why) => Err(Lack { why, remedy: "run the study with --install".to_owned() }),
            None => Ok(version),
        }
    }

    /// Its version and, after it, that of its compiler or interpreter: a build with another one is another server.
    fn full_version(&self) -> Result<String, String> {
        let declared = &self.contender.version;
        let words = fill_all(&declared.command, &self.places());
        let own = version_of(&mut command(&words), &words, declared.after.as_deref())?;
        let Some(toolchain) = &self.contender.toolchain else { return Ok(own) };
        let words = fill_all(&toolchain.command, &self.places());
        let mut asked = command(&words);
        asked.current_dir(self.folder.join("src"));
        let with = version_of(&mut asked, &words, toolchain.after.as_deref())
            .map_err(|why| format!("{}: {why}", toolchain.name))?;
        Ok(format!("{own} ({} {with})", toolchain.name))
    }

    /// Whether something that it needs is missing on this machine, built or not.
    pub fn is_absent(&self) -> bool {
        self.contender.install.needs.iter().any(|program| !on_path(program)) || self.full_version().is_err()
    }
}

/// Fills a folder with these files, in place of what is in it: they are written to a draft, which then takes its place. Whoever calls this
/// has a lock.
fn fill_folder<P: AsRef<Path>, B: AsRef<[u8]>>(
    folder: &Path,
    draft: &Path,
    files: impl IntoIterator<Item = (P, B)>,
) -> std::io::Result<()> {
    // A drome that was killed may have left one.
    for old in [folder, draft] {
        if old.exists() {
            fs::remove_dir_all(old)?;
        }
    }
    fs::create_dir(draft)?;
    for (path, bytes) in files {
        write_below(draft, path.as_ref(), bytes.as_ref())?;
    }
    fs::rename(draft, folder)
}

/// Writes a file below a folder, with the folders between them.
pub fn write_below(folder: &Path, name: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap_or(folder))?;
    fs::write(path, bytes)
}

/// The first of these sources that is missing or different in the folder.
fn changed<'s>(src: &Path, sources: &'s BTreeMap<PathBuf, Vec<u8>>) -> Option<&'s Path> {
    if !src.is_dir() {
        return Some(Path::new("src"));
    }
    let is_same = |(path, bytes): &(&PathBuf, &Vec<u8>)| fs::read(src.join(path)).is_ok_and(|b| b == **bytes);
    sources.iter().find(|source| !is_same(source)).map(|(path, _)| path.as_path())
}

/// A program and its arguments, with empty standard input.
pub fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(words.get(1..).unwrap_or_default()).stdin(Stdio::null());
    command
}

/// Whether a program can be run by its name.
pub fn on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

/// The short form of a digest, for the name of a folder.
pub fn tag(digest: Sha256) -> String {
    digest.finalize()[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Replaces each `{word}` that has a value; all other braces stay.
pub fn fill(text: &str, places: &[(&str, String)]) -> String {
    places.iter().fold(text.to_owned(), |text, (word, value)| text.replace(&format!("{{{word}}}"), value))
}

/// [`fill`] for every word of a command.
pub fn fill_all(words: &[String], places: &[(&str, String)]) -> Vec<String> {
    words.iter().map(|word| fill(word, places)).collect()
}

/// The version that a command prints.
fn version_of(asked: &mut Command, words: &[String], after: Option<&str>) -> Result<String, String> {
    let output = shell::output(asked, VERSION_PATIENCE);
    let output = output.map_err(|e| match e.kind() {
        ErrorKind::TimedOut => format!("`{}` hangs: {e}", words.join(" ")),
        _ => format!("`{}` can't be run ({e})", words.join(" ")),
    })?;
    if !output.status.success() {
        return Err("it is not installed".to_owned());
    }
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text);
    let after = after.unwrap_or_default();
    let rest = text.find(after).map_or("", |at| &text[at + after.len()..]);
    first_number(rest).ok_or_else(|| format!("`{}` printed no version", words.join(" ")))
}

/// The first number in a text, with its dots: `1.22.1`.
fn first_number(text: &str) -> Option<String> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let rest = &text[start..];
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
    Some(rest[..end].trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_placeholders_are_filled_in() {
        let places = [("port", "80".to_owned()), ("dir", "/tmp/{port}".to_owned())];
        assert_eq!(fill("http { listen {port}; } {other} {}", &places), "http { listen 80; } {other} {}");
    }

    #[test]
    fn a_version_is_the_first_number() {
        assert_eq!(first_number("nginx version: nginx/1.22.1 (Debian 12)").as_deref(), Some("1.22.1"));
        assert_eq!(first_number("v20.").as_deref(), Some("20"));
        assert_eq!(first_number("none"), None);
    }
}
