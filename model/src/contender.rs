//! A server that can be raced, as its `contender.toml` declares it. Unknown keys are errors.

use crate::checked;
use crate::plan::Protocol;
pub use crate::workers::Workers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use stats::heats::Warmth;
use std::collections::BTreeMap;
use std::time::Duration;

/// A server that can be compared, and how it is installed and started: `contenders/NAME/contender.toml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contender {
    /// Its name in tables and charts.
    pub title: String,
    /// The language that it is written in.
    pub language: String,
    /// What sort of program it is.
    pub kind: Kind,
    /// The address of its home page.
    pub homepage: String,
    /// How much its starts differ and how long it takes to get warm. If absent, it is guessed from `language`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// Whether it needs the whole machine, so that it is measured with no other contender alive.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub alone: bool,
    /// How it is installed; absent for servers that are part of drome.
    #[serde(default)]
    pub install: Install,
    /// The command that builds it from `src/`, if it needs one.
    pub build: Option<Build>,
    /// How its version is found out.
    pub version: Version,
    /// The compiler or interpreter that it is built or run with, if that has a version of its own. The report names it beside the
    /// contender's version, and with a new one the contender is built again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolchain: Option<Toolchain>,
    /// How it is started and stopped.
    pub run: Start,
    /// How it is set up by default, in words.
    #[serde(default)]
    pub settings: Settings,
    /// What its own documentation advises for production, if that is more than the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
    /// What this version is known to do wrong.
    #[serde(default)]
    pub faults: Faults,
    /// What it speaks at `{port}`, where connections are not encrypted.
    #[serde(default = "http1", skip_serializing_if = "is_http1")]
    pub speaks: Vec<Protocol>,
    /// How it listens with TLS as well; absent: it can't, or this is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<WithTls>,
    /// The path of every workload that it serves.
    pub serves: BTreeMap<String, String>,
}

/// How a contender listens with TLS: at a port of its own beside `{port}`, or in its place. It is started so only where a cell of its heat is
/// encrypted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithTls {
    /// Arguments that its command gets in addition. In these and in all of its files, `{tls_port}`, `{cert}` and `{key}` (PEM files) are
    /// filled in as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Files that it gets in addition to `run.files`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// What it speaks there.
    #[serde(default = "http1", skip_serializing_if = "is_http1")]
    pub speaks: Vec<Protocol>,
    /// Whether it then listens with TLS at `{port}`, and nowhere without.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("default" = false))]
    pub instead: bool,
}

fn http1() -> Vec<Protocol> {
    vec![Protocol::Http1]
}

fn is_http1(speaks: &Vec<Protocol>) -> bool {
    *speaks == [Protocol::Http1]
}

/// The kind of a contender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A stand-alone web server.
    Server,
    /// A library with which programs answer requests.
    Framework,
    /// A process that runs an application written for it.
    AppServer,
}

/// How much the starts of a contender differ from each other, and how long it takes to get warm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    /// Compiled before it runs, memory without a garbage collector: C, Rust.
    Native,
    /// Run by an interpreter or with a garbage collector, not compiled while it runs: Go, Haskell, Python, Perl, Ruby.
    Managed,
    /// Compiled while it runs, so that it gets faster for seconds to minutes: the JVM, .NET, JavaScript, `LuaJIT`.
    Jit,
    /// Several processes share the connections and each answers one request at a time: Apache prefork, PHP-FPM, Starman.
    Prefork,
}

impl Class {
    /// The class, or the one that is assumed where none is declared: for a race's commands, and for runs of older versions.
    pub fn assumed(declared: Option<Self>) -> Self {
        declared.unwrap_or(Self::Managed)
    }

    /// The likely class of a program in this language. An unknown language is taken for one with a runtime of its own, because starts of
    /// those differ more: intervals that are too wide do no harm.
    pub fn of_language(language: &str) -> Self {
        let is_any = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(language.trim()));
        if is_any(&["C", "C++", "Rust", "Zig", "Fortran", "Ada", "Pascal", "Assembly", "C and C++"]) {
            Self::Native
        } else if is_any(&[
            "Java",
            "Kotlin",
            "Scala",
            "Groovy",
            "Clojure",
            "C#",
            "F#",
            "JavaScript",
            "TypeScript",
            "Lua",
            "C and Lua",
            "Julia",
        ]) {
            Self::Jit
        } else {
            Self::Managed
        }
    }

    /// When a server of this class counts as warm. The rate of a server that compiles while it runs can stay level for a while and then
    /// rise again; that of one that is only interpreted or garbage-collected does not.
    pub fn warmth(self) -> Warmth {
        match self {
            Self::Native => Warmth::NATIVE,
            Self::Managed | Self::Prefork => Warmth::GROWING,
            Self::Jit => Warmth::JIT,
        }
    }

    /// What a table calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Managed => "managed",
            Self::Jit => "jit",
            Self::Prefork => "prefork",
        }
    }
}

