//! `cargo xtask site`: the documentation as a website, in `target/site`. mdBook builds it from a copy of `docs/` in
//! which links suit a website, then every link of the built pages is checked.

mod source;

use crate::dist::cargo_tool;
use crate::links::Pages;
use crate::{packages, root, run};
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The crate that is installed where PATH has no mdBook.
const MDBOOK: &str = "mdbook@0.5.4";

/// The copy of `docs/` that mdBook reads, from the workspace.
const SOURCE: &str = "target/site-src";

/// The website, from the workspace.
const SITE: &str = "target/site";

/// Builds the website and checks its links.
pub fn site() -> Result<()> {
    let root = root();
    let wrong = source::not_listed_once(&root)?;
    if !wrong.is_empty() {
        bail!("docs/SUMMARY.md must list every page of docs/ once:\n  {}", wrong.join("\n  "));
    }
    source::copy(&root, &root.join(SOURCE))?;
    let (mdbook, site) = (mdbook(&root)?, root.join(SITE));
    // The folder that book.toml names is relative to that file, and so would be in the copy.
    let to = site.display().to_string();
    run(&mdbook.display().to_string(), &["build", SOURCE, "--dest-dir", &to])?;
    let dead = Pages::of_site(&site)?.dead_links();
    if !dead.is_empty() {
        bail!("the website has dead links; correct the pages in docs/:\n  {}", dead.join("\n  "));
    }
    eprintln!("written: {SITE}/index.html");
    Ok(())
}

/// The program, from PATH or else installed.
pub fn mdbook(root: &Path) -> Result<PathBuf> {
    if let Some(program) = packages::find("mdbook") {
        return Ok(program);
    }
    // The book is only built: neither served nor watched.
    cargo_tool(root, "mdbook", MDBOOK, &["--no-default-features", "--features", "search"])
}
