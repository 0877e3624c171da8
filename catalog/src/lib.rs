//! The files of the built-in catalog: contenders, workloads and studies. `lab` reads and checks them.

use include_dir::{Dir, include_dir};

/// The file name of a Rust contender's `Cargo.toml` in the catalog. It gets its real name where the contender is built: Cargo
/// leaves every folder that has a `Cargo.toml` of its own out of a package.
pub const MANIFEST: &str = "manifest.toml";

/// `NAME/contender.toml`, and `NAME/src/` with the contender's sources.
pub static CONTENDERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/contenders");

/// `NAME.toml`.
pub static WORKLOADS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workloads");

/// `NAME.toml`.
pub static STUDIES: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/studies");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_folder_would_be_left_out_of_a_package() {
        let nested: Vec<_> =
            CONTENDERS.find("**/Cargo.toml").unwrap().map(|entry| entry.path().to_owned()).collect();
        assert!(nested.is_empty(), "Cargo leaves these folders out of the package: {nested:?}");
    }
}
