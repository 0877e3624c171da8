//! The options of `cargo xtask bench`: which rows, how many rounds, how long each run.

use super::model::Work;
use super::works::works;
use clap::Parser;
use std::path::PathBuf;

/// The default number of rounds, and the default length of a run in seconds.
const QUICK: (u16, u64) = (3, 1);

/// The same with `--full`.
const FULL: (u16, u64) = (9, 3);

/// Raw arguments.
#[derive(Parser)]
#[command(override_usage = "cargo xtask bench [OPTIONS] [ROW]...\n       cargo xtask bench --render")]
pub struct Options {
    #[arg(value_name = "ROW", value_parser = known_row, help = rows_help())]
    rows: Vec<String>,
    /// How often each run is repeated; the runs of a row take turns [default: 3, or 9 with --full]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=100))]
    rounds: Option<u16>,
    /// Length of a run; some rows need longer runs [default: 1s, or 3s with --full]
    #[arg(short, long, value_name = "TIME", value_parser = seconds)]
    duration: Option<u64>,
    /// Measure more rounds and longer runs
    #[arg(long)]
    full: bool,
    /// Install the missing programs from Debian's packages
    #[arg(long)]
    pub install: bool,
    /// Also write the figures to this file; rows that the file has and this run does not measure are kept
    #[arg(long, value_name = "FILE")]
    pub export: Option<PathBuf>,
    /// Measure nothing; make the table of docs/bench.md from docs/bench.json
    #[arg(long, exclusive = true)]
    pub render: bool,
}

impl Options {
    /// How often each run is repeated.
    pub fn rounds(&self) -> usize {
        usize::from(self.rounds.unwrap_or(self.defaults().0))
    }

    /// Length of a run in seconds.
    pub fn seconds(&self) -> u64 {
        self.duration.unwrap_or(self.defaults().1)
    }

    fn defaults(&self) -> (u16, u64) {
        if self.full { FULL } else { QUICK }
    }

    /// The selected works in the order of the table; all if no row was named.
    pub fn works(&self) -> impl Iterator<Item = &'static Work> {
        works().filter(|work| self.rows.is_empty() || self.rows.iter().any(|row| selects(row, work)))
    }
}

/// Reads a time in whole seconds, because some of the tools take no other.
fn seconds(text: &str) -> Result<u64, String> {
    let time = humantime::parse_duration(text).map_err(|error| error.to_string())?;
    match time.as_secs() {
        seconds @ 1..=60 if time.subsec_nanos() == 0 => Ok(seconds),
        _ => Err("must be whole seconds from 1s to 60s".to_owned()),
    }
}

/// `open` selects all rows whose name begins with `open-`.
fn selects(row: &str, work: &Work) -> bool {
    work.name == row || work.name.strip_prefix(row).is_some_and(|rest| rest.starts_with('-'))
}

fn known_row(text: &str) -> Result<String, String> {
    if works().any(|work| selects(text, work)) {
        Ok(text.to_owned())
    } else {
        Err(format!("no row has this name; the rows are: {}", names()))
    }
}

fn rows_help() -> String {
    format!("Rows to measure, by name or by its beginning, such as `open` [default: all of {}]", names())
}

fn names() -> String {
    works().map(|work| work.name).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Options, clap::Error> {
        Options::try_parse_from(["table"].into_iter().chain(text.split_whitespace()))
    }

    fn selected(text: &str) -> Vec<&'static str> {
        read(text).unwrap().works().map(|work| work.name).collect()
    }

    #[test]
    fn rows_are_selected_by_name_or_by_its_beginning() {
        assert_eq!(selected("open keep-alive"), ["keep-alive", "open-1k", "open-5k", "open-20k"]);
        assert_eq!(selected("").len(), works().count());
        let error = read("kep-alive").err().unwrap().to_string();
        assert!(error.contains("'kep-alive'") && error.contains("the rows are: keep-alive "), "{error}");
    }

    #[test]
    fn rounds_and_seconds() {
        let of = |text| read(text).map(|options| (options.rounds(), options.seconds())).unwrap();
        assert_eq!((of("hello"), of("--full"), of("--rounds 100")), ((3, 1), (9, 3), (100, 1)));
        assert_eq!((of("--full --duration 2s"), of("--rounds 60 --full")), ((9, 2), (60, 3)));
        for bad in ["--rounds", "--rounds 0", "--rounds 101", "--duration 2", "--duration 61s", "-d 1500ms"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_file_for_the_figures_and_a_table_that_is_only_rendered() {
        let options = read("--export a.json hello").unwrap();
        assert_eq!((options.export.as_deref(), options.render), (Some("a.json".as_ref()), false));
        assert!(read("--render").unwrap().render);
        for bad in ["--export", "--render hello", "--render --install"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn the_help_names_the_command_that_people_type_and_every_row() {
        let help = read("--help").err().unwrap().to_string();
        // How its lines break depends on the terminal.
        let help = help.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(help.contains("Usage: cargo xtask bench [OPTIONS] [ROW]..."), "{help}");
        assert!(works().all(|work| help.contains(work.name)), "{help}");
        let rounds = format!("[default: {}, or {} with --full]", QUICK.0, FULL.0);
        let length = format!("[default: {}s, or {}s with --full]", QUICK.1, FULL.1);
        assert!(help.contains(&rounds) && help.contains(&length), "{help}");
    }
}
