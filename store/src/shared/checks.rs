//! Whether rows fit together: in the right order, with what they refer to, and with numbers that can be added up.

use super::known::{KnownRun, time};
use super::row::{Checked, Row};
use super::text;
use model::page::Replays;
use model::{Import, Printed};

/// The largest sum of all numbers that were measured in an entry, so that no sum of any of them overflows.
const LARGEST_SUM: u128 = 1 << 63;

/// The checks of one entry, row by row.
#[derive(Debug, Default)]
pub struct Checks {
    begun: Begun,
    sum: u128,
}

#[derive(Debug, Default)]
enum Begun {
    /// Nothing yet.
    #[default]
    No,
    /// A run, of which more rows may follow.
    Run(Box<KnownRun>),
    /// Something that has one row, which was there.
    Whole,
}

impl Checks {
    /// Whether the entry has what it must have.
    pub fn is_whole(&self) -> bool {
        !matches!(self.begun, Begun::No)
    }

    /// Takes the next row; the error says what is wrong with it.
    pub fn take(&mut self, checked: &Checked) -> Result<(), String> {
        // What a run is about has limits of the system, which may be any number and are not added up.
        if !matches!(checked.row, Row::Run(_)) {
            self.sum = self.sum.saturating_add(checked.sum);
        }
        if self.sum > LARGEST_SUM {
            return Err("its numbers are larger than any measurement's".to_owned());
        }
        match (&checked.row, &mut self.begun) {
            (Row::Run(run), Begun::No) => {
                ensure_id(&run.id)?;
                self.begun = Begun::Run(Box::new(KnownRun::of(run)?));
                Ok(())
            }
            (Row::Import(import), Begun::No) => self.whole(check_import(import)),
            (Row::Replays(replays), Begun::No) => self.whole(check_replays(replays)),
            (Row::Report(report), Begun::No) => self.whole(check_report(report)),
            (Row::Ended(_), Begun::Run(known)) => known.end(),
            (Row::Heat(heat), Begun::Run(known)) => known.heat(heat),
            (Row::Start(start), Begun::Run(known)) => known.start(start),
            (Row::Slice(slice), Begun::Run(known)) => known.slice(slice),
            (row, _) => Err(format!("a row of the kind {} can't be here", row.kind())),
        }
    }

    fn whole(&mut self, checked: Result<(), String>) -> Result<(), String> {
        self.begun = Begun::Whole;
        checked
    }
}

fn ensure_id(id: &str) -> Result<(), String> {
    if text::is_id(id) {
        return Ok(());
    }
    Err(format!(
        "`{}` can't be the name of a run: one is like 20261123-170000-1a2b3c4d5e6f7a8b",
        text::quoted(id)
    ))
}

fn check_import(import: &Import) -> Result<(), String> {
    ensure_id(&import.id)?;
    time(&import.imported_at)?;
    let sources = import.sources.len();
    match import.items.iter().find(|item| item.source >= sources) {
        Some(item) => Err(format!("there is no source number {}", item.source)),
        None => Ok(()),
    }
}

fn check_replays(replays: &Replays) -> Result<(), String> {
    ensure_id(&replays.id)?;
    if !text::is_name(&replays.name) {
        return Err(format!("`{}` can't be a name", text::quoted(&replays.name)));
    }
    time(&replays.started_at)
}

fn check_report(report: &Printed) -> Result<(), String> {
    ensure_id(&report.id)?;
    time(&report.started_at)?;
    match serde_json::from_str::<serde::de::IgnoredAny>(&report.json) {
        Ok(_) => Ok(()),
        Err(_) => Err("its JSON is not valid".to_owned()),
    }
}
