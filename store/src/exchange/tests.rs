//! Runs go from store to store as they are, once, and all of a file or nothing.

use super::*;
use crate::shared::{Writer, read};
use crate::tests::printed;
use judge::example::in_heats;
use model::heat::{HUB, Heat, Ran, Slice};

const NOW: &str = "2026-02-01T00:00:00Z";

fn store(folder: &tempfile::TempDir, name: &str) -> Store {
    Store::open(&folder.path().join(name)).unwrap()
}

/// Adds a run that has ended.
fn add_ended(store: &Store, id: &str) {
    add_heats(store, id);
    store.end_run(id, "enough").unwrap();
}

/// Adds a run in heats that has not ended.
fn add_heats(store: &Store, id: &str) {
    let run = Run { id: id.to_owned(), ..in_heats::run(&["a"]) };
    store.add_run(&run).unwrap();
    store.begin_heat(id, &Heat { cells: vec![0, 1], ..in_heats::heat(&["a"]) }).unwrap();
    let ran = Ran { owner_ns: Some(90), ..Ran::default() };
    let slice = |cycle, place, contender: &str| {
        let contender = contender.to_owned();
        Slice { cycle, place, contender, answers: 7, ns: 100, turn_ns: 120, ran, ..in_heats::slice() }
    };
    let starts = [in_heats::start(0, 0, HUB, &[0]), in_heats::start(0, 0, "a", &[0, 1])];
    store.keep_starts(id, &starts, &[slice(0, 0, HUB), slice(0, 1, "a"), slice(1, 0, "a")]).unwrap();
}

const IDS: [&str; 3] = ["20260101-000000-000a", "20260101-000000-000b", "20260101-000000-000c"];

/// A store with a run of each kind.
fn filled(folder: &tempfile::TempDir, name: &str) -> Store {
    let store = store(folder, name);
    add_ended(&store, IDS[0]);
    add_heats(&store, IDS[1]);
    store.add_printed(&printed(IDS[2])).unwrap();
    store
}

/// The entries that are read from a file with these runs.
fn shared(store: &Store, ids: &[&str], machine: &str) -> Vec<SharedEntry> {
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
    for id in ids {
        writer.entry(Some(machine)).unwrap();
        store.export(id, &mut |row| writer.row(&row)).unwrap();
    }
    writer.end().unwrap();
    read(&bytes[..]).unwrap()
}

#[test]
fn runs_come_over_as_they_are_and_only_once() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (filled(&folder, "one"), store(&folder, "two"));
    let entries = shared(&one, &IDS, "ci-1");
    assert_eq!(two.pull(&entries, NOW).unwrap(), [Pulled::New, Pulled::New, Pulled::New]);
    for id in IDS {
        assert_eq!(two.find(Some(id)).unwrap(), one.find(Some(id)).unwrap());
        assert_eq!(two.heats(id).unwrap(), one.heats(id).unwrap());
        assert_eq!(two.starts(id).unwrap(), one.starts(id).unwrap());
        assert_eq!(two.slices(id).unwrap(), one.slices(id).unwrap());
        assert_eq!(two.digest(id).unwrap(), one.digest(id).unwrap());
        let origin = Origin { machine: "ci-1".to_owned(), pulled_at: NOW.to_owned() };
        assert_eq!((one.origin(id).unwrap(), two.origin(id).unwrap()), (None, Some(origin)));
    }
    assert_eq!(two.digest("20260101-000000-ffff").unwrap(), None);
    let again = [Pulled::Already, Pulled::Already, Pulled::Already];
    assert_eq!(two.pull(&entries, NOW).unwrap(), again);
    // Back to where they are from: there they are still its own.
    assert_eq!(one.pull(&shared(&two, &IDS, "another"), NOW).unwrap(), again);
    assert_eq!(one.origin(IDS[0]).unwrap(), None);
    assert_eq!(two.everything().unwrap().len(), 3);
}

#[test]
fn lists_tell_where_a_run_is_from() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (filled(&folder, "one"), store(&folder, "two"));
    two.pull(&shared(&one, &IDS, "ci-1"), NOW).unwrap();
    let machines = |store: &Store| -> Vec<Option<String>> {
        store.everything().unwrap().into_iter().map(|listed| listed.machine).collect()
    };
    assert_eq!(machines(&one), [None, None, None]);
    assert!(machines(&two).iter().all(|machine| machine.as_deref() == Some("ci-1")));
}

#[test]
fn another_run_of_the_same_name_stays_as_it_is_and_the_others_come_over() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (filled(&folder, "one"), store(&folder, "two"));
    two.add_printed(&printed(IDS[0])).unwrap();
    add_heats(&two, IDS[1]);
    two.end_run(IDS[1], "enough").unwrap();
    let before = [two.digest(IDS[0]).unwrap().unwrap(), two.digest(IDS[1]).unwrap().unwrap()];
    let entries = shared(&one, &IDS, "ci-1");
    let outcomes = two.pull(&entries, NOW).unwrap();
    let differs = |nth: usize| Pulled::Differs { here: before[nth].clone() };
    assert_eq!(outcomes, [differs(0), differs(1), Pulled::New]);
    assert_ne!(before[1], entries[1].digest);
    assert_eq!(two.digest(IDS[0]).unwrap().unwrap(), before[0]);
    assert_eq!(two.run(IDS[1]).unwrap().1.as_deref(), Some("enough"));
    assert!(two.starts(IDS[0]).unwrap().is_empty() && two.origin(IDS[0]).unwrap().is_none());
}

#[test]
fn of_a_file_that_can_not_be_stored_whole_nothing_is() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (filled(&folder, "one"), store(&folder, "two"));
    let mut entries = shared(&one, &IDS, "ci-1");
    // No reader gives such an entry: its start is not there.
    entries[1].rows.retain(|row| !row.starts_with("{\"start\""));
    assert!(two.pull(&entries, NOW).is_err());
    assert!(two.everything().unwrap().is_empty() && two.origin(IDS[0]).unwrap().is_none());
    // And the store is as usable as before.
    assert_eq!(two.pull(&entries[..1], NOW).unwrap(), [Pulled::New]);
}

#[test]
fn a_run_that_was_pulled_is_never_continued() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (filled(&folder, "one"), store(&folder, "two"));
    two.pull(&shared(&one, &IDS, "ci-1"), NOW).unwrap();
    let (run, ..) = two.run(IDS[1]).unwrap();
    let error = two.reopen_run(&run).unwrap_err();
    assert!(matches!(error, StoreError::Pulled { .. }), "{error}");
    assert!(error.to_string().contains("was pulled from ci-1 and can't be resumed here"), "{error}");
    one.reopen_run(&run).unwrap();
}
