//! Tests that cached findings match the store.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use model::heat::{Heat, Start, StartOutcome};

/// The page and the report say the same of this run.
fn assert_agrees(app: &AppState, id: &str) -> Arc<Analysed> {
    let store = app.store().unwrap();
    let (run, ended) = store.run(id).unwrap();
    let told = lab::findings::of(&store, &run, ended.as_deref()).unwrap();
    let shown = app.analysed(id).unwrap();
    assert_eq!(shown.findings, told);
    assert_eq!(shown.outcomes.len(), lab::findings::all(&store, id).unwrap().len());
    shown
}

/// The only heat of a round.
fn heat(round: usize) -> Heat {
    Heat {
        round,
        number: 0,
        members: vec!["reference".to_owned()],
        copies: 1,
        hub: true,
        cells: vec![0],
        seed: 7,
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        machine: None,
    }
}

/// A start that failed in it.
fn failed(round: usize) -> Start {
    Start {
        round,
        heat: 0,
        contender: "reference".to_owned(),
        copy: 0,
        attempt: 0,
        outcome: StartOutcome::Failed("it ended".to_owned()),
        cells: BTreeMap::new(),
        memory_bytes: None,
        took_ns: 1,
        program: None,
        conditions: None,
    }
}

#[test]
fn a_run_that_has_ended_and_goes_on_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let (orders, _) = std::sync::mpsc::channel();
    let catalog = Catalog::built_in().unwrap();
    let app = AppState::new(folder.path().join("drome.sqlite"), catalog, orders, true);
    let store = app.store().unwrap();
    let mut run = lab::setup::study_run(
        "raspberry-pi",
        app.catalog.study("raspberry-pi").unwrap().clone(),
        &[],
        &BTreeMap::new(),
        Some(7),
        false,
    );
    store.add_run(&run).unwrap();
    let observe = |round| store.add_heat(&run.id, &heat(round), &[failed(round)], &[]).unwrap();
    assert!(observe(0));
    assert_agrees(&app, &run.id);
    store.end_run(&run.id, "the budget is spent").unwrap();
    let ended = assert_agrees(&app, &run.id);
    assert!(Arc::ptr_eq(&ended, &app.analysed(&run.id).unwrap()), "it is read once");
    assert!(observe(1));
    assert_agrees(&app, &run.id);
    // `drome run --resume --budget`, by another process: it ends for the same reason, with a start more.
    let id = run.id.clone();
    run.study.design.budget *= 2;
    app.store().unwrap().reopen_run(&run).unwrap();
    assert_agrees(&app, &id);
    store.end_run(&id, "the budget is spent").unwrap();
    let again = assert_agrees(&app, &id);
    assert!(!Arc::ptr_eq(&ended, &again));
}
