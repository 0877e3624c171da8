//! `drome report`: shows the findings of a stored run. Also how every command shows findings.

use super::output::Output;
use super::pictures::{Folder, Kind, Pictures};
use super::{as_published, store};
use crate::cli::Common;
use crate::console;
use crate::failure::WrongInput;
use clap::{Args, ValueEnum};
use lab::Stored;
use model::{Import, Observation, Run};
use report::{RunReport, TextStyle};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run to show [default: the latest]
    run: Option<String>,
    #[command(flatten)]
    tell: TellArgs,
}

/// How and where findings are shown. Raw arguments.
#[derive(Clone, Debug, Args)]
pub struct TellArgs {
    /// Output format [default: by the extension of --output, else terminal]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to this file instead of standard output; charts to this file or folder
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// With --format svg or png: draw only this chart, such as ranked-1
    #[arg(long, value_name = "NAME")]
    only_chart: Option<String>,
    /// With --format markdown: write the charts to this folder as SVG, and show them in the text
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// An output format. A new one takes a line here, one in `ending` and one in `show`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    Terminal,
    Markdown,
    /// A self-contained page
    Html,
    Json,
    /// One row for every trial
    Csv,
    /// Charts as SVG
    Svg,
    /// Charts as PNG
    Png,
}

impl Format {
    /// The extension of a file's name.
    fn ending(self) -> &'static str {
        match self {
            Self::Terminal => "txt",
            Self::Markdown => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Csv => "csv",
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }

    /// The format of the file name's extension.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        Self::value_variants().iter().copied().find(|format| format.ending() == ending)
    }

    /// All extensions, as part of a sentence.
    pub fn endings() -> String {
        let all: Vec<String> = Self::value_variants().iter().map(|f| format!(".{}", f.ending())).collect();
        let (last, others) =
            all.split_last().map_or(("", &all[..]), |(last, others)| (last.as_str(), others));
        format!("{} or {last}", others.join(", "))
    }

    /// The kind of chart, if it is one.
    pub fn kind(self) -> Option<Kind> {
        match self {
            Self::Svg => Some(Kind::Svg),
            Self::Png => Some(Kind::Png),
            _ => None,
        }
    }

    /// The error that this format is not supported here.
    pub fn refused(self, why: &str) -> anyhow::Error {
        let word = self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        WrongInput(format!("--format {word}: {why}")).into()
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
        Format::Svg | Format::Png => {
            return Err(format.refused("charts are files of their own: name a folder with --output DIR"));
        }
    })
}

/// An import in a format.
fn show_import(import: &Import, format: Format, look: &TextStyle) -> anyhow::Result<Vec<u8>> {
    Ok(match format {
        Format::Terminal => report::imported::terminal(import, look).into_bytes(),
        Format::Markdown => report::imported::markdown(import).into_bytes(),
        Format::Html => report::html::import_page(import).into_bytes(),
        Format::Json => report::imported::json(import).into_bytes(),
        Format::Csv => report::imported::csv(import).into_bytes(),
        Format::Svg | Format::Png => {
            let why = "an import has no trials, so no charts; `drome import FILE --chart` draws bars";
            return Err(format.refused(why));
        }
    })
}

/// How and where findings are shown; checked to be possible.
pub struct Teller {
    /// The format.
    pub format: Format,
    output: Option<Output>,
    pictures: Option<Pictures>,
    charts: Option<Charts>,
}

/// Charts beside a text.
struct Charts {
    folder: Folder,
    /// The folder's path in the text.
    link: String,
}

impl TellArgs {
    /// The arguments for one study of many: `--output` is a folder with a file, or a folder of charts, for each.
    pub fn of_one(&self, study: &str) -> Result<Self, WrongInput> {
        let mut own = self.clone();
        if let Some(folder) = &self.output {
            let refused = |why: &str| {
                let folder = folder.display();
                WrongInput(format!("--output {folder}: with --all it must be a folder, {why}"))
            };
            if Format::of(folder).is_some() {
                return Err(refused("for a file of every study; set the format with --format"));
            }
            fs::create_dir_all(folder).map_err(|e| refused(&format!("and can't be one: {e}")))?;
            let format = self.format.unwrap_or(Format::Terminal);
            let is_text = format.kind().is_none();
            let name = if is_text { format!("{study}.{}", format.ending()) } else { study.to_owned() };
            (own.format, own.output) = (Some(format), Some(folder.join(name)));
        }
        own.charts = self.charts.as_ref().map(|folder| folder.join(study));
        Ok(own)
    }

