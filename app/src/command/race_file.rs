//! `drome.toml` in a repository: how its server is built, started and raced, or which container images or running servers are raced, so
//! that `drome race` needs no arguments.

mod cell;

use self::cell::Cell;
use crate::failure::WrongInput;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file's name.
pub const NAME: &str = "drome.toml";

/// A file to begin with.
pub const TEMPLATE: &str = include_str!("../../race.toml");

/// What is wrong with a file that names no servers, or does not say how revisions are started.
const NOTHING: &str = "nothing to race: write `rev` and `start`, or `images`, or `urls`";

/// How a repository's server is raced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaceFile {
    race: Race,
    /// Races of the same servers, one after the other; without any cell, there is one race with the options of `race`.
    #[serde(default, rename = "cell")]
    cells: Vec<Cell>,
}

/// One race of a file, as words of a command line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The title of its cell; `None`: the file has no cells.
    pub title: Option<String>,
    /// The words.
    pub words: Vec<String>,
}

/// The options of `drome race`, as on the command line. An option of the command line replaces the one in the file.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Race {
    /// Revisions to race, such as `["main", "."]`: a dot is the working tree. The others are compared with the first.
    #[serde(default)]
    rev: Vec<String>,
    /// Container images to race instead of revisions, such as `["localhost/app:old", "localhost/app:new"]`.
    #[serde(default)]
    images: Vec<String>,
    /// URLs of servers that already run, instead of revisions, such as `["http://127.0.0.1:8080/", "http://127.0.0.1:8081/"]`.
    #[serde(default)]
    urls: Vec<String>,
    /// Command that builds a revision.
    #[serde(default)]
    build: Option<String>,
    /// Command that starts a revision's server, or the words after an image's name; `{port}` stands for the port that it must listen on.
    #[serde(default)]
    start: Option<String>,
    /// Environment variables of every container, such as `["PORT={port}"]`.
    #[serde(default)]
    env: Vec<String>,
    /// Program that runs containers, with its own options, such as `podman --runtime runc`.
    #[serde(default)]
    container_tool: Option<String>,
    /// Options for the run command of that program.
    #[serde(default)]
    container_args: Vec<String>,
    /// URL to request; `{port}` stands for the server's port.
    #[serde(default)]
    url: Option<String>,
    /// Number of connections.
    #[serde(default)]
    connections: Option<u32>,
    /// Longest time from the start of a server to its first answer that is no error, such as `1min`.
    #[serde(default)]
    ready: Option<String>,
    /// Metric that decides, such as `rate`, `server-cpu` or `p99@5k`.
    #[serde(default)]
    metric: Option<String>,
    /// Largest slowdown that passes, such as `2%`.
    #[serde(default)]
    fail_if_slower: Option<String>,
    /// Longest time of the race, such as `2min`.
    #[serde(default)]
    budget: Option<String>,
}

