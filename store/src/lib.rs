//! The results: one `SQLite` file. Every cell of a heat is committed at once, so that a kill loses at most the running one. A
//! file that this drome does not understand is never written to.

mod error;
mod exchange;
mod heats;
mod origin;
mod profiles;
pub mod shared;
mod tables;

pub use error::StoreError;
pub use exchange::{ExportError, Pulled};
pub use model::Printed;
pub use profiles::ProfileRow;

use error::{LOCK_PATIENCE, sqlite};
use model::page::Replays;
use model::{Import, Run};
use rusqlite::{Connection, OpenFlags, OptionalExtension, params};
use std::path::{Path, PathBuf};
use tables::{APPLICATION_ID, OLDEST, VERSION, make};

/// An open store.
#[derive(Debug)]
pub struct Store {
    path: PathBuf,
    db: Connection,
}

/// A run as the store lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// Its name.
    pub id: String,
    /// The name of its study.
    pub name: String,
    /// What a report is headed by: the study's title, the labels of a race, the title of an import.
    pub title: String,
    /// When it began, in RFC 3339, UTC.
    pub started_at: String,
    /// Why it ended; `None`: it has not.
    pub ended: Option<String>,
    /// The kind of its entries.
    pub kind: EntryKind,
    /// The number of its entries.
    pub count: usize,
    /// The name of the machine that it was pulled from; `None`: this machine measured it.
    pub machine: Option<String>,
}

impl Listed {
    /// The word for one entry: that of its kind, or the command of a single measurement.
    pub fn word(&self) -> &'static str {
        let command = Printed::command_of(&self.name).filter(|_| self.kind == EntryKind::Report);
        command.unwrap_or(self.kind.word())
    }
}

/// The kind of a run's entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// Starts, measured in heats.
    Starts,
    /// Figures that were read, not measured.
    Readings,
    /// A page's own command lines, each run once.
    CommandLines,
    /// The report of one measurement, as it was printed.
    Report,
}

impl EntryKind {
    /// All of them. Those after the first have one row, and the store knows them by their places here.
    const ALL: [Self; 4] = [Self::Starts, Self::Readings, Self::CommandLines, Self::Report];

    fn of(place: i64) -> Self {
        usize::try_from(place).ok().and_then(|place| Self::ALL.get(place).copied()).unwrap_or(Self::Report)
    }

    /// The word for one entry.
    pub fn word(self) -> &'static str {
        match self {
            Self::Starts => "start",
            Self::Readings => "reading",
            Self::CommandLines => "command line",
            Self::Report => "measurement",
        }
    }

    /// Whether drome measured it and can compare it.
    pub fn is_measured(self) -> bool {
        self == Self::Starts
    }
}

/// A stamp that differs after every change of a run: one more start, its end, a larger budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    json: String,
    ended: Option<String>,
    measured: i64,
}

/// What the store has under a name.
#[derive(Clone, Debug, PartialEq)]
pub enum Stored {
    /// A run, and why it ended.
    Run(Box<Run>, Option<String>),
    /// What was read from pages.
    Import(Import),
    /// The results of a page's own command lines.
    Replays(Box<Replays>),
    /// The report of one measurement.
    Printed(Printed),
}

impl Store {
    /// The lock file by which one drome at a time works on a run: beside the store, by whatever name that was opened.
    pub fn lock(&self, run: &str) -> PathBuf {
        let mut lock = self.path.canonicalize().unwrap_or_else(|_| self.path.clone()).into_os_string();
        lock.push(format!(".{run}.lock"));
        lock.into()
    }

