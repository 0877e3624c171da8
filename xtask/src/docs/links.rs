//! The links of Markdown files: where they are in the text, and which of the relative ones are dead.

use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// All dead links of all Markdown files in a folder, as `file: link: why`.
pub fn broken(root: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    markdown_files(root, &mut files)?;
    let mut texts = BTreeMap::new();
    for file in files {
        let text =
            std::fs::read_to_string(&file).with_context(|| format!("can't read {}", file.display()))?;
        texts.insert(file, text);
    }
    let mut broken = Vec::new();
    for (file, text) in &texts {
        for link in targets(text).into_iter().map(|at| &text[at]).filter(|link| is_relative(link)) {
            if let Some(why) = wrong(file, link, &texts) {
                let shown = file.strip_prefix(root).unwrap_or(file).display();
                broken.push(format!("{shown}: {link}: {why}"));
            }
        }
    }
    Ok(broken)
}

/// Whether a link leads to a place in the same repository.
pub fn is_relative(link: &str) -> bool {
    !link.contains("://") && !link.starts_with("mailto:")
}

fn wrong(from: &Path, link: &str, texts: &BTreeMap<PathBuf, String>) -> Option<String> {
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let folder = from.parent().unwrap_or(Path::new(""));
    let target = if path.is_empty() { from.to_owned() } else { plain(&folder.join(path)) };
    if !target.exists() {
        return Some("there is no such file".to_owned());
    }
    let anchor = anchor?;
    let Some(text) = texts.get(&target) else { return Some("only Markdown has anchors".to_owned()) };
    let anchors: Vec<String> = headings(text).map(slug).collect();
    (!anchors.iter().any(|a| a == anchor)).then(|| format!("no heading gives #{anchor}"))
}

/// The anchor that GitHub makes of a heading: lower case, spaces as hyphens, no punctuation.
pub fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

fn headings(text: &str) -> impl Iterator<Item = &str> {
    let lines = prose(text).map(|(_, line)| line);
    lines.filter(|line| line.starts_with('#')).map(|line| line.trim_start_matches('#').trim())
}

/// The lines outside of code blocks, and the byte at which each begins.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let (mut is_code, mut next) = (false, 0);
    let lines = text.split_inclusive('\n').map(move |line| {
        let begin = next;
        next += line.len();
        (begin, line)
    });
    lines.filter(move |(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// Where the target of each `[text](target)` is, in bytes. Code in backticks has no links.
pub fn targets(text: &str) -> Vec<Range<usize>> {
    let mut targets = Vec::new();
    for (line_begin, line) in prose(text) {
        let mut at = 0;
        while let Some(found) = line[at..].find("](") {
            let begin = at + found + 2;
            let Some(length) = line[begin..].find(')') else { break };
            let is_code = line[..begin].matches('`').count() % 2 == 1;
            if !is_code {
                let (skipped, target) = target(&line[begin..begin + length]);
                let target_begin = line_begin + begin + skipped;
                targets.push(target_begin..target_begin + target.len());
            }
            at = begin + length;
        }
    }
    targets
}

/// The target in a link's parentheses, and how many bytes stand before it. A target in angle brackets may contain
/// spaces; any other ends at the first space, where a title begins.
fn target(inside: &str) -> (usize, &str) {
    match inside.strip_prefix('<') {
        Some(bracketed) => (1, bracketed.split('>').next().unwrap_or_default()),
        None => (0, inside.split(' ').next().unwrap_or_default()),
    }
}

/// A path without `.` and `..`.
pub fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// Adds the project's own Markdown files in a folder. Build output, hidden folders, packages of contenders and the
/// invented pages that tests import are left out.
pub fn markdown_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir()
            && !name.starts_with('.')
            && !matches!(name.as_str(), "target" | "node_modules" | "pages")
        {
            markdown_files(&path, files)?;
        } else if name.ends_with(".md") && !path.is_symlink() {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_link_of_the_project_is_dead() {
        assert_eq!(broken(&crate::root()).expect("read"), Vec::<String>::new());
    }

    #[test]
    fn anchors_are_githubs() {
        assert_eq!(slug("What is done, and why?"), "what-is-done-and-why");
        assert_eq!(slug("`[[cell]]`"), "cell");
        assert_eq!(slug("JSON (schema 1)"), "json-schema-1");
    }

    #[test]
    fn a_dead_link_is_found() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("two words.md"), "").expect("write");
        let text = "# One\n[k](<two words.md>) [a](b.md) [c](#one) [d](#two) `[e](f.md)` [l](<m.md>)\n```\n[g](h.md)\n```\n[i](https://j.example/)\n";
        std::fs::write(folder.path().join("page.md"), text).expect("write");
        let found = broken(folder.path()).expect("read");
        assert_eq!(
            found,
            [
                "page.md: b.md: there is no such file",
                "page.md: #two: no heading gives #two",
                "page.md: m.md: there is no such file"
            ],
            "{found:?}"
        );
    }
}
