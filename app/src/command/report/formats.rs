//! Output formats, and what is stored in each of them.

use crate::command::pictures::Kind;
use crate::failure::WrongInput;
use anyhow::Context;
use clap::ValueEnum;
use model::page::Replays;
use model::{Import, Sweep};
use report::{RunReport, TextStyle};
use store::Printed;

/// An output format. A new one takes a line here, one in `command/format.rs`, and one each in `show` and `show_import`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
    Terminal,
    Markdown,
    /// A self-contained page
    Html,
    Json,
    /// One row for every start in each cell
    Csv,
    /// The same as CSV, separated by tabs
    Tsv,
    /// Metrics for bencher.dev
    Bencher,
    /// Figures of which more is better, for github-action-benchmark
    BiggerIsBetter,
    /// Figures of which less is better, for github-action-benchmark
    SmallerIsBetter,
    /// Test results
    Junit,
    /// Charts as SVG
    Svg,
    /// Charts as PNG
    Png,
}

impl Format {
    /// The format of the charts, if this is a format of charts.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::Svg => Some(Kind::Svg),
            Self::Png => Some(Kind::Png),
            _ => None,
        }
    }

    /// The error that this format is not supported here.
    pub fn refused(self, why: &str) -> anyhow::Error {
        WrongInput(format!("--format {}: {why}", self.name())).into()
    }

    /// Its name on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A run in a format. A race is reported in words.
pub fn show(told: &RunReport<'_>, format: Format, look: &TextStyle) -> anyhow::Result<Vec<u8>> {
    let is_race = told.findings.race.is_some();
    Ok(match format {
        Format::Terminal if is_race => report::race::report(told.findings, look).into_bytes(),
        Format::Terminal => report::terminal::report(told.findings, look).into_bytes(),
        Format::Markdown if is_race => report::race::markdown(told.findings).into_bytes(),
        Format::Markdown => report::markdown::report(told.findings).into_bytes(),
        Format::Html => report::html::page(told).into_bytes(),
        Format::Json => report::findings_json(told.findings).into_bytes(),
        Format::Csv => report::trials_csv::report(told).into_bytes(),
        Format::Tsv => report::trials_csv::tsv(told).into_bytes(),
        Format::Bencher => report::ci::bencher(told.findings).into_bytes(),
        Format::BiggerIsBetter => report::ci::bigger_is_better(told.findings).into_bytes(),
        Format::SmallerIsBetter => report::ci::smaller_is_better(told.findings).into_bytes(),
        Format::Junit => report::ci::junit(told).into_bytes(),
        Format::Svg | Format::Png => {
            return Err(format.refused("charts are files of their own: name a folder with --output DIR"));
        }
    })
}

/// An import in a format.
pub fn show_import(import: &Import, format: Format, look: &TextStyle) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Terminal => report::imported::terminal(import, look).into_bytes(),
        Format::Markdown => report::imported::markdown(import).into_bytes(),
        Format::Html => report::html::import_page(import).into_bytes(),
        Format::Json => report::imported::json(import).into_bytes(),
        Format::Csv => report::imported::csv(import).into_bytes(),
        Format::Tsv => report::imported::tsv(import).into_bytes(),
        Format::Bencher | Format::BiggerIsBetter | Format::SmallerIsBetter | Format::Junit => {
            let why = "an import was not measured here, so there is nothing to track or to report as a test";
            return Err(format.refused(why));
        }
        Format::Svg | Format::Png => {
            let why = "an import has no starts, so it has no charts; `drome import FILE --chart` draws bars";
            return Err(format.refused(why));
        }
    })
}

/// The results of a page's own command lines in a format.
pub fn show_replays(all: &Replays, format: Format, look: &TextStyle) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Terminal => report::replays::terminal(all, look).into_bytes(),
        Format::Markdown => report::replays::markdown(all).into_bytes(),
        Format::Json => format!("{}\n", serde_json::to_string_pretty(&all.replays)?).into_bytes(),
        other => {
            let why = "command lines are run once each, without starts: use terminal, markdown or json";
            return Err(other.refused(why));
        }
    })
}

/// The formats of the report of one measurement: those of the command that printed it.
pub fn formats_of_printed(printed: &Printed) -> &'static [Format] {
    match Printed::command_of(&printed.title) {
        Some("sweep") => &[Format::Terminal, Format::Markdown, Format::Json, Format::Csv],
        _ => &[Format::Terminal, Format::Json],
    }
}

/// The report of one measurement. Text for a terminal and JSON are kept as they were printed; what else a sweep has is made from its
/// JSON.
pub fn show_printed(printed: &Printed, format: Format) -> anyhow::Result<String> {
    let formats = formats_of_printed(printed);
    if !formats.contains(&format) {
        let mut names: Vec<String> = formats.iter().map(|format| format.name()).collect();
        let last = names.pop().unwrap_or_default();
        let (id, title, others) = (&printed.id, &printed.title, names.join(", "));
        let why = format!("{id} is one measurement (`drome {title}`): its formats are {others} and {last}");
        return Err(format.refused(&why));
    }
    Ok(match format {
        Format::Markdown => report::sweep::markdown(&sweep_of(printed)?),
        Format::Csv => report::sweep::csv(&sweep_of(printed)?),
        Format::Json => printed.json.clone(),
        _ => printed.terminal.clone(),
    })
}

/// The findings of a sweep that was kept.
fn sweep_of(printed: &Printed) -> anyhow::Result<Sweep> {
    serde_json::from_str(&printed.json).with_context(|| {
        format!("can't read the JSON of {}: another version of drome kept it; use --format json", printed.id)
    })
}
