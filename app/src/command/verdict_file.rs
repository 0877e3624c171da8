//! `--verdict FILE` of `drome race` and `drome compare`: the judgement as a file, in the format of its extension.

use super::format;
use super::output::Output;
use crate::failure::WrongInput;
use clap::ValueEnum;
use model::GateVerdict;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Json,
    Markdown,
}

/// The file; checked to be writable.
#[derive(Debug)]
pub struct VerdictFile {
    format: Format,
    output: Output,
}

impl VerdictFile {
    /// Checks the file's name and place, before anything is measured, and removes the verdict of an earlier time: whoever finds a file
    /// afterwards takes it for this one's.
    pub fn to(path: &Path) -> Result<Self, WrongInput> {
        let (format, output) = format::export("--verdict", path)?;
        output.remove()?;
        Ok(Self { format, output })
    }

    /// Whether a second text replaces the first; a pipe would get both.
    pub fn can_be_written_again(&self) -> bool {
        self.output.is_replaced()
    }

    /// Writes the whole file.
    pub fn write(&self, verdict: &GateVerdict) -> anyhow::Result<()> {
        let text = match self.format {
            Format::Json => report::json(verdict),
            Format::Markdown => report::gate_verdict::document(verdict).markdown(),
        };
        self.output.write(text.as_bytes())
    }
}
