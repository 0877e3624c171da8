//! `drome.toml` in a repository: how its server is built, started and raced, so that `drome race` alone does it.

use crate::failure::WrongInput;
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// The file's name.
pub const NAME: &str = "drome.toml";

/// A file to begin with.
pub const TEMPLATE: &str = include_str!("../../race.toml");

/// How a repository's server is raced.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RaceFile {
    race: Race,
}

/// The options of `drome race`, as on the command line. An option that is given there replaces the one given here.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Race {
    /// Revisions to race, such as `["main", "."]`: a dot is the working tree. The others are compared with the first.
    #[serde(default)]
    rev: Vec<String>,
    /// URLs of servers that already run, instead of revisions, such as `["http://127.0.0.1:8080/", "http://127.0.0.1:8081/"]`.
    #[serde(default)]
    urls: Vec<String>,
    /// Command that builds a revision.
    #[serde(default)]
    build: Option<String>,
    /// Command that starts a revision's server; `{port}` stands for the port that it must listen on.
    #[serde(default)]
    start: Option<String>,
    /// URL to request; `{port}` stands for the server's port.
    #[serde(default)]
    url: Option<String>,
    /// Number of connections.
    #[serde(default)]
    connections: Option<u32>,
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

/// The file, and its options as words of a command line. `named`: the file; `None`: the one in the current folder or the nearest one
/// above it. `given`: the words of the command line; a list in them replaces the file's.
pub fn options(named: Option<&Path>, given: &[String]) -> anyhow::Result<(PathBuf, Vec<String>)> {
    let found = match named {
        Some(path) => Some(path.to_owned()),
        None => find(&std::env::current_dir()?),
    };
    let Some(path) = found else {
        return Err(WrongInput(format!(
            "nothing to race: give two commands that start servers, or two URLs of servers that already run, or --rev and \
             --start, or write a {NAME} (`drome new race`)"
        ))
        .into());
    };
    let wrong = |why: String| WrongInput(format!("{}: {}", path.display(), why.trim_end()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: RaceFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let options = file.race.options(given).map_err(wrong)?;
    Ok((path, options))
}

impl Race {
    /// The options as words of a command line. A list that is given there replaces this one. Fails, in words, if these are not the
    /// servers of one race.
    fn options(self, given: &[String]) -> Result<Vec<String>, String> {
        let is_given = given.iter().any(|arg| arg == "--rev" || arg.starts_with("--rev="));
        let starts = !self.rev.is_empty() || self.start.is_some() || self.build.is_some();
        match (self.urls.is_empty(), starts) {
            (false, true) => {
                return Err(
                    "`urls` are servers that already run: leave out `rev`, `build` and `start`".to_owned()
                );
            }
            (false, false) if is_given => {
                return Err(
                    "`urls` are servers that already run, so that --rev needs --start, too".to_owned()
                );
            }
            (true, _) if self.start.is_none() => {
                return Err("nothing to race: write `rev` and `start`, or `urls`".to_owned());
            }
            _ => {}
        }
        let revs = self.rev.into_iter().filter(|_| !is_given).map(|rev| format!("--rev={rev}"));
        let others = [
            ("build", self.build),
            ("start", self.start),
            ("url", self.url),
            ("connections", self.connections.map(|n| n.to_string())),
            ("metric", self.metric),
            ("fail-if-slower", self.fail_if_slower),
            ("budget", self.budget),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        Ok(self.urls.into_iter().chain(revs).chain(others).collect())
    }
}

/// The file in this folder or the nearest one above it.
fn find(folder: &Path) -> Option<PathBuf> {
    folder.ancestors().map(|folder| folder.join(NAME)).find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn race(text: &str) -> Race {
        toml::from_str::<RaceFile>(text).unwrap().race
    }

    #[test]
    fn keys_are_options_and_the_command_line_replaces_a_list() {
        let text = "[race]\nrev = [\"main\", \".\"]\nstart = \"./x {port}\"\nfail_if_slower = \"2%\"\n";
        let options = ["--rev=main", "--rev=.", "--start=./x {port}", "--fail-if-slower=2%"];
        let words = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            race(text).options(&given).unwrap()
        };
        assert_eq!(words(&["--bisect"]), options);
        assert_eq!(words(&["--rev=v1"]), options[2..]);
        assert_eq!(words(&["--rev", "v1"]), options[2..]);
    }

    #[test]
    fn urls_are_arguments_and_stand_alone() {
        let urls = "[race]\nurls = [\"http://a:1/\", \"http://b:2/\"]\nconnections = 8\n";
        assert_eq!(race(urls).options(&[]).unwrap(), ["http://a:1/", "http://b:2/", "--connections=8"]);
        let why = |text: &str, given: &[String]| race(text).options(given).unwrap_err();
        assert!(why(urls, &["--rev=v1".to_owned()]).contains("--rev needs --start"));
        assert!(why(&format!("{urls}start = \"./x {{port}}\"\n"), &[]).contains("leave out `rev`"));
        assert!(why("[race]\nconnections = 8\n", &[]).contains("`rev` and `start`, or `urls`"));
        assert!(why("[race]\nrev = [\"main\", \".\"]\n", &[]).contains("`rev` and `start`, or `urls`"));
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = toml::from_str::<RaceFile>("[race]\nrev = []\nstart = \"\"\nstrat = 1\n").unwrap_err();
        assert!(error.to_string().contains("strat"), "{error}");
    }

    #[test]
    fn what_new_race_writes_is_a_file_of_this_form() {
        let options = race(TEMPLATE).options(&[]).unwrap();
        assert!(options.contains(&"--rev=main".to_owned()) && options.iter().any(|o| o.contains("{port}")));
    }
}
