//! The files of the built-in catalog: contenders, workloads and studies. `control` reads and checks them.

use include_dir::{Dir, include_dir};

/// The name that a Rust contender's `Cargo.toml` has in the catalog, because Cargo leaves every folder with a `Cargo.toml` out of this
/// package. Where the contender is built, the file is named `Cargo.toml` again.
pub const MANIFEST: &str = "manifest.toml";

/// The built-in contenders: `NAME/contender.toml`, and `NAME/src/` with the contender's sources.
pub static CONTENDERS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/contenders");

/// The built-in workloads: `NAME.toml`.
pub static WORKLOADS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/workloads");

/// The built-in studies: `NAME.toml`.
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
