//! The filters of the list of contenders: from the query of its address to the form, and back. They work without scripts.

use super::super::url;
use control::Catalog;
use maud::{Markup, html};
use model::Contender;
use model::contender::{Class, Kind};
use std::collections::BTreeSet;

/// Every kind with its word in the address and on the page.
const KINDS: [(Kind, &str, &str); 3] = [
    (Kind::Server, "server", "server"),
    (Kind::Framework, "framework", "framework"),
    (Kind::AppServer, "app-server", "application server"),
];

/// Every class.
const CLASSES: [Class; 4] = [Class::Native, Class::Managed, Class::Jit, Class::Prefork];

/// What the list is narrowed to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Words that must all occur, in lower case.
    words: String,
    language: Option<String>,
    kind: Option<Kind>,
    class: Option<Class>,
    /// Whether it must be installed, or must be missing.
    installed: Option<bool>,
}

impl Filter {
    /// The filter of a query. A value that no contender has, and a key that is unknown, filter nothing.
    pub fn of(asked: &[(String, String)], catalog: &Catalog) -> Self {
        let value = |key| url::value(asked, key).unwrap_or_default();
        let kind = KINDS.iter().find(|(_, word, _)| *word == value("kind"));
        Self {
            words: value("q").trim().to_lowercase(),
            language: languages(catalog).into_iter().find(|language| *language == value("language")),
            kind: kind.map(|(kind, _, _)| *kind),
            class: CLASSES.into_iter().find(|class| class.word() == value("class")),
            installed: match value("installed") {
                "yes" => Some(true),
                "no" => Some(false),
                _ => None,
            },
        }
    }

    /// Whether a contender is listed. `is_installed`: `None` if it has not been looked for; then it passes either choice.
    pub fn lets_through(&self, name: &str, contender: &Contender, is_installed: Option<bool>) -> bool {
        let serves: String = contender.serves.keys().map(|workload| format!(" {workload}")).collect();
        let text = format!("{name} {} {}{serves}", contender.title, contender.language).to_lowercase();
        self.words.split_whitespace().all(|word| text.contains(word))
            && self.language.as_ref().is_none_or(|language| *language == contender.language)
            && self.kind.is_none_or(|kind| kind == contender.kind)
            && self.class.is_none_or(|class| class == class_of(contender))
            && self.installed.is_none_or(|wanted| is_installed.is_none_or(|is| is == wanted))
    }

    /// The values of the form, by the names of its fields.
    fn values(&self) -> [(&'static str, &str); 5] {
        let kind = KINDS.iter().find(|(kind, _, _)| Some(*kind) == self.kind);
        [
            ("q", &self.words),
            ("language", self.language.as_deref().unwrap_or_default()),
            ("kind", kind.map(|(_, word, _)| *word).unwrap_or_default()),
            ("class", self.class.map(Class::word).unwrap_or_default()),
            ("installed", self.installed().unwrap_or_default()),
        ]
    }

    /// `yes` or `no`, if only installed or only missing contenders are listed.
    pub fn installed(&self) -> Option<&'static str> {
        self.installed.map(|wanted| if wanted { "yes" } else { "no" })
    }

    /// The address of the list with this filter.
    pub fn address(&self) -> String {
        let given = self.values().into_iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> = given.map(|(key, value)| format!("{key}={}", url::part(value))).collect();
        if pairs.is_empty() { "/contenders".to_owned() } else { format!("/contenders?{}", pairs.join("&")) }
    }

    /// The form.
    pub fn form(&self, catalog: &Catalog) -> Markup {
        let [(_, words), (_, language), (_, kind), (_, class), (_, installed)] = self.values();
        let languages = languages(catalog);
        let same = |value| (value, value);
        let languages: Vec<(&str, &str)> = languages.iter().map(|name| same(name.as_str())).collect();
        let kinds = KINDS.map(|(_, word, title)| (word, title));
        let classes = CLASSES.map(|class| same(class.word()));
        html! {
            form.filters action="/contenders" method="get" role="search" {
                div.field {
                    label for="q" { "Search" }
                    input type="search" id="q" name="q" value=(words) placeholder="name, language or workload";
                }
                (select("language", "Language", language, &languages))
                (select("kind", "Kind", kind, &kinds))
                (select("class", "Class", class, &classes))
                (select("installed", "On this machine", installed, &[("yes", "installed"), ("no", "missing")]))
                p.actions {
                    button type="submit" { "Filter" }
                    @if *self != Self::default() { a href="/contenders" { "Show all contenders" } }
                }
            }
        }
    }
}

fn select(name: &str, label: &str, chosen: &str, options: &[(&str, &str)]) -> Markup {
    html! {
        div.field {
            label for=(name) { (label) }
            select id=(name) name=(name) {
                option value="" { "any" }
                @for (value, title) in options {
                    option value=(value) selected[*value == chosen] { (title) }
                }
            }
        }
    }
}

fn languages(catalog: &Catalog) -> BTreeSet<String> {
    catalog.contenders.values().map(|entry| entry.contender.language.clone()).collect()
}

/// The class of a contender, guessed where its file does not name it.
fn class_of(contender: &Contender) -> Class {
    contender.class.unwrap_or_else(|| Class::of_language(&contender.language))
}

/// The kind and the class of a contender in words.
pub fn kind_and_class(contender: &Contender) -> String {
    let kind = KINDS.iter().find(|(kind, _, _)| *kind == contender.kind);
    let kind = kind.map(|(_, _, title)| *title).unwrap_or_default();
    format!("{kind}, {}", class_of(contender).word())
}