    /// Opens the file, or creates it.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|source| StoreError::Folder { path: path.to_owned(), source })?;
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE;
        let wrap = |source| sqlite(path, source);
        let mut db = Connection::open_with_flags(path, flags).map_err(wrap)?;
        db.busy_timeout(LOCK_PATIENCE).map_err(wrap)?;
        let pragma = |name: &str| db.query_row(&format!("pragma {name}"), [], |row| row.get::<_, i64>(0));
        let is_empty = pragma("page_count").map_err(wrap)? == 0;
        let (id, version) = (pragma("application_id").map_err(wrap)?, pragma("user_version").map_err(wrap)?);
        if !is_empty && id != APPLICATION_ID {
            return Err(StoreError::Foreign { path: path.to_owned() });
        }
        if version > VERSION {
            return Err(StoreError::Newer { path: path.to_owned(), found: version });
        }
        if !is_empty && version < OLDEST {
            return Err(StoreError::Older { path: path.to_owned(), found: version });
        }
        if version < VERSION {
            make(&mut db).map_err(wrap)?;
        }
        Ok(Self { path: path.to_owned(), db })
    }

    /// Adds a run.
    pub fn add_run(&self, run: &Run) -> Result<(), StoreError> {
        let json = self.json(run)?;
        let sql = "insert into run (id, name, started_at, json) values (?, ?, ?, ?)";
        self.db.execute(sql, params![run.id, run.name, run.started_at, json]).map_err(|e| self.wrap(e))?;
        Ok(())
    }

    /// Records why a run ended.
    pub fn end_run(&self, id: &str, why: &str) -> Result<(), StoreError> {
        self.db
            .execute("update run set ended = ? where id = ?", params![why, id])
            .map_err(|e| self.wrap(e))?;
        Ok(())
    }

    /// Records that a run continues, perhaps with a larger budget. A run that was pulled is never continued.
    pub fn reopen_run(&self, run: &Run) -> Result<(), StoreError> {
        if let Some(origin) = self.origin(&run.id)? {
            return Err(StoreError::Pulled { run: run.id.clone(), machine: origin.machine });
        }
        let json = self.json(run)?;
        self.db
            .execute("update run set json = ?, ended = null where id = ?", params![json, run.id])
            .map_err(|e| self.wrap(e))?;
        Ok(())
    }

    /// Adds readings of pages.
    pub fn add_import(&self, import: &Import) -> Result<(), StoreError> {
        let Import { id, title, imported_at, items, .. } = import;
        self.add_entry(EntryKind::Readings, [id, title, imported_at], Some("imported"), (items.len(), import))
    }

    /// Stores the results of a page's command lines, in place of earlier ones.
    pub fn keep_replays(&self, replays: &Replays) -> Result<(), StoreError> {
        let Replays { id, name, started_at, is_whole, replays: all, .. } = replays;
        let ended = is_whole.then_some("as published");
        self.add_entry(EntryKind::CommandLines, [id, name, started_at], ended, (all.len(), replays))
    }

    /// Adds the report of one measurement.
    pub fn add_printed(&self, printed: &Printed) -> Result<(), StoreError> {
        let Printed { id, title, started_at, ended, .. } = printed;
        self.add_entry(EntryKind::Report, [id, title, started_at], Some(ended), (1, printed))
    }

    /// Adds what has one row, with the number of its parts.
    fn add_entry(
        &self,
        kind: EntryKind,
        [id, name, started_at]: [&String; 3],
        ended: Option<&str>,
        (count, entry): (usize, &impl serde::Serialize),
    ) -> Result<(), StoreError> {
        let insert = if kind == EntryKind::CommandLines { "insert or replace" } else { "insert" };
        let sql = format!(
            "{insert} into entry (id, kind, name, started_at, ended, count, json) values (?, ?, ?, ?, ?, ?, ?)"
        );
        let values = params![id, kind as i64, name, started_at, ended, count as i64, self.json(entry)?];
        self.db.execute(&sql, values).map_err(|e| self.wrap(e))?;
        Ok(())
    }

    /// All runs that were measured, the latest first.
    pub fn runs(&self) -> Result<Vec<Listed>, StoreError> {
        let mut all = self.everything()?;
        all.retain(|listed| listed.kind.is_measured());
        Ok(all)
    }

    /// All runs, imports, pages' own command lines and single measurements, the latest first.
    pub fn everything(&self) -> Result<Vec<Listed>, StoreError> {
        let sql = "select id, name, started_at, ended, (select count(*) from start where run = run.id and contender <> 'hub'), 0, rowid as nth,
                          case when json_valid(json) then json_extract(json, '$.study.title') end,
                          (select machine from origin where origin.id = run.id)
                   from run
                   union all select id, name, started_at, ended, count, kind, rowid, name,
                          (select machine from origin where origin.id = entry.id) from entry
                   order by 3 desc, 6 desc, 7 desc";
        let read = || -> rusqlite::Result<Vec<Listed>> {
            let mut query = self.db.prepare(sql)?;
            let rows = query.query_map([], |row| {
                let name: String = row.get(1)?;
                let title: Option<String> = row.get(7)?;
                Ok(Listed {
                    id: row.get(0)?,
                    title: title.unwrap_or_else(|| name.clone()),
                    name,
                    started_at: row.get(2)?,
                    ended: row.get(3)?,
                    kind: EntryKind::of(row.get(5)?),
                    count: row.get::<_, i64>(4)? as usize,
                    machine: row.get(8)?,
                })
            })?;
            rows.collect()
        };
        read().map_err(|e| self.wrap(e))
    }

    /// Finds what is stored under a name, or the latest.
    pub fn find(&self, id: Option<&str>) -> Result<Stored, StoreError> {
        let id = match id {
            Some(id) => id.to_owned(),
            None => self.everything()?.first().map(|listed| listed.id.clone()).ok_or(StoreError::Empty)?,
        };
        let sql = "select kind, json from entry where id = ?";
        let read = |row: &rusqlite::Row<'_>| Ok((EntryKind::of(row.get(0)?), row.get::<_, String>(1)?));
        let entry = self.db.query_row(sql, [&id], read).optional().map_err(|e| self.wrap(e))?;
        match entry {
            Some((EntryKind::Readings, json)) => return Ok(Stored::Import(self.parse(&json)?)),
            Some((EntryKind::CommandLines, json)) => {
                return Ok(Stored::Replays(Box::new(self.parse(&json)?)));
            }
            Some((EntryKind::Report, json)) => return Ok(Stored::Printed(self.parse(&json)?)),
            Some((EntryKind::Starts, _)) | None => {}
        }
        let (run, ended) = self.run(&id)?;
        Ok(Stored::Run(Box::new(run), ended))
    }

    /// Reads a run by its name, and why it ended.
    pub fn run(&self, id: &str) -> Result<(Run, Option<String>), StoreError> {
        let found = self
            .db
            .query_row("select json, ended from run where id = ?", [id], |row| {
                Ok((row.get::<_, String>(0)?, row.get::<_, Option<String>>(1)?))
            })
            .optional()
            .map_err(|e| self.wrap(e))?;
        let (json, ended) = found.ok_or_else(|| StoreError::NoRun(id.to_owned()))?;
        if json.contains(r#""blocks":["#) && !json.contains(r#""rounds":["#) {
            return Err(StoreError::Blocks(id.to_owned()));
        }
        Ok((self.parse(&json)?, ended))
    }

    /// Reads the stamp of a run; `None`: there is no such run.
    pub fn stamp(&self, id: &str) -> Result<Option<Stamp>, StoreError> {
        let sql =
            "select json, ended, (select coalesce(sum(1 + cells + is_over), 0) from start where run = run.id)
             from run where id = ?";
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Stamp { json: row.get(0)?, ended: row.get(1)?, measured: row.get(2)? })
        };
        self.db.query_row(sql, [id], read).optional().map_err(|e| self.wrap(e))
    }

    fn json<T: serde::Serialize>(&self, value: &T) -> Result<String, StoreError> {
        serde_json::to_string(value).map_err(|e| self.damaged(&e))
    }

    fn parse<T: serde::de::DeserializeOwned>(&self, json: &str) -> Result<T, StoreError> {
        serde_json::from_str(json).map_err(|e| self.damaged(&e))
    }

    fn damaged(&self, what: &serde_json::Error) -> StoreError {
        let path = self.path.clone();
        match shared::unknown_word(what) {
            Some(word) => StoreError::UnknownWord { path, word },
            None => StoreError::Damaged { path, what: what.to_string() },
        }
    }

    fn wrap(&self, source: rusqlite::Error) -> StoreError {
        sqlite(&self.path, source)
    }
}

#[cfg(test)]
mod tests;
