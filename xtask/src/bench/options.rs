//! What is asked for on the command line: which works, how many rounds, how long each run.

use super::rows::Work;
use super::works::WORKS;
use anyhow::{Context, Result, bail};
use std::path::PathBuf;

const QUICK: (usize, u64) = (3, 1);
const FULL: (usize, u64) = (9, 3);

pub struct Options {
    works: Vec<&'static Work>,
    pub rounds: usize,
    pub seconds: u64,
    pub install: bool,
    /// Where the run is written as well.
    pub json: Option<PathBuf>,
    /// Nothing is measured: the table of docs/bench.md is made anew.
    pub render: bool,
}

impl Options {
    /// `None`: help is asked for.
    pub fn read(args: &[String]) -> Result<Option<Self>> {
        let mut options = Self {
            works: Vec::new(),
            rounds: QUICK.0,
            seconds: QUICK.1,
            install: false,
            json: None,
            render: false,
        };
        let mut args = args.iter().map(String::as_str);
        while let Some(arg) = args.next() {
            match arg {
                "--help" | "-h" => return Ok(None),
                "--install" => options.install = true,
                "--render" => options.render = true,
                "--json" => options.json = Some(args.next().context("--json takes a file")?.into()),
                "--full" => (options.rounds, options.seconds) = FULL,
                "--rounds" => options.rounds = number(arg, args.next(), 100)? as usize,
                "--seconds" => options.seconds = number(arg, args.next(), 60)?,
                _ => match WORKS.iter().filter(|work| is_meant(work.name, arg)).collect::<Vec<_>>() {
                    works if works.is_empty() => bail!("`{arg}` is no row; there are: {}", names().join(" ")),
                    works => options.works.extend(works),
                },
            }
        }
        Ok(Some(options))
    }

    /// In the order of the table.
    pub fn works(&self) -> impl Iterator<Item = &'static Work> {
        let is_wanted = |work: &Work| self.works.is_empty() || self.works.iter().any(|w| w.name == work.name);
        WORKS.iter().filter(move |work| is_wanted(work))
    }
}

/// `open` stands for all rows whose name begins so.
fn is_meant(name: &str, arg: &str) -> bool {
    name == arg || name.strip_prefix(arg).is_some_and(|rest| rest.starts_with('-'))
}

fn number(option: &str, text: Option<&str>, most: u64) -> Result<u64> {
    match text.and_then(|text| text.parse().ok()) {
        Some(n) if (1..=most).contains(&n) => Ok(n),
        _ => bail!("{option} takes a whole number from 1 to {most}"),
    }
}

fn names() -> Vec<&'static str> {
    WORKS.iter().map(|work| work.name).collect()
}

/// What can be asked for.
pub fn help() -> String {
    let (rounds, seconds) = QUICK;
    let (full_rounds, full_seconds) = FULL;
    format!(
        "cargo xtask bench [ROW…] [--rounds N] [--seconds S] [--full] [--install] [--json FILE]
       cargo xtask bench --render
  ROW        which rows, all unless told: {}
  --rounds   how often each run is repeated, the runs of a row in turns [{rounds}]
  --seconds  how long a run lasts [{seconds}]
  --full     {full_rounds} rounds of {full_seconds} seconds
  --install  gets missing peers from Debian's packages
  --json     writes the run to a file as well; rows that the file has and this run does not are kept. docs/bench.md is made from
             docs/bench.json
  --render   measures nothing: makes the table of docs/bench.md anew
",
        names().join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Option<Options>> {
        Options::read(&text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    }

    fn chosen(text: &str) -> Vec<&'static str> {
        read(text).unwrap().unwrap().works().map(|work| work.name).collect()
    }

    #[test]
    fn rows_are_chosen_by_name_or_by_the_beginning_of_it() {
        assert_eq!(chosen("open keep-alive"), ["keep-alive", "open-1k", "open-5k", "open-20k"]);
        assert_eq!(chosen("").len(), WORKS.len());
        let error = read("kep-alive").err().unwrap().to_string();
        assert!(error.contains("`kep-alive` is no row") && error.contains("keep-alive"), "{error}");
    }

    #[test]
    fn rounds_and_seconds() {
        let options = read("--full --seconds 2 hello").unwrap().unwrap();
        assert_eq!((options.rounds, options.seconds, options.install), (FULL.0, 2, false));
        let options = read("--json a.json hello").unwrap().unwrap();
        assert_eq!((options.json.as_deref(), options.render), (Some("a.json".as_ref()), false));
        for bad in ["--json", "--rounds", "--rounds 0", "--seconds x", "--seconds 1000"] {
            assert!(read(bad).is_err(), "{bad}");
        }
        assert!(read("--help").unwrap().is_none());
    }
}
