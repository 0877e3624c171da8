//! Writes a JSON Schema as a page: every table or object with its keys, their kinds, defaults and descriptions.

use crate::links::slug;
use anyhow::{Context, Result};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};

/// The syntax that a page describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// A file that people write, in which keys have defaults.
    Toml,
    /// JSON that drome prints, in which all keys are present, and unknown values are null.
    Json,
}

/// Definitions of single values whose schemas are patterns, in words.
const IN_WORDS: &[(&str, &str)] = &[
    ("Rate", "rate: a number, or a ramp `\"1k..20k/30s\"` or steps `\"1k,5k,20k/10s\"` as text"),
    (
        "Workers",
        "whole number of at least 1, or a formula: `\"cores\"` (one for each core that servers have), `\"2 x cores\"`, `\"2 x cores + 1\"`",
    ),
    ("Cap", "whole number, or `\"unlimited\"`"),
];

/// The name of the whole schema among its definitions.
const WHOLE: &str = "";

/// The sections of a page, with the keys of each table.
pub fn sections(schema: &Value, syntax: Syntax) -> Result<String> {
    let mut walk = Walk { schema, syntax, uses: BTreeMap::new(), places: Vec::new() };
    walk.visit()?;
    let mut text = String::new();
    for (name, path) in &walk.places {
        let part = walk.definition(name);
        if *name != WHOLE {
            text.push_str(&format!("\n## {}\n\n{}\n", walk.heading(name, path), about(part)));
        }
        text.push('\n');
        text.push_str(&if is_table(part) { walk.table(part)? } else { walk.choice(part)? });
    }
    Ok(text)
}

struct Walk<'s> {
    schema: &'s Value,
    syntax: Syntax,
    /// How often each definition is used.
    uses: BTreeMap<&'s str, usize>,
    /// The definitions in order of appearance, with the first place of each.
    places: Vec<(&'s str, String)>,
}

/// The part of a schema that says what a value is.
struct Kind<'s> {
    schema: &'s Value,
    /// The definition's name, if the part is one.
    name: Option<&'s str>,
    may_be_null: bool,
}

/// A key of a table or an object.
struct Key<'s> {
    name: &'s str,
    schema: &'s Value,
    is_required: bool,
}

/// A value that is one of several: a word, or a key with a value, which may have keys of its own.
struct Variant<'s> {
    word: &'s str,
    about: &'s str,
    value: Option<&'s Value>,
    keys: Vec<Key<'s>>,
}

