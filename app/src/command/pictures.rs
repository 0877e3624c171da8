//! Writes charts as SVG or PNG: one to standard output or to a file, or each to its own file in a folder.

use super::folder::Folder;
use super::format;
use super::output::Output;
use crate::console;
use crate::failure::WrongInput;
use crate::png::Painter;
use crate::stored::formats::PictureKind;
use report::chart::Chart;
use std::io::IsTerminal;
use std::path::Path;

/// The extensions of charts.
pub const PICTURES: &[&str] = &["svg", "png"];

/// Where the charts are written to.
#[derive(Debug)]
enum To {
    Stdout,
    File(Output),
    Folder(Folder),
}

/// Which charts are written, where and in which format; checked to be possible.
pub struct Pictures {
    kind: PictureKind,
    painter: Option<Painter>,
    wanted: Option<String>,
    to: To,
}

impl Pictures {
    /// Checks the options before anything is measured. `output`: a file, or a folder if it is one or has no
    /// extension.
    pub fn to(kind: PictureKind, wanted: Option<&str>, output: Option<&Path>) -> Result<Self, WrongInput> {
        let to = match output {
            None if kind == PictureKind::Png && std::io::stdout().is_terminal() => {
                refuse!("a terminal can't show PNG: name a file or a folder with --output");
            }
            None => To::Stdout,
            Some(path) if path.is_dir() || path.extension().is_none() => {
                To::Folder(Folder::to("--output", path, PICTURES)?)
            }
            Some(path) => To::File(Output::to("--output", path)?),
        };
        let painter = (kind == PictureKind::Png).then(Painter::new).transpose()?;
        Ok(Self { kind, painter, wanted: wanted.map(str::to_owned), to })
    }

    /// One chart to a file; its name sets the format.
    pub fn to_file(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        let (kind, output) = format::export(option, path)?;
        let painter = (kind == PictureKind::Png).then(Painter::new).transpose()?;
        Ok(Self { kind, painter, wanted: None, to: To::File(output) })
    }

    /// Writes the charts that were asked for. `what` names what they show, for messages; `choice`: the option by which one is chosen, if
    /// that is not --only-chart.
    pub fn write(&self, what: &str, mut charts: Vec<Chart>, choice: Option<&str>) -> anyhow::Result<()> {
        if charts.is_empty() {
            refuse!("{what} has nothing to draw: none of its starts has a figure");
        }
        let names = charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(wanted) = &self.wanted {
            charts.retain(|chart| chart.name == *wanted);
            if charts.is_empty() {
                refuse!("--only-chart {wanted}: {what} has {names}");
            }
        }
        match (&self.to, charts.as_slice()) {
            (To::Folder(folder), _) => {
                for chart in &charts {
                    let path = folder.write(
                        &format!("{}.{}", chart.name, format::extension(&self.kind)),
                        &self.bytes(chart)?,
                    )?;
                    note!("{}", path.display());
                }
                Ok(())
            }
            (To::Stdout, [one]) => console::print_bytes(&self.bytes(one)?),
            (To::File(output), [one]) => output.write(&self.bytes(one)?),
            _ => {
                let count = charts.len();
                let choice = choice.map_or_else(|| format!("--only-chart ({names})"), str::to_owned);
                refuse!(
                    "{what} has {count} charts: choose one with {choice}, or give a folder for all with --output"
                )
            }
        }
    }

    fn bytes(&self, chart: &Chart) -> anyhow::Result<Vec<u8>> {
        match &self.painter {
            Some(painter) => painter.png(&chart.svg),
            None => Ok(chart.svg.clone().into_bytes()),
        }
    }
}
