//! `drome new contender NAME --from LANGUAGE` creates a contender's folder that passes verification as it is; `drome new race` a
//! file by which a repository's revisions are raced.

use super::race_file;
use crate::console;
use crate::options::Common;
use clap::{Args, Subcommand};
use include_dir::{Dir, include_dir};
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

static TEMPLATES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/templates");

/// The placeholder for the contender's name in a template.
const NAME: &str = "\"NAME\"";

/// Raw arguments.
#[derive(Debug, Args)]
pub struct NewArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Create a contender's folder with a declaration and a small server to start from
    Contender(ContenderArgs),
    /// Create drome.toml in the current folder, so that `drome race` alone races the repository's revisions
    Race,
}

#[derive(Debug, Args)]
struct ContenderArgs {
    /// Name of the contender and of its folder: lower-case letters, digits and hyphens
    name: String,
    /// Server to start from: python, node, go, perl, rust or c-server
    #[arg(long, value_name = "LANGUAGE")]
    from: String,
}

/// Creates the folder, in the first `--catalog`, else in the current folder.
pub fn run(args: &NewArgs, common: &Common) -> anyhow::Result<ExitCode> {
    match &args.what {
        What::Contender(args) => contender(args, common),
        What::Race => race(),
    }
}

fn race() -> anyhow::Result<ExitCode> {
    let mut file = match File::create_new(race_file::NAME) {
        Ok(file) => file,
        Err(error) => {
            refuse!("can't create {}: {error}", race_file::NAME);
        }
    };
    file.write_all(race_file::TEMPLATE.as_bytes())?;
    console::print(&format!("{}\n", race_file::NAME))?;
    note!("next: write into it how your server is built and started, then `drome race`");
    Ok(ExitCode::SUCCESS)
}

fn contender(args: &ContenderArgs, common: &Common) -> anyhow::Result<ExitCode> {
    let Some(template) = TEMPLATES.get_dir(&args.from) else {
        let all: Vec<&str> = TEMPLATES.dirs().filter_map(|dir| dir.path().to_str()).collect();
        let hint = control::catalog::did_you_mean(&args.from, all.iter().copied());
        refuse!("there is no template `{}`{hint}; available: {}", args.from, all.join(", "));
    };
    let is_letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if args.name.is_empty() || args.name.starts_with('-') || !args.name.chars().all(is_letter) {
        refuse!(
            "`{}` is not a valid name: use lower-case letters and digits, and hyphens between them",
            args.name
        );
    }
    let root = common.catalog.first().cloned().unwrap_or_else(|| PathBuf::from("."));
    let folder = root.join("contenders").join(&args.name);
    if folder.exists() {
        refuse!("{} already exists: choose another name", folder.display());
    }
    write_files(template, &args.from, &args.name, &folder)?;
    let (name, root) = (&args.name, root.display());
    console::print(&format!("{}\n", folder.display()))?;
    note!("next: drome verify {name} --install --catalog {root}");
    Ok(ExitCode::SUCCESS)
}

fn write_files(template: &Dir<'_>, below: &str, name: &str, folder: &Path) -> anyhow::Result<()> {
    for file in template.files() {
        let path = folder.join(file.path().strip_prefix(below)?);
        std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
        let text = String::from_utf8_lossy(file.contents());
        std::fs::write(path, text.replace(NAME, &format!("\"{name}\"")))?;
    }
    template.dirs().try_for_each(|dir| write_files(dir, below, name, folder))
}
