//! The tables of the store, and how those of older versions become the current ones.

use rusqlite::{Connection, TransactionBehavior};

/// Marks the file as drome's ("drom").
pub const APPLICATION_ID: i64 = 0x6472_6f6d;

/// The version of the tables. 2 added `import`, 3 `replays`, 4 that a trial is stored once, 5 and 6 heats, 7 `printed`, 8 `profile`,
/// 9 `origin`.
pub const VERSION: i64 = 9;

/// The tables of version 1.
pub const TABLES: &str = "
    create table run (
        id text primary key, name text not null, started_at text not null, ended text, json text not null
    ) strict;
    create table observation (
        run text not null references run, n integer not null, json text not null, primary key (run, n)
    ) strict;
";

/// The table that version 2 added.
pub const IMPORTS: &str = "
    create table import (
        id text primary key, title text not null, imported_at text not null, readings integer not null,
        json text not null
    ) strict;
";

/// The table that version 3 added.
pub const REPLAYS: &str = "
    create table replays (
        id text primary key, name text not null, started_at text not null, ended text, n integer not null,
        json text not null
    ) strict;
";

/// Keeps one row for a trial. Two dromes at one run could store it twice before: the first one stays, and the others are kept where
/// nothing reads them. A row that is not JSON has no trial: `StoreError::Damaged` reports it.
const ONCE: &str = "
    create table observation_of_trial (
        run text not null references run, n integer not null, block integer, cell integer, contender text,
        copy integer, json text not null,
        primary key (run, n), unique (run, block, cell, contender, copy)
    ) strict;
    insert or ignore into observation_of_trial
        select run, n,
            case when json_valid(json) then json_extract(json, '$.trial.block') end,
            case when json_valid(json) then json_extract(json, '$.trial.cell') end,
            case when json_valid(json) then json_extract(json, '$.trial.contender') end,
            case when json_valid(json) then json_extract(json, '$.trial.copy') end,
            json
        from observation order by run, n;
    create table observed_twice (run text not null, n integer not null, json text not null) strict;
    insert into observed_twice
        select run, n, json from observation as old
        where not exists (select 1 from observation_of_trial as new where new.run = old.run and new.n = old.n);
    drop table observation;
    alter table observation_of_trial rename to observation;
";

/// The tables that version 5 added.
const HEATS: &str = "
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
        primary key (start, cell, cycle)
    ) strict, without rowid;
";

/// The change by version 6: a member may have several turns in a cycle.
pub const TURNS: &str = "
    alter table slice rename to slice_once;
    create table slice (
        start integer not null references start, cell integer not null, cycle integer not null, place integer not null,
        answers integer not null, ns integer not null, turn_ns integer not null, owner_ns integer, members_ns integer,
        others_ns integer, others_on_server_ns integer, stolen_ns integer, void text,
        primary key (start, cell, cycle, place)
    ) strict, without rowid;
    insert into slice select * from slice_once;
    drop table slice_once;
";

/// The table that version 7 added.
const PRINTED: &str = "
    create table printed (
        id text primary key, title text not null, started_at text not null, ended text not null,
        terminal text not null, json text not null
    ) strict;
";

/// The table that version 8 added. A profile is deleted with its run.
const PROFILES: &str = "
    create table profile (
        run text not null references run on delete cascade, contender text not null, json text not null,
        tree text not null, primary key (run, contender)
    ) strict;
";

/// The table that version 9 added: the machine that measured a run, for runs that were pulled from other machines.
const ORIGIN: &str = "
    create table origin (id text primary key, machine text not null, pulled_at text not null) strict;
";

/// Creates the tables that are missing. Another drome may have done it first, so the version is read again.
pub fn make(db: &mut Connection) -> rusqlite::Result<()> {
    let make = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let version: i64 = make.query_row("pragma user_version", [], |row| row.get(0))?;
    if version < 1 {
        make.execute_batch(TABLES)?;
        make.pragma_update(None, "application_id", APPLICATION_ID)?;
    }
    if version < 2 {
        make.execute_batch(IMPORTS)?;
    }
    if version < 3 {
        make.execute_batch(REPLAYS)?;
    }
    if version < 4 {
        make.execute_batch(ONCE)?;
    }
    if version < 5 {
        make.execute_batch(HEATS)?;
    }
    if version < 6 {
        make.execute_batch(TURNS)?;
    }
    if version < 7 {
        make.execute_batch(PRINTED)?;
    }
    if version < 8 {
        make.execute_batch(PROFILES)?;
    }
    if version < 9 {
        make.execute_batch(ORIGIN)?;
    }
    make.pragma_update(None, "user_version", VERSION)?;
    make.commit()
}
