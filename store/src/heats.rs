//! Heats, starts and slices in the store. A heat is stored before it begins, so that no other drome begins it; its starts and the
//! slices of a cell are stored together when the cell is over, in one transaction: a kill loses at most the current cell. A commit takes
//! 20 ms on a virtual disk, whether of one cycle or of twenty (`lab/examples/heat_costs.rs`), so nothing is written between cycles.

use super::{Store, StoreError, shared};
use model::Measured;
use model::heat::{Heat, Ran, Slice, Start, StartOutcome, Void};
use rusqlite::{Row, Transaction, TransactionBehavior, ffi, params};

/// The codes of `SQLite` for a row that exists already.
const ALREADY: [i32; 2] = [ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ffi::SQLITE_CONSTRAINT_UNIQUE];

impl Store {
    /// Adds a heat, committed when this returns. It fails if another drome has begun the heat.
    pub fn begin_heat(&self, run: &str, heat: &Heat) -> Result<(), StoreError> {
        let json = self.json(heat)?;
        let sql = "insert into heat (run, round, number, json) values (?, ?, ?, ?)";
        let values = params![run, heat.round as i64, heat.number as i64, json];
        self.db.execute(sql, values).map_err(|e| self.twice(e, run, || named(heat.round, heat.number)))?;
        Ok(())
    }

    /// Adds starts of a heat, or updates them, and adds their slices; committed together when this returns.
    pub fn keep_starts(&self, run: &str, starts: &[Start], slices: &[Slice]) -> Result<(), StoreError> {
        let kept = self.db.unchecked_transaction().map_err(|e| self.wrap(e))?;
        self.keep_all(&kept, run, starts, slices)?;
        kept.commit().map_err(|e| self.wrap(e))
    }

    /// Adds a whole heat that was measured elsewhere, all of it or nothing. Returns false if the run has this heat already, which then
    /// stays as it is.
    pub fn add_heat(
        &self,
        run: &str,
        heat: &Heat,
        starts: &[Start],
        slices: &[Slice],
    ) -> Result<bool, StoreError> {
        let write = Transaction::new_unchecked(&self.db, TransactionBehavior::Immediate);
        let write = write.map_err(|e| self.wrap(e))?;
        match self.begin_heat(run, heat) {
            Ok(()) => {}
            Err(StoreError::Twice { .. }) => return Ok(false),
            Err(error) => return Err(error),
        }
        self.keep_all(&write, run, starts, slices)?;
        write.commit().map_err(|e| self.wrap(e))?;
        Ok(true)
    }

    /// Everything that was measured in a run.
    pub fn measured(&self, run: &str) -> Result<Measured, StoreError> {
        Ok(Measured { heats: self.heats(run)?, starts: self.starts(run)?, slices: self.slices(run)? })
    }

    /// All heats of a run that were begun, in order.
    pub fn heats(&self, run: &str) -> Result<Vec<Heat>, StoreError> {
        self.of_json("select json from heat where run = ? order by round, number", run)
    }

    /// All starts of a run, in the order in which they were stored.
    pub fn starts(&self, run: &str) -> Result<Vec<Start>, StoreError> {
        self.of_json("select json from start where run = ? order by id", run)
    }

    /// All slices of a run in the order in which they were measured, cell by cell.
    pub fn slices(&self, run: &str) -> Result<Vec<Slice>, StoreError> {
        let sql = "select round, heat, contender, copy, cell, cycle, place, answers, ns, turn_ns, owner_ns, members_ns, others_ns,
                          others_on_server_ns, stolen_ns, void
                   from slice join start on start.id = slice.start
                   where run = ? order by round, heat, cell, cycle, place";
        let mut query = self.db.prepare(sql).map_err(|e| self.wrap(e))?;
        let rows = query.query_map([run], |row| Ok((slice(row)?, row.get(15)?))).map_err(|e| self.wrap(e))?;
        rows.map(|row| {
            let (slice, void): (_, Option<String>) = row.map_err(|e| self.wrap(e))?;
            let void = void.map(|word| self.void(&word)).transpose()?;
            Ok(Slice { void, ..slice })
        })
        .collect()
    }

    /// The reason for a stored word. With one that is not known, it can't be told whether the turn counts.
    fn void(&self, word: &str) -> Result<Void, StoreError> {
        let unknown = || StoreError::UnknownWord { path: self.path.clone(), word: shared::quoted(word) };
        Void::of_word(word).ok_or_else(unknown)
    }

