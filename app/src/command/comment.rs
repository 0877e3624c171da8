//! `drome comment FILE`: a verdict as a comment on a pull request. The file may come from anyone, so nothing in it is trusted.

use crate::console;
use crate::failure::WrongInput;
use clap::Args;
use report::gate_verdict::{self, MOST_BYTES, Marker};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Raw arguments.
#[derive(Debug, Args)]
pub struct CommentArgs {
    /// JSON file that `drome race --verdict FILE` or `drome compare --verdict FILE` wrote, here or anywhere
    file: PathBuf,
    /// Name in the hidden first line, by which a program finds its comment again: letters, digits and hyphens
    #[arg(long, value_name = "NAME", default_value = "race", value_parser = str::parse::<Marker>)]
    marker: Marker,
}

/// Prints the verdict in Markdown.
pub fn run(args: &CommentArgs) -> anyhow::Result<ExitCode> {
    let (file, how) =
        (args.file.display(), "write one with `drome race --fail-if-slower 2% --verdict FILE.json`");
    let wrong = |why: String| WrongInput(format!("{file} is not a verdict: {why}; {how}"));
    let bytes = read(&args.file).map_err(|error| wrong(error.to_string()))?;
    let verdict = gate_verdict::read(&bytes).map_err(wrong)?;
    console::print(&gate_verdict::comment(&verdict, &args.marker))?;
    Ok(ExitCode::SUCCESS)
}

/// The file's content, up to one byte more than [`MOST_BYTES`], which shows that it is too large.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
