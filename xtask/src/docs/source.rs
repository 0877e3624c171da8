//! Reads from the source what serde reads and writes: the types with their keys, kinds, defaults and doc comments.
//! A serde attribute that is unknown here is an error, so that no page is wrong.

use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::Path;
use syn::{Attribute, Expr, ExprLit, Fields, GenericArgument, Item, Lit, LitStr, Meta, PathArguments, Type};

/// All types of some files, by name.
#[derive(Debug, Default)]
pub struct Types(pub BTreeMap<String, Declared>);

/// A type.
#[derive(Debug)]
pub struct Declared {
    /// Its doc comment.
    pub about: String,
    /// Its content.
    pub shape: Shape,
}

/// The content of a type.
#[derive(Debug)]
pub enum Shape {
    /// Keys and their values.
    Keys(Vec<Key>),
    /// A value that is one of several.
    Choice(Vec<Variant>),
}

/// A key of a table or an object.
#[derive(Debug)]
pub struct Key {
    /// The name, as it is written.
    pub name: String,
    /// The kind of its value.
    pub kind: Kind,
    /// Its doc comment.
    pub about: String,
    /// Its value if it is absent.
    pub absent: Absent,
    /// The function that checks its range, if there is one.
    pub checked: Option<String>,
}

/// The value of a key that is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Absent {
    /// The key is required.
    Required,
    /// The type's own default.
    Default,
    /// The result of this function.
    Function(String),
}

/// A value that is one of several.
#[derive(Debug)]
pub struct Variant {
    /// The word, as it is written.
    pub word: String,
    /// Its doc comment.
    pub about: String,
    /// Whether it is the default.
    pub is_default: bool,
    /// Its own keys.
    pub keys: Vec<Key>,
    /// Its own value, if it has one without keys.
    pub value: Option<Kind>,
}

/// The kind of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A type, by name.
    Named(String),
    /// A value that may be absent or null.
    Option(Box<Kind>),
    /// A list of values.
    List(Box<Kind>),
    /// Several values, by name.
    Map(Box<Kind>),
}

impl Types {
    /// Adds the types of a file.
    pub fn read(&mut self, file: &Path) -> Result<()> {
        let text = std::fs::read_to_string(file).with_context(|| format!("can't read {}", file.display()))?;
        let parsed = syn::parse_file(&text).with_context(|| format!("can't parse {}", file.display()))?;
        for item in parsed.items {
            let (name, declared) = match item {
                Item::Struct(item) if is_of_serde(&item.attrs) => {
                    let serde = Serde::read(&item.attrs)?;
                    let about = about(&item.attrs);
                    let Fields::Named(_) = item.fields else { continue };
                    let shape = Shape::Keys(keys(&item.fields, &serde)?);
                    (item.ident.to_string(), Declared { about, shape })
                }
                Item::Enum(item) if is_of_serde(&item.attrs) => {
                    let serde = Serde::read(&item.attrs)?;
                    let variants = item.variants.iter().map(|v| variant(v, &serde)).collect::<Result<_>>()?;
                    (
                        item.ident.to_string(),
                        Declared { about: about(&item.attrs), shape: Shape::Choice(variants) },
                    )
                }
                _ => continue,
            };
            self.0.insert(name, declared);
        }
        Ok(())
    }
}

/// Whether a type derives serde's code.
fn is_of_serde(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("derive") => list.tokens.to_string().contains("erialize"),
        _ => false,
    })
}

fn keys(fields: &Fields, of: &Serde) -> Result<Vec<Key>> {
    let mut keys = Vec::new();
    for field in fields {
        let serde = Serde::read(&field.attrs)?;
        let Some(name) = &field.ident else { bail!("a field without a name is not described") };
        if serde.is_skipped {
            continue;
        }
        let kind = kind(&field.ty)?;
        let absent = match (serde.absent, of.absent.is_some() || matches!(kind, Kind::Option(_))) {
            (Some(absent), _) => absent,
            (None, true) => Absent::Default,
            (None, false) => Absent::Required,
        };
        let name = serde.rename.unwrap_or_else(|| name.to_string());
        keys.push(Key { name, kind, about: about(&field.attrs), absent, checked: serde.checked });
    }
    Ok(keys)
}

