//! What can't be read is refused, and a store that is locked is said to be locked.

use super::*;
use judge::example;
use std::time::Duration;

/// A report as it was printed.
pub fn printed(id: &str) -> Printed {
    Printed {
        id: id.to_owned(),
        title: "load http://127.0.0.1:1/".to_owned(),
        started_at: "2026-11-23T17:00:00Z".to_owned(),
        ended: "void".to_owned(),
        terminal: "requests/s\n".to_owned(),
        json: "{}".to_owned(),
    }
}

#[test]
fn what_drome_no_longer_reads_is_refused_in_one_sentence_and_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let run = example::run(&["a"]);
    let blocks = serde_json::to_string(&run).unwrap().replace("\"rounds\":[", "\"blocks\":[");
    let sql = "insert into run (id, name, started_at, json) values (?, ?, ?, ?)";
    store.db.execute(sql, params![run.id, run.name, run.started_at, blocks]).unwrap();
    let told = store.run(&run.id).unwrap_err().to_string();
    assert!(told.contains("measured in blocks of trials") && told.contains("measure it again"), "{told}");
    store
        .db
        .execute("insert into run (id, name, started_at, json) values ('broken', 'x', 'y', '{}')", [])
        .unwrap();
    assert!(matches!(store.run("broken"), Err(StoreError::Damaged { .. })));
    let strange = serde_json::to_string(&run).unwrap().replacen("\"closed\"", "\"half-open\"", 1);
    store
        .db
        .execute("insert into run (id, name, started_at, json) values ('strange', 'x', 'y', ?)", [strange])
        .unwrap();
    let told = store.run("strange").unwrap_err().to_string();
    assert!(
        told.contains("has the word `half-open`") && told.contains("use the drome that stored it"),
        "{told}"
    );
    let listed = store.runs().unwrap();
    assert!(listed.iter().any(|run| run.id == "broken" && run.title == "x"), "by its name: {listed:?}");
    store.db.pragma_update(None, "user_version", OLDEST - 1).unwrap();
    drop(store);
    let before = std::fs::read(&path).unwrap();
    let told = Store::open(&path).unwrap_err().to_string();
    assert!(
        told.contains("version 8, which drome no longer reads") && told.contains("--store FILE"),
        "{told}"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn a_store_that_is_locked_is_said_to_be_locked() {
    let folder = tempfile::tempdir().unwrap();
    let (path, run) = (folder.path().join("s"), example::run(&["a"]));
    let store = Store::open(&path).unwrap();
    store.db.busy_timeout(Duration::ZERO).unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("begin exclusive").unwrap();
    let told = store.add_run(&run).unwrap_err().to_string();
    assert!(told.contains("locked by another program") && told.contains("fuser"), "{told}");
    assert!(!told.contains("free some space"), "{told}");
}

#[test]
fn a_report_is_found_by_its_name_listed_and_not_taken_for_a_run() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let printed = printed("20261123-170000-1234");
    store.add_printed(&printed).unwrap();
    assert_eq!(store.find(Some(&printed.id)).unwrap(), Stored::Printed(printed.clone()));
    assert_eq!(store.find(None).unwrap(), Stored::Printed(printed));
    assert_eq!(store.runs().unwrap(), []);
    let listed = store.everything().unwrap();
    assert_eq!(
        (listed[0].kind, listed[0].count, listed[0].ended.as_deref()),
        (EntryKind::Report, 1, Some("void"))
    );
    assert_eq!(listed[0].word(), "load");
    assert_eq!(Listed { name: "of a later drome".to_owned(), ..listed[0].clone() }.word(), "measurement");
}

/// The tables that the oldest version had for what has one row.
const OF_OLDEST: &str = "
    drop table entry;
    create table import (
        id text primary key, title text not null, imported_at text not null, readings integer not null,
        json text not null
    ) strict;
    create table replays (
        id text primary key, name text not null, started_at text not null, ended text, n integer not null,
        json text not null
    ) strict;
    create table printed (
        id text primary key, title text not null, started_at text not null, ended text not null,
        terminal text not null, json text not null
    ) strict;
    pragma user_version = 9;
";

#[test]
fn what_the_oldest_version_stored_is_read_and_listed_as_before() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let store = Store::open(&path).unwrap();
    let id = |nth: u8| format!("20261123-17000{nth}-1234");
    let time = "2026-11-23T17:00:00Z".to_owned();
    let import = Import {
        id: id(0),
        title: "of others".to_owned(),
        imported_at: time.clone(),
        drome: "0.1.0".to_owned(),
        sources: Vec::new(),
        items: Vec::new(),
    };
    let replays = Replays { id: id(1), name: "x".to_owned(), started_at: time, ..Replays::default() };
    let printed = Printed { json: r#"{"a":"\"b\""}"#.to_owned(), ..printed(&id(2)) };
    store.add_import(&import).unwrap();
    store.keep_replays(&replays).unwrap();
    store.add_printed(&printed).unwrap();
    let listed = store.everything().unwrap();
    store.db.execute_batch(OF_OLDEST).unwrap();
    let json = [serde_json::to_string(&import).unwrap(), serde_json::to_string(&replays).unwrap()];
    let [import_json, replays_json] = &json;
    let sql = "insert into import values (?, ?, ?, 0, ?)";
    store.db.execute(sql, params![import.id, import.title, import.imported_at, import_json]).unwrap();
    let sql = "insert into replays values (?, ?, ?, null, 0, ?)";
    store.db.execute(sql, params![replays.id, replays.name, replays.started_at, replays_json]).unwrap();
    let Printed { id, title, started_at, ended, terminal, json } = &printed;
    let sql = "insert into printed values (?, ?, ?, ?, ?, ?)";
    store.db.execute(sql, params![id, title, started_at, ended, terminal, json]).unwrap();
    drop(store);
    for _ in 0..2 {
        let store = Store::open(&path).unwrap();
        assert_eq!(store.everything().unwrap(), listed);
        assert_eq!(store.find(Some(&import.id)).unwrap(), Stored::Import(import.clone()));
        assert_eq!(store.find(Some(&replays.id)).unwrap(), Stored::Replays(Box::new(replays.clone())));
        assert_eq!(store.find(Some(&printed.id)).unwrap(), Stored::Printed(printed.clone()));
    }
}
