//! `drome man DIR`, `drome reference DIR` and `drome schemas DIR`, for packagers of drome and for `cargo xtask docs`.

use crate::cli::PagesArgs;
use crate::failure::WrongInput;
use crate::manual;
use std::process::ExitCode;

/// Writes the man pages.
pub fn man(args: &PagesArgs) -> anyhow::Result<ExitCode> {
    written(args, manual::man::write(&args.dir))
}

/// Writes the reference pages.
pub fn reference(args: &PagesArgs) -> anyhow::Result<ExitCode> {
    written(args, manual::reference::write(&args.dir))
}

/// Writes the JSON Schemas.
pub fn schemas(args: &PagesArgs) -> anyhow::Result<ExitCode> {
    written(args, manual::schemas::write(&args.dir))
}

fn written(args: &PagesArgs, result: std::io::Result<()>) -> anyhow::Result<ExitCode> {
    let wrong = |e| WrongInput(format!("can't write to {} ({e}): choose another folder", args.dir.display()));
    Ok(result.map(|()| ExitCode::SUCCESS).map_err(wrong)?)
}
