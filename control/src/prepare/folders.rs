//! The folders that drome uses: results are in the data folder, whatever can be made again is in the cache folder.

use std::path::PathBuf;

/// The file of results: `$DROME_HOME`, else the XDG data folder.
pub fn store() -> PathBuf {
    let home = std::env::var_os("DROME_HOME").map(PathBuf::from);
    home.unwrap_or_else(|| xdg("XDG_DATA_HOME", ".local/share")).join("drome.sqlite")
}

/// Sources, builds, assets and logs: `$DROME_CACHE`, else the XDG cache folder.
pub fn cache() -> PathBuf {
    std::env::var_os("DROME_CACHE").map_or_else(|| xdg("XDG_CACHE_HOME", ".cache"), PathBuf::from)
}

fn xdg(variable: &str, below_home: &str) -> PathBuf {
    let set = std::env::var_os(variable).map(PathBuf::from).filter(|p| p.is_absolute());
    let home = || std::env::home_dir().unwrap_or_else(std::env::temp_dir).join(below_home);
    set.unwrap_or_else(home).join("drome")
}
