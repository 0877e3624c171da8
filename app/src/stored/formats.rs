//! Output formats, and what is stored in each of them.

use crate::failure::WrongInput;
use anyhow::Context;
use clap::ValueEnum;
use model::page::Replays;
use model::{Import, Sweep};
use report::{RunReport, TextStyle};
use store::Printed;

/// The format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureKind {
    /// SVG, which follows the reader's choice of light or dark.
    Svg,
    /// PNG.
    Png,
}

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
    pub fn kind(self) -> Option<PictureKind> {
        match self {
            Self::Svg => Some(PictureKind::Svg),
            Self::Png => Some(PictureKind::Png),
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
pub fn show(told: &RunReport<'_>, format: Format, look: &TextStyle) -> anyhow::Result<String> {
    let f = told.findings;
    Ok(match format {
        Format::Terminal => report::run::document(f).terminal(look),
        Format::Markdown => report::run::document(f).markdown(),
        Format::Html => report::html::page(told),
        Format::Json => report::json(f),
        Format::Csv => report::trials::records(told).csv(),
        Format::Tsv => report::trials::records(told).tsv(),
        Format::Bencher => report::ci::bencher(f),
        Format::BiggerIsBetter => report::ci::bigger_is_better(f),
        Format::SmallerIsBetter => report::ci::smaller_is_better(f),
        Format::Junit => report::ci::junit(told),
        Format::Svg | Format::Png => {
            return Err(format.refused("charts are files of their own: name a folder with --output DIR"));
        }
    })
}

/// An import in a format.
pub fn show_import(import: &Import, format: Format, look: &TextStyle) -> anyhow::Result<String> {
    Ok(match format {
        Format::Terminal => report::imported::document(import).terminal(look),
        Format::Markdown => report::imported::document(import).markdown(),
        Format::Html => report::html::import_page(import),
        Format::Json => report::imported::json(import),
        Format::Csv => report::imported::records(import).csv(),
        Format::Tsv => report::imported::records(import).tsv(),
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
pub fn show_replays(all: &Replays, format: Format, look: &TextStyle) -> anyhow::Result<String> {
    Ok(match format {
        Format::Terminal => report::replays::document(all).terminal(look),
        Format::Markdown => report::replays::document(all).markdown(),
        Format::Json => report::json(&all.replays),
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
        let names: Vec<String> = formats.iter().map(|format| format.name()).collect();
        let (id, title, names) = (&printed.id, &printed.title, report::units::joined(&names, "and"));
        let why = format!("{id} is one measurement (`drome {title}`): its formats are {names}");
        return Err(format.refused(&why));
    }
    Ok(match format {
        Format::Markdown => report::sweep::document(&sweep_of(printed)?).markdown(),
        Format::Csv => report::sweep::records(&sweep_of(printed)?).csv(),
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
