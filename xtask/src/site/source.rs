//! The copy of `docs/` that mdBook reads. Links that would be dead on the website are replaced in the copy only, so the
//! Markdown stays right where it is read in the repository.

use crate::files::entries;
use crate::{emptied, links};
use anyhow::{Context, Result};
use std::fs;
use std::path::{Path, PathBuf};

/// Where files of the repository can be read that the website does not have.
const REPOSITORY: &str = "https://github.com/drome-bench/drome/blob/main";

/// The list of the website's pages, from the workspace.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Writes `book.toml` and `docs/` into this folder, and removes what was in it before.
pub fn copy(root: &Path, to: &Path) -> Result<()> {
    emptied(to)?;
    copy_file(root, Path::new("book.toml"), to)?;
    copy_folder(root, Path::new("docs"), to)
}

/// Copies a folder, given by its path in the workspace.
fn copy_folder(root: &Path, folder: &Path, to: &Path) -> Result<()> {
    emptied(&to.join(folder))?;
    for entry in entries(&root.join(folder))? {
        let path = folder.join(entry.file_name().unwrap_or_default());
        if entry.is_dir() {
            copy_folder(root, &path, to)?;
        } else {
            copy_file(root, &path, to)?;
        }
    }
    Ok(())
}

fn copy_file(root: &Path, path: &Path, to: &Path) -> Result<()> {
    let (from, to) = (root.join(path), to.join(path));
    let is_page = path.extension().is_some_and(|e| e == "md") && path != Path::new(SUMMARY);
    let copied = if is_page {
        fs::read_to_string(&from).and_then(|text| fs::write(&to, with_web_links(path, &text)))
    } else {
        fs::copy(&from, &to).map(|_| ())
    };
    copied.with_context(|| format!("can't copy {} to {}", from.display(), to.display()))
}

/// A page's text, with those links replaced that would be dead on the website.
fn with_web_links(page: &Path, text: &str) -> String {
    let (mut replaced, mut copied) = (String::new(), 0);
    for target in links::targets(text) {
        if let Some(link) = links::on_website(page, &text[target.clone()], REPOSITORY) {
            replaced.push_str(&text[copied..target.start]);
            replaced.push_str(&link);
            copied = target.end;
        }
    }
    replaced + &text[copied..]
}

/// The pages of `docs/` that the summary does not list exactly once, each with how often it does.
pub fn not_listed_once(root: &Path) -> Result<Vec<String>> {
    let summary = root.join(SUMMARY);
    let text = fs::read_to_string(&summary).with_context(|| format!("can't read {}", summary.display()))?;
    let docs = root.join("docs");
    let listed: Vec<PathBuf> = links::targets(&text).into_iter().map(|at| docs.join(&text[at])).collect();
    let mut wrong = Vec::new();
    for page in links::markdown_files(&docs)?.into_iter().filter(|page| *page != summary) {
        let times = listed.iter().filter(|path| **path == page).count();
        if times != 1 {
            let shown = page.strip_prefix(root).unwrap_or(&page).display();
            wrong.push(format!("{shown}: listed {times} times"));
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn links_in_a_text_are_replaced_and_everything_else_stays() {
        let text = "[a](../a.md#b) [c](race.md#d)\n![e](<studies/two words.svg>) `[f](../f.md)`\n\
                    ```\n[g](../g.md)\n```\n[h](<../h i.md>) end\n";
        let github = |path: &str| format!("{REPOSITORY}/{path}");
        let expected = text.replace("../a.md#b", &github("a.md#b")).replace("../h i.md", &github("h i.md"));
        assert_eq!(with_web_links(Path::new("docs/page.md"), text), expected);
    }

    #[test]
    fn links_out_of_docs_lead_to_github_and_others_stay() {
        let link = |link: &str| links::on_website(Path::new("docs/page.md"), link, REPOSITORY);
        let github = "https://github.com/drome-bench/drome/blob/main";
        assert_eq!(link("../CONTRIBUTING.md#rules"), Some(format!("{github}/CONTRIBUTING.md#rules")));
        assert_eq!(link("../lab/"), Some(format!("{github}/lab")));
        let others = ["race.md#json", "#here", "bench.json", "https://a.org/../README.md", "mailto:a@b.org"];
        for other in others {
            assert_eq!(link(other), None);
        }
    }

    #[test]
    fn a_link_is_resolved_from_the_folder_of_its_page() {
        let link = |link: &str| links::on_website(Path::new("docs/reference/page.md"), link, REPOSITORY);
        let github = "https://github.com/drome-bench/drome/blob/main/workloads/echo.toml";
        assert_eq!(link("../../workloads/echo.toml").as_deref(), Some(github));
        assert_eq!(link("../race.md"), None);
    }

    #[test]
    fn a_readme_is_the_index_of_its_folder() {
        let link = |link: &str| links::on_website(Path::new("docs/page.md"), link, REPOSITORY);
        assert_eq!(link("reference/README.md#files").as_deref(), Some("reference/index.html#files"));
        assert_eq!(link("README.md").as_deref(), Some("index.html"));
        assert_eq!(
            link("../README.md").as_deref(),
            Some("https://github.com/drome-bench/drome/blob/main/README.md")
        );
    }

    #[test]
    fn the_copy_has_everything_and_nothing_from_before() {
        let (root, to) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::create_dir_all(root.path().join("docs/reference")).unwrap();
        let files = [
            ("book.toml", "[book]\n"),
            ("docs/SUMMARY.md", "[x](README.md)"),
            ("docs/README.md", "[x](README.md)"),
            ("docs/reference/a.svg", "<svg/>"),
        ];
        files.iter().for_each(|(name, text)| fs::write(root.path().join(name), text).unwrap());
        fs::write(to.path().join("old.md"), "").unwrap();
        copy(root.path(), to.path()).unwrap();
        let copied = |name: &str| fs::read_to_string(to.path().join(name)).ok();
        assert_eq!(copied("book.toml").as_deref(), Some("[book]\n"));
        assert_eq!(copied("docs/SUMMARY.md").as_deref(), Some("[x](README.md)"));
        assert_eq!(copied("docs/README.md").as_deref(), Some("[x](index.html)"));
        assert_eq!(copied("docs/reference/a.svg").as_deref(), Some("<svg/>"));
        assert_eq!(copied("old.md"), None);
    }

    #[test]
    fn every_page_is_in_the_summary_once() {
        assert_eq!(not_listed_once(&crate::root()).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn a_page_that_is_not_listed_or_twice_is_found() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("docs")).unwrap();
        let pages = ["a.md", "b.md", "c.md"];
        pages.iter().for_each(|name| fs::write(root.path().join("docs").join(name), "").unwrap());
        fs::write(root.path().join(SUMMARY), "- [a](a.md)\n  - [b](b.md)\n- [again](b.md)\n").unwrap();
        let wrong = not_listed_once(root.path()).unwrap();
        assert_eq!(wrong, ["docs/b.md: listed 2 times", "docs/c.md: listed 0 times"]);
    }
}
