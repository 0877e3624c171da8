//! What each way to install drome ends with, and the record of it.

use anyhow::{Result, bail};
use std::path::Path;

/// Ends every transcript: two servers, the second of which takes longer for each request.
pub const RACE: &str = "drome --version
drome race 'drome serve --port {port} --spin 20us' 'drome serve --port {port} --spin 40us' --allow-busy \
    --url 'http://127.0.0.1:{port}/hello'";

/// Writes a transcript into target/installs; an error if its race has no verdict.
pub fn keep(way: &str, transcript: &str, out: &Path) -> Result<()> {
    std::fs::write(out.join(format!("{way}.txt")), transcript)?;
    if !transcript.contains("a request to B takes") {
        bail!("{way}: the race has no verdict; see target/installs/{way}.txt");
    }
    Ok(())
}
