//! The attributes of an HTML page's elements: as much of HTML as mdBook writes and a check of links needs.

/// An attribute of an element. Names are as they are written.
#[derive(Debug, PartialEq, Eq)]
pub struct Attribute<'t> {
    /// The element's name.
    pub element: &'t str,
    /// Its own name.
    pub name: &'t str,
    /// Its value with character references replaced; empty where there is none.
    pub value: String,
}

/// All attributes of a page, in order. Comments, scripts and styles have none.
pub fn attributes(page: &str) -> Vec<Attribute<'_>> {
    let mut all = Vec::new();
    let mut rest = page;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.split_once("-->").map_or("", |(_, after)| after);
        } else if rest.starts_with(|c: char| c.is_ascii_alphabetic()) {
            rest = of_element(rest, &mut all);
        }
    }
    all
}

/// Reads a start tag from its element's name on, and returns what follows it. The text of a script or style is skipped.
fn of_element<'t>(tag: &'t str, all: &mut Vec<Attribute<'t>>) -> &'t str {
    let end = tag.find(|c: char| c.is_whitespace() || matches!(c, '>' | '/')).unwrap_or(tag.len());
    let (element, mut rest) = tag.split_at(end);
    while let Some((name, value, after)) = one(rest) {
        all.push(Attribute { element, name, value: unescaped(value) });
        rest = after;
    }
    if matches!(element, "script" | "style") {
        rest = rest.find(&format!("</{element}")).map_or("", |at| &rest[at..]);
    }
    rest
}

/// The next attribute of a tag, as name, value and what follows; `None` at the tag's end.
fn one(rest: &str) -> Option<(&str, &str, &str)> {
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '/');
    let end = rest.find(|c: char| c.is_whitespace() || matches!(c, '=' | '>' | '/'))?;
    let (name, rest) = rest.split_at(end);
    if name.is_empty() {
        return None;
    }
    let Some(value) = rest.trim_start().strip_prefix('=').map(str::trim_start) else {
        return Some((name, "", rest));
    };
    for quote in ['"', '\''] {
        if let Some(quoted) = value.strip_prefix(quote) {
            return quoted.split_once(quote).map(|(value, rest)| (name, value, rest));
        }
    }
    let (value, rest) = value.split_at(value.find(|c: char| c.is_whitespace() || c == '>')?);
    Some((name, value, rest))
}

/// Replaces the character references that mdBook writes in attributes.
fn unescaped(value: &str) -> String {
    let text = value.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    text.replace("&#x27;", "'").replace("&#39;", "'").replace("&amp;", "&")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(page: &str) -> Vec<(&str, &str, String)> {
        attributes(page).into_iter().map(|a| (a.element, a.name, a.value)).collect()
    }

    #[test]
    fn attributes_are_read_with_any_quotes() {
        let page = "<!DOCTYPE html>\n<h2 id=\"one\"><a class='x y'\n href = '#one' hidden>1 < 2</a></h2><br/><img src=a.svg alt=\"a > b\" />";
        let expected = [
            ("h2", "id", "one"),
            ("a", "class", "x y"),
            ("a", "href", "#one"),
            ("a", "hidden", ""),
            ("img", "src", "a.svg"),
            ("img", "alt", "a > b"),
        ];
        assert_eq!(found(page), expected.map(|(element, name, value)| (element, name, value.to_owned())));
    }

    #[test]
    fn comments_scripts_and_styles_have_none() {
        let page = "<!-- <a href=\"a\"> --><script src=\"b.js\">x = '<a href=\"c\">';</script><style><a href='d'></style><p id=e>";
        let expected = [("script", "src", "b.js".to_owned()), ("p", "id", "e".to_owned())];
        assert_eq!(found(page), expected);
    }

    #[test]
    fn character_references_are_replaced() {
        let found = found("<a href=\"https://a.example/?b=1&amp;c=&quot;&amp;lt;\">");
        assert_eq!(found, [("a", "href", "https://a.example/?b=1&c=\"&lt;".to_owned())]);
    }

    #[test]
    fn a_page_that_is_cut_off_is_read_as_far_as_it_goes() {
        for page in ["<", "<a", "<a href", "<a href=", "<a href=\"b", "<!-- a", "<script>", "</", "<a =>"] {
            assert!(found(page).is_empty(), "{page}");
        }
    }
}
