//! `drome generate`: what shells, editors, packagers and `cargo xtask docs` need of drome's own definitions.

use crate::cli::Generated;
use crate::failure::WrongInput;
use crate::manual::schemas::{self, FORMATS};
use crate::{console, manual};
use std::path::Path;
use std::process::ExitCode;

/// Prints it, or writes it to a folder.
pub fn run(what: &Generated) -> anyhow::Result<ExitCode> {
    match what {
        Generated::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(*shell, &mut manual::command(), "drome", &mut script);
            console::print_bytes(&script)?;
        }
        Generated::Schema { name } => match name.as_deref().and_then(schemas::named) {
            Some(format) => console::print(&format.text()?)?,
            None => console::tell(&list())?,
        },
        Generated::Schemas { dir } => write(dir, schemas::write)?,
        Generated::Man { dir } => write(dir, manual::man::write)?,
        Generated::Reference { dir } => write(dir, manual::reference::write)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    FORMATS.iter().map(|format| format!("{:<14}{}\n", format.name, format.title)).collect()
}

fn write(dir: &Path, write: fn(&Path) -> std::io::Result<()>) -> Result<(), WrongInput> {
    write(dir)
        .map_err(|e| WrongInput(format!("can't write to {} ({e}): choose another folder", dir.display())))
}
