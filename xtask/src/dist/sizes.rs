//! No package grows without anybody noticing.

use super::files;
use anyhow::{Result, bail};
use std::path::Path;

/// The end of a file's name, and the most megabytes that it may have.
const BUDGETS_MB: &[(&str, f64)] =
    &[(".tar.gz", 10.0), (".deb", 8.0), (".whl", 10.0), (".json", 1.0), (".md", 1.0), (".sh", 0.01)];

/// Prints a table of all files in target/downloads, and fails if one is too large.
pub fn check(out: &Path) -> Result<()> {
    let mut large = Vec::new();
    println!("| file | MB |\n| --- | ---: |");
    for file in files(out)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let size_mb = std::fs::metadata(&file)?.len() as f64 / 1e6;
        println!("| `{name}` | {size_mb:.2} |");
        large.extend(too_large(&name, size_mb));
    }
    if large.is_empty() {
        return Ok(());
    }
    bail!("larger than the budget in xtask/src/dist/sizes.rs:\n  {}", large.join("\n  "))
}

fn too_large(name: &str, size_mb: f64) -> Option<String> {
    let (_, budget_mb) = BUDGETS_MB.iter().find(|(end, _)| name.ends_with(end))?;
    (size_mb > *budget_mb).then(|| format!("{name} has {size_mb:.2} MB, budget {budget_mb} MB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_above_its_budget_is_named_with_both_sizes() {
        let told = too_large("drome_0.1.0_amd64.deb", 99.0).unwrap();
        assert!(told.contains("drome_0.1.0_amd64.deb has 99.00 MB, budget"), "{told}");
        assert_eq!(too_large("drome_0.1.0_amd64.deb", 2.0), None);
        assert_eq!(too_large("SHA256SUMS", 99.0), None);
    }
}
