//! `cargo xtask guard`: checks the verdicts of `drome race --fail-if-slower` on commits whose effect on a server is known. Wrong verdicts
//! are shown in the table; they don't make the command fail, because a machine may be slow or noisy.

mod repository;

use crate::drome::Drome;
use anyhow::{Context, Result};
use clap::Args;
use repository::{CHANGES, Change};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// What to measure.
#[derive(Args, Debug)]
pub struct Options {
    /// Races of the slower commit against its parent
    #[arg(long, default_value_t = 20, value_name = "N")]
    slower: usize,
    /// Races of commits that change nothing against their parents, in turn
    #[arg(long, default_value_t = 20, value_name = "N")]
    same: usize,
    /// Races of the leaking commit against its parent, by memory
    #[arg(long, default_value_t = 5, value_name = "N")]
    leak: usize,
    /// Share of speed that may be lost
    #[arg(long, default_value = "2%", value_name = "SHARE")]
    margin: String,
    /// Longest time of a race
    #[arg(long, default_value = "2min", value_name = "TIME")]
    budget: String,
    /// Leave out the search for the slower commit by `git bisect run`
    #[arg(long)]
    no_bisect: bool,
}

/// Runs all races and prints the table.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    repository::make(folder.path())?;
    let guard = Guard { drome: Drome::build()?, folder: folder.path(), options };
    println!("| commits | races | exit 3 | exit 0 | exit 4 | other | median s | longest s |");
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    guard.row("slower", Change::Slower, options.slower, "rate")?;
    guard.row("nothing that runs changed", Change::Nothing, options.same, "rate")?;
    guard.row("leak of 1 KiB a request, by rss", Change::Leak, options.leak, "rss")?;
    if !options.no_bisect {
        println!("\n{}", guard.bisect()?);
    }
    Ok(())
}

struct Guard<'o> {
    drome: Drome,
    folder: &'o Path,
    options: &'o Options,
}

impl Guard<'_> {
    /// Races commits of this kind against their parents, in turn, and prints a row.
    fn row(&self, title: &str, change: Change, races: usize, metric: &str) -> Result<()> {
        let of_kind: Vec<usize> = (1..).zip(CHANGES).filter(|(_, c)| *c == change).map(|(n, _)| n).collect();
        let (mut codes, mut seconds) = (Vec::new(), Vec::new());
        for n in of_kind.iter().cycle().take(races) {
            let began = Instant::now();
            let code = self.race(&(n - 1).to_string(), &n.to_string(), metric)?;
            seconds.push(began.elapsed().as_secs_f64());
            eprintln!("{title}: commit {n} ended with {code} after {:.0?}", began.elapsed());
            codes.push(code);
        }
        let Some(median_s) = stats::median(&seconds) else { return Ok(()) };
        let longest_s = seconds.iter().copied().fold(0.0, f64::max);
        let count = |code| codes.iter().filter(|other| **other == code).count();
        let [three, zero, four] = [3, 0, 4].map(count);
        let other = races - three - zero - four;
        println!(
            "| {title} | {races} | {three} | {zero} | {four} | {other} | {median_s:.0} | {longest_s:.0} |"
        );
        Ok(())
    }

    /// One race; returns its exit code.
    fn race(&self, base: &str, new: &str, metric: &str) -> Result<i32> {
        let mut command = self.command();
        let revisions = ["--rev", base, "--rev", new];
        let status = command.args(revisions).args(["--metric", metric, "--quiet"]).status();
        Ok(status.context("can't run drome")?.code().unwrap_or(-1))
    }

    fn command(&self) -> Command {
        let server = ["race", "--build", "cc -O2 -o server server.c", "--start", "./server {port}"];
        let mut command = self.drome.command(&server);
        command.args(["--fail-if-slower", &self.options.margin, "--budget", &self.options.budget]);
        command.current_dir(self.folder).stdout(Stdio::null());
        command
    }

    /// Searches for the slower commit, and says which one was found.
    fn bisect(&self) -> Result<String> {
        let truth = CHANGES.iter().position(|change| *change == Change::Slower).map_or(0, |at| at + 1);
        repository::git(self.folder, &["bisect", "start", &CHANGES.len().to_string(), "0"])?;
        let race = self.command();
        let mut words = vec!["bisect".to_owned(), "run".to_owned(), self.drome.path().display().to_string()];
        words.extend(race.get_args().map(|word| word.to_string_lossy().into_owned()));
        words.extend(["--rev", "0", "--rev", ".", "--bisect", "--quiet"].map(str::to_owned));
        let mut git = Command::new("git");
        git.args(&words).current_dir(self.folder);
        git.envs(race.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let began = Instant::now();
        // It fails where it finds nothing.
        let output = git.stdin(Stdio::null()).output().context("can't run git")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let found =
            text.lines().find(|line| line.ends_with("is the first bad commit")).unwrap_or("none found");
        let name = repository::git(self.folder, &["rev-parse", &truth.to_string()])?;
        let is_right = found.starts_with(name.trim());
        let verdict = if is_right { "the slower commit" } else { "NOT the slower commit" };
        Ok(format!("git bisect run: {found}: {verdict}, after {:.0} s", began.elapsed().as_secs_f64()))
    }
}
