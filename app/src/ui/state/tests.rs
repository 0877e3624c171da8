//! Tests that cached findings match the store.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use model::{Outcome, Trial};

/// The page and the report say the same of this run.
fn assert_agrees(app: &AppState, id: &str) -> Arc<Analysed> {
    let (run, observations, ended) = app.store().unwrap().run(id).unwrap();
    let told = lab::findings::analyse::findings(&run, &observations, ended.as_deref());
    let shown = app.analysed(id).unwrap();
    assert_eq!(shown.findings, told);
    assert_eq!(shown.outcomes.len(), observations.len());
    shown
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
    // In blocks: a run of trials.
    run.study.design.heats = None;
    store.add_run(&run).unwrap();
    let observe = |block| {
        let contender = "reference".to_owned();
        let observation = model::Observation {
            trial: Trial { block, cell: 0, contender, copy: 0 },
            started_at: "2026-01-01T00:00:00Z".to_owned(),
            elapsed_ns: 1,
            outcome: Outcome::Failed("it ended".to_owned()),
            conditions: model::Conditions::default(),
            in_heat: None,
        };
        store.insert(&run.id, &observation).unwrap();
    };
    observe(0);
    assert_agrees(&app, &run.id);
    store.end_run(&run.id, "the budget is spent").unwrap();
    let ended = assert_agrees(&app, &run.id);
    assert!(Arc::ptr_eq(&ended, &app.analysed(&run.id).unwrap()), "it is read once");
    observe(1);
    assert_agrees(&app, &run.id);
    // `drome run --resume --budget`, by another process: it ends for the same reason, with a trial more.
    let id = run.id.clone();
    run.study.design.budget *= 2;
    app.store().unwrap().reopen_run(&run).unwrap();
    assert_agrees(&app, &id);
    store.end_run(&id, "the budget is spent").unwrap();
    let again = assert_agrees(&app, &id);
    assert!(!Arc::ptr_eq(&ended, &again));
}