impl<'s> Walk<'s> {
    /// Notes all definitions. It goes breadth first, so that a page reads from the outside in.
    fn visit(&mut self) -> Result<()> {
        let mut queue = VecDeque::from([(WHOLE, String::new())]);
        while let Some((name, path)) = queue.pop_front() {
            let uses = self.uses.entry(name).or_default();
            *uses += 1;
            if *uses > 1 {
                continue;
            }
            self.places.push((name, path.clone()));
            let part = self.definition(name);
            let of_variant = |variant: Variant<'s>| {
                let value = variant.value.map(|schema| (variant.word, schema));
                variant.keys.into_iter().map(|key| (key.name, key.schema)).chain(value).collect::<Vec<_>>()
            };
            let mut inner: Vec<_> = keys(part).into_iter().map(|key| (key.name, key.schema)).collect();
            inner.extend(variants(part)?.into_iter().flat_map(of_variant));
            for (key, schema) in inner {
                let (innermost, steps) = self.innermost(schema);
                if let Some(innermost) = innermost.filter(|name| self.is_section(name)) {
                    let dot = if path.is_empty() { "" } else { "." };
                    queue.push_back((innermost, format!("{path}{dot}{key}{steps}")));
                }
            }
        }
        Ok(())
    }

    fn definition(&self, name: &str) -> &'s Value {
        if name == WHOLE { self.schema } else { &self.schema["definitions"][name] }
    }

    /// What a value is, behind references and the choice between a value and null.
    fn kind(&self, mut schema: &'s Value) -> Kind<'s> {
        let (mut name, mut may_be_null) = (None, false);
        loop {
            let options = schema["anyOf"].as_array().or(schema["allOf"].as_array());
            let others = || options.into_iter().flatten().filter(|option| option["type"] != "null");
            if let Some(reference) = schema["$ref"].as_str() {
                name = reference.rsplit('/').next();
                schema = self.definition(name.unwrap_or(WHOLE));
            } else if others().count() == 1 {
                may_be_null |= options.is_some_and(|options| options.len() > 1);
                schema = others().next().unwrap_or(schema);
            } else {
                may_be_null |= schema["type"].as_array().is_some_and(|types| types.contains(&"null".into()));
                return Kind { schema, name, may_be_null };
            }
        }
    }

    /// The innermost definition of a value, and the path to it.
    fn innermost(&self, schema: &'s Value) -> (Option<&'s str>, String) {
        let Kind { schema, name, .. } = self.kind(schema);
        let (inside, step) = match (schema.get("items"), by_name(schema)) {
            _ if name.is_some() => return (name, String::new()),
            (Some(items), _) => (items, "[]"),
            (None, Some(each)) => (each, ".*"),
            (None, None) => return (None, String::new()),
        };
        let (name, steps) = self.innermost(inside);
        (name, format!("{step}{steps}"))
    }

    /// Whether a definition has a section of its own, because it has keys or words with descriptions.
    fn is_section(&self, name: &str) -> bool {
        let part = self.definition(name);
        !IN_WORDS.iter().any(|(plain, _)| *plain == name) && (is_table(part) || part["oneOf"].is_array())
    }

    /// The heading: the definition's place if there is only one, else its name.
    fn heading(&self, name: &str, path: &str) -> String {
        if self.uses.get(name).is_some_and(|uses| *uses > 1) {
            return words(name);
        }
        let (bare, is_list) = (path.replace("[]", "").replace(".*", ".NAME"), path.ends_with("[]"));
        match (self.syntax, is_table(self.definition(name))) {
            (Syntax::Toml, true) if is_list => format!("`[[{bare}]]`"),
            (Syntax::Toml, true) => format!("`[{bare}]`"),
            (Syntax::Toml, false) => format!("`{bare}`"),
            (Syntax::Json, _) => format!("`{path}`"),
        }
    }

    fn table(&self, part: &'s Value) -> Result<String> {
        let rows = keys(part).iter().map(|key| self.row(key.name, key)).collect::<Result<String>>()?;
        Ok(format!("{}{rows}", self.head()))
    }

    fn head(&self) -> &'static str {
        match self.syntax {
            Syntax::Toml => "| key | value | default | what it is |\n| --- | --- | --- | --- |\n",
            Syntax::Json => "| key | value | what it is |\n| --- | --- | --- |\n",
        }
    }

    fn row(&self, name: &str, key: &Key<'s>) -> Result<String> {
        let (value, about) = (self.value(key.schema)?, about(key.schema));
        Ok(match self.syntax {
            Syntax::Toml => format!("| `{name}` | {value} | {} | {about} |\n", default(key)),
            Syntax::Json => format!("| `{name}` | {value} | {about} |\n"),
        })
    }

    fn choice(&self, part: &'s Value) -> Result<String> {
        let all = variants(part)?;
        if all.iter().all(Variant::is_word) {
            let rows = all.iter().map(|v| format!("| `\"{}\"` | {} |\n", v.word, v.about));
            return Ok(format!("| word | what it is |\n| --- | --- |\n{}", rows.collect::<String>()));
        }
        let mut text = format!("One of these keys:\n\n{}", self.head());
        for variant in all {
            let dash = if self.syntax == Syntax::Toml { " |" } else { "" };
            let value = match variant.value {
                Some(schema) => self.value(schema)?,
                None if variant.is_word() => format!("the word `\"{}\"` by itself", variant.word),
                None => format!("{} of its own:", self.a_table()),
            };
            text.push_str(&format!("| `{}` | {value} |{dash} {} |\n", variant.word, variant.about));
            for key in &variant.keys {
                text.push_str(&self.row(&format!("{}.{}", variant.word, key.name), key)?);
            }
        }
        Ok(text)
    }

    fn a_table(&self) -> &'static str {
        if self.syntax == Syntax::Toml { "a table" } else { "an object" }
    }

    /// The kind of a value in words, with a link to its section.
    fn value(&self, schema: &'s Value) -> Result<String> {
        let Kind { schema, name, may_be_null } = self.kind(schema);
        let is_plain = |(plain, _): &&(&str, &str)| Some(*plain) == name;
        let text = if let Some((_, in_words)) = IN_WORDS.iter().find(is_plain) {
            (*in_words).to_owned()
        } else if let Some(name) = name.filter(|name| self.is_section(name)) {
            self.link(name)?
        } else if let Some(allowed) = schema["enum"].as_array() {
            format!(
                "one of {}",
                allowed.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ")
            )
        } else if let Some(items) = schema.get("items") {
            format!("list of {}", self.value(items)?)
        } else if let Some(each) = by_name(schema) {
            format!("{} by name: {}", self.a_table(), self.value(each)?)
        } else {
            self.single(schema).with_context(|| format!("{schema} is not described"))?
        };
        Ok(if may_be_null && self.syntax == Syntax::Json { format!("{text} or null") } else { text })
    }

    /// A link to the section of a definition.
    fn link(&self, name: &str) -> Result<String> {
        let (part, place) = (self.definition(name), self.places.iter().find(|(place, _)| *place == name));
        let anchor = slug(&self.heading(name, place.map_or("", |(_, path)| path)));
        let all = variants(part)?;
        Ok(if is_table(part) || !all.iter().all(Variant::is_word) {
            format!("[{}](#{anchor})", self.a_table())
        } else {
            let words: Vec<String> = all.iter().map(|v| format!("`\"{}\"`", v.word)).collect();
            format!("[one of](#{anchor}) {}", words.join(", "))
        })
    }

    /// A single value, with its range where people write it.
    fn single(&self, schema: &Value) -> Option<String> {
        let mut types =
            schema["type"].as_array().map_or_else(|| vec![&schema["type"]], |all| all.iter().collect());
        types.retain(|kind| **kind != "null");
        let kind = match types.first()?.as_str()? {
            "string" if schema["examples"][0] == "500ms" => "time, such as `\"500ms\"` or `\"2s\"`",
            "string" => "text",
            "boolean" => "`true` or `false`",
            "integer" => "whole number",
            "number" => "number",
            _ => return None,
        };
        let bound = |key: &str| schema[key].as_f64();
        let range = match (bound("minimum"), bound("maximum"), bound("exclusiveMaximum")) {
            _ if self.syntax == Syntax::Json => String::new(),
            (Some(least), Some(most), _) => format!(", from {least} to {most}"),
            (Some(least), None, Some(most)) => format!(", from {least} to below {most}"),
            (Some(least), None, None) if least > 0.0 => format!(", at least {least}"),
            _ => String::new(),
        };
        Some(format!("{kind}{range}"))
    }
}