/// The file, and its options, for each of its cells. `named`: the file; `None`: the one in the current folder or the nearest one
/// above it. `given`: the words of the command line; a list in them replaces the file's.
pub fn options(named: Option<&Path>, given: &[String]) -> anyhow::Result<(PathBuf, Vec<Options>)> {
    let found = match named {
        Some(path) => Some(path.to_owned()),
        None => find(&std::env::current_dir()?),
    };
    let Some(path) = found else {
        return Err(WrongInput(format!(
            "nothing to race: give two commands that start servers, or two URLs of servers that already run, or --rev and \
             --start, or --image and --start, or write a {NAME} (`drome new race`)"
        ))
        .into());
    };
    let wrong = |why: String| WrongInput(format!("{}: {}", path.display(), why.trim_end()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: RaceFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let all = file.options(given).map_err(wrong)?;
    Ok((path, all))
}

/// Whether the current folder, or a folder above it, has a `drome.toml`.
pub fn exists() -> bool {
    std::env::current_dir().is_ok_and(|folder| find(&folder).is_some())
}

impl RaceFile {
    /// The options of each cell: those of `[race]`, followed by those of the cell, which replace them.
    fn options(self, given: &[String]) -> Result<Vec<Options>, String> {
        cell::ensure_distinct(&self.cells)?;
        if let Some(cell) = self.cells.iter().find(|cell| cell.has_url() && !self.race.urls.is_empty()) {
            let why = "`urls` already say what is requested: leave out `url`";
            return Err(format!("cell `{}`: {why}", cell.title));
        }
        let words = self.race.options(given)?;
        if self.cells.is_empty() {
            return Ok(vec![Options { title: None, words }]);
        }
        let of = |cell: Cell| Options {
            title: Some(cell.title.clone()),
            words: words.iter().cloned().chain(cell.words()).collect(),
        };
        Ok(self.cells.into_iter().map(of).collect())
    }
}

impl Race {
    /// The options as words of a command line, without lists that the command line replaces (`given`). Fails with a message if the servers
    /// are not those of one race.
    fn options(self, given: &[String]) -> Result<Vec<String>, String> {
        self.ensure_fit(self.way(given)?, given)?;
        let lists = [
            ("--rev", self.rev),
            ("--image", self.images),
            ("--env", self.env),
            ("--container-arg", self.container_args),
        ];
        let lists = lists.into_iter().filter(|(option, _)| !is_given(given, option));
        let lists = lists
            .flat_map(|(option, values)| values.into_iter().map(move |value| format!("{option}={value}")));
        let others = [
            ("build", self.build),
            ("start", self.start),
            ("container-tool", self.container_tool),
            ("url", self.url),
            ("connections", self.connections.map(|n| n.to_string())),
            ("ready", self.ready),
            ("metric", self.metric),
            ("fail-if-slower", self.fail_if_slower),
            ("budget", self.budget),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        Ok(self.urls.into_iter().chain(lists).chain(others).collect())
    }

    /// How the file, or the command line in its place, names the servers. Fails with a message if they do so in several ways, or in none.
    fn way(&self, given: &[String]) -> Result<Way, String> {
        let lists = [(Way::Revisions, &self.rev), (Way::Images, &self.images), (Way::Urls, &self.urls)];
        let own: Vec<Way> =
            lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(way, _)| way).collect();
        let asked = [(Way::Revisions, "--rev", "--start"), (Way::Images, "--image", "--start or --env")];
        let asked = asked.into_iter().find(|(_, option, _)| is_given(given, option));
        match (own.as_slice(), asked) {
            ([one, other, ..], _) => {
                Err(format!("`{}` and `{}` name different servers: keep one of them", one.key(), other.key()))
            }
            ([own], Some((way, option, needed))) if *own != way => Err(format!(
                "`{}` in this file and {option} on the command line name different servers: remove one of them; without this file, {option} \
                 needs {needed}, too",
                own.key()
            )),
            (_, Some((way, ..))) => Ok(way),
            ([own], None) => Ok(*own),
            ([], None) => Err(NOTHING.to_owned()),
        }
    }

    /// Fails with a message if a key is not for servers that are named in this way, or if a necessary key is missing.
    fn ensure_fit(&self, way: Way, given: &[String]) -> Result<(), String> {
        let keys: [(&str, bool, &[Way]); 6] = [
            ("build", self.build.is_some(), &[Way::Revisions]),
            ("start", self.start.is_some(), &[Way::Revisions, Way::Images]),
            ("ready", self.ready.is_some(), &[Way::Revisions, Way::Images]),
            ("env", !self.env.is_empty(), &[Way::Images]),
            ("container_tool", self.container_tool.is_some(), &[Way::Images]),
            ("container_args", !self.container_args.is_empty(), &[Way::Images]),
        ];
        let wrong = keys.into_iter().filter(|(_, is_there, ways)| *is_there && !ways.contains(&way));
        let wrong: Vec<String> = wrong.map(|(key, ..)| format!("`{key}`")).collect();
        if !wrong.is_empty() {
            return Err(format!("{}: leave out {}", way.reason(), wrong.join(", ")));
        }
        if way == Way::Revisions && self.start.is_none() && !is_given(given, "--start") {
            return Err("`rev` needs `start`: the command that starts the server of a revision".to_owned());
        }
        Ok(())
    }
}

/// Whether the command line has this option.
fn is_given(given: &[String], option: &str) -> bool {
    let has_value = |arg: &String| arg.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
    given.iter().any(|arg| arg == option || has_value(arg))
}

/// How the servers of a race are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// By revisions, which drome builds and starts.
    Revisions,
    /// By container images, which drome runs.
    Images,
    /// By URLs of servers that already run.
    Urls,
}

impl Way {
    /// The key of the file that names servers in this way.
    fn key(self) -> &'static str {
        match self {
            Self::Revisions => "rev",
            Self::Images => "images",
            Self::Urls => "urls",
        }
    }

    /// Why some keys mean nothing for such servers.
    fn reason(self) -> &'static str {
        match self {
            Self::Revisions => "revisions do not run in containers",
            Self::Images => "images are already built",
            Self::Urls => "`urls` are servers that already run",
        }
    }
}

/// The file in this folder or the nearest one above it.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests;
