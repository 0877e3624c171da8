//! Reports of single measurements in the store.

use super::{Store, StoreError};
use model::Printed;
use rusqlite::{OptionalExtension, Row, params};

impl Store {
    /// Adds a report.
    pub fn add_printed(&self, printed: &Printed) -> Result<(), StoreError> {
        let Printed { id, title, started_at, ended, terminal, json } = printed;
        let sql =
            "insert into printed (id, title, started_at, ended, terminal, json) values (?, ?, ?, ?, ?, ?)";
        self.db
            .execute(sql, params![id, title, started_at, ended, terminal, json])
            .map_err(|e| self.wrap(e))?;
        Ok(())
    }

    /// Reads a report; `None`: there is none of this name.
    pub(super) fn printed(&self, id: &str) -> Result<Option<Printed>, StoreError> {
        let sql = "select id, title, started_at, ended, terminal, json from printed where id = ?";
        let read = |row: &Row<'_>| {
            Ok(Printed {
                id: row.get(0)?,
                title: row.get(1)?,
                started_at: row.get(2)?,
                ended: row.get(3)?,
                terminal: row.get(4)?,
                json: row.get(5)?,
            })
        };
        self.db.query_row(sql, [id], read).optional().map_err(|e| self.wrap(e))
    }
}