/// How a contender is installed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// Debian packages.
    #[serde(default)]
    pub apt: Vec<String>,
    /// Commands that must be on PATH and that drome does not install.
    #[serde(default)]
    pub needs: Vec<String>,
    /// How a person installs `needs`.
    pub hint: Option<String>,
    /// About how many minutes it takes to install and build it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// About how many megabytes it takes on disk.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_mb: Option<f64>,
}

/// A command that is run once for a given source, in a cache folder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Build {
    /// Program and arguments; `{src}` and `{build}` are filled in.
    pub command: Vec<String>,
}

/// How a contender's version is found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// Program and arguments; their output on either stream is searched.
    pub command: Vec<String>,
    /// The version is the first dotted number after this text.
    pub after: Option<String>,
}

/// A compiler or interpreter, and how its version is found out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Toolchain {
    /// Its name in tables.
    pub name: String,
    /// Program and arguments, run in `src/` as the build is; their output on either stream is searched.
    pub command: Vec<String>,
    /// The version is the first dotted number after this text.
    pub after: Option<String>,
}

/// How a contender is started and stopped.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Program and arguments; `{host} {port} {workers} {dir} {assets} {src} {build}` are filled in.
    pub command: Vec<String>,
    /// Files of `src/` that are copied to `{dir}` with the placeholders filled in.
    #[serde(default)]
    pub files: Vec<String>,
    /// The server's own default number of workers, if it has such a number.
    #[serde(default)]
    pub workers: Option<Workers>,
    /// The signal that stops it.
    #[serde(default)]
    pub stop: StopSignal,
    /// How long it may take from its start until it answers its first request with a status that is no error.
    #[serde(default = "ready", with = "checked::duration")]
    #[schemars(schema_with = "checked::duration::schema")]
    pub ready: Duration,
}

fn ready() -> Duration {
    Duration::from_secs(30)
}

/// What a contender is known to do wrong, in words. It takes part nevertheless. Verification still tests for each fault, and fails if one
/// no longer occurs; every report names the faults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// It does not answer a request that arrives in several pieces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fragments: Option<String>,
}

/// How a contender is set up, in words for a table; what is absent is unknown.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Whether connections are kept, and how long.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_alive: Option<String>,
    /// What is logged, and where to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logging: Option<String>,
    /// The number of processes and threads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workers: Option<String>,
    /// What is kept between two requests.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub caching: Option<String>,
}

impl Settings {
    /// All settings, each by its name.
    pub fn all(&self) -> [(&'static str, Option<&str>); 4] {
        let Self { keep_alive, logging, workers, caching } = self;
        let named =
            [("keep_alive", keep_alive), ("logging", logging), ("workers", workers), ("caching", caching)];
        named.map(|(name, value)| (name, value.as_deref()))
    }

    /// These settings; each one that is absent is taken from `those`.
    fn over(&self, those: &Self) -> Self {
        Self {
            keep_alive: self.keep_alive.clone().or_else(|| those.keep_alive.clone()),
            logging: self.logging.clone().or_else(|| those.logging.clone()),
            workers: self.workers.clone().or_else(|| those.workers.clone()),
            caching: self.caching.clone().or_else(|| those.caching.clone()),
        }
    }
}

/// What is different in production, by the contender's own documentation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Tuned {
    /// The reason: the advice, and where it is given.
    pub because: String,
    /// In place of `run.command`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// In place of `run.files`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<Vec<String>>,
    /// In place of `run.workers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workers: Option<Workers>,
    /// In place of `class`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<Class>,
    /// The settings that are different.
    #[serde(default)]
    pub settings: Settings,
}

/// The track on which a contender takes part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Track {
    /// With its defaults.
    #[default]
    Default,
    /// As its documentation advises for production.
    Tuned,
}

