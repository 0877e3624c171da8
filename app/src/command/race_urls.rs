//! The URLs of `drome race URL URL…`: servers that already run, which drome neither starts nor stops.

use super::url;
use crate::failure::WrongInput;
use clap::Args;
use model::url::redacted;
use model::{Metric, Target};

/// Raw arguments.
#[derive(Clone, Debug, Args)]
pub struct RunningArgs {
    /// With URLs: the first process of a server, whose CPU time and memory are then measured; repeated, once for each URL and in their
    /// order [default: CPU time and memory stay unknown]
    #[arg(long = "pid", value_name = "PID", value_parser = clap::value_parser!(i32).range(1..))]
    pub pids: Vec<i32>,
}

impl RunningArgs {
    /// Fails if processes are given for servers that drome starts itself, or if the metric needs processes that are not given.
    pub fn ensure_fit(&self, are_running: bool, metric: Metric) -> Result<(), WrongInput> {
        let needs_processes = matches!(metric, Metric::ServerCpu | Metric::Rss);
        let why = match (are_running, self.pids.is_empty()) {
            (false, false) => {
                "--pid: it is for URLs of servers that already run; drome knows the processes of the servers that it starts"
                    .to_owned()
            }
            (true, true) if needs_processes => format!(
                "--metric {metric}: the processes of these servers are not known: give the first process of each with --pid, in the \
                 order of the URLs"
            ),
            _ => return Ok(()),
        };
        Err(WrongInput(why))
    }
}

/// The servers that the arguments of a race name by URL; at least one of these is a URL. All URLs ask for the same path, all with TLS or
/// all without.
pub fn targets(given: &[String]) -> anyhow::Result<Vec<Target>> {
    if let Some(command) = given.iter().find(|word| !is_url(word)) {
        refuse!(
            "`{}` is a command, and others are URLs of servers that already run: give only commands, so that drome starts all servers \
             alike, or start all of them yourself and give only URLs",
            redacted(command)
        );
    }
    let mut targets = given.iter().map(|url| url::resolve(url)).collect::<anyhow::Result<Vec<_>>>()?;
    let first = &targets[0];
    if let Some(other) = targets.iter().find(|target| target.tls != first.tls) {
        refuse!(
            "{} and {}: one is encrypted and one is not, which is not the same work: give only https URLs, or only http URLs",
            first.url,
            other.url
        );
    }
    if let Some(other) = targets.iter().find(|target| target.path != first.path) {
        refuse!(
            "{} asks for {}, and {} for {}: give URLs with the same path and query, so that all servers do the same work",
            first.url,
            first.path,
            other.url,
            other.path
        );
    }
    for target in &mut targets {
        load::reach(target).map_err(|error| WrongInput(format!("{}: {error}", target.url)))?;
    }
    Ok(targets)
}

/// Whether an argument is the URL of a server that already runs, and not a command.
pub fn is_url(word: &str) -> bool {
    let scheme = word.split_once("://").map_or("", |(scheme, _)| scheme);
    ["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<Vec<String>, String> {
        let words: Vec<String> = words.iter().map(ToString::to_string).collect();
        let targets = targets(&words).map_err(|error| error.to_string())?;
        Ok(targets.into_iter().map(|target| format!("{}{}", target.host, target.path)).collect())
    }

    #[test]
    fn arguments_are_all_urls_or_all_commands() {
        let both = of(&["http://127.0.0.1:1/x?y", "http://localhost:2/x?y#z"]);
        assert_eq!(both, Ok(vec!["127.0.0.1:1/x?y".to_owned(), "localhost:2/x?y".to_owned()]));
        let mixed = of(&["./a {port}", "http://127.0.0.1:1/"]).unwrap_err();
        assert!(mixed.contains("`./a {port}` is a command") && mixed.contains("only URLs"), "{mixed}");
    }

    #[test]
    fn urls_that_are_not_the_same_work_are_refused() {
        let paths =
            of(&["http://127.0.0.1:1/x", "http://127.0.0.1:2/x", "http://127.0.0.1:3/x?a=1"]).unwrap_err();
        assert!(paths.contains("http://127.0.0.1:1/x asks for /x, and http://127.0.0.1:3/x?a=1"), "{paths}");
        let tls = of(&["http://127.0.0.1:1/", "https://127.0.0.1:2/"]).unwrap_err();
        assert!(tls.contains("http://127.0.0.1:1/ and https://127.0.0.1:2/: one is encrypted"), "{tls}");
        assert!(
            of(&["http://127.0.0.1:99999/", "http://127.0.0.1:2/"]).unwrap_err().contains("is not a URL")
        );
    }

    #[test]
    fn processes_are_for_urls_and_some_metrics_need_them() {
        let why = |pids: &[i32], are_running, metric| {
            let args = RunningArgs { pids: pids.to_vec() };
            args.ensure_fit(are_running, metric).map_or_else(|error| error.to_string(), |()| String::new())
        };
        assert!(why(&[7], false, Metric::Rate).contains("it is for URLs"));
        assert!(why(&[], true, Metric::Rss).starts_with("--metric rss: "));
        assert!(why(&[], true, Metric::ServerCpu).contains("with --pid"));
        assert_eq!(
            (why(&[], true, Metric::Rate), why(&[7, 8], true, Metric::Rss)),
            (String::new(), String::new())
        );
        assert_eq!(why(&[], false, Metric::ServerCpu), "");
    }
}
