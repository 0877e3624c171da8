//! `drome import`: reads pages with reports of other tools, stores their figures beside your own runs, and shows them
//! as tables or as a bar chart in the style of the first page that drome reproduced.

use super::format;
use super::output::Output;
use super::report::{ReportOutputArgs, ReportWriter};
use super::store;
use crate::console;
use crate::failure::WrongInput;
use crate::options::Common;
use crate::stored::formats::Format;
use crate::stored::imported::{NamedText, nothing, of_pages, shown};
use clap::Args;
use dialects::page::{self, Page};
use model::Import;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, stdin};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The largest file that is read; a larger one would only fill the memory.
const LARGEST_BYTES: u64 = 256 << 20;

/// Standard output in place of a file's name.
const STDOUT: &str = "-";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Files with reports: Markdown, HTML or plain text; `-` is standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<String>,
    /// Read and show the reports, but store nothing
    #[arg(long)]
    dry_run: bool,
    /// Also draw a bar chart to this file; without a file, print the chart in place of the tables. In a file that ends in
    /// .md, or printed with --format markdown, it is indented as a block of code
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = STDOUT)]
    chart: Option<PathBuf>,
    #[command(flatten)]
    report_output: ReportOutputArgs,
}

/// Reads the files, stores the import, and shows it.
pub fn run(args: &ImportArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let writer = args.report_output.writer()?;
    let bars = args.chart.as_deref().map(|path| Bars::to(path, &writer)).transpose()?;
    let import = read(&args.files)?;
    if import.items.is_empty() {
        return Err(nothing(&args.files, "nothing was stored").into());
    }
    let bars = bars.map(|bars| Ok::<_, WrongInput>((bars, drawn(&import)?))).transpose()?;
    if args.dry_run {
        note!("dry run: nothing was stored");
    } else {
        store(common)?.add_import(&import)?;
        note!("stored as run {0}: `drome report {0}` shows it again", import.id);
    }
    if let Some((bars, chart)) = &bars {
        bars.write(chart, &writer)?;
    }
    if bars.is_none_or(|(bars, _)| bars.file.is_some()) {
        writer.write_import(&import)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Where the bar chart goes, and whether it is indented as a block of code; checked to be possible.
struct Bars {
    file: Option<Output>,
    is_code: bool,
}

impl Bars {
    fn to(path: &Path, writer: &ReportWriter) -> anyhow::Result<Self> {
        let file = Some(path).filter(|path| *path != Path::new(STDOUT));
        let format = file.map_or(writer.to.format, |path| format::of(path).unwrap_or(Format::Terminal));
        let is_code = match format {
            Format::Terminal => false,
            Format::Markdown => true,
            other => return Err(other.refused("--chart draws its bars as text: use terminal or markdown")),
        };
        let file = file.map(|path| Output::to("--chart", path)).transpose()?;
        Ok(Self { file, is_code })
    }

    /// Writes the chart to its file, or to where the tables would go.
    fn write(&self, chart: &str, writer: &ReportWriter) -> anyhow::Result<()> {
        let chart = if self.is_code { indented(chart) } else { chart.to_owned() };
        match &self.file {
            Some(file) => file.write(console::file_style().words(&chart).as_bytes()),
            None => writer.to.write(writer.to.look().words(&chart).as_bytes()),
        }
    }
}

/// The bars of an import.
fn drawn(import: &Import) -> Result<String, WrongInput> {
    let nothing = || {
        let names: Vec<&str> = import.sources.iter().map(|source| source.name.as_str()).collect();
        let names = names.join(", ");
        WrongInput(format!("there is nothing to draw in {names}: no report has a rate; leave out --chart"))
    };
    report::imported::chart(import).ok_or_else(nothing)
}

/// The chart with every line indented by at least four spaces.
fn indented(chart: &str) -> String {
    let lines = || chart.lines().filter(|line| !line.is_empty());
    let blanks = |line: &str| line.len() - line.trim_start_matches(' ').len();
    let missing = 4_usize.saturating_sub(lines().map(blanks).min().unwrap_or(0));
    chart.lines().map(|line| format!("{:missing$}{line}", "").trim_end().to_owned() + "\n").collect()
}

/// Reads all files, or fails; prints for each what was read and what was not understood.
fn read(files: &[String]) -> anyhow::Result<Import> {
    let named = |name: &String| Ok(NamedText { name: shown(name).to_owned(), text: text(name)? });
    let texts = files.iter().map(named).collect::<Result<Vec<_>, WrongInput>>()?;
    Ok(of_pages(texts, tell))
}

/// The text of a file, in UTF-8 or UTF-16. Other bytes are read as Latin-1, with a message.
fn text(name: &str) -> Result<String, WrongInput> {
    let wrong = |why: String| WrongInput(format!("{}: {why}", shown(name)));
    let failed =
        |error: std::io::Error| wrong(format!("can't be read ({error}): give a text file with reports"));
    let mut bytes = Vec::new();
    if name == "-" {
        stdin().take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    } else {
        let file = File::open(name).map_err(failed)?;
        if file.metadata().map_err(failed)?.is_dir() {
            return Err(wrong("is a folder: give the files in it".to_owned()));
        }
        file.take(LARGEST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    }
    if bytes.len() as u64 > LARGEST_BYTES {
        return Err(wrong(format!(
            "is larger than {} MiB: keep only the reports in it",
            LARGEST_BYTES >> 20
        )));
    }
    let (text, is_odd) = page::decode(bytes).ok_or_else(|| {
        wrong("is not text (it contains zero bytes): save it as UTF-8 text first".to_owned())
    })?;
    if is_odd {
        note!("{}: not all of it is UTF-8: other bytes are read as Latin-1", shown(name));
    }
    Ok(text)
}

/// Prints what was read from a page, what is to be known of it, and what was not understood.
fn tell(name: &str, page: &Page) {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for item in &page.items {
        *counts.entry(item.reading.tool.as_str()).or_default() += 1;
    }
    let words = counts.iter().map(|(tool, n)| {
        let (one, many) =
            if *tool == "table" { ("row of a table", "rows of tables") } else { ("report", "reports") };
        let of = if *tool == "table" { String::new() } else { format!(" of {tool}") };
        format!("{n} {}{of}", if *n == 1 { one } else { many })
    });
    let words: Vec<String> = words.collect();
    note!(
        "{}: {}",
        shown(name),
        if words.is_empty() { "no report or table found".to_owned() } else { words.join(", ") }
    );
    for item in &page.items {
        let whose = item.reading.title.as_deref().unwrap_or(&item.reading.tool);
        item.notes.iter().for_each(|line| note!("{}: {whose}: {line}", shown(name)));
        item.strange.iter().for_each(|line| note!("{}: {whose}: not understood: {line}", shown(name)));
    }
    page.strange.iter().for_each(|line| note!("{}: not understood: {line}", shown(name)));
}