impl Variant<'_> {
    fn is_word(&self) -> bool {
        self.value.is_none() && self.keys.is_empty()
    }
}

fn is_table(part: &Value) -> bool {
    part["properties"].is_object()
}

fn about(schema: &Value) -> &str {
    schema["description"].as_str().unwrap_or_default()
}

/// The schema of the values of a table whose keys are names.
fn by_name(schema: &Value) -> Option<&Value> {
    let each = schema["patternProperties"].as_object().and_then(|all| all.values().next());
    each.or(schema.get("additionalProperties").filter(|each| each.is_object()))
}

/// The keys of a table: first the required ones, in the order of their declaration, then the others by name.
fn keys(table: &Value) -> Vec<Key<'_>> {
    let required = || table["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let all = || table["properties"].as_object().into_iter().flatten().map(|(name, _)| name.as_str());
    let key = |is_required| move |name| Key { name, schema: &table["properties"][name], is_required };
    let others = all().filter(|name| !required().any(|other| other == *name));
    required().map(key(true)).chain(others.map(key(false))).collect()
}

/// The values of which a value is one.
fn variants(part: &Value) -> Result<Vec<Variant<'_>>> {
    let variant = |option| -> Result<Variant<'_>> {
        let of_word = |word| Variant { word, about: about(option), value: None, keys: Vec::new() };
        if let Some(word) = option["const"].as_str() {
            return Ok(of_word(word));
        }
        let properties =
            option["properties"].as_object().filter(|all| all.len() == 1).and_then(|all| all.iter().next());
        let (word, value) = properties.with_context(|| format!("{option} is not described"))?;
        let value = Some(value).filter(|value| !is_table(value));
        Ok(Variant { value, keys: keys(&option["properties"][word]), ..of_word(word) })
    };
    part["oneOf"].as_array().into_iter().flatten().map(variant).collect()
}

/// The value of a key that is absent.
fn default(key: &Key<'_>) -> String {
    match (&key.schema["default"], key.schema["type"].as_str()) {
        _ if key.is_required => "required".to_owned(),
        (Value::Null, Some("object")) => "none".to_owned(),
        (Value::Null, _) => "–".to_owned(),
        (Value::Array(none), _) if none.is_empty() => "none".to_owned(),
        (value, _) => format!("`{value}`"),
    }
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
