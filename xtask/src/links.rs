//! The links of pages, in Markdown or in HTML: where they are, and which are dead. A relative link must lead to a file, and its fragment
//! to an element there. Of an external link only the form is checked, so the check needs no network.

use crate::files::files;
use anyhow::{Context, Result};
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::states::{Rawtext, ScriptData};
use html5ever::tokenizer::{BufferQueue, Tag, TagKind, Token, TokenSink, TokenSinkResult, Tokenizer};
use percent_encoding::percent_decode_str;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::ops::Range;
use std::path::{Component, Path, PathBuf};

/// What matters of a page.
#[derive(Default)]
struct Page {
    /// Where fragments can lead.
    ids: BTreeSet<String>,
    links: BTreeSet<String>,
}

/// The pages of a folder, whose links are checked.
pub struct Pages<'r> {
    root: &'r Path,
    /// The page that a link to a folder shows; empty: none.
    index: &'static str,
    all: BTreeMap<PathBuf, Page>,
}

impl<'r> Pages<'r> {
    /// The Markdown files of the project in this folder.
    pub fn of_project(root: &'r Path) -> Result<Self> {
        Self::read(root, "", markdown_files(root)?, Page::of_markdown)
    }

    /// The HTML files of the website in this folder.
    pub fn of_site(root: &'r Path) -> Result<Self> {
        Self::read(root, "index.html", files(root, "html")?, Page::of_html)
    }

    fn read(
        root: &'r Path,
        index: &'static str,
        files: Vec<PathBuf>,
        page: fn(&str) -> Page,
    ) -> Result<Self> {
        let mut all = BTreeMap::new();
        for file in files {
            let text = fs::read_to_string(&file);
            let text = text.with_context(|| format!("can't read {}", file.display()))?;
            all.insert(file, page(&text));
        }
        Ok(Self { root, index, all })
    }

    /// All dead links, as `file: link: why`.
    pub fn dead_links(&self) -> Vec<String> {
        let mut dead = Vec::new();
        for (file, page) in &self.all {
            for link in &page.links {
                if let Some(why) = self.wrong(file, link) {
                    let shown = file.strip_prefix(self.root).unwrap_or(file).display();
                    dead.push(format!("{shown}: {link}: {why}"));
                }
            }
        }
        dead
    }

    /// What is wrong with a link of this file.
    fn wrong(&self, from: &Path, link: &str) -> Option<&'static str> {
        if let Some(scheme) = scheme(link) {
            return wrong_external(scheme, link);
        }
        let (path, fragment) = link.split_once('#').unwrap_or((link, ""));
        let path = percent_decode_str(path.split('?').next().unwrap_or_default()).decode_utf8_lossy();
        if path.starts_with('/') {
            return Some("it begins with /, which may be outside of the website");
        }
        let mut target = if path.is_empty() { from.to_owned() } else { plain(&from.parent()?.join(&*path)) };
        if target.is_dir() {
            target.push(self.index);
        }
        if !target.starts_with(self.root) || !target.exists() {
            return Some("there is no such file");
        }
        let fragment = percent_decode_str(fragment).decode_utf8_lossy();
        match self.all.get(&target) {
            _ if fragment.is_empty() => None,
            None => Some("only a page has fragments"),
            Some(page) if page.ids.contains(&*fragment) => None,
            Some(_) => Some("no heading or element there has this fragment"),
        }
    }
}

impl Page {
    fn of_markdown(text: &str) -> Self {
        let links = targets(text).into_iter().map(|at| text[at].to_owned()).collect();
        let headings = prose(text).map(|(_, line)| line).filter(|line| line.starts_with('#'));
        Self { ids: headings.map(|line| slug(line.trim_start_matches('#'))).collect(), links }
    }

    fn of_html(text: &str) -> Self {
        let tokenizer =
            Tokenizer::new(Elements(RefCell::default()), html5ever::tokenizer::TokenizerOpts::default());
        let input = BufferQueue::default();
        input.push_back(StrTendril::from(text));
        let _ = tokenizer.feed(&input);
        tokenizer.end();
        tokenizer.sink.0.into_inner()
    }
}

/// Collects what matters of the elements of a page.
struct Elements(RefCell<Page>);

impl TokenSink for Elements {
    type Handle = ();

    fn process_token(&self, token: Token, _line: u64) -> TokenSinkResult<()> {
        let Token::TagToken(Tag { kind: TagKind::StartTag, name, attrs, .. }) = token else {
            return TokenSinkResult::Continue;
        };
        let mut page = self.0.borrow_mut();
        for attribute in attrs {
            let value = attribute.value.to_string();
            match &*attribute.name.local {
                // `base` is where relative links of the page for unknown addresses begin. It is no link itself.
                "href" | "src" if &*name != "base" => page.links.insert(value),
                "id" => page.ids.insert(value),
                _ => continue,
            };
        }
        match &*name {
            "script" => TokenSinkResult::RawData(ScriptData),
            "style" => TokenSinkResult::RawData(Rawtext),
            _ => TokenSinkResult::Continue,
        }
    }
}

/// The scheme of an external link, such as `https`.
fn scheme(link: &str) -> Option<&str> {
    let (scheme, _) = link.split_once(':')?;
    let is_scheme =
        !scheme.is_empty() && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme.then_some(scheme)
}

fn wrong_external(scheme: &str, link: &str) -> Option<&'static str> {
    let rest = &link[scheme.len() + 1..];
    let is_right = match scheme {
        "http" | "https" => {
            let host = rest.strip_prefix("//").and_then(|rest| rest.split(['/', '?', '#']).next());
            host.is_some_and(|host| !host.is_empty())
        }
        "mailto" => rest.contains('@'),
        "data" => return None,
        _ => return Some("its scheme is neither http, https, mailto nor data"),
    };
    let is_clean = !link.contains(|c: char| c.is_whitespace() || c.is_control() || "<>\"\\".contains(c));
    if is_right && is_clean { None } else { Some("it is not a well-formed URL") }
}

