//! The JSON Schema of every format: of the files that people write, and of the JSON that drome prints.

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_of_runs;

use crate::command::race_file::RaceFile;
use clap::builder::{PossibleValue, PossibleValuesParser};
use control::doctor::Examination;
use lab::fleet::{Committed, Spec};
use model::inspection::Inspection;
use model::page::Replay;
use model::{Comparison, Contender, Findings, Forecast, GateVerdict, History, Study, Sweep, Workload};
use report::{imported, load_json};
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;
use schemars::{JsonSchema, Schema};
use serde_json::Value;
use std::path::Path;
use store::shared::Line;

/// The address of the schemas on the documentation's website.
const SITE: &str = "https://drome-bench.github.io/drome/schemas";

/// A format and its schema.
#[derive(Debug)]
pub struct Format {
    /// Its name, which is also that of its file in docs/schemas.
    pub name: &'static str,
    /// The files or the output that have this format.
    pub title: &'static str,
    schema: fn() -> Schema,
}

/// Every format: first the files that people write, then what drome prints.
pub const FORMATS: &[Format] = &[
    Format { name: "contender", title: "contenders/NAME/contender.toml", schema: accepted::<Contender> },
    Format { name: "workload", title: "workloads/NAME.toml", schema: accepted::<Workload> },
    Format { name: "study", title: "studies/NAME.toml", schema: accepted::<Study> },
    Format { name: "race", title: "drome.toml", schema: accepted::<RaceFile> },
    Format { name: "load", title: "drome load --format json", schema: printed::<load_json::Report<'static>> },
    Format {
        name: "report",
        title: "drome report --format json, and the same of drome run and drome race",
        schema: printed::<Findings>,
    },
    Format {
        name: "import",
        title: "drome import --format json, and drome report of an import",
        schema: printed::<imported::Report<'static>>,
    },
    Format { name: "sweep", title: "drome sweep --format json", schema: printed::<Sweep> },
    Format { name: "compare", title: "drome compare --format json", schema: printed::<Comparison> },
    Format {
        name: "verdict",
        title: "drome race --verdict FILE.json, and the same of drome compare",
        schema: printed::<GateVerdict>,
    },
    Format { name: "history", title: "drome history --format json", schema: printed::<History> },
    Format { name: "plan", title: "drome run --dry-run --format json", schema: printed::<Forecast> },
    Format {
        name: "profile",
        title: "drome load --profile FILE.json, and the same of drome race and drome run",
        schema: printed::<profile::Report>,
    },
    Format { name: "verify", title: "drome verify --format json", schema: printed::<Vec<Inspection>> },
    Format { name: "doctor", title: "drome doctor --format json", schema: printed::<Examination> },
    Format {
        name: "as-published",
        title: "drome run --as-published --format json",
        schema: printed::<Vec<Replay>>,
    },
    Format {
        name: "heat",
        title: "a line of drome heat owed, and the file that drome heat measure reads",
        schema: printed::<Spec>,
    },
    Format { name: "heat-commit", title: "a line of drome heat commit", schema: printed::<Committed> },
    Format {
        name: "runs",
        title: "a line of the files of drome push and of drome heat measure",
        schema: printed::<Line>,
    },
];

/// The names of all formats, for the command line.
pub fn names() -> PossibleValuesParser {
    PossibleValuesParser::new(FORMATS.iter().map(|f| PossibleValue::new(f.name).help(f.title)))
}

/// The format of this name.
pub fn named(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}

/// Writes the schema of every format into a folder.
pub fn write(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    for format in FORMATS {
        std::fs::write(folder.join(format!("{}.json", format.name)), format.text()?)?;
    }
    Ok(())
}

impl Format {
    /// Its schema as a file.
    pub fn text(&self) -> serde_json::Result<String> {
        let mut schema = (self.schema)();
        schema.insert("$id".to_owned(), format!("{SITE}/{}.json", self.name).into());
        schema.insert("title".to_owned(), self.title.into());
        serde_json::to_string_pretty(&schema).map(|text| text + "\n")
    }
}

/// The schema of a file that people write.
fn accepted<T: JsonSchema>() -> Schema {
    of::<T>(SchemaSettings::draft07().for_deserialize(), for_toml)
}

/// The schema of JSON that drome prints.
fn printed<T: JsonSchema>() -> Schema {
    of::<T>(SchemaSettings::draft07().for_serialize(), for_output)
}

/// The schema of a type, with `plain` and `mend` applied to every part of it. Both callers use draft 7, the latest that all editors know.
fn of<T: JsonSchema>(draft: SchemaSettings, mend: fn(&mut Schema)) -> Schema {
    let settings = draft.with_transform(RecursiveTransform(plain)).with_transform(RecursiveTransform(mend));
    settings.into_generator().into_root_schema_for::<T>()
}

/// Puts a doc comment on one line, and leaves out what only Rust knows: links to items and sizes of numbers.
fn plain(schema: &mut Schema) {
    schema.remove("format");
    if let Some(Value::String(text)) = schema.get_mut("description") {
        let words: Vec<&str> = text.split_whitespace().collect();
        *text = words.join(" ").replace("[`", "`").replace("`]", "`");
    }
}

/// Removes null, because TOML has none: a key without a value is left out. Also removes defaults that are whole tables, which tell nothing.
fn for_toml(schema: &mut Schema) {
    if let Some(only) = without_null(schema.get_mut("type"), |kind| kind == "null") {
        schema.insert("type".to_owned(), only);
    }
    if let Some(only) = without_null(schema.get_mut("anyOf"), |option| option["type"] == "null") {
        schema.remove("anyOf");
        schema.insert("allOf".to_owned(), Value::Array(vec![only]));
    }
    if matches!(schema.get("default"), Some(Value::Null | Value::Object(_))) {
        schema.remove("default");
    }
}

/// Takes null out of a list of choices, and returns the remaining choice if there is only one.
fn without_null(choices: Option<&mut Value>, is_null: impl Fn(&Value) -> bool) -> Option<Value> {
    let choices = choices?.as_array_mut()?;
    choices.retain(|choice| !is_null(choice));
    match choices.as_slice() {
        [only] => Some(only.clone()),
        _ => None,
    }
}

/// Allows further keys, which later versions may print, and removes defaults, because drome prints a key even if it has its default.
fn for_output(schema: &mut Schema) {
    schema.remove("default");
    if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
        schema.remove("additionalProperties");
    }
}
