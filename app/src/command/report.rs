//! `drome report`: the findings of a run that is in the store; and how findings are told, whichever command has them.

use super::output::Output;
use super::store;
use crate::cli::Common;
use crate::console;
use crate::failure::WrongInput;
use clap::{Args, ValueEnum};
use lab::Stored;
use model::{Import, Observation, Run};
use report::{Look, Told};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// The run [default: the latest]
    run: Option<String>,
    #[command(flatten)]
    tell: TellArgs,
}

/// How findings are told, and where. Raw arguments.
#[derive(Debug, Args)]
pub struct TellArgs {
    /// How the findings are shown [default: by the ending of --output, else terminal]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write the findings to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// How findings are shown. One more is one line here, one in `ending` and one in `show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Terminal,
    Markdown,
    /// One page that needs nothing else
    Html,
    Json,
    /// Every trial, one a row
    Csv,
}

impl Format {
    /// Of a file's name.
    fn ending(self) -> &'static str {
        match self {
            Self::Terminal => "txt",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Csv => "csv",
        }
    }

    /// By the ending of the file's name.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::value_variants().iter().copied().find(|format| format.ending() == ending)
    }

    /// All endings, as a sentence has them.
    pub fn endings() -> String {
        let all: Vec<String> = Self::value_variants().iter().map(|f| format!(".{}", f.ending())).collect();
        let (last, others) =
            all.split_last().map_or(("", &all[..]), |(last, others)| (last.as_str(), others));
        format!("{} or {last}", others.join(", "))
    }

    /// As it is written on the command line.
    fn word(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// A run in a format. A race is told in words.
pub fn show(told: &Told<'_>, format: Format, _look: &Look) -> anyhow::Result<Vec<u8>> {
    let is_race = told.findings.race.is_some();
    Ok(match format {
        Format::Terminal if is_race => report::race::report(told.findings).into_bytes(),
        Format::Terminal => report::terminal::report(told.findings).into_bytes(),
        Format::Markdown if is_race => report::race::markdown(told.findings).into_bytes(),
        Format::Markdown => report::markdown::report(told.findings).into_bytes(),
        Format::Html => report::html::page(told).into_bytes(),
        Format::Json => report::findings_json(told.findings).into_bytes(),
        Format::Csv => report::trials_csv::report(told.run, told.observations).into_bytes(),
    })
}

/// What was read from pages, in a format.
fn show_import(import: &Import, format: Format) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Terminal => report::imported::terminal(import).into_bytes(),
        Format::Markdown => report::imported::markdown(import).into_bytes(),
        Format::Json => report::imported::json(import).into_bytes(),
        other => return Err(unfit(other, "what was imported", "it has no trials")),
    })
}

/// A format that there is, but not for this.
pub fn unfit(format: Format, what: &str, why: &str) -> anyhow::Error {
    let words = format!(
        "--format {}: {what} can't be shown so: {why}; allowed are terminal, markdown and json",
        format.word()
    );
    WrongInput(words).into()
}

/// How findings are told, and where: both are known to be possible.
#[derive(Debug)]
pub struct Teller {
    /// How.
    pub format: Format,
    output: Option<Output>,
}

impl TellArgs {
    /// Asked before anything is measured.
    pub fn teller(&self) -> anyhow::Result<Teller> {
        let output = self.output.as_deref().map(|path| Output::to("--output", path)).transpose()?;
        let by_ending = || self.output.as_deref().and_then(Format::of);
        Ok(Teller { format: self.format.or_else(by_ending).unwrap_or(Format::Terminal), output })
    }
}

impl Teller {
    /// Tells of a run.
    pub fn tell(
        &self,
        run: &Run,
        observations: &[Observation],
        findings: &model::Findings,
    ) -> anyhow::Result<()> {
        self.write(&show(&Told { run, observations, findings }, self.format, &Look::default())?)
    }

    /// Tells what was read from pages.
    pub fn tell_import(&self, import: &Import) -> anyhow::Result<()> {
        self.write(&show_import(import, self.format)?)
    }

    /// To the file, or to standard output.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match &self.output {
            Some(output) => output.write(bytes),
            None => console::print_bytes(bytes),
        }
    }
}

/// Reads, analyses, prints.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let teller = args.tell.teller()?;
    match store(common)?.find(args.run.as_deref())? {
        Stored::Run(run, observations, ended) => {
            let findings = lab::analyse::findings(&run, &observations, ended.as_deref());
            teller.tell(&run, &observations, &findings)?;
        }
        Stored::Import(import) => teller.tell_import(&import)?,
    }
    Ok(ExitCode::SUCCESS)
}
