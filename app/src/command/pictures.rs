//! Writes charts as SVG or PNG: one to standard output or to a file, or each to its own file in a folder.

use super::format;
use super::output::Output;
use crate::console;
use crate::failure::WrongInput;
use crate::png::Painter;
use anyhow::Context;
use clap::ValueEnum;
use report::chart::Chart;
use std::fs;
use std::io::{self, IsTerminal};
use std::path::{Component, Path, PathBuf};

/// The format of a chart's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureKind {
    /// SVG, which follows the reader's choice of light or dark.
    Svg,
    /// PNG.
    Png,
}

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
                To::Folder(Folder::to("--output", path)?)
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

    /// Writes the charts that were asked for. `what` names what they show, for messages.
    pub fn write(&self, what: &str, mut charts: Vec<Chart>) -> anyhow::Result<()> {
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
                refuse!(
                    "{what} has {count} charts: choose one with --only-chart ({names}), or give a folder for all with --output"
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

/// A folder that exists and is writable.
#[derive(Debug)]
pub struct Folder {
    option: &'static str,
    path: PathBuf,
}

impl Folder {
    /// Creates the folder if it is missing. `option`: the option that names it.
    pub fn to(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        let refused = |e: io::Error| {
            let path = path.display();
            WrongInput(format!("{option} {path} can't be written to: {e}; name a writable folder"))
        };
        fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path)).map_err(refused)?;
        // A picture of an earlier time is replaced.
        for before in fs::read_dir(path).map_err(refused)?.flatten() {
            if format::of::<PictureKind>(&before.path()).is_some() {
                Output::to(option, &before.path())?;
            }
        }
        Ok(Self { option, path: path.to_owned() })
    }

    /// Writes a file in the folder.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, bytes).with_context(|| {
            format!("can't write {} {}: check the free space", self.option, path.display())
        })?;
        Ok(path)
    }

    /// The path of this folder for links in a file of the folder `other`, or in a text on standard output.
    pub fn from(&self, other: Option<&Path>) -> String {
        let Some(other) = other else { return self.path.display().to_string() };
        let other = if other.as_os_str().is_empty() { Path::new(".") } else { other };
        let whole = fs::canonicalize(&self.path).ok().zip(fs::canonicalize(other).ok());
        // A link that can't be relative has the whole path.
        let Some((to, from)) = whole else { return self.path.display().to_string() };
        let (mut to, mut from) = (to.components().peekable(), from.components().peekable());
        while to.peek().is_some() && to.peek() == from.peek() {
            to.next();
            from.next();
        }
        let way: PathBuf = from.map(|_| Component::ParentDir).chain(to).collect();
        if way.as_os_str().is_empty() { ".".to_owned() } else { way.display().to_string() }
    }
}
