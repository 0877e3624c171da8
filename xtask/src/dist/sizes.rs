//! Checks the sizes of packages: each has a budget, and README says how large they are.

use crate::files::entries;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// The end of a file's name, and the largest size that the file may have, in megabytes.
const BUDGETS_MB: &[(&str, f64)] = &[
    ("/drome", 20.0),
    (".tar.gz", 10.0),
    (".deb", 8.0),
    (".whl", 10.0),
    (".json", 1.0),
    (".md", 1.0),
    (".sh", 0.01),
];

/// The words before a figure in README, and the ends of the names of the files of which it is true.
const IN_README: &[(&str, &[&str])] = &[
    ("The binary for x86-64 is ", &["x86_64/drome"]),
    ("the archive and the wheel are ", &["-x86_64-linux.tar.gz", "_x86_64.whl"]),
    ("the Debian package ", &["_amd64.deb"]),
    ("all crates together ", &["-crates.tar.gz"]),
];

/// How far a figure in README may be off, as a share of it.
const MOST_OFF: f64 = 0.05;

/// Prints a table of all files in target/downloads and of the bare binaries, which are given with the names to show. Fails if one is too
/// large, or is not as large as README says.
pub fn check(out: &Path, binaries: &[(String, PathBuf)], readme: &str) -> Result<()> {
    let name = |file: PathBuf| (file.file_name().unwrap_or_default().to_string_lossy().into_owned(), file);
    let all = binaries.iter().cloned().chain(entries(out)?.into_iter().map(name));
    let mut sizes = Vec::new();
    println!("| file | MB |\n| --- | ---: |");
    for (name, file) in all {
        let size_mb = std::fs::metadata(&file)?.len() as f64 / 1e6;
        println!("| `{name}` | {size_mb:.2} |");
        sizes.push((name, size_mb));
    }
    let large: Vec<String> = sizes.iter().filter_map(|(name, size_mb)| too_large(name, *size_mb)).collect();
    if !large.is_empty() {
        bail!("larger than the budget in xtask/src/dist/sizes.rs:\n  {}", large.join("\n  "));
    }
    let wrong = wrong_in(readme, &sizes);
    if !wrong.is_empty() {
        bail!("README.md has other sizes than those that were built; correct it:\n  {}", wrong.join("\n  "));
    }
    Ok(())
}

fn too_large(name: &str, size_mb: f64) -> Option<String> {
    let (_, budget_mb) = BUDGETS_MB.iter().find(|(end, _)| name.ends_with(end))?;
    (size_mb > *budget_mb).then(|| format!("{name} is {size_mb:.2} MB, budget {budget_mb} MB"))
}

/// The figures in README that are not those of the files. What was not built can't be compared.
fn wrong_in(readme: &str, sizes: &[(String, f64)]) -> Vec<String> {
    let text = readme.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut wrong = Vec::new();
    for (words, ends) in IN_README {
        let figure =
            text.split_once(words).and_then(|(_, rest)| rest.split_once(" MB")?.0.parse::<f64>().ok());
        let Some(said_mb) = figure else {
            wrong.push(format!("it has no \"{words}… MB\""));
            continue;
        };
        for (name, size_mb) in sizes.iter().filter(|(name, _)| ends.iter().any(|end| name.ends_with(end))) {
            if (size_mb / said_mb - 1.0).abs() > MOST_OFF {
                wrong.push(format!("\"{words}{said_mb} MB\", and {name} is {size_mb:.2} MB"));
            }
        }
    }
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_above_its_budget_is_named_with_both_sizes() {
        let words = too_large("drome_0.1.0_amd64.deb", 99.0).unwrap();
        assert!(words.contains("drome_0.1.0_amd64.deb is 99.00 MB, budget"), "{words}");
        assert_eq!(too_large("drome_0.1.0_amd64.deb", 2.0), None);
        assert_eq!(too_large("SHA256SUMS", 99.0), None);
        assert!(too_large("aarch64/drome", 20.5).is_some() && too_large("aarch64/drome", 19.9).is_none());
    }

    #[test]
    fn readme_has_every_figure_and_one_that_is_off_is_named() {
        let readme = std::fs::read_to_string(crate::root().join("README.md")).unwrap();
        assert_eq!(wrong_in(&readme, &[]), [""; 0], "every figure is there");
        let text = "The binary for x86-64 is 10 MB; the archive\nand the wheel are 5 MB, the Debian package 4 MB, \
                    all crates together 1 MB.";
        let built = |mb: f64| [("x86_64/drome".to_owned(), mb), ("aarch64/drome".to_owned(), 1.0)];
        assert_eq!(wrong_in(text, &built(10.4)), [""; 0], "within 5 %");
        let wrong = wrong_in(text, &built(10.6));
        assert_eq!(wrong, ["\"The binary for x86-64 is 10 MB\", and x86_64/drome is 10.60 MB"]);
        let wheel = [("drome_bench-0.1.0-py3-none-musllinux_1_1_x86_64.whl".to_owned(), 9.0)];
        assert!(wrong_in(text, &wheel)[0].contains("the wheel are 5 MB"));
        assert_eq!(wrong_in("nothing", &[]).len(), 4);
    }
}
