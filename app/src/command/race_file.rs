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

/// What is wrong with a file that names no servers, or does not say how revisions are started.
const NOTHING: &str = "nothing to race: write `rev` and `start`, or `images`, or `urls`";

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
    /// Longest time from the start of a server to its first answer, such as `1min`.
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
             --start, or --image and --start, or write a {NAME} (`drome new race`)"
        ))
        .into());
    };
    let wrong = |why: String| WrongInput(format!("{}: {}", path.display(), why.trim_end()));
    let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
    let file: RaceFile = toml::from_str(&text).map_err(|error| wrong(error.to_string()))?;
    let options = file.race.options(given).map_err(wrong)?;
    Ok((path, options))
}

/// Whether there is such a file in the current folder or above it.
pub fn exists() -> bool {
    std::env::current_dir().is_ok_and(|folder| find(&folder).is_some())
}

impl Race {
    /// The options as words of a command line. A list that is given there replaces this one. Fails, in words, if these are not the
    /// servers of one race.
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

    /// How the file, or the command line in its place, names the servers. Fails, in words, if they do so in several ways, or in none.
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
                "`{}` and {option} name different servers: without this file, {option} needs {needed}, too",
                own.key()
            )),
            (_, Some((way, ..))) => Ok(way),
            ([own], None) => Ok(*own),
            ([], None) => Err(NOTHING.to_owned()),
        }
    }

    /// Fails, in words, if a key is not for servers that are named in this way, or a necessary one is missing.
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
            return Err(NOTHING.to_owned());
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
mod tests {
    use super::*;

    fn race(text: &str) -> Race {
        toml::from_str::<RaceFile>(text).unwrap().race
    }

    #[test]
    fn keys_are_options_and_the_command_line_replaces_a_list() {
        let text = "[race]\nrev = [\"main\", \".\"]\nstart = \"./x {port}\"\nfail_if_slower = \"2%\"\n";
        let text = format!("{text}ready = \"1min\"\n");
        let options = ["--rev=main", "--rev=.", "--start=./x {port}", "--ready=1min", "--fail-if-slower=2%"];
        let words = |given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            race(&text).options(&given).unwrap()
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
        let started = format!("{urls}build = \"make\"\nstart = \"./x {{port}}\"\n");
        assert!(why(&started, &[]).contains("already run: leave out `build`, `start`"));
        assert_eq!(why("[race]\nconnections = 8\n", &[]), NOTHING);
        assert_eq!(why("[race]\nrev = [\"main\", \".\"]\n", &[]), NOTHING);
    }

    #[test]
    fn servers_are_named_in_one_way() {
        let why = |keys: &str, given: &[&str]| {
            let given: Vec<String> = given.iter().map(ToString::to_string).collect();
            race(&format!("[race]\n{keys}\n")).options(&given).map_or_else(|why| why, |words| words.join(" "))
        };
        let (revs, images, urls) = ("rev = [\"a\"]", "images = [\"a\"]", "urls = [\"http://a/\"]");
        let started = format!("{revs}\nstart = \"x {{port}}\"");
        for (two, names) in [
            (format!("{started}\n{urls}"), "`rev` and `urls` name different servers"),
            (format!("{started}\n{images}"), "`rev` and `images` name different servers"),
            (format!("{images}\n{urls}"), "`images` and `urls` name different servers"),
        ] {
            assert!(why(&two, &[]).contains(names), "{two}");
        }
        let image = ["--image", "b"];
        assert!(why(&started, &image).contains("`rev` and --image name different servers"));
        assert!(why(urls, &image).contains("without this file, --image needs --start or --env"));
        assert!(why(images, &["--rev=b"]).contains("without this file, --rev needs --start"));
        assert!(
            why(&format!("{images}\nbuild = \"make\""), &[]).contains("already built: leave out `build`")
        );
        assert!(why(&format!("{started}\nenv = [\"A=1\"]"), &[]).contains("leave out `env`"));
        // The servers are those of the command line, the rest is the file's.
        assert_eq!(why("start = \"x {port}\"", &["--rev", "b"]), "--start=x {port}");
        assert_eq!(why("env = [\"P={port}\"]", &image), "--env=P={port}");
        assert_eq!(why(revs, &["--rev=b", "--start=y {port}"]), "");
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
        assert_eq!(race(text).options(&[]).unwrap(), options);
        assert_eq!(race(text).options(&["--image=b".to_owned()]).unwrap(), options[2..]);
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