fn variant(variant: &syn::Variant, of: &Serde) -> Result<Variant> {
    let serde = Serde::read(&variant.attrs)?;
    let word = serde.rename.unwrap_or_else(|| renamed(&variant.ident.to_string(), of.rename_all.as_deref()));
    let (keys, value) = match &variant.fields {
        Fields::Unit => (Vec::new(), None),
        named @ Fields::Named(_) => (keys(named, &Serde::default())?, None),
        Fields::Unnamed(values) => {
            (Vec::new(), values.unnamed.first().map(|field| kind(&field.ty)).transpose()?)
        }
    };
    let is_default = variant.attrs.iter().any(|a| a.path().is_ident("default"));
    Ok(Variant { word, about: about(&variant.attrs), is_default, keys, value })
}

/// A variant's name as serde writes it.
fn renamed(ident: &str, style: Option<&str>) -> String {
    let apart = |by: &str| {
        let mut word = String::new();
        for c in ident.chars() {
            if c.is_uppercase() && !word.is_empty() {
                word.push_str(by);
            }
            word.extend(c.to_lowercase());
        }
        word
    };
    match style {
        Some("kebab-case") => apart("-"),
        Some("snake_case") => apart("_"),
        Some("UPPERCASE") => ident.to_uppercase(),
        _ => ident.to_owned(),
    }
}

fn kind(of: &Type) -> Result<Kind> {
    match of {
        Type::Reference(reference) => kind(&reference.elem),
        Type::Slice(slice) => Ok(Kind::List(Box::new(kind(&slice.elem)?))),
        Type::Array(array) => Ok(Kind::List(Box::new(kind(&array.elem)?))),
        Type::Path(path) => {
            let last = path.path.segments.last().context("a type without a name")?;
            let mut inner = Vec::new();
            if let PathArguments::AngleBracketed(arguments) = &last.arguments {
                for argument in &arguments.args {
                    if let GenericArgument::Type(argument) = argument {
                        inner.push(kind(argument)?);
                    }
                }
            }
            let name = last.ident.to_string();
            Ok(match (name.as_str(), inner.pop().map(Box::new)) {
                ("Option", Some(inner)) => Kind::Option(inner),
                ("Vec", Some(inner)) => Kind::List(inner),
                ("BTreeMap", Some(inner)) => Kind::Map(inner),
                ("Box", Some(inner)) => *inner,
                _ => Kind::Named(name),
            })
        }
        // In JSON a list; those that are described have values of one kind.
        Type::Tuple(tuple) => {
            let first = tuple.elems.first().context("a value without parts is not described")?;
            Ok(Kind::List(Box::new(kind(first)?)))
        }
        _ => bail!("a type that is neither a name, a list nor a map is not described"),
    }
}

/// The doc comment as one paragraph; links to other items are just their names.
fn about(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::NameValue(pair) if pair.path.is_ident("doc") => match &pair.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    });
    lines.collect::<Vec<_>>().join(" ").replace("[`", "`").replace("`]", "`")
}

/// The serde attributes of an item.
#[derive(Debug, Default)]
struct Serde {
    rename: Option<String>,
    rename_all: Option<String>,
    absent: Option<Absent>,
    checked: Option<String>,
    is_skipped: bool,
}

impl Serde {
    fn read(attributes: &[Attribute]) -> Result<Self> {
        let mut found = Self::default();
        for attribute in attributes.iter().filter(|a| a.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| {
                let name = meta.path.get_ident().map(ToString::to_string).unwrap_or_default();
                let text = meta.value().ok().map(|v| v.parse::<LitStr>().map(|t| t.value())).transpose()?;
                match (name.as_str(), text) {
                    ("rename", text) => found.rename = text,
                    ("rename_all", text) => found.rename_all = text,
                    ("default", None) => found.absent = Some(Absent::Default),
                    ("default", Some(function)) => found.absent = Some(Absent::Function(function)),
                    ("with" | "deserialize_with", text) => found.checked = text,
                    ("skip" | "skip_serializing", None) => found.is_skipped = true,
                    ("deny_unknown_fields" | "untagged", None) | ("skip_serializing_if", Some(_)) => {}
                    (other, _) => return Err(meta.error(format!("serde's `{other}` is not known here"))),
                }
                Ok(())
            })?;
        }
        Ok(found)
    }
}
