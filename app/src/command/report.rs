//! `drome report`: shows the findings of a stored run. Also how every command shows findings.

mod format;

pub use format::{Format, show};

use super::output::Output;
use super::pictures::{Folder, Pictures};
use super::store;
use crate::console;
use crate::failure::WrongInput;
use crate::options::Common;
use clap::Args;
use format::{show_import, show_printed, show_replays};
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
    chart: Option<String>,
    /// With --format markdown: write the charts to this folder as SVG, and show them in the text
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// How and where findings are shown; checked to be possible.
pub struct Teller {
    format: Format,
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
        if self.chart.is_some() && format.kind().is_none() {
            return wrong("--chart needs --format svg or --format png");
        }
        if self.charts.is_some() && format != Format::Markdown {
            return wrong(
                "--charts is for --format markdown; --format svg --output DIR writes the charts alone",
            );
        }
        let path = self.output.as_deref();
        let pictures =
            format.kind().map(|kind| Pictures::to(kind, self.chart.as_deref(), path)).transpose()?;
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

    /// Shows the results of a page's own command lines.
    pub fn tell_replays(&self, all: &Replays) -> anyhow::Result<()> {
        self.write(&self.replays(all)?)
    }

    /// These results in the format; fails if it is not supported for them.
    pub fn replays(&self, all: &Replays) -> anyhow::Result<Vec<u8>> {
        show_replays(all, self.format, &self.look())
    }

    /// What the output can show; a file is no terminal.
    fn look(&self) -> TextStyle {
        match &self.output {
            Some(_) => TextStyle { is_ascii: console::is_ascii_wanted(), ..TextStyle::default() },
            None => console::text_style(),
        }
    }

    /// Writes to the file, or to standard output.
    fn write(&self, bytes: &[u8]) -> anyhow::Result<()> {
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
        Stored::Replays(replays) => teller.tell_replays(&replays)?,
        Stored::Printed(printed) => teller.write(show_printed(&printed, teller.format)?.as_bytes())?,
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
            let all = TellArgs { format, output: Some(output), chart: None, charts: Some(charts) };
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
        let all = TellArgs { format: None, output: Some(file), chart: None, charts: None };
        assert!(all.of_one("today").unwrap_err().to_string().contains("must be a folder"));
    }
}
