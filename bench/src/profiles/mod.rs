//! `cargo xtask profiles`: checks profiles that `drome load --profile` writes of servers that know what their answers cost, and how this
//! time is divided between two callers. Differences are shown in the table; they don't make the command fail, because a machine may be
//! noisy.

mod found;
mod overhead;
mod server;
mod servers;
mod truth;

use crate::drome::Drome;
use anyhow::{Context, Result, bail, ensure};
use clap::Args;
use clap::builder::PossibleValuesParser;
use found::Found;
use server::Server;
use servers::{SERVERS, Spins};
use std::process::Output;
use truth::Truth;
use xtask::packages;

/// Raw arguments.
#[derive(Args, Debug)]
#[command(override_usage = "cargo xtask profiles [OPTIONS] [SERVER]...")]
pub struct Options {
    /// Servers to profile [default: all]
    #[arg(value_name = "SERVER", value_parser = PossibleValuesParser::new(SERVERS.iter().map(|server| server.name)))]
    servers: Vec<String>,
    /// Length of the load that is sampled
    #[arg(short, long, default_value = "3s", value_name = "TIME")]
    duration: String,
    /// Measure what sampling costs a server instead: loads with and without a profile, in turns
    #[arg(long)]
    overhead: bool,
    /// Pairs of loads for --overhead
    #[arg(long, default_value_t = 20, value_name = "N", value_parser = clap::value_parser!(u16).range(6..=1000))]
    pairs: u16,
}

/// drome's exit code if a measurement is void. Its profile is written nevertheless.
const VOID: i32 = 4;

/// Profiles the selected servers, or measures the cost of that, and prints the result.
pub fn run(options: &Options) -> Result<()> {
    let selected: Vec<&Spins> = SERVERS.iter().filter(|server| options.selects(server.name)).collect();
    for server in &selected {
        server.ensure_installed()?;
    }
    if packages::find("curl").is_none() {
        bail!(
            "`curl` is not on PATH, by which servers are asked what their answers cost: install it (apt install curl)"
        );
    }
    let drome = Drome::build()?;
    if options.overhead {
        println!("{}", overhead::measure(&drome, options.pairs)?);
        return Ok(());
    }
    println!("{HEAD}");
    for server in selected {
        println!("{}", row(&drome, server, &options.duration)?);
    }
    Ok(())
}

impl Options {
    fn selects(&self, name: &str) -> bool {
        if self.overhead {
            return name == overhead::SERVER;
        }
        self.servers.is_empty() || self.servers.iter().any(|server| server == name)
    }
}

const HEAD: &str = "\
| server | samples | whole stacks | most CPU time in | CPU time per answer, found / truth | share of A, found / truth | share of B, found / truth | remark |
| --- | ---: | ---: | --- | ---: | ---: | ---: | --- |";

/// Loads a server over one connection, with more options. A void measurement is no error here, because its profile is as good as any
/// other.
fn load(drome: &Drome, server: &Server, args: &[&str]) -> Result<Output> {
    let url = format!("http://127.0.0.1:{}/", server.port());
    let mut command = drome.command(&["load", &url, "-c", "1", "--pid", &server.pid().to_string()]);
    let output = command.args(args).output().context("can't run drome")?;
    let code = output.status.code();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(matches!(code, Some(0 | VOID)), "`drome load` ended with {}: {errors}", output.status);
    Ok(output)
}

/// Profiles a server, and returns its row of the table.
fn row(drome: &Drome, spins: &Spins, duration: &str) -> Result<String> {
    let server = Server::start(spins.command(drome.home())?)?;
    load(drome, &server, &["-d", spins.warmup, "--quiet"])?;
    spins.tell_names(server.pid())?;
    let before = server.truth()?;
    let file = drome.home().join(format!("{}.json", spins.name));
    let output = load(drome, &server, &["-d", duration, "--quiet", "--profile", &file.to_string_lossy()])?;
    let truth = server.truth()?.since(&before);
    if !file.exists() {
        let errors = String::from_utf8_lossy(&output.stderr);
        let why = errors.lines().find(|line| line.contains("no profile")).unwrap_or("no profile was written");
        return Ok(line(spins, None, &truth, why));
    }
    let text = std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
    let found = Found::of(&text).with_context(|| format!("{}", file.display()))?;
    let remark = if found.share_of_a.is_some() { "" } else { spins.unnamed };
    Ok(line(spins, Some(&found), &truth, remark))
}

/// A row of the table. `None`: there is no profile, for the reason in the remark.
fn line(spins: &Spins, found: Option<&Found>, truth: &Truth, remark: &str) -> String {
    let unknown = || "–".to_owned();
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let samples = found.map_or_else(unknown, |found| found.samples.to_string());
    let whole = found.map_or_else(unknown, |found| percent(found.whole));
    let first = found.map_or_else(unknown, |found| format!("`{}`", found.first.replace('|', "/")));
    let us = |ns: f64| format!("{:.1} µs", ns / 1e3);
    let cost = pair(found.and_then(|found| found.ns_per_answer), truth.ns_per_answer(), us);
    let a = found.and_then(|found| found.share_of_a);
    let shares = [
        pair(a, truth.share_of_a(), percent),
        pair(a.map(|a| 1.0 - a), truth.share_of_a().map(|a| 1.0 - a), percent),
    ];
    let [of_a, of_b] = shares;
    format!("| {} | {samples} | {whole} | {first} | {cost} | {of_a} | {of_b} | {remark} |", spins.title)
}

/// What was found and what is true, each with a dash where it is not known.
fn pair(found: Option<f64>, truth: Option<f64>, shown: impl Fn(f64) -> String) -> String {
    let [found, truth] = [found, truth].map(|value| value.map_or_else(|| "–".to_owned(), &shown));
    format!("{found} / {truth}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn selected(words: &[&str]) -> Vec<&'static str> {
        let line = Line::try_parse_from([&["profiles"][..], words].concat()).unwrap();
        SERVERS.iter().map(|server| server.name).filter(|name| line.options.selects(name)).collect()
    }

    #[test]
    fn servers_are_selected_by_name_and_all_of_them_by_default() {
        assert_eq!(selected(&[]).len(), SERVERS.len());
        assert_eq!(selected(&["go", "c"]), ["c", "go"]);
        assert_eq!(selected(&["--overhead", "--pairs", "6"]), [overhead::SERVER]);
        for bad in [&["fortran"][..], &["--pairs", "5"]] {
            assert!(Line::try_parse_from([&["profiles"][..], bad].concat()).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_not_known_is_a_dash_with_the_reason() {
        let truth = Truth::parse("20 3000000 10 1500000\n").unwrap();
        let known = Found {
            samples: 900,
            whole: 0.995,
            first: "busy_work".to_owned(),
            ns_per_answer: Some(148_000.0),
            share_of_a: Some(0.66),
        };
        let row = line(&SERVERS[0], Some(&known), &truth, "");
        let cells =
            "| 900 | 99.5 % | `busy_work` | 148.0 µs / 150.0 µs | 66.0 % / 66.7 % | 34.0 % / 33.3 % |";
        assert!(row.contains(cells), "{row}");
        let row = line(&SERVERS[0], None, &truth, "not allowed");
        assert!(
            row.contains("| – | – | – | – / 150.0 µs | – / 66.7 % | – / 33.3 % | not allowed |"),
            "{row}"
        );
    }
}
