//! `drome report`: shows the findings of a stored run. Also how every command shows findings.

use super::format::{self, Destination, FormatArgs};
use super::pictures::{Folder, Kind, Pictures};
use super::{as_published, store};
use crate::cli::Common;
use crate::failure::WrongInput;
use clap::{Args, ValueEnum};
use lab::Stored;
use model::page::Replays;
use model::{Import, Observation, Run};
use report::{RunReport, TextStyle};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run to show [default: the latest run]
    run: Option<String>,
    #[command(flatten)]
    tell: TellArgs,
}

/// How and where findings are shown. Raw arguments.
#[derive(Clone, Debug, Args)]
pub struct TellArgs {
    #[command(flatten)]
    shown: FormatArgs<Format>,
    /// With --format svg or png: draw only this chart, such as ranked-1 [default: all, to the folder --output]
    #[arg(long, value_name = "NAME")]
    only_chart: Option<String>,
    /// With --format markdown: write the charts to this folder as SVG, and show them in the text
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// An output format. A new one takes a line here, one in `format.rs` and one in `show`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    #[default]
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
    /// The format of the file name's extension.
    pub fn of(path: &Path) -> Option<Self> {
        format::of(path)
    }

    /// All extensions, as part of a sentence.
    pub fn endings() -> String {
        format::extensions::<Self>()
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
    /// Where text goes.
    pub to: Destination<Format>,
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
        if let Some(folder) = &self.shown.output {
            let refused = |why: &str| {
                let folder = folder.display();
                WrongInput(format!("--output {folder}: with --all it must be a folder, {why}"))
            };
            if Format::of(folder).is_some() {
                return Err(refused("for a file of every study; set the format with --format"));
            }
            fs::create_dir_all(folder).map_err(|e| refused(&format!("and can't be one: {e}")))?;
            let format = self.shown.format.unwrap_or_default();
            let is_text = format.kind().is_none();
            let extension = format::extension(&format);
            let name = if is_text { format!("{study}.{extension}") } else { study.to_owned() };
            own.shown = FormatArgs { format: Some(format), output: Some(folder.join(name)) };
        }
        own.charts = self.charts.as_ref().map(|folder| folder.join(study));
        Ok(own)
    }

    /// Checks the options before anything is measured.
    pub fn teller(&self) -> anyhow::Result<Teller> {
        let format = self.shown.format()?;
        let wrong = |words: &str| Err(WrongInput(words.to_owned()).into());
        if self.only_chart.is_some() && format.kind().is_none() {
            return wrong("--only-chart needs --format svg or --format png");
        }
        if self.charts.is_some() && format != Format::Markdown {
            return wrong(
                "--charts is for --format markdown; --format svg --output DIR writes the charts alone",
            );
        }
        let path = self.shown.output.as_deref();
        let pictures =
            format.kind().map(|kind| Pictures::to(kind, self.only_chart.as_deref(), path)).transpose()?;
        let to = Destination::new(format, path.filter(|_| pictures.is_none()))?;
        let folder = self.charts.as_deref().map(|path| Folder::to("--charts", path)).transpose()?;
        let charts = folder.map(|folder| Charts { link: folder.from(path.and_then(Path::parent)), folder });
        Ok(Teller { to, pictures, charts })
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
        let mut bytes = show(&told, self.to.format, &self.to.look())?;
        if let Some(Charts { folder, link }) = &self.charts {
            let charts = report::chart::of(&told);
            for chart in &charts {
                folder.write(&format!("{}.svg", chart.name), chart.svg.as_bytes())?;
            }
            bytes.extend(report::chart::markdown(&charts, link).into_bytes());
        }
        self.to.write(&bytes)
    }

    /// Shows an import.
    pub fn tell_import(&self, import: &Import) -> anyhow::Result<()> {
        self.to.write(&show_import(import, self.to.format, &self.to.look())?)
    }

    /// Shows a page's own command lines.
    pub fn tell_replays(&self, replays: &Replays) -> anyhow::Result<()> {
        self.to.write(as_published::show(replays, self.to.format, &self.to.look())?.as_bytes())
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
        Stored::Replays(replays) => teller.tell_replays(&replays)?,
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
            let shown = FormatArgs { format, output: Some(output) };
            let all = TellArgs { shown, only_chart: None, charts: Some(charts) };
            let own = all.of_one(name).unwrap();
            let below = |path: Option<PathBuf>| {
                path.unwrap().strip_prefix(folder.path()).unwrap().display().to_string()
            };
            [below(own.shown.output), below(own.charts)]
        };
        assert_eq!(at(Some(Format::Svg), "monkey"), ["all/monkey", "charts/monkey"]);
        assert_eq!(at(Some(Format::Html), "today"), ["all/today.html", "charts/today"]);
        assert_eq!(at(None, "today"), ["all/today.txt", "charts/today"]);
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let shown = FormatArgs { format: None, output: Some(file) };
        let all = TellArgs { shown, only_chart: None, charts: None };
        assert!(all.of_one("today").unwrap_err().to_string().contains("must be a folder"));
    }
}
