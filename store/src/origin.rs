//! Where runs come from that other machines measured.

use super::{Store, StoreError};
use model::Origin;
use rusqlite::{OptionalExtension, Row, params};

impl Store {
    /// Reads where a run, or whatever else is stored under this name, was pulled from; `None`: this machine measured it, or there is
    /// none.
    pub fn origin(&self, id: &str) -> Result<Option<Origin>, StoreError> {
        let sql = "select machine, pulled_at from origin where id = ?";
        let read = |row: &Row<'_>| Ok(Origin { machine: row.get(0)?, pulled_at: row.get(1)? });
        self.db.query_row(sql, [id], read).optional().map_err(|e| self.wrap(e))
    }

    /// Adds where a run was pulled from.
    pub(super) fn add_origin(&self, id: &str, origin: &Origin) -> Result<(), StoreError> {
        let sql = "insert into origin (id, machine, pulled_at) values (?, ?, ?)";
        let values = params![id, origin.machine, origin.pulled_at];
        self.db.execute(sql, values).map_err(|e| self.wrap(e))?;
        Ok(())
    }
}
