//! Tests of the list of runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::ui::state::AppState;
use control::Catalog;
use lab::setup::{Lineup, RunRules};
use model::{Printed, Run};
use std::sync::mpsc;
use store::shared::{Writer, read};

/// A page whose store has two runs of a study, one of which has ended; and the store's folder.
fn app() -> (Arc<AppState>, Run, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let (orders, _) = mpsc::channel();
    let catalog = Catalog::built_in().unwrap();
    let app = AppState::new(folder.path().join("drome.sqlite"), catalog, orders, true);
    let study = app.catalog.study("raspberry-pi").unwrap().clone();
    let run = |seed| {
        let mut run = Lineup::default().run("raspberry-pi", study.clone(), RunRules::default());
        run.id = format!("run-{seed}");
        "Two < three".clone_into(&mut run.study.title);
        app.store().unwrap().add_run(&run).unwrap();
        run
    };
    let ended = run(1);
    run(2);
    app.store().unwrap().end_run(&ended.id, "the budget is spent").unwrap();
    (Arc::new(app), ended, folder)
}

async fn page(app: &Arc<AppState>, asked: &[(&str, &str)]) -> String {
    let asked = asked.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    list(State(Arc::clone(app)), Query(asked)).await.unwrap().into_string()
}

#[tokio::test]
async fn a_run_is_listed_by_its_title_with_its_date_and_its_verdict() {
    let (app, run, _folder) = app();
    let page = page(&app, &[]).await;
    assert!(page.contains(">Two &lt; three</a>"), "{page}");
    assert!(page.contains("<span class=\"id\">raspberry-pi, run-1</span>"), "{page}");
    let verdict = report::verdict::in_one_line(&app.analysed(&run.id).unwrap().findings);
    let verdict = html! { td data-label="Verdict" { (verdict) } }.into_string();
    assert!(verdict.len() > 40 && page.contains(&verdict), "{verdict}: {page}");
    assert!(page.contains("<span class=\"faint\">none yet</span>"), "{page}");
    let chip = "or it was interrupted: drome run raspberry-pi --resume continues it\">unfinished</span>";
    assert!(page.contains(chip) && page.matches(">unfinished</span>").count() == 1, "{page}");
}

#[tokio::test]
async fn verdicts_that_take_too_long_are_left_for_the_next_time() {
    let (app, run, _folder) = app();
    let ids = [run.id.clone(), "none".to_owned()];
    assert!(app.verdicts(&ids, Duration::ZERO).unwrap().is_empty());
    let found = app.verdicts(&ids, Duration::MAX).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), [&run.id], "none has no run");
    assert_eq!(app.verdicts(&ids, Duration::ZERO).unwrap(), found, "by now it is known");
}

#[tokio::test]
async fn a_search_finds_titles_and_states_and_bad_numbers_are_the_first_or_last_page() {
    let (app, _, _folder) = app();
    for (sought, expected) in [("two <", 2), ("UNFINISHED", 1), ("run-1", 1), ("raspberry", 2), ("none", 0)] {
        let shown = page(&app, &[("q", sought)]).await;
        assert_eq!(shown.matches("<th scope=\"row\">").count(), expected, "{sought}: {shown}");
    }
    for number in ["0", "-1", "x", "", "99999999999999999999", "7"] {
        let shown = page(&app, &[("page", number)]).await;
        assert_eq!(shown.matches("<th scope=\"row\">").count(), 2, "{number}");
    }
    let evil = page(&app, &[("q", "<script>")]).await;
    assert!(evil.contains("“&lt;script&gt;”") && !evil.contains("<script>"), "{evil}");
}

#[tokio::test]
async fn kept_loads_and_sweeps_are_listed_as_what_they_are_and_are_not_offered_for_comparison() {
    let (app, _, _folder) = app();
    for (id, title, ended) in [
        ("20260101-000000-0001", "load http://127.0.0.1:1/<x>", "void"),
        ("20260101-000000-0002", "sweep ./server {port}", "complete"),
    ] {
        let [id, title, started_at, ended] = [id, title, "2026-01-01T00:00:00Z", ended].map(str::to_owned);
        let printed =
            Printed { id, title, started_at, ended, terminal: String::new(), json: "{}".to_owned() };
        app.store().unwrap().add_printed(&printed).unwrap();
    }
    let all = page(&app, &[]).await;
    assert!(all.contains("load http://127.0.0.1:1/&lt;x&gt;</a>") && !all.contains("<x>"), "{all}");
    for chip in [">load</span>", ">void</span>", ">sweep</span>"] {
        assert_eq!(all.matches(chip).count(), 1, "{chip}: {all}");
    }
    assert!(all.contains(">1 load</td>") && all.contains(">1 sweep</td>"), "{all}");
    assert_eq!(all.matches("type=\"checkbox\"").count(), 2, "only the two studies can be compared: {all}");
    assert!(!all.contains(">imported</span>") && all.contains("none: it compares nothing"), "{all}");
    let found = page(&app, &[("q", "sweep")]).await;
    assert_eq!(found.matches("<th scope=\"row\">").count(), 1, "{found}");
}

/// Adds a run that was measured on another machine, in the only way in which one gets into a store.
fn pull(app: &AppState, run: &Run, machine: &str) {
    let elsewhere = tempfile::tempdir().unwrap();
    let other = store::Store::open(&elsewhere.path().join("other")).unwrap();
    let run = Run {
        id: "20260101-000000-00aa".to_owned(),
        started_at: "2026-01-01T00:00:00Z".to_owned(),
        ..run.clone()
    };
    other.add_run(&run).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::begin(&mut bytes, "0.1.0").unwrap();
    writer.entry(Some(machine)).unwrap();
    other.export(&run.id, &mut |row| writer.row(&row)).unwrap();
    writer.end().unwrap();
    app.store().unwrap().pull(&read(&bytes[..]).unwrap(), "2026-02-01T00:00:00Z").unwrap();
}

#[tokio::test]
async fn machines_are_told_apart_where_there_are_several() {
    let (app, run, _folder) = app();
    let alone = page(&app, &[]).await;
    assert!(!alone.contains("Machine") && !alone.contains("<select"), "{alone}");
    pull(&app, &run, "ci <1>");
    let all = page(&app, &[]).await;
    assert!(all.contains("<th scope=\"col\">Machine</th>"), "{all}");
    let cell = |name: &str| format!("<td data-label=\"Machine\">{name}</td>");
    assert_eq!(
        (all.matches(&cell("here")).count(), all.matches(&cell("ci &lt;1&gt;")).count()),
        (2, 1),
        "{all}"
    );
    assert!(
        all.contains("It had not ended when it was pulled") && all.matches("--resume").count() == 1,
        "{all}"
    );
    for (asked, shown) in [("here", 2), ("ci <1>", 1), ("", 3), ("nobody", 0)] {
        let page = page(&app, &[("machine", asked)]).await;
        assert_eq!(page.matches("<th scope=\"row\">").count(), shown, "{asked}: {page}");
    }
    let chosen = page(&app, &[("machine", "here")]).await;
    assert!(chosen.contains("<option value=\"here\" selected>here</option>"), "{chosen}");
    assert_eq!(page(&app, &[("q", "CI <1")]).await.matches("<th scope=\"row\">").count(), 1);
}
