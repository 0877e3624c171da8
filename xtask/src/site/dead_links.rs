//! Checks the links of the built website. A relative link must lead to a file of the website, and its fragment to an
//! element there. Of an external link only the form is checked, so the check needs no network.

use super::html::attributes;
use crate::docs::links::plain;
use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What matters of a page.
#[derive(Default)]
struct Page {
    /// Where fragments can lead.
    ids: BTreeSet<String>,
    /// All `href` and `src`.
    links: BTreeSet<String>,
}

/// All dead links of a website, as `file: link: why`.
pub fn dead(site: &Path) -> Result<Vec<String>> {
    let mut pages = BTreeMap::new();
    read_pages(site, &mut pages)?;
    let mut dead = Vec::new();
    for (file, page) in &pages {
        for link in &page.links {
            if let Some(why) = wrong(site, file, link, &pages) {
                let shown = file.strip_prefix(site).unwrap_or(file).display();
                dead.push(format!("{shown}: {link}: {why}"));
            }
        }
    }
    Ok(dead)
}

fn read_pages(folder: &Path, pages: &mut BTreeMap<PathBuf, Page>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| format!("can't read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            read_pages(&path, pages)?;
        } else if path.extension().is_some_and(|e| e == "html") {
            let text = fs::read_to_string(&path);
            let text = text.with_context(|| format!("can't read {}", path.display()))?;
            pages.insert(path, read(&text));
        }
    }
    Ok(())
}

fn read(text: &str) -> Page {
    let mut page = Page::default();
    for attribute in attributes(text) {
        // `base` is where relative links of the page for unknown addresses begin. It is no link itself.
        if matches!(attribute.name, "href" | "src") && attribute.element != "base" {
            page.links.insert(attribute.value);
        } else if attribute.name == "id" {
            page.ids.insert(attribute.value);
        }
    }
    page
}

/// What is wrong with a link of this file.
fn wrong(site: &Path, from: &Path, link: &str, pages: &BTreeMap<PathBuf, Page>) -> Option<&'static str> {
    if let Some(scheme) = scheme(link) {
        return wrong_external(scheme, link);
    }
    let (path, fragment) = link.split_once('#').map_or((link, None), |(path, of)| (path, Some(of)));
    let path = percent_decoded(path.split('?').next().unwrap_or_default());
    if path.starts_with('/') {
        return Some("it begins with /, which may be outside of the website");
    }
    let mut target = if path.is_empty() { from.to_owned() } else { plain(&from.parent()?.join(path)) };
    if target.is_dir() {
        target.push("index.html");
    }
    if !target.starts_with(site) || !target.is_file() {
        return Some("the website has no such file");
    }
    let fragment = fragment.map(percent_decoded).filter(|fragment| !fragment.is_empty())?;
    match pages.get(&target) {
        None => Some("only an HTML page has fragments"),
        Some(page) if page.ids.contains(&fragment) => None,
        Some(_) => Some("no element there has this id"),
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

/// Replaces `%41` by `A`, as in every URL. Anything else stays.
fn percent_decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, after @ ..] = rest {
        let escaped = after.get(..2).filter(|_| *first == b'%');
        let digits = escaped.and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            bytes.push(byte);
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test may panic")]
    use super::*;

    /// The dead links of a website whose first page, `index.html`, has this text.
    fn dead_in(index: &str) -> Vec<String> {
        let site = tempfile::tempdir().unwrap();
        fs::create_dir(site.path().join("sub")).unwrap();
        let other = "<h1 id=\"top\">A</h1><p id=\"größe\"><a href=\"../index.html#here\">up</a>";
        let files = [("index.html", index), ("sub/index.html", other), ("sub/two words.svg", "<svg/>")];
        files.iter().for_each(|(name, text)| fs::write(site.path().join(name), text).unwrap());
        dead(site.path()).unwrap()
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
        assert_eq!(dead_link("gone.html"), "index.html: gone.html: the website has no such file");
        assert!(dead_link("sub/index.html#gone").ends_with("no element there has this id"));
        assert!(dead_link("#gone").ends_with("no element there has this id"));
        assert!(dead_link("sub/two%20words.svg#a").ends_with("only an HTML page has fragments"));
        assert!(dead_link("../").ends_with("the website has no such file"));
        assert!(dead_link("/sub/index.html").contains("it begins with /"));
        assert!(dead_link("https:///path").ends_with("it is not a well-formed URL"));
        assert!(dead_link("https://a b.example/").ends_with("it is not a well-formed URL"));
        assert!(dead_link("mailto:nobody").ends_with("it is not a well-formed URL"));
        assert!(dead_link("htps://a.example/").contains("its scheme"));
    }

    #[test]
    fn images_and_pages_in_folders_are_checked_too() {
        let dead = dead_in("<p><img src='gone.png'>");
        let expected = [
            "index.html: gone.png: the website has no such file",
            "sub/index.html: ../index.html#here: no element there has this id",
        ];
        assert_eq!(dead, expected);
    }
}
