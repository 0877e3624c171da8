//! One file per command: its raw arguments, the settings that they resolve to, and the steps of the command.

pub mod agent;
mod agent_link;
pub mod as_published;
mod command_line;
pub mod compare;
pub mod dialect;
pub mod doctor;
mod dry_run;
mod folder;
mod format;
pub mod gate;
pub mod generate;
pub mod heat;
pub mod help;
pub mod history;
mod images;
pub mod import;
pub mod install;
pub mod list;
pub mod load;
pub mod new;
mod output;
mod part;
mod pictures;
pub mod profile_dir;
mod profiler;
pub mod pull;
pub mod push;
pub mod race;
pub mod race_file;
mod race_settings;
mod race_urls;
mod repeat;
pub mod report;
mod revisions;
pub mod run;
pub mod serve;
mod servers_on;
mod session;
mod stored_report;
pub mod sweep;
mod transport;
pub mod ui;
mod url;
mod verdict_file;
pub mod verify;

use crate::options::Common;
use control::Catalog;
use control::prepare::folders;
use std::path::PathBuf;
use store::Store;

/// The built-in catalog with the folders of `--catalog`.
fn catalog(common: &Common) -> anyhow::Result<Catalog> {
    let mut catalog = Catalog::built_in()?;
    for folder in &common.catalog {
        catalog.add_folder(folder)?;
    }
    Ok(catalog)
}

/// Whether a name on the command line is a file's: no run has a name with these characters.
fn is_file_name(name: &str) -> bool {
    name.contains(['.', '/'])
}

/// Opens the results database.
fn store(common: &Common) -> anyhow::Result<Store> {
    Ok(Store::open(&store_path(common))?)
}

/// The path of the results database.
fn store_path(common: &Common) -> PathBuf {
    common.store.clone().unwrap_or_else(folders::store)
}
