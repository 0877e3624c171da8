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
    let listed = store.runs().unwrap();
    assert!(listed.iter().any(|run| run.id == "broken" && run.title == "x"), "by its name: {listed:?}");
    store.db.pragma_update(None, "user_version", VERSION - 1).unwrap();
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
        (Kind::Report, 1, Some("void"))
    );
    assert_eq!(listed[0].word(), "load");
    assert_eq!(Listed { name: "of a later drome".to_owned(), ..listed[0].clone() }.word(), "measurement");
}
