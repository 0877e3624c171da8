//! What a page must be: HTML without a single error, and whole in itself.

use html5ever::tendril::TendrilSink;
use html5ever::tokenizer::TokenizerOpts;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};
use std::collections::BTreeMap;

/// An element: its name, its attributes, all text in it, and whether it is in a drawing.
#[derive(Clone, Debug)]
pub struct Element {
    pub name: String,
    pub attributes: BTreeMap<String, String>,
    pub text: String,
    pub is_drawn: bool,
}

impl Element {
    pub fn get(&self, name: &str) -> Option<&str> {
        self.attributes.get(name).map(String::as_str)
    }
}

/// All elements of a page that has no error in it, in the order in which they begin.
pub fn elements(page: &str) -> Vec<Element> {
    let options = ParseOpts {
        tokenizer: TokenizerOpts { exact_errors: true, ..TokenizerOpts::default() },
        tree_builder: TreeBuilderOpts { exact_errors: true, ..TreeBuilderOpts::default() },
    };
    let dom = parse_document(RcDom::default(), options).one(page);
    assert_eq!(*dom.errors.borrow(), Vec::<std::borrow::Cow<'static, str>>::new());
    let mut all = Vec::new();
    walk(&dom.document, false, &mut all);
    all
}

fn walk(node: &Handle, is_drawn: bool, all: &mut Vec<Element>) {
    let mut is_drawn = is_drawn;
    if let NodeData::Element { name, attrs, .. } = &node.data {
        is_drawn |= &*name.local == "svg";
        let attributes =
            attrs.borrow().iter().map(|a| (a.name.local.to_string(), a.value.to_string())).collect();
        all.push(Element { name: name.local.to_string(), attributes, text: text(node), is_drawn });
    }
    for child in node.children.borrow().iter() {
        walk(child, is_drawn, all);
    }
}

fn text(node: &Handle) -> String {
    match &node.data {
        NodeData::Text { contents } => contents.borrow().to_string(),
        _ => node.children.borrow().iter().map(text).collect(),
    }
}

/// Checks all that holds for every page.
pub fn check(page: &str) -> Vec<Element> {
    let all = elements(page);
    check_references(&all);
    check_structure(&all);
    check_landmarks(&all);
    check_is_alone(page, &all);
    for not_a_number in ["NaN", "inf<", "inf ", "∞"] {
        assert!(!page.contains(not_a_number), "{not_a_number}");
    }
    all
}

/// No id is there twice, and who names one names one that is there.
fn check_references(all: &[Element]) {
    let mut ids: Vec<&str> = all.iter().filter_map(|e| e.get("id")).collect();
    ids.sort_unstable();
    let count = ids.len();
    ids.dedup();
    assert_eq!(ids.len(), count, "an id is there twice");
    let attributes = ["aria-labelledby", "aria-describedby", "aria-controls", "for", "headers"];
    for element in all {
        let named = attributes.iter().filter_map(|name| element.get(name)).flat_map(str::split_whitespace);
        let linked = element.get("href").and_then(|href| href.strip_prefix('#'));
        for id in named.chain(linked) {
            assert!(ids.binary_search(&id).is_ok(), "{id} is nowhere: {element:?}");
        }
    }
}

/// Every landmark has a name that no other has.
fn check_landmarks(all: &[Element]) {
    let text = |id: &str| all.iter().find(|e| e.get("id") == Some(id)).map(|e| e.text.clone());
    let is_landmark = |e: &&Element| e.name == "section" || e.get("role") == Some("region");
    let name =
        |e: &Element| e.get("aria-label").map(str::to_owned).or_else(|| text(e.get("aria-labelledby")?));
    let mut names: Vec<String> = all.iter().filter(is_landmark).map(|e| name(e).unwrap()).collect();
    names.sort();
    let twice = names.windows(2).find(|pair| pair[0] == pair[1]);
    assert_eq!(twice, None, "two landmarks have one name");
}

fn check_structure(all: &[Element]) {
    let of = |name: &str| all.iter().filter(|e| e.name == name && !e.is_drawn).collect::<Vec<_>>();
    for once in ["html", "head", "body", "title", "h1", "main", "header", "footer"] {
        assert_eq!(of(once).len(), 1, "{once}");
    }
    assert_eq!(of("caption").len(), of("table").len(), "every table has a caption");
    assert!(of("th").iter().all(|th| matches!(th.get("scope"), Some("col" | "row"))));
    assert!(of("section").iter().all(|section| section.get("aria-labelledby").is_some()));
    let levels =
        all.iter().filter(|e| !e.is_drawn).filter_map(|e| e.name.strip_prefix('h')?.parse::<u8>().ok());
    let mut before = 0;
    for level in levels {
        assert!(level <= before + 1, "h{level} after h{before}");
        before = level;
    }
    for empty in ["h1", "h2", "h3", "caption", "dt", "ul"] {
        assert!(of(empty).iter().all(|e| !e.text.trim().is_empty()), "an empty {empty}");
    }
    let drawings: Vec<_> = all.iter().filter(|e| e.name == "svg").collect();
    assert!(drawings.iter().all(|svg| svg.get("aria-label").is_some_and(|label| !label.is_empty())));
}

/// Nothing is fetched, nothing runs but the page's own script.
fn check_is_alone(page: &str, all: &[Element]) {
    for element in all {
        for (name, value) in &element.attributes {
            assert!(!name.starts_with("on"), "{element:?}");
            assert!(
                !matches!(name.as_str(), "src" | "srcset" | "action" | "formaction" | "data"),
                "{element:?}"
            );
            assert!(name != "href" || value.starts_with('#'), "{element:?}");
        }
        let is_other =
            ["link", "img", "iframe", "object", "embed", "form", "base"].contains(&element.name.as_str());
        assert!(!is_other, "{element:?}");
    }
    for (name, count) in [("script", 1), ("style", 1)] {
        assert_eq!(all.iter().filter(|e| e.name == name).count(), count, "{name}");
    }
    assert!(all.iter().all(|e| e.get("style").is_none()), "a style attribute, which the policy forbids");
    assert!(!page.contains("@import") && !page.contains("url(http"));
}