    /// Checks the options before anything is measured.
    pub fn teller(&self) -> anyhow::Result<Teller> {
        let by_ending = || self.output.as_deref().and_then(Format::of);
        let format = self.format.or_else(by_ending).unwrap_or(Format::Terminal);
        let wrong = |words: &str| Err(WrongInput(words.to_owned()).into());
        if self.only_chart.is_some() && format.kind().is_none() {
            return wrong("--only-chart needs --format svg or --format png");
        }
        if self.charts.is_some() && format != Format::Markdown {
            return wrong(
                "--charts is for --format markdown; --format svg --output DIR writes the charts alone",
            );
        }
        let path = self.output.as_deref();
        let pictures =
            format.kind().map(|kind| Pictures::to(kind, self.only_chart.as_deref(), path)).transpose()?;
        let file = path.filter(|_| pictures.is_none());
        let output = file.map(|path| Output::to("--output", path)).transpose()?;
        let folder = self.charts.as_deref().map(|path| Folder::to("--charts", path)).transpose()?;
        let charts = folder.map(|folder| Charts { link: folder.from(path.and_then(Path::parent)), folder });
        Ok(Teller { format, output, pictures, charts })
    }
}

impl Teller {
    /// Shows a run.
    pub fn tell(
        &self,
        run: &Run,
        observations: &[Observation],
        findings: &model::Findings,
    ) -> anyhow::Result<()> {
        let told = RunReport { run, observations, findings };
        if let Some(pictures) = &self.pictures {
            return pictures.write(&format!("run {}", run.id), report::chart::of(&told));
        }
        let mut bytes = show(&told, self.format, &self.look())?;
        if let Some(Charts { folder, link }) = &self.charts {
            let charts = report::chart::of(&told);
            for chart in &charts {
                folder.write(&format!("{}.svg", chart.name), chart.svg.as_bytes())?;
            }
            bytes.extend(report::chart::markdown(&charts, link).into_bytes());
        }
        self.write(&bytes)
    }

    /// Shows an import.
    pub fn tell_import(&self, import: &Import) -> anyhow::Result<()> {
        self.write(&show_import(import, self.format, &self.look())?)
    }

    /// What the output can show; a file is no terminal.
    pub fn look(&self) -> TextStyle {
        match &self.output {
            Some(_) => console::file_style(),
            None => console::text_style(),
        }
    }

    /// Writes to the file, or to standard output.
    pub fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
        match &self.output {
            Some(output) => output.write(bytes),
            None => console::print_bytes(bytes),
        }
    }
}

/// Reads the run, analyses it, and shows its findings.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let teller = args.tell.teller()?;
    let store = store(common)?;
    match store.find(args.run.as_deref())? {
        Stored::Run(run, observations, ended) => {
            let findings = lab::findings::of(&store, &run, &observations, ended.as_deref())?;
            let observations = lab::findings::all(&store, &run, observations)?;
            teller.tell(&run, &observations, &findings)?;
        }
        Stored::Import(import) => teller.tell_import(&import)?,
        Stored::Replays(replays) => {
            teller.write(as_published::show(&replays, teller.format, &teller.look())?.as_bytes())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_study_of_many_has_files_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let at = |format, name: &str| {
            let (output, charts) = (folder.path().join("all"), folder.path().join("charts"));
            let all = TellArgs { format, output: Some(output), only_chart: None, charts: Some(charts) };
            let own = all.of_one(name).unwrap();
            let below = |path: Option<PathBuf>| {
                path.unwrap().strip_prefix(folder.path()).unwrap().display().to_string()
            };
            [below(own.output), below(own.charts)]
        };
        assert_eq!(at(Some(Format::Svg), "monkey"), ["all/monkey", "charts/monkey"]);
        assert_eq!(at(Some(Format::Html), "today"), ["all/today.html", "charts/today"]);
        assert_eq!(at(None, "today"), ["all/today.txt", "charts/today"]);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let all = TellArgs { format: None, output: Some(file), only_chart: None, charts: None };
        assert!(all.of_one("today").unwrap_err().to_string().contains("must be a folder"));
    }
}
