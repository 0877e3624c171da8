//! Writes types as a page: every table or object with its keys, their kinds, defaults and descriptions.

use super::source::{Absent, Key, Kind, Shape, Types, Variant};
use crate::links::slug;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;

/// The syntax that a page describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A file that people write, in which keys have defaults.
    Toml,
    /// JSON that drome prints, in which all keys are present, and unknown values are null.
    Json,
}

/// The types of single values, with their descriptions. The model itself checks these values while it reads them.
const PLAIN: &[(&str, &str)] = &[
    ("String", "text"),
    ("str", "text"),
    ("bool", "`true` or `false`"),
    ("usize", "whole number"),
    ("u16", "whole number"),
    ("u32", "whole number"),
    ("u64", "whole number"),
    ("i64", "whole number"),
    ("f64", "number"),
    ("Duration", "time, such as `\"500ms\"` or `\"2s\"`"),
    ("Rate", "rate: a number, or a ramp `\"1k..20k/30s\"` or steps `\"1k,5k,20k/10s\"` as text"),
    ("Metric", "one of `rate`, `server-cpu`, `rss`, `p50`, `p90`, `p99`, `p999`"),
    (
        "Workers",
        "whole number of at least 1, or a formula: `\"cores\"` (one for each core that servers have), `\"2 x cores\"`, `\"2 x cores + 1\"`",
    ),
    ("Cap", "whole number, or `\"unlimited\"`"),
];

/// The ranges that the checking functions allow.
const RANGES: &[(&str, &str)] = &[
    ("checked::duration", ""),
    ("checked::positive", ", at least 1"),
    ("checked::positive_or_none", ", at least 1"),
    ("checked::share", ", above 0 and below 1"),
    ("checked::finite", ", finite"),
    ("checked::share_or_none", ", above 0 and below 1"),
    ("checked::margin_or_none", ", from 0 to below 1"),
    ("checked::rounds_or_none", ": `[at least, at most]`"),
    ("checked::duration_or_none", ""),
    ("checked::heat", ", 1 to 12"),
    ("slice", ""),
];

/// The defaults that functions return.
const DEFAULTS: &[(&str, &str)] = &[("ready", "`\"30s\"`"), ("default_track", "`[\"default\"]`")];

/// The sections of a page, from this type on, with the keys of each table.
pub fn sections(types: &Types, root: &str, syntax: Syntax) -> Result<String> {
    let mut walk = Walk { types, syntax, uses: BTreeMap::new(), places: Vec::new() };
    walk.visit(root, "")?;
    let mut text = String::new();
    for (name, path) in &walk.places {
        let declared = types.0.get(name).with_context(|| format!("{name} is not declared"))?;
        if !path.is_empty() {
            text.push_str(&format!("\n## {}\n\n{}\n", walk.heading(name, path), declared.about));
        }
        text.push('\n');
        text.push_str(&match &declared.shape {
            Shape::Keys(keys) => walk.keys(keys)?,
            Shape::Choice(variants) => walk.choice(variants)?,
        });
    }
    Ok(text)
}

struct Walk<'t> {
    types: &'t Types,
    syntax: Syntax,
    /// How often each type is used.
    uses: BTreeMap<String, usize>,
    /// The types in order of appearance, with the first place of each.
    places: Vec<(String, String)>,
}

