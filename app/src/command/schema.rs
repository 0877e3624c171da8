//! `drome schema NAME`: prints the JSON Schema of a file format.

use crate::console;
use crate::manual::schemas::{self, FORMATS};
use clap::Args;
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct SchemaArgs {
    /// Format whose schema is printed [default: a list of all formats]
    #[arg(value_parser = schemas::names())]
    name: Option<String>,
}

/// Prints the schema, or the list of formats.
pub fn run(args: &SchemaArgs) -> anyhow::Result<ExitCode> {
    match args.name.as_deref().and_then(schemas::named) {
        Some(format) => console::print(&format.text()?)?,
        None => console::tell(&list())?,
    }
    Ok(ExitCode::SUCCESS)
}

fn list() -> String {
    FORMATS.iter().map(|format| format!("{:<14}{}\n", format.name, format.title)).collect()
}
