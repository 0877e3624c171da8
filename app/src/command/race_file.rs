//! `drome.toml` in a repository: how its server is built, started and raced, or which container images or running servers are raced, so
//! that `drome race` needs no arguments.

mod cell;

use self::cell::Cell;
use super::race_settings::{RaceSettings, ServerSource};
use super::race_urls::is_url;
use crate::failure::WrongInput;
use control::catalog::narrow;
use model::url::redacted;
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
    race: RaceSettings,
    /// Races of the same servers, one after the other; without any cell, there is one race with the options of `race`.
    #[serde(default, rename = "cell")]
    cells: Vec<Cell>,
}

/// One race of a file.
#[derive(Debug)]
pub struct FileRace {
    /// The title of its cell; `None`: the file has no cells.
    pub title: Option<String>,
    /// What the file says of it.
    pub settings: RaceSettings,
}

/// The file, and its races. `named`: the file; `None`: the one in the current folder or the nearest one above it. `given`: what the command
/// line says, which must fit.
pub fn read(named: Option<&Path>, given: &RaceSettings) -> anyhow::Result<(PathBuf, Vec<FileRace>)> {
    let found = match named {
        Some(path) => Some(path.to_owned()),
        None => find(&std::env::current_dir()?),
    };
    let Some(path) = found else {
        refuse!(
            "nothing to race: give two commands that start servers, or two URLs of servers that already run, or --rev and \
             --start, or --image and --start, or write a {NAME} (`drome new race`)"
        );
    };
    let wrong = |why: String| WrongInput(format!("{}: {}", path.display(), why.trim_end()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: RaceFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let races = file.races(given).map_err(wrong)?;
    Ok((path, races))
}

/// Whether the current folder, or a folder above it, has a `drome.toml`.
pub fn exists() -> bool {
    std::env::current_dir().is_ok_and(|folder| find(&folder).is_some())
}

impl RaceFile {
    /// Its races. What a cell leaves out is as in `[race]`.
    fn races(self, given: &RaceSettings) -> Result<Vec<FileRace>, String> {
        narrow::ensure_distinct(self.cells.iter().map(|cell| cell.title.as_str()))?;
        if let Some(word) = self.race.named.iter().find(|word| !is_url(word)) {
            return Err(format!(
                "`urls` has `{}`, which is no URL of a server that already runs: write it like `http://127.0.0.1:8080/`",
                redacted(word)
            ));
        }
        let has_urls = !self.race.named.is_empty();
        if let Some(cell) = self.cells.iter().find(|cell| cell.url.is_some() && has_urls) {
            let why = "`urls` already say what is requested: leave out `url`";
            return Err(format!("cell `{}`: {why}", cell.title));
        }
        ensure_fit(&self.race, given)?;
        if self.cells.is_empty() {
            return Ok(vec![FileRace { title: None, settings: self.race }]);
        }
        let of = |cell: Cell| FileRace {
            title: Some(cell.title.clone()),
            settings: cell.settings().or(self.race.clone()),
        };
        Ok(self.cells.into_iter().map(of).collect())
    }
}

/// Fails with a message if a key is not for the servers of the race, or if a necessary key is missing.
fn ensure_fit(race: &RaceSettings, given: &RaceSettings) -> Result<(), String> {
    let servers = source(race, given)?;
    let wrong: Vec<String> = race.misplaced(servers).iter().map(|[_, key, _]| format!("`{key}`")).collect();
    if !wrong.is_empty() {
        let why = match servers {
            ServerSource::Revisions => "revisions do not run in containers",
            ServerSource::Images => "images are already built",
            ServerSource::Urls | ServerSource::Commands => "`urls` are servers that already run",
        };
        return Err(format!("{why}: leave out {}", wrong.join(", ")));
    }
    if servers == ServerSource::Revisions && race.start.is_none() && given.start.is_none() {
        return Err("`rev` needs `start`: the command that starts the server of a revision".to_owned());
    }
    Ok(())
}

/// How the file, or the command line in its place, names the servers. Fails with a message if they do so in several ways, or in none.
fn source(race: &RaceSettings, given: &RaceSettings) -> Result<ServerSource, String> {
    let lists = [
        (ServerSource::Revisions, "rev", &race.rev),
        (ServerSource::Images, "images", &race.images),
        (ServerSource::Urls, "urls", &race.named),
    ];
    let own: Vec<(ServerSource, &str)> = lists
        .into_iter()
        .filter(|(.., list)| !list.is_empty())
        .map(|(servers, key, _)| (servers, key))
        .collect();
    let asked = match given.source() {
        ServerSource::Revisions => Some((ServerSource::Revisions, "--rev", "--start")),
        ServerSource::Images => Some((ServerSource::Images, "--image", "--start or --env")),
        ServerSource::Urls | ServerSource::Commands => None,
    };
    match (own.as_slice(), asked) {
        ([(_, one), (_, other), ..], _) => {
            Err(format!("`{one}` and `{other}` name different servers: keep one of them"))
        }
        ([(own, key)], Some((servers, option, needed))) if *own != servers => Err(format!(
            "`{key}` in this file and {option} on the command line name different servers: remove one of them; without this file, {option} \
             needs {needed}, too"
        )),
        (_, Some((servers, ..))) => Ok(servers),
        ([(own, _)], None) => Ok(*own),
        ([], None) => Err(NOTHING.to_owned()),
    }
}

/// The file in this folder or the nearest one above it.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests;