impl Walk<'_> {
    /// Adds a type and all types in it. It goes breadth first, so that a page reads from the outside in.
    fn visit(&mut self, root: &str, path: &str) -> Result<()> {
        let mut queue = std::collections::VecDeque::from([(root.to_owned(), path.to_owned())]);
        while let Some((name, path)) = queue.pop_front() {
            let uses = self.uses.entry(name.clone()).or_default();
            *uses += 1;
            if *uses > 1 {
                continue;
            }
            self.places.push((name.clone(), path.clone()));
            let declared = self.types.0.get(&name).with_context(|| format!("{name} is not declared"))?;
            let keys: Vec<(&str, &Kind)> = match &declared.shape {
                Shape::Keys(keys) => keys.iter().map(|key| (key.name.as_str(), &key.kind)).collect(),
                Shape::Choice(variants) => variants.iter().flat_map(of_variant).collect(),
            };
            for (key, kind) in keys {
                let (inner, steps) = innermost(kind);
                if self.is_section(inner) {
                    let dot = if path.is_empty() { "" } else { "." };
                    queue.push_back((inner.to_owned(), format!("{path}{dot}{key}{steps}")));
                }
            }
        }
        Ok(())
    }

    /// Whether a type has a section of its own, because it has keys or words with descriptions.
    fn is_section(&self, name: &str) -> bool {
        if PLAIN.iter().any(|(plain, _)| *plain == name) {
            return false;
        }
        match self.types.0.get(name).map(|declared| &declared.shape) {
            Some(Shape::Choice(variants)) => variants.iter().any(|v| !v.about.is_empty()),
            _ => true,
        }
    }

    /// The heading: the type's place if there is only one, else its name.
    fn heading(&self, name: &str, path: &str) -> String {
        if self.uses.get(name).is_some_and(|uses| *uses > 1) {
            return words(name);
        }
        let (bare, is_list) = (path.replace("[]", "").replace(".*", ".NAME"), path.ends_with("[]"));
        match (self.syntax, self.types.0.get(name).map(|d| &d.shape)) {
            (Syntax::Toml, Some(Shape::Keys(_))) if is_list => format!("`[[{bare}]]`"),
            (Syntax::Toml, Some(Shape::Keys(_))) => format!("`[{bare}]`"),
            (Syntax::Toml, _) => format!("`{bare}`"),
            _ => format!("`{path}`"),
        }
    }

    fn keys(&self, keys: &[Key]) -> Result<String> {
        let rows = keys.iter().map(|key| self.row(&key.name, key)).collect::<Result<String>>()?;
        Ok(format!("{}{rows}", self.head()))
    }

    fn head(&self) -> &'static str {
        match self.syntax {
            Syntax::Toml => "| key | value | default | what it is |\n| --- | --- | --- | --- |\n",
            Syntax::Json => "| key | value | what it is |\n| --- | --- | --- |\n",
        }
    }

    fn row(&self, name: &str, key: &Key) -> Result<String> {
        let range = match &key.checked {
            None => "",
            Some(_) if self.syntax == Syntax::Json => "",
            Some(function) => of_function(RANGES, function)?,
        };
        let value = format!("{}{range}", self.value(&key.kind)?);
        Ok(match self.syntax {
            Syntax::Toml => format!("| `{name}` | {value} | {} | {} |\n", self.absent(key)?, key.about),
            Syntax::Json => format!("| `{name}` | {value} | {} |\n", key.about),
        })
    }

    fn choice(&self, variants: &[Variant]) -> Result<String> {
        let mut text = String::new();
        if variants.iter().all(|v| v.keys.is_empty() && v.value.is_none()) {
            text.push_str("| word | what it is |\n| --- | --- |\n");
            for v in variants {
                let default = if v.is_default { " The default." } else { "" };
                text.push_str(&format!("| `\"{}\"` | {}{default} |\n", v.word, v.about));
            }
            return Ok(text);
        }
        text.push_str(&format!("One of these keys:\n\n{}", self.head()));
        for v in variants {
            let dash = if self.syntax == Syntax::Toml { " |" } else { "" };
            let value = match &v.value {
                Some(kind) => self.value(kind)?,
                None if v.keys.is_empty() => format!("the word `\"{}\"` by itself", v.word),
                None => format!("{} of its own:", self.table()),
            };
            text.push_str(&format!("| `{}` | {value} |{dash} {} |\n", v.word, v.about));
            for key in &v.keys {
                text.push_str(&self.row(&format!("{}.{}", v.word, key.name), key)?);
            }
        }
        Ok(text)
    }

    fn table(&self) -> &'static str {
        if self.syntax == Syntax::Toml { "a table" } else { "an object" }
    }

    /// The kind of a value in words, with a link to its section.
    fn value(&self, kind: &Kind) -> Result<String> {
        Ok(match kind {
            Kind::Option(inner) if self.syntax == Syntax::Json => format!("{} or null", self.value(inner)?),
            Kind::Option(inner) => self.value(inner)?,
            Kind::List(inner) => format!("list of {}", self.value(inner)?),
            Kind::Map(inner) => format!("{} by name: {}", self.table(), self.value(inner)?),
            Kind::Named(name) => self.named(name)?,
        })
    }

    fn named(&self, name: &str) -> Result<String> {
        if let Some((_, of_function)) = PLAIN.iter().find(|(plain, _)| *plain == name) {
            return Ok((*of_function).to_owned());
        }
        let declared =
            self.types.0.get(name).with_context(|| format!("{name} is neither declared nor plain"))?;
        let path = self.places.iter().find(|(place, _)| place == name).map_or("", |(_, path)| path.as_str());
        let heading = self.heading(name, path);
        let anchor = slug(&heading);
        Ok(match &declared.shape {
            Shape::Choice(variants) if variants.iter().all(|v| v.keys.is_empty() && v.value.is_none()) => {
                let words: Vec<String> = variants.iter().map(|v| format!("`\"{}\"`", v.word)).collect();
                let one_of =
                    if self.is_section(name) { format!("[one of](#{anchor})") } else { "one of".to_owned() };
                format!("{one_of} {}", words.join(", "))
            }
            _ => format!("[{}](#{anchor})", self.table()),
        })
    }

    fn absent(&self, key: &Key) -> Result<String> {
        Ok(match (&key.absent, &key.kind) {
            (Absent::Required, _) => "required".to_owned(),
            (Absent::Function(function), _) => of_function(DEFAULTS, function)?.to_owned(),
            (_, Kind::Option(_)) => "–".to_owned(),
            (_, Kind::List(_) | Kind::Map(_)) => "none".to_owned(),
            (_, Kind::Named(name)) if name == "bool" => "`false`".to_owned(),
            (_, Kind::Named(name)) if name == "Metric" => "`\"rate\"`".to_owned(),
            (_, Kind::Named(name)) => match self.types.0.get(name).map(|d| &d.shape) {
                Some(Shape::Keys(_)) => "–".to_owned(),
                Some(Shape::Choice(variants)) => {
                    let default = variants.iter().find(|v| v.is_default).context("no default")?;
                    format!("`\"{}\"`", default.word)
                }
                None => bail!(
                    "key `{}`: the default of its type {name} is not known; add an arm for {name} to `absent` in \
                     xtask/src/docs/tables.rs",
                    key.name
                ),
            },
        })
    }
}