/// The anchor that GitHub makes of a heading: lower case, spaces as hyphens, no punctuation.
pub fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.flat_map(char::to_lowercase).map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The lines of Markdown outside of code blocks, and the byte at which each begins.
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

/// Where the target of each `[text](target)` is in Markdown, in bytes. Code in backticks has no links.
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

/// What replaces a link of a page of `docs/` on the website, if it must be replaced: a file outside of `docs/` is linked in the
/// `repository`, and a `README.md` becomes the `index.html` of its folder. Paths are those in the workspace.
pub fn on_website(page: &Path, link: &str, repository: &str) -> Option<String> {
    let (path, anchor) = link.split_at(link.find('#').unwrap_or(link.len()));
    if scheme(link).is_some() || path.is_empty() {
        return None;
    }
    let target = plain(&page.parent()?.join(path));
    if !target.starts_with("docs") {
        return Some(format!("{repository}/{}{anchor}", target.display()));
    }
    path.strip_suffix("README.md").map(|folder| format!("{folder}index.html{anchor}"))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
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

/// The project's own Markdown files in a folder, without the invented pages that tests import.
pub fn markdown_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut all = files(folder, "md")?;
    let is_invented =
        |file: &Path| file.strip_prefix(folder).is_ok_and(|file| file.iter().any(|part| part == "pages"));
    all.retain(|file| !file.is_symlink() && !is_invented(file));
    Ok(all)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    #[test]
    fn no_link_of_the_project_is_dead() {
        assert_eq!(Pages::of_project(&crate::root()).unwrap().dead_links(), [""; 0]);
    }

    #[test]
    fn anchors_are_githubs() {
        assert_eq!(slug("What is done, and why?"), "what-is-done-and-why");
        assert_eq!(slug("`[[cell]]`"), "cell");
        assert_eq!(slug("JSON (schema 1)"), "json-schema-1");
    }

    #[test]
    fn a_dead_link_in_markdown_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("two words.md"), "").unwrap();
        let text = "# One\n[k](<two words.md>) [a](b.md) [c](#one) [d](#two) `[e](f.md)` [l](<m.md>)\n```\n[g](h.md)\n```\n[i](https://j.example/) [n](.)\n";
        fs::write(folder.path().join("page.md"), text).unwrap();
        let expected = [
            "page.md: #two: no heading or element there has this fragment",
            "page.md: b.md: there is no such file",
            "page.md: m.md: there is no such file",
        ];
        assert_eq!(Pages::of_project(folder.path()).unwrap().dead_links(), expected);
    }

    /// The dead links of a website whose first page, `index.html`, has this text.
    fn dead_in(index: &str) -> Vec<String> {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join("sub")).unwrap();
        let other = "<h1 id=\"top\">A</h1><p id=\"größe\"><a href=\"../index.html#here\">up</a>";
        let files = [("index.html", index), ("sub/index.html", other), ("sub/two words.svg", "<svg/>")];
        files.iter().for_each(|(name, text)| fs::write(site.path().join(name), text).unwrap());
        Pages::of_site(site.path()).unwrap().dead_links()
    }

    #[test]
    fn links_that_lead_somewhere_are_right() {
        let targets = [
            "",
            "#",
            "#here",
            "sub/",
            "sub/index.html#top",
            "sub/index.html#gr%C3%B6%C3%9Fe",
            "sub/two%20words.svg?v=1",
            "https://a.example/?b=1&amp;c#d",
            "mailto:a@b.example",
            "data:image/png;base64,AA==",
        ];
        let links: String = targets.map(|target| format!("<a href=\"{target}\">")).concat();
        assert_eq!(dead_in(&format!("<base href=\"/drome/\"><p id=here>{links}")), Vec::<String>::new());
    }

    #[test]
    fn a_dead_link_is_named_with_its_file() {
        let dead_link = |target: &str| {
            let dead = dead_in(&format!("<p id=here><a href=\"{target}\">"));
            assert_eq!(dead.len(), 1, "{target}: {dead:?}");
            dead[0].clone()
        };
        assert_eq!(dead_link("gone.html"), "index.html: gone.html: there is no such file");
        assert!(dead_link("sub/index.html#gone").ends_with("there has this fragment"));
        assert!(dead_link("#gone").ends_with("there has this fragment"));
        assert!(dead_link("sub/two%20words.svg#a").ends_with("only a page has fragments"));
        assert!(dead_link("../").ends_with("there is no such file"));
        assert!(dead_link("/sub/index.html").contains("it begins with /"));
        assert!(dead_link("https:///path").ends_with("it is not a well-formed URL"));
        assert!(dead_link("https://a b.example/").ends_with("it is not a well-formed URL"));
        assert!(dead_link("mailto:nobody").ends_with("it is not a well-formed URL"));
        assert!(dead_link("htps://a.example/").contains("its scheme"));
    }

    #[test]
    fn images_and_pages_in_folders_are_checked_too_and_scripts_and_comments_are_not() {
        let not = "<!-- <a href=a> --><script>x = '<a href=\"c\">';</script><style><a href='d'></style>";
        let dead = dead_in(&format!("{not}<p><img src='gone.png'>"));
        let expected = [
            "index.html: gone.png: there is no such file",
            "sub/index.html: ../index.html#here: no heading or element there has this fragment",
        ];
        assert_eq!(dead, expected);
    }
}