    fn keep_all(
        &self,
        kept: &Transaction<'_>,
        run: &str,
        starts: &[Start],
        slices: &[Slice],
    ) -> Result<(), StoreError> {
        starts.iter().try_for_each(|start| self.keep_start(kept, run, start))?;
        slices.iter().try_for_each(|slice| self.add_slice(kept, run, slice))
    }

    pub(super) fn keep_start(
        &self,
        kept: &Transaction<'_>,
        run: &str,
        start: &Start,
    ) -> Result<(), StoreError> {
        let sql = "insert into start (run, round, heat, contender, copy, cells, is_over, json) values (?, ?, ?, ?, ?, ?, ?, ?)
                   on conflict (run, round, heat, contender, copy)
                   do update set cells = excluded.cells, is_over = excluded.is_over, json = excluded.json";
        let is_over = start.outcome != StartOutcome::Running;
        let [round, heat, copy, cells] =
            [start.round, start.heat, start.copy, start.cells.len()].map(|n| whole(n as u64));
        let values = params![run, round, heat, start.contender, copy, cells, is_over, self.json(start)?];
        kept.prepare_cached(sql).and_then(|mut insert| insert.execute(values)).map_err(|e| self.wrap(e))?;
        Ok(())
    }

    pub(super) fn add_slice(&self, kept: &Transaction<'_>, run: &str, of: &Slice) -> Result<(), StoreError> {
        let sql = "insert into slice (start, cell, cycle, place, answers, ns, turn_ns, owner_ns, members_ns, others_ns,
                                      others_on_server_ns, stolen_ns, void)
                   values ((select id from start where run = ? and round = ? and heat = ? and contender = ?
                                   and copy = ?),
                           ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";
        let ran = &of.ran;
        let [round, heat, copy, cell, cycle, place] =
            [of.round, of.heat, of.copy, of.cell, of.cycle, of.place].map(|n| whole(n as u64));
        let [answers, ns, turn_ns] = [of.answers, of.ns, of.turn_ns].map(whole);
        let [owner, members, others, on_server, stolen] =
            [ran.owner_ns, ran.members_ns, ran.others_ns, ran.others_on_server_ns, ran.stolen_ns]
                .map(|ns| ns.map(whole));
        let void = of.void.map(Void::word);
        let values = params![
            run,
            round,
            heat,
            of.contender,
            copy,
            cell,
            cycle,
            place,
            answers,
            ns,
            turn_ns,
            owner,
            members,
            others,
            on_server,
            stolen,
            void
        ];
        let inserted = kept.prepare_cached(sql).and_then(|mut insert| insert.execute(values));
        inserted.map_err(|e| {
            self.twice(e, run, || format!("{} in {}", of.contender, named(of.round, of.heat)))
        })?;
        Ok(())
    }

    fn of_json<T: serde::de::DeserializeOwned>(&self, sql: &str, run: &str) -> Result<Vec<T>, StoreError> {
        let read = || -> rusqlite::Result<Vec<String>> {
            self.db.prepare(sql)?.query_map([run], |row| row.get(0))?.collect()
        };
        read().map_err(|e| self.wrap(e))?.iter().map(|json| self.parse(json)).collect()
    }

    fn twice(&self, e: rusqlite::Error, run: &str, what: impl Fn() -> String) -> StoreError {
        let is_twice = e.sqlite_error().is_some_and(|e| ALREADY.contains(&e.extended_code));
        if is_twice { StoreError::Twice { run: run.to_owned(), what: what() } } else { self.wrap(e) }
    }
}

/// A slice without the reason that voids it.
fn slice(row: &Row<'_>) -> rusqlite::Result<Slice> {
    let number = |at: usize| row.get::<_, i64>(at).map(|n| n.max(0) as u64);
    let index = |at: usize| number(at).map(|n| n as usize);
    let perhaps = |at: usize| row.get::<_, Option<i64>>(at).map(|n| n.map(|n| n.max(0) as u64));
    Ok(Slice {
        round: index(0)?,
        heat: index(1)?,
        contender: row.get(2)?,
        copy: index(3)?,
        cell: index(4)?,
        cycle: index(5)?,
        place: index(6)?,
        answers: number(7)?,
        ns: number(8)?,
        turn_ns: number(9)?,
        ran: Ran {
            owner_ns: perhaps(10)?,
            members_ns: perhaps(11)?,
            others_ns: perhaps(12)?,
            others_on_server_ns: perhaps(13)?,
            stolen_ns: perhaps(14)?,
        },
        void: None,
    })
}

/// Converts a number for `SQLite`, whose numbers have a sign.
fn whole(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Names a heat as people count, from 1.
fn named(round: usize, heat: usize) -> String {
    format!("heat {} of round {}", heat + 1, round + 1)
}

#[cfg(test)]
mod tests;
