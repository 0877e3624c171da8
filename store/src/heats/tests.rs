//! Heats, starts and slices come back as they went in, once.

use crate::{Store, StoreError};
use judge::example::in_heats::{self, in_cell, run, start};
use model::heat::{HUB, Heat, InCell, Ran, Slice, Start, StartOutcome, Void};

fn heat(round: usize, number: usize) -> Heat {
    Heat { round, number, cells: vec![1, 0], ..in_heats::heat(&["a", "b"]) }
}

fn slice(cell: usize, cycle: usize, place: usize, contender: &str) -> Slice {
    let ran = Ran { owner_ns: Some(90), members_ns: Some(0), others_ns: None, ..Ran::default() };
    let void = (cycle == 1).then_some(Void::Host);
    let contender = contender.to_owned();
    Slice { cell, cycle, place, contender, answers: 7, ns: 100, turn_ns: 120, ran, void, ..in_heats::slice() }
}

/// A store with a run of which one heat was begun.
fn begun() -> (tempfile::TempDir, Store, String) {
    let folder = tempfile::tempdir().unwrap();
    let (store, run) = (Store::open(&folder.path().join("s")).unwrap(), run(&["a", "b"]));
    store.add_run(&run).unwrap();
    store.begin_heat(&run.id, &heat(0, 0)).unwrap();
    (folder, store, run.id)
}

#[test]
fn what_was_stored_comes_back_in_order() {
    let (_folder, store, run) = begun();
    store.begin_heat(&run, &heat(0, 1)).unwrap();
    let starts =
        ["a", "b", HUB].map(|name| Start { outcome: StartOutcome::Running, ..start(0, 0, name, &[]) });
    store.keep_starts(&run, &starts, &[]).unwrap();
    // Of two copies, each has its own rows.
    let copies = [0, 1].map(|copy| Start { copy, ..start(0, 1, "b", &[0]) });
    store.keep_starts(&run, &copies, &[]).unwrap();
    let first: Vec<Slice> =
        [slice(1, 0, 0, "b"), slice(1, 0, 1, HUB), slice(1, 0, 2, "a"), slice(1, 1, 0, "a")].to_vec();
    let mut after = starts.clone();
    for start in &mut after {
        start.cells.insert(1, InCell { memory: vec![[0, 4096], [1200, 8192]], ..in_cell() });
    }
    // Out of order, and together with the changed starts.
    let shuffled: Vec<Slice> = first.iter().rev().cloned().collect();
    store.keep_starts(&run, &after, &shuffled).unwrap();
    assert_eq!(
        (store.heats(&run).unwrap(), store.starts(&run).unwrap()),
        (vec![heat(0, 0), heat(0, 1)], [&after[..], &copies[..]].concat())
    );
    assert_eq!(store.slices(&run).unwrap(), first);
    assert!(store.heats("another").unwrap().is_empty() && store.slices("another").unwrap().is_empty());
    assert_eq!(store.runs().unwrap()[0].count, 4, "the hub is none");
}

#[test]
fn a_heat_and_a_slice_are_stored_once_and_of_two_cells_none_by_half() {
    let (_folder, store, run) = begun();
    let error = store.begin_heat(&run, &heat(0, 0)).unwrap_err();
    assert!(
        matches!(error, StoreError::Twice { .. })
            && error.to_string().contains("already has heat 1 of round 1"),
        "{error}"
    );
    let a = start(0, 0, "a", &[0]);
    store.keep_starts(&run, std::slice::from_ref(&a), &[slice(0, 0, 0, "a")]).unwrap();
    let again = Start { outcome: StartOutcome::Failed("it died".to_owned()), ..a.clone() };
    let error = store.keep_starts(&run, &[again], &[slice(0, 1, 0, "a"), slice(0, 0, 0, "a")]).unwrap_err();
    assert!(matches!(error, StoreError::Twice { .. }), "{error}");
    assert_eq!(store.starts(&run).unwrap(), [a], "nothing of it was kept");
    assert_eq!(store.slices(&run).unwrap().len(), 1);
    let error = store.keep_starts(&run, &[], &[slice(0, 0, 0, "nobody")]).unwrap_err();
    assert!(matches!(error, StoreError::Sqlite { .. }), "a slice needs its start: {error}");
}

#[test]
fn a_change_of_a_start_changes_the_stamp() {
    let (_folder, store, run) = begun();
    let mut stamps = vec![store.stamp(&run).unwrap()];
    let mut running = Start { outcome: StartOutcome::Running, ..start(0, 0, "a", &[]) };
    let mut keep = |start: &Start| {
        store.keep_starts(&run, std::slice::from_ref(start), &[]).unwrap();
        stamps.push(store.stamp(&run).unwrap());
    };
    keep(&running);
    running.cells.insert(0, in_cell());
    keep(&running);
    running.outcome = StartOutcome::Ended;
    keep(&running);
    for pair in stamps.windows(2) {
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn a_row_that_does_not_say_what_it_should_is_told() {
    let (_folder, store, run) = begun();
    store.db.execute("update heat set json = 'x'", []).unwrap();
    assert!(matches!(store.heats(&run), Err(StoreError::Damaged { .. })));
}

#[test]
fn a_turn_that_is_void_for_a_reason_that_is_not_known_does_not_count_as_undisturbed() {
    let (_folder, store, run) = begun();
    store.keep_starts(&run, &[start(0, 0, "a", &[0])], &[slice(0, 0, 0, "a")]).unwrap();
    store.db.execute("update slice set void = 'bored'", []).unwrap();
    let read = store.slices(&run);
    assert!(matches!(&read, Err(StoreError::UnknownWord { word, .. }) if word == "bored"), "{read:?}");
}
