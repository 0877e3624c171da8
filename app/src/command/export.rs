//! `--export FILE`: the findings, or every trial, in a file whose ending says how.

use crate::failure::WrongInput;
use anyhow::Context;
use model::{Observation, Run};
use std::fs::File;
use std::path::{Path, PathBuf};

/// A file that can be written.
#[derive(Debug)]
pub struct Export {
    path: PathBuf,
    form: Form,
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Json,
    Csv,
    Markdown,
}

impl Export {
    /// Asked before anything is measured: hours later is too late to hear that the folder is not there.
    pub fn to(path: &Path) -> anyhow::Result<Self> {
        let form = match path.extension().and_then(|ending| ending.to_str()) {
            Some("json") => Form::Json,
            Some("csv") => Form::Csv,
            Some("md") => Form::Markdown,
            _ => {
                let shown = path.display();
                let why = format!("--export {shown}: allowed is a file that ends in .json, .csv or .md");
                return Err(WrongInput(why).into());
            }
        };
        let was_there = path.exists();
        let open = File::options().create(true).append(true).open(path);
        open.map_err(|e| {
            let shown = path.display();
            WrongInput(format!(
                "--export {shown} can't be written: {e}; name a file in a folder that is there"
            ))
        })?;
        if !was_there {
            let _ = std::fs::remove_file(path);
        }
        Ok(Self { path: path.to_owned(), form })
    }

    /// Writes what was observed so far.
    pub fn write(&self, run: &Run, observations: &[Observation], ended: Option<&str>) -> anyhow::Result<()> {
        let findings = || lab::analyse::findings(run, observations, ended);
        let text = match self.form {
            Form::Json => report::findings_json(&findings()),
            Form::Csv => report::trials_csv::report(run, observations),
            Form::Markdown => report::race::markdown(&findings()),
        };
        std::fs::write(&self.path, text)
            .with_context(|| format!("--export {} could not be written", self.path.display()))
    }
}