/// The kinds of a variant's values, with their keys.
fn of_variant(variant: &Variant) -> Vec<(&str, &Kind)> {
    let keys = variant.keys.iter().map(|key| (key.name.as_str(), &key.kind));
    keys.chain(variant.value.iter().map(|kind| (variant.word.as_str(), kind))).collect()
}

/// The innermost type of a kind, and the path to it.
fn innermost(kind: &Kind) -> (&str, String) {
    match kind {
        Kind::Named(name) => (name, String::new()),
        Kind::Option(inner) => innermost(inner),
        Kind::List(inner) => {
            let (name, steps) = innermost(inner);
            (name, format!("[]{steps}"))
        }
        Kind::Map(inner) => {
            let (name, steps) = innermost(inner);
            (name, format!(".*{steps}"))
        }
    }
}

fn of_function<'t>(table: &[(&str, &'t str)], function: &str) -> Result<&'t str> {
    let found = table.iter().find(|(name, _)| *name == function);
    let what = || format!("what does `{function}` allow or give? Say it in xtask/src/docs/tables.rs");
    found.map(|(_, of_function)| *of_function).with_context(what)
}

/// `HeldEqual` → `held equal`.
fn words(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !text.is_empty() {
            text.push(' ');
        }
        text.extend(c.to_lowercase());
    }
    text
}
