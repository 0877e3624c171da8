//! `drome.toml` in a repository: how its server is built, started and raced, or which container images are, so that `drome race` alone
//! does it.

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
    /// Container images to race instead of revisions, such as `["localhost/app:old", "localhost/app:new"]`.
    #[serde(default)]
    images: Vec<String>,
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

/// The file in the current folder or the nearest one above it, and its options as words of a command line. `given`: the words of
/// the command line; a list in them replaces the file's.
pub fn options(given: &[String]) -> anyhow::Result<(PathBuf, Vec<String>)> {
    let Some(path) = find(&std::env::current_dir()?) else {
        return Err(WrongInput(format!(
            "nothing to race: give two commands that start servers, or --rev and --start, or --image and --start, or write a \
             {NAME} (`drome new race`)"
        ))
        .into());
    };
    let wrong = |why: String| WrongInput(format!("{}: {}", path.display(), why.trim_end()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: RaceFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    if file.race.rev.is_empty() && file.race.images.is_empty() {
        return Err(wrong("it names nothing to race: write rev or images".to_owned()).into());
    }
    Ok((path, file.race.options(given)))
}

/// Whether there is such a file in the current folder or above it.
pub fn exists() -> bool {
    std::env::current_dir().is_ok_and(|folder| find(&folder).is_some())
}

impl Race {
    /// The options as words of a command line. A list that is given there replaces this one.
    fn options(self, given: &[String]) -> Vec<String> {
        let lists = [
            ("rev", self.rev),
            ("image", self.images),
            ("env", self.env),
            ("container-arg", self.container_args),
        ];
        let is_given = |name: &str| {
            let (word, with_value) = (format!("--{name}"), format!("--{name}="));
            given.iter().any(|arg| *arg == word || arg.starts_with(&with_value))
        };
        let lists = lists.into_iter().filter(|(name, _)| !is_given(name));
        let lists = lists.flat_map(|(name, values)| values.into_iter().map(move |value| format!("--{name}={value}")));
        let others = [
            ("build", self.build),
            ("start", self.start),
            ("container-tool", self.container_tool),
            ("url", self.url),
            ("connections", self.connections.map(|n| n.to_string())),
            ("metric", self.metric),
            ("fail-if-slower", self.fail_if_slower),
            ("budget", self.budget),
        ];
        let others = others.into_iter().filter_map(|(name, value)| Some(format!("--{name}={}", value?)));
        lists.chain(others).collect()
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
        assert_eq!(race(text).options(&["--bisect".to_owned()]), options);
        assert_eq!(race(text).options(&["--rev=v1".to_owned()]), options[2..]);
        assert_eq!(race(text).options(&["--rev".to_owned(), "v1".to_owned()]), options[2..]);
    }

    #[test]
    fn a_race_of_images_is_a_list_of_them() {
        let text = "[race]\nimages = [\"a:1\", \"a:2\"]\nenv = [\"PORT={port}\"]\ncontainer_args = [\"--memory=1g\"]\n\
                    container_tool = \"podman --runtime runc\"\n";
        let options = [
            "--image=a:1",
            "--image=a:2",
            "--env=PORT={port}",
            "--container-arg=--memory=1g",
            "--container-tool=podman --runtime runc",
        ];
        assert_eq!(race(text).options(&[]), options);
        assert_eq!(race(text).options(&["--image=b".to_owned()]), options[2..]);
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        let error = toml::from_str::<RaceFile>("[race]\nrev = []\nstart = \"\"\nstrat = 1\n").unwrap_err();
        assert!(error.to_string().contains("strat"), "{error}");
    }

    #[test]
    fn what_new_race_writes_is_a_file_of_this_form() {
        let options = race(TEMPLATE).options(&[]);
        assert!(options.contains(&"--rev=main".to_owned()) && options.iter().any(|o| o.contains("{port}")));
    }
}
