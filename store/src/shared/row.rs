//! One row of a store: read from JSON that may come from anyone, and written as it is stored and shared.

use super::text;
use model::{Heat, Import, Printed, Run, Slice, Start, page::Replays};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, to_value};

/// A row. In JSON it is an object with one key, its kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// What a run is about.
    Run(Box<Run>),
    /// Why it ended.
    Ended(String),
    /// A heat of a run.
    Heat(Heat),
    /// A start in a heat.
    Start(Box<Start>),
    /// A turn of a start.
    Slice(Slice),
    /// Reports of other tools.
    Import(Box<Import>),
    /// The results of a page's own command lines.
    Replays(Box<Replays>),
    /// The report of one measurement.
    Report(Box<Printed>),
}

/// A row whose texts, keys and numbers are checked, and its JSON in the one form in which it is stored and shared.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The row.
    pub row: Row,
    /// Its JSON, on one line.
    pub json: String,
    /// The sum of its numbers.
    pub(super) sum: u128,
}

impl Row {
    /// Its kind, as it stands in a file.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Run(_) => "run",
            Self::Ended(_) => "ended",
            Self::Heat(_) => "heat",
            Self::Start(_) => "start",
            Self::Slice(_) => "slice",
            Self::Import(_) => "import",
            Self::Replays(_) => "replays",
            Self::Report(_) => "report",
        }
    }

    /// Checks a row that the store has; the error says what is wrong with it.
    pub fn checked(&self) -> Result<Checked, String> {
        Checked::of(to_value(self).map_err(|error| text::told(&error))?)
    }
}

impl Checked {
    /// Reads a row from what may come from anyone; the error says what is wrong with it, without control characters.
    pub fn of(mut value: Value) -> Result<Self, String> {
        text::clean(&mut value)?;
        let row = Row::deserialize(&value).map_err(|error| text::told(&error))?;
        let written = to_value(&row).map_err(|error| text::told(&error))?;
        if let Some(key) = text::unknown_key(&value, &written) {
            return Err(format!("it has the key `{}`, which this drome does not know", text::quoted(key)));
        }
        Ok(Self { row, json: written.to_string(), sum: text::sum(&written) })
    }
}
