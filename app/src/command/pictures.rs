//! Charts as files: SVG or PNG; one to standard output or to a file, or each to a file of its own in a folder.

use super::output::Output;
use crate::console;
use crate::failure::WrongInput;
use crate::png::Painter;
use anyhow::Context;
use report::chart::Chart;
use std::fs;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};

/// How a chart is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// As text that follows the reader's choice of light or dark.
    Svg,
    /// As pixels.
    Png,
}

impl Kind {
    fn ending(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }

    /// By the ending of a file's name.
    pub fn of(path: &Path) -> Option<Self> {
        [Self::Svg, Self::Png].into_iter().find(|kind| path.extension().is_some_and(|e| e == kind.ending()))
    }
}

/// Where they go.
#[derive(Debug)]
enum To {
    Stdout,
    File(Output),
    Folder(Folder),
}

/// Where which charts go, and how; known to be possible.
pub struct Pictures {
    kind: Kind,
    painter: Option<Painter>,
    wanted: Option<String>,
    to: To,
}

impl Pictures {
    /// Asked before anything is measured. `output`: a file, or a folder if it is one or its name ends like none.
    pub fn to(kind: Kind, wanted: Option<&str>, output: Option<&Path>) -> Result<Self, WrongInput> {
        let to = match output {
            None if kind == Kind::Png && std::io::stdout().is_terminal() => {
                let why = "a picture is nothing for a terminal: name a file or a folder with --output";
                return Err(WrongInput(why.to_owned()));
            }
            None => To::Stdout,
            Some(path) if path.is_dir() || path.extension().is_none() => {
                To::Folder(Folder::to("--output", path)?)
            }
            Some(path) => To::File(Output::to("--output", path)?),
        };
        let painter = (kind == Kind::Png).then(Painter::new).transpose()?;
        Ok(Self { kind, painter, wanted: wanted.map(str::to_owned), to })
    }

    /// One chart, by a file's name, whatever it is asked for by.
    pub fn to_file(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        let Some(kind) = Kind::of(path) else {
            let path = path.display();
            return Err(WrongInput(format!("{option} {path}: name a file that ends in .svg or .png")));
        };
        let painter = (kind == Kind::Png).then(Painter::new).transpose()?;
        Ok(Self { kind, painter, wanted: None, to: To::File(Output::to(option, path)?) })
    }

    /// Writes those that are wanted. `what`: whose charts they are, should there be none.
    pub fn write(&self, what: &str, mut charts: Vec<Chart>) -> anyhow::Result<()> {
        if charts.is_empty() {
            let words = format!("{what} has nothing to draw: no trial of it has a figure");
            return Err(WrongInput(words).into());
        }
        let names = charts.iter().map(|chart| chart.name.as_str()).collect::<Vec<_>>().join(", ");
        if let Some(wanted) = &self.wanted {
            charts.retain(|chart| chart.name == *wanted);
            if charts.is_empty() {
                return Err(WrongInput(format!("--chart {wanted}: {what} has {names}")).into());
            }
        }
        match (&self.to, charts.as_slice()) {
            (To::Folder(folder), _) => {
                for chart in &charts {
                    let path = folder
                        .write(&format!("{}.{}", chart.name, self.kind.ending()), &self.bytes(chart)?)?;
                    eprintln!("{}", path.display());
                }
                Ok(())
            }
            (To::Stdout, [one]) => console::print_bytes(&self.bytes(one)?),
            (To::File(output), [one]) => output.write(&self.bytes(one)?),
            _ => {
                let words = format!(
                    "{what} has {} charts: name one with --chart ({names}), or a folder for all with --output",
                    charts.len()
                );
                Err(WrongInput(words).into())
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

/// A folder that is there and can be written to.
#[derive(Debug)]
pub struct Folder {
    option: &'static str,
    path: PathBuf,
}

impl Folder {
    /// Made where it is missing. `option`: how it was named.
    pub fn to(option: &'static str, path: &Path) -> Result<Self, WrongInput> {
        let can_be = fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path));
        can_be.map_err(|e| {
            let path = path.display();
            WrongInput(format!(
                "{option} {path} can't be written to: {e}; name a folder that may be written to"
            ))
        })?;
        Ok(Self { option, path: path.to_owned() })
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
        let path = self.path.join(name);
        fs::write(&path, bytes).with_context(|| {
            format!("{} {} could not be written; is there room?", self.option, path.display())
        })?;
        Ok(path)
    }

    /// How a text in a file of the other folder names this one.
    pub fn from(&self, other: Option<&Path>) -> String {
        let inside = other.filter(|o| !o.as_os_str().is_empty()).and_then(|o| self.path.strip_prefix(o).ok());
        inside.unwrap_or(&self.path).display().to_string()
    }
}