impl Track {
    /// What a table calls it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Tuned => "tuned",
        }
    }
}

/// The name by which a contender enters on its tuned track.
pub fn tuned_name(name: &str) -> String {
    format!("{name}@{}", Track::Tuned.word())
}

impl Contender {
    /// Its class as declared, else by its language.
    pub fn class(&self) -> Class {
        self.class.unwrap_or_else(|| Class::of_language(&self.language))
    }

    /// How it is started, with TLS or without.
    pub fn start(&self, tls: bool) -> Start {
        let mut start = self.run.clone();
        if let Some(with_tls) = self.tls.as_ref().filter(|_| tls) {
            start.command.extend(with_tls.args.iter().cloned());
            start.files.extend(with_tls.files.iter().cloned());
        }
        start
    }

    /// Whether it listens nowhere without TLS where it is started with TLS.
    pub fn is_encrypted_instead(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.instead)
    }

    /// What it is asked by where nothing else is said.
    pub fn usual_protocol(&self) -> Protocol {
        self.speaks.first().copied().unwrap_or_default()
    }

    /// The contender on its tuned track; `None` if it has none.
    pub fn tuned(&self) -> Option<Self> {
        let tuned = self.tuned.as_ref()?;
        let mut whole = self.clone();
        whole.title = format!("{} ({})", self.title, Track::Tuned.word());
        whole.settings = tuned.settings.over(&self.settings);
        whole.class = tuned.class.or(self.class);
        let run = &mut whole.run;
        run.command = tuned.command.clone().unwrap_or_else(|| run.command.clone());
        run.files = tuned.files.clone().unwrap_or_else(|| run.files.clone());
        run.workers = tuned.workers.or(run.workers);
        Some(whole)
    }
}

/// The signals that servers stop on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[expect(missing_docs, reason = "the names are the signals'")]
pub enum StopSignal {
    #[default]
    #[serde(rename = "SIGTERM")]
    Term,
    #[serde(rename = "SIGINT")]
    Int,
    #[serde(rename = "SIGQUIT")]
    Quit,
    #[serde(rename = "SIGKILL")]
    Kill,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_declared_or_follows_from_the_language() {
        let text = |extra: &str| {
            format!(
                "title = \"x\"\nlanguage = \"Perl\"\nkind = \"server\"\nhomepage = \"x\"\n{extra}\n[version]\ncommand = [\"x\"]\n\
                 [run]\ncommand = [\"x\"]\n[tuned]\nbecause = \"x\"\nclass = \"prefork\"\n[serves]\n"
            )
        };
        let plain: Contender = toml::from_str(&text("")).unwrap();
        assert_eq!((plain.class, plain.class(), plain.alone), (None, Class::Managed, false));
        assert_eq!(plain.tuned().map(|tuned| tuned.class()), Some(Class::Prefork));
        let declared: Contender = toml::from_str(&text("class = \"jit\"\nalone = true")).unwrap();
        assert_eq!((declared.class(), declared.alone), (Class::Jit, true));
        assert!(declared.tuned().is_some_and(|tuned| tuned.alone && tuned.class() == Class::Prefork));
        assert!(toml::from_str::<Contender>(&text("class = \"fast\"")).is_err());
        let guesses = [
            ("Rust", Class::Native),
            ("java", Class::Jit),
            ("Brainfuck", Class::Managed),
            ("", Class::Managed),
        ];
        assert!(guesses.iter().all(|(language, class)| Class::of_language(language) == *class));
    }

    #[test]
    fn arguments_and_files_of_tls_come_with_tls_alone_on_either_track() {
        let text = r#"
title = "x"
language = "C"
kind = "server"
homepage = "x"
[version]
command = ["x"]
[run]
command = ["x", "{port}"]
files = ["x.conf"]
[tuned]
because = "x"
command = ["x", "--fast", "{port}"]
[tls]
args = ["{tls_port}"]
files = ["tls.conf"]
[serves]
"#;
        let contender: Contender = toml::from_str(text).unwrap();
        let plain = contender.start(false);
        assert_eq!((plain.command.len(), plain.files), (2, vec!["x.conf".to_owned()]));
        let with_tls = contender.tuned().unwrap().start(true);
        assert_eq!(with_tls.command, ["x", "--fast", "{port}", "{tls_port}"]);
        assert_eq!(with_tls.files, ["x.conf", "tls.conf"]);
    }
}
