//! `drome report`: shows the findings of a stored run, or the verdict in a file. Also how every command shows findings.

mod formats;

pub use formats::{Format, formats_of_printed, show, show_printed};

use super::format::{self, Destination, FormatArgs};
use super::pictures::{Folder, Pictures};
use super::{is_file_name, profile_dir, store, verdict_file};
use crate::failure::WrongInput;
use crate::options::Common;
use clap::Args;
use formats::{show_import, show_replays};
use model::page::Replays;
use model::{GateVerdict, Import, Observation, Run};
use report::RunReport;
use report::gate_verdict::{self, Marker};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use store::Stored;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ReportArgs {
    /// Run to show; or a file that `drome race --verdict FILE` or `drome compare --verdict FILE` wrote, here or anywhere: its verdict as a
    /// comment on a pull request, in Markdown [default: the latest run]
    run: Option<String>,
    /// With a verdict's file: name in the hidden first line, by which a program finds its comment again: letters, digits and hyphens
    /// [default: race]
    #[arg(long, value_name = "NAME", requires = "run", value_parser = str::parse::<Marker>)]
    marker: Option<Marker>,
    #[command(flatten)]
    report_output: ReportOutputArgs,
}

/// How and where findings are shown. Raw arguments.
#[derive(Clone, Debug, Args)]
pub struct ReportOutputArgs {
    #[command(flatten)]
    shown: FormatArgs<Format>,
    /// With --format svg or png: draw only this chart, such as ranked-1 [default: all, to the folder --output]
    #[arg(long, value_name = "NAME")]
    only_chart: Option<String>,
    /// With --format markdown: write the charts to this folder as SVG, and show them in the text
    #[arg(long, value_name = "DIR")]
    charts: Option<PathBuf>,
}

/// How and where findings are shown; checked to be possible.
pub struct ReportWriter {
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

impl ReportOutputArgs {
    /// Whether anything goes to a file or a folder.
    pub fn has_output(&self) -> bool {
        self.shown.output.is_some() || self.charts.is_some()
    }

    /// The arguments for one of several studies. `--output` is then a folder in which each study gets its own file, or its own
    /// folder of charts.
    pub fn of_one(&self, study: &str) -> Result<Self, WrongInput> {
        let mut own = self.clone();
        if let Some(folder) = &self.shown.output {
            let refused = |why: &str| {
                let folder = folder.display();
                WrongInput(format!("--output {folder}: with --all this must be a folder, {why}"))
            };
            if format::of::<Format>(folder).is_some() {
                return Err(refused("in which each study gets a file; choose the format with --format"));
            }
            fs::create_dir_all(folder).map_err(|e| refused(&format!("and it could not be created: {e}")))?;
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
    pub fn writer(&self) -> anyhow::Result<ReportWriter> {
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
        Ok(ReportWriter { to, pictures, charts })
    }
}

impl ReportWriter {
    /// Shows a run.
    pub fn write(
        &self,
        run: &Run,
        observations: &[Observation],
        findings: &model::Findings,
    ) -> anyhow::Result<()> {
        let told = RunReport { run, observations, findings };
        if let Some(pictures) = &self.pictures {
            return pictures.write(&format!("run {}", run.id), report::chart::of(&told));
        }
        let mut text = show(&told, self.to.format, &self.to.look())?;
        if let Some(Charts { folder, link }) = &self.charts {
            let charts = report::chart::of(&told);
            for chart in &charts {
                folder.write(&format!("{}.svg", chart.name), chart.svg.as_bytes())?;
            }
            text += &report::chart::markdown(&charts, link);
        }
        self.to.write(text.as_bytes())
    }

    /// Fails unless the result is to be shown in one of these formats, and without charts.
    pub fn ensure(&self, formats: &[Format], why: &str) -> anyhow::Result<()> {
        let is_plain = self.charts.is_none() && formats.contains(&self.to.format);
        if is_plain { Ok(()) } else { Err(self.to.format.refused(why)) }
    }

    /// Shows a verdict as a comment on a pull request.
    fn write_verdict(&self, verdict: &GateVerdict, marker: &Marker) -> anyhow::Result<()> {
        let why = "a verdict is shown in Markdown, without charts";
        self.ensure(&[Format::Terminal, Format::Markdown], why)?;
        self.to.write(gate_verdict::comment(verdict, marker).as_bytes())
    }

    /// Shows an import.
    pub fn write_import(&self, import: &Import) -> anyhow::Result<()> {
        self.to.write(show_import(import, self.to.format, &self.to.look())?.as_bytes())
    }

    /// Shows the results of a page's own command lines.
    pub fn write_replays(&self, all: &Replays) -> anyhow::Result<()> {
        self.to.write(self.replays(all)?.as_bytes())
    }

    /// These results in the format; fails if it is not supported for them.
    pub fn replays(&self, all: &Replays) -> anyhow::Result<String> {
        show_replays(all, self.to.format, &self.to.look())
    }
}

/// Reads the run, analyses it, and shows its findings.
pub fn run(args: &ReportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let writer = args.report_output.writer()?;
    if let Some(file) = args.run.as_ref().filter(|name| is_file_name(name)) {
        writer
            .write_verdict(&verdict_file::read(Path::new(file))?, &args.marker.clone().unwrap_or_default())?;
        return Ok(ExitCode::SUCCESS);
    }
    if args.marker.is_some() {
        refuse!("--marker is for the comment of a verdict: name its file, such as verdict.json");
    }
    let store = store(common)?;
    match store.find(args.run.as_deref())? {
        Stored::Run(run, ended) => {
            let mut findings = lab::findings::of(&store, &run, ended.as_deref())?;
            findings.profiles = profile_dir::differences(&store, &run.id)?;
            let observations = lab::findings::all(&store, &run.id)?;
            writer.write(&run, &observations, &findings)?;
        }
        Stored::Import(import) => writer.write_import(&import)?,
        Stored::Replays(replays) => writer.write_replays(&replays)?,
        Stored::Printed(printed) => writer.to.write(show_printed(&printed, writer.to.format)?.as_bytes())?,
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
            let all = ReportOutputArgs { shown, only_chart: None, charts: Some(charts) };
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
        let all = ReportOutputArgs { shown, only_chart: None, charts: None };
        assert!(all.of_one("today").unwrap_err().to_string().contains("must be a folder"));
    }
}
