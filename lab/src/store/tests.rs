//! A trial is stored once, older stores are migrated, and a locked one is said to be locked.

use super::tables::{IMPORTS, REPLAYS, TABLES};
use super::*;
use crate::example;
use model::Trial;
use std::time::Duration;

fn trial(block: usize, contender: &str) -> Trial {
    Trial { block, cell: 0, contender: contender.to_owned(), copy: 0 }
}

#[test]
fn a_trial_is_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = (Store::open(&folder.path().join("s")).unwrap(), example::run(&["a"]));
    store.add_run(&run).unwrap();
    let observe = |trial: Trial, rate| store.insert(&run.id, &example::observation(trial, Some(rate)));
    observe(trial(0, "a"), 1.0).unwrap();
    observe(trial(0, "reference"), 2.0).unwrap();
    observe(Trial { copy: 1, ..trial(0, "reference") }, 3.0).unwrap();
    observe(Trial { cell: 1, ..trial(0, "a") }, 4.0).unwrap();
    observe(trial(1, "a"), 5.0).unwrap();
    let error = observe(trial(0, "a"), 6.0).unwrap_err();
    assert!(matches!(error, StoreError::Twice { .. }), "{error}");
    assert!(error.to_string().contains("already has a of block 1, cell 1"), "{error}");
    assert_eq!(store.observations(&run.id).unwrap().len(), 5);
}

/// A store as version 3 of the tables had it.
fn of_version_3(path: &Path) -> Connection {
    let db = Connection::open(path).unwrap();
    for tables in [TABLES, IMPORTS, REPLAYS] {
        db.execute_batch(tables).unwrap();
    }
    db.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    db.pragma_update(None, "user_version", 3).unwrap();
    db
}

#[test]
fn an_older_store_is_migrated_and_what_was_stored_twice_is_kept_once() {
    let folder = tempfile::tempdir().unwrap();
    let (path, run) = (folder.path().join("s"), example::run(&["a"]));
    let db = of_version_3(&path);
    let json = serde_json::to_string(&run).unwrap();
    let sql = "insert into run (id, name, started_at, json) values (?, ?, ?, ?)";
    db.execute(sql, params![run.id, run.name, run.started_at, json]).unwrap();
    let seen =
        [(trial(0, "a"), 1.0), (trial(0, "reference"), 2.0), (trial(0, "a"), 3.0), (trial(1, "a"), 4.0)];
    let seen = seen.map(|(trial, rate)| example::observation(trial, Some(rate)));
    for (n, observation) in seen.iter().enumerate() {
        let json = serde_json::to_string(observation).unwrap();
        db.execute(
            "insert into observation (run, n, json) values (?, ?, ?)",
            params![run.id, n as i64, json],
        )
        .unwrap();
    }
    drop(db);
    let store = Store::open(&path).unwrap();
    let kept = store.observations(&run.id).unwrap();
    assert_eq!(kept, [seen[0].clone(), seen[1].clone(), seen[3].clone()], "the first of each, in order");
    let aside: i64 = store.db.query_row("select count(*) from observed_twice", [], |row| row.get(0)).unwrap();
    assert_eq!(aside, 1, "the other one is not lost");
    let listed = store.runs().unwrap().remove(0);
    assert_eq!((listed.count, listed.title), (3, run.study.title.clone()));
    // It goes on where it was.
    store.insert(&run.id, &example::observation(trial(2, "a"), Some(5.0))).unwrap();
    assert_eq!(store.observations(&run.id).unwrap().len(), 4);
    drop(store);
    assert_eq!(Store::open(&path).unwrap().observations(&run.id).unwrap().len(), 4);
}

#[test]
fn a_damaged_row_of_an_older_store_keeps_nothing_else_from_being_migrated() {
    let folder = tempfile::tempdir().unwrap();
    let (path, run) = (folder.path().join("s"), example::run(&["a"]));
    let db = of_version_3(&path);
    let sql = "insert into run (id, name, started_at, json) values (?, 'x', 'y', ?)";
    db.execute(sql, params![run.id, serde_json::to_string(&run).unwrap()]).unwrap();
    db.execute("insert into run (id, name, started_at, json) values ('broken', 'x', 'y', '{}')", []).unwrap();
    db.execute("insert into observation (run, n, json) values ('broken', 0, 'no json')", []).unwrap();
    drop(db);
    let store = Store::open(&path).unwrap();
    assert!(store.run(&run.id).is_ok());
    assert!(matches!(store.observations("broken"), Err(StoreError::Damaged { .. })));
    let listed = store.runs().unwrap();
    assert!(listed.iter().any(|run| run.id == "broken" && run.title == "x"), "by its name: {listed:?}");
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
    drop(of_version_3(&path));
    let store = Store::open(&path).unwrap();
    let printed = Printed {
        id: "20261123-170000-1234".to_owned(),
        title: "load http://127.0.0.1:1/".to_owned(),
        started_at: "2026-11-23T17:00:00Z".to_owned(),
        ended: "void".to_owned(),
        terminal: "requests/s\n".to_owned(),
        json: "{}\n".to_owned(),
    };
    store.add_printed(&printed).unwrap();
    assert_eq!(store.find(Some(&printed.id)).unwrap(), Stored::Printed(printed.clone()));
    assert_eq!(store.find(None).unwrap(), Stored::Printed(printed));
    assert_eq!(store.runs().unwrap(), []);
    let listed = store.everything().unwrap();
    assert_eq!(
        (listed[0].kind, listed[0].count, listed[0].ended.as_deref()),
        (Kind::Report, 1, Some("void"))
    );
    assert_eq!(listed[0].word(), "load");
    assert_eq!(Listed { name: "of a later drome".to_owned(), ..listed[0].clone() }.word(), "measurement");
}
