//! The tables of the store.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as drome's ("drom").
pub const APPLICATION_ID: i64 = 0x6472_6f6d;

/// The version of the tables. Stores of this version may have a table of trials, which is not read any more.
pub const VERSION: i64 = 10;

/// The oldest version that is read: it had a table for each kind of entry that has one row.
pub const OLDEST: i64 = 9;

const TABLES: &str = "
    create table run (
        id text primary key, name text not null, started_at text not null, ended text, json text not null
    ) strict;
    create table heat (
        run text not null references run, round integer not null, number integer not null, json text not null,
        primary key (run, round, number)
    ) strict;
    create table start (
        id integer primary key, run text not null references run, round integer not null, heat integer not null,
        contender text not null, copy integer not null, cells integer not null, is_over integer not null,
        json text not null, unique (run, round, heat, contender, copy)
    ) strict;
    create table slice (
        start integer not null references start, cell integer not null, cycle integer not null, place integer not null,
        answers integer not null, ns integer not null, turn_ns integer not null, owner_ns integer, members_ns integer,
        others_ns integer, others_on_server_ns integer, stolen_ns integer, void text,
        primary key (start, cell, cycle, place)
    ) strict, without rowid;
    -- A profile is deleted with its run.
    create table profile (
        run text not null references run on delete cascade, contender text not null, json text not null,
        tree text not null, primary key (run, contender)
    ) strict;
    -- The machine that measured a run, for runs that were pulled from other machines.
    create table origin (id text primary key, machine text not null, pulled_at text not null) strict;
";

/// What has one row: its kind is the place in `EntryKind::ALL`.
const ENTRIES: &str = "
    create table entry (
        id text primary key, kind integer not null, name text not null, started_at text not null, ended text,
        count integer not null, json text not null
    ) strict;
";

const FROM_OLDEST: &str = "
    insert into entry select id, 1, title, imported_at, 'imported', readings, json from import order by rowid;
    insert into entry select id, 2, name, started_at, ended, n, json from replays order by rowid;
    insert into entry select id, 3, title, started_at, ended, 1, json_object('id', id, 'title', title, 'started_at', started_at,
        'ended', ended, 'terminal', terminal, 'json', json) from printed order by rowid;
    drop table import;
    drop table replays;
    drop table printed;
";

/// Creates the tables in an empty file, or changes those of the oldest version. Another drome may have done it first, so the version is
/// read again.
pub fn make(db: &mut Connection) -> rusqlite::Result<()> {
    let make = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = make.query_row("pragma user_version", [], |row| row.get(0))?;
    if version < VERSION {
        make.execute_batch(ENTRIES)?;
        make.execute_batch(if version == OLDEST { FROM_OLDEST } else { TABLES })?;
        make.pragma_update(None, "application_id", APPLICATION_ID)?;
        make.pragma_update(None, "user_version", VERSION)?;
    }
    make.commit()
}
