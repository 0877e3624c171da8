//! One row of a store: read from JSON that may come from anyone, and written as it is stored and shared.

use super::text;
use model::{Heat, Import, Printed, Run, Slice, Start, page::Replays};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, to_value};

/// The kind of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "they are those of `Row`")]
pub enum Kind {
    Run,
    Ended,
    Heat,
    Start,
    Slice,
    Import,
    Replays,
    Report,
}

/// A row.
#[derive(Clone, Debug, PartialEq, JsonSchema)]
#[schemars(rename_all = "snake_case")]
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

impl Kind {
    const ALL: [Self; 8] = [
        Self::Run,
        Self::Ended,
        Self::Heat,
        Self::Start,
        Self::Slice,
        Self::Import,
        Self::Replays,
        Self::Report,
    ];

    /// The word as it stands in a file.
    pub fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Ended => "ended",
            Self::Heat => "heat",
            Self::Start => "start",
            Self::Slice => "slice",
            Self::Import => "import",
            Self::Replays => "replays",
            Self::Report => "report",
        }
    }

    /// The kind of this word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl Row {
    /// Its kind.
    pub fn kind(&self) -> Kind {
        match self {
            Self::Run(_) => Kind::Run,
            Self::Ended(_) => Kind::Ended,
            Self::Heat(_) => Kind::Heat,
            Self::Start(_) => Kind::Start,
            Self::Slice(_) => Kind::Slice,
            Self::Import(_) => Kind::Import,
            Self::Replays(_) => Kind::Replays,
            Self::Report(_) => Kind::Report,
        }
    }

    /// Checks a row that the store has; the error says what is wrong with it.
    pub fn checked(&self) -> Result<Checked, String> {
        let value = self.value().map_err(|error| text::quoted(&error.to_string()))?;
        Checked::of(self.kind(), value)
    }

    fn of(kind: Kind, value: &Value) -> serde_json::Result<Self> {
        Ok(match kind {
            Kind::Run => Self::Run(Box::deserialize(value)?),
            Kind::Ended => Self::Ended(String::deserialize(value)?),
            Kind::Heat => Self::Heat(Heat::deserialize(value)?),
            Kind::Start => Self::Start(Box::deserialize(value)?),
            Kind::Slice => Self::Slice(Slice::deserialize(value)?),
            Kind::Import => Self::Import(Box::deserialize(value)?),
            Kind::Replays => Self::Replays(Box::deserialize(value)?),
            Kind::Report => Self::Report(Box::deserialize(value)?),
        })
    }

    fn value(&self) -> serde_json::Result<Value> {
        match self {
            Self::Run(run) => to_value(run),
            Self::Ended(why) => to_value(why),
            Self::Heat(heat) => to_value(heat),
            Self::Start(start) => to_value(start),
            Self::Slice(slice) => to_value(slice),
            Self::Import(import) => to_value(import),
            Self::Replays(replays) => to_value(replays),
            Self::Report(report) => to_value(report),
        }
    }
}

impl Checked {
    /// Reads a row from what may come from anyone; the error says what is wrong with it, without control characters.
    pub fn of(kind: Kind, mut value: Value) -> Result<Self, String> {
        text::clean(&mut value)?;
        let wrong = |error: serde_json::Error| text::quoted(&error.to_string());
        let row = Row::of(kind, &value).map_err(wrong)?;
        let written = row.value().map_err(wrong)?;
        if let Some(key) = text::unknown_key(&value, &written) {
            return Err(format!("it has the key `{}`, which this drome does not know", text::quoted(key)));
        }
        Ok(Self { row, json: written.to_string(), sum: text::sum(&written) })
    }
}
