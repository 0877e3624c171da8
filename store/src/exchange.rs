//! What a store gives to others and takes from them: all rows under a name, in one state, and whole entries in one transaction.

use super::{Store, StoreError, Stored};
use crate::shared::{Digest, Row, SharedEntry, SharedError};
use model::heat::Start;
use model::{Origin, Run};
use rusqlite::{Transaction, TransactionBehavior};
use serde::de::DeserializeOwned;

/// Takes rows one by one.
type Take<'t> = dyn FnMut(Row) -> Result<(), SharedError> + 't;

/// Why rows can't be given to others.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The store can't be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A row can't be written.
    #[error(transparent)]
    Shared(#[from] SharedError),
}

/// The outcome of pulling an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pulled {
    /// It is stored now.
    New,
    /// The store had it.
    Already,
    /// The store has something else under its name, and keeps that.
    Differs {
        /// The digest of what the store has.
        here: String,
    },
}

impl Store {
    /// Gives all rows that are stored under a name, as they are at one moment.
    pub fn export(&self, id: &str, take: &mut Take<'_>) -> Result<(), ExportError> {
        let _one_state = self.db.unchecked_transaction().map_err(|e| self.wrap(e))?;
        match self.find(Some(id))? {
            Stored::Import(import) => take(Row::Import(Box::new(import)))?,
            Stored::Replays(replays) => take(Row::Replays(replays))?,
            Stored::Printed(printed) => take(Row::Report(Box::new(printed)))?,
            Stored::Run(run, ended) => self.export_run(run, ended, take)?,
        }
        Ok(())
    }

    /// The digest of what is stored under a name; `None`: nothing is.
    pub fn digest(&self, id: &str) -> Result<Option<String>, ExportError> {
        let mut digest = Digest::default();
        let added = self.export(id, &mut |row| {
            let wrong = |why| SharedError::Row { what: format!("a row of {id}"), why };
            digest.add(&row.checked().map_err(wrong)?);
            Ok(())
        });
        match added {
            Ok(()) => Ok(Some(digest.hex())),
            Err(ExportError::Store(StoreError::NoRun(_))) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Stores those of these entries that it does not have yet, all of them or none. The outcomes are in the order of the entries.
    /// `pulled_at`: the present time in RFC 3339, UTC.
    pub fn pull(&self, entries: &[SharedEntry], pulled_at: &str) -> Result<Vec<Pulled>, ExportError> {
        // Before the transaction, because a drome that measures would wait for it.
        let compared = |entry: &SharedEntry| -> Result<Pulled, ExportError> {
            Ok(match self.digest(&entry.id)? {
                None => Pulled::New,
                Some(here) if here == entry.digest => Pulled::Already,
                Some(here) => Pulled::Differs { here },
            })
        };
        let outcomes = entries.iter().map(compared).collect::<Result<Vec<Pulled>, ExportError>>()?;
        let write = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate);
        let write = write.map_err(|e| self.wrap(e))?;
        for (entry, _) in entries.iter().zip(&outcomes).filter(|(_, outcome)| **outcome == Pulled::New) {
            for row in &entry.rows {
                self.keep(&write, &entry.id, &self.parse(row)?)?;
            }
            let origin = Origin { machine: entry.machine.clone(), pulled_at: pulled_at.to_owned() };
            self.add_origin(&entry.id, &origin)?;
        }
        write.commit().map_err(|e| self.wrap(e))?;
        Ok(outcomes)
    }

    fn export_run(
        &self,
        run: Box<Run>,
        ended: Option<String>,
        take: &mut Take<'_>,
    ) -> Result<(), ExportError> {
        let id = &run.id.clone();
        take(Row::Run(run))?;
        if let Some(why) = ended {
            take(Row::Ended(why))?;
        }
        for heat in self.heats(id)? {
            take(Row::Heat(heat))?;
        }
        self.each("select json from start where run = ? order by id", id, &mut |start: Start| {
            take(Row::Start(Box::new(start)))
        })?;
        for slice in self.slices(id)? {
            take(Row::Slice(slice))?;
        }
        Ok(())
    }

    /// Gives the rows of a query one by one: all starts of a run at once would take far more memory than their JSON is long.
    fn each<T: DeserializeOwned>(
        &self,
        sql: &str,
        run: &str,
        take: &mut dyn FnMut(T) -> Result<(), SharedError>,
    ) -> Result<(), ExportError> {
        let mut query = self.db.prepare(sql).map_err(|e| self.wrap(e))?;
        let mut rows = query.query([run]).map_err(|e| self.wrap(e))?;
        while let Some(row) = rows.next().map_err(|e| self.wrap(e))? {
            let json: String = row.get(0).map_err(|e| self.wrap(e))?;
            let value: T = self.parse(&json)?;
            take(value)?;
        }
        Ok(())
    }

    /// Stores one row of an entry.
    fn keep(&self, write: &Transaction<'_>, id: &str, row: &Row) -> Result<(), StoreError> {
        match row {
            Row::Run(run) => self.add_run(run),
            Row::Ended(why) => self.end_run(id, why),
            Row::Heat(heat) => self.begin_heat(id, heat),
            Row::Start(start) => self.keep_start(write, id, start),
            Row::Slice(slice) => self.add_slice(write, id, slice),
            Row::Import(import) => self.add_import(import),
            Row::Replays(replays) => self.keep_replays(replays),
            Row::Report(printed) => self.add_printed(printed),
        }
    }
}

#[cfg(test)]
mod tests;
