//! Tests of the list of contenders and its filters.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use control::Catalog;
use std::sync::{Arc, mpsc};

fn app() -> (Arc<AppState>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::built_in().unwrap();
    let (orders, _) = mpsc::channel();
    (Arc::new(AppState::new(folder.path().join("drome.sqlite"), catalog, orders, true)), folder)
}

async fn page(app: &Arc<AppState>, asked: &[(&str, &str)]) -> String {
    let asked = asked.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    list(State(Arc::clone(app)), Query(asked)).await.into_string()
}

fn rows(page: &str) -> usize {
    page.matches("<th scope=\"row\">").count()
}

#[tokio::test]
async fn each_filter_narrows_the_list_and_stays_chosen() {
    let (app, _folder) = app();
    let all = rows(&page(&app, &[]).await);
    assert_eq!(all, app.catalog.contenders.len());
    for asked in [("q", "nginx"), ("language", "Go"), ("kind", "framework"), ("class", "jit")] {
        let page = page(&app, &[asked]).await;
        assert!((1..all).contains(&rows(&page)), "{asked:?}: {page}");
        assert!(page.contains(&format!("value=\"{}\"", asked.1)), "{asked:?}: {page}");
        assert!(page.contains("Show all contenders"), "{asked:?}: {page}");
    }
    let go = page(&app, &[("language", "Go")]).await;
    assert!(go.contains("<option value=\"Go\" selected>Go</option>"), "{go}");
    assert_eq!(rows(&go), go.matches("data-label=\"Language\">Go<").count());
    let both = page(&app, &[("language", "Go"), ("q", "NET/http")]).await;
    assert!(rows(&both) > 0 && rows(&both) <= rows(&go), "{both}");
    assert_eq!(rows(&page(&app, &[("q", "nothing of this name")]).await), 0);
}

#[tokio::test]
async fn values_that_no_contender_has_filter_nothing_and_markup_is_text() {
    let (app, _folder) = app();
    let all = rows(&page(&app, &[]).await);
    let bad =
        [("language", "<b>"), ("kind", "Server"), ("class", "x"), ("installed", "maybe"), ("colour", "red")];
    for asked in bad {
        let page = page(&app, &[asked]).await;
        assert_eq!(rows(&page), all, "{asked:?}");
        assert!(!page.contains(" selected") && !page.contains("Show all contenders"), "{asked:?}: {page}");
    }
    let page = page(&app, &[("q", "\"><script>")]).await;
    assert!(page.contains("value=\"&quot;&gt;&lt;script&gt;\"") && rows(&page) == 0, "{page}");
    assert!(page.contains("action=\"/contenders?q=%22%3E%3Cscript%3E\""), "{page}");
}

#[tokio::test]
async fn what_is_known_of_the_machine_is_filtered_and_the_rest_is_asked_for() {
    let (app, _folder) = app();
    let all = app.catalog.contenders.len();
    app.know_installed("nginx", Some(true));
    app.know_installed("caddy", Some(false));
    let installed = page(&app, &[("installed", "yes")]).await;
    assert_eq!(rows(&installed), all - 1, "all but the one that is known to be missing");
    assert!(installed.contains("data-installed=\"yes\"") && !installed.contains("/contenders/caddy"));
    let missing = page(&app, &[("installed", "no")]).await;
    assert!(rows(&missing) == all - 1 && !missing.contains("data-ask=\"/contenders/nginx\""), "{missing}");
    app.know_installed("caddy", None);
    assert_eq!(rows(&page(&app, &[("installed", "yes")]).await), all);
}

#[test]
fn a_row_shows_few_workloads_and_has_all() {
    let catalog = Catalog::built_in().unwrap();
    let nginx = &catalog.contenders["nginx"].contender;
    let shown = serves(nginx).into_string();
    let (summary, rest) = shown.split_once("</summary>").unwrap();
    assert_eq!(summary.matches(", ").count(), WORKLOADS - 1, "{summary}");
    assert_eq!(rest.matches(", ").count() + 1, nginx.serves.len() - WORKLOADS, "{rest}");
    let mut few = nginx.clone();
    few.serves.retain(|name, _| name == "hello");
    assert_eq!(serves(&few).into_string(), "hello");
}
