//! `--verdict FILE` of `drome race` and `drome compare`: the judgement as a file, in the format of its extension. `drome report FILE` reads it
//! back; such a file may come from anyone, so nothing in it is trusted.

use super::format;
use super::output::Output;
use crate::failure::WrongInput;
use clap::ValueEnum;
use model::GateVerdict;
use report::gate_verdict::{self, MOST_BYTES};
use std::fs::File;
use std::io::Read;
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

/// The verdict in a file.
pub fn read(path: &Path) -> Result<GateVerdict, WrongInput> {
    let (file, how) = (path.display(), "write one with `drome race --fail-if-slower 2% --verdict FILE.json`");
    let wrong = |why: String| WrongInput(format!("{file} is not a verdict: {why}; {how}"));
    let mut bytes = Vec::new();
    // One byte more than is allowed shows that it is too large.
    let opened = File::open(path).and_then(|file| file.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes));
    opened.map_err(|error| wrong(error.to_string()))?;
    gate_verdict::read(&bytes).map_err(wrong)
}
