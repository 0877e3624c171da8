//! Tests that no page is built during a step of a measurement.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::super::access::entrance::enter;
use super::super::access::rules::AccessRules;
use super::super::router;
use super::super::state::AppState;
use super::*;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::IntoResponse;
use axum::routing::get;
use control::Catalog;
use futures_util::StreamExt;
use std::sync::mpsc;
use std::time::Duration;
use tokio::time::timeout;
use tower::ServiceExt;

/// An app with an empty store, and its folder.
fn app() -> (Arc<AppState>, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let catalog = Catalog::built_in().unwrap();
    let (orders, _) = mpsc::channel();
    (Arc::new(AppState::new(folder.path().join("drome.sqlite"), catalog, orders, true)), folder)
}

/// Asks as a browser that has the token does.
async fn status(pages: &Router, method: &str, path: &str, token: &str) -> u16 {
    let request = Request::builder()
        .method(method)
        .uri(path)
        .header("host", "127.0.0.1:3766")
        .header("origin", "http://127.0.0.1:3766")
        .header("cookie", format!("drome-token-3766={token}"))
        .body(Body::empty());
    pages.clone().oneshot(request.unwrap()).await.unwrap().status().as_u16()
}

#[tokio::test(start_paused = true)]
async fn no_page_is_made_while_a_step_is_under_way() {
    let (app, _folder) = app();
    let at = "127.0.0.1:3766".parse().unwrap();
    let rules = AccessRules::new("127.0.0.1", at).unwrap();
    let token = rules.address(at).split_once("?token=").unwrap().1.to_owned();
    let pages = router(Arc::clone(&app), rules);
    // Every address that there is, and one that is not; and what it answers when nothing is measured.
    let all = [
        ("GET", "/", 200),
        ("GET", "/runs/none", 404),
        ("GET", "/runs/none/chart", 404),
        ("GET", "/runs/none/json", 404),
        ("GET", "/runs/none/report", 404),
        ("GET", "/runs/none/flame/A", 404),
        ("GET", "/compare", 200),
        ("GET", "/studies", 200),
        ("GET", "/studies/raspberry-pi", 200),
        ("POST", "/studies/raspberry-pi", 415),
        ("GET", "/live", 200),
        ("GET", "/contenders", 200),
        ("POST", "/contenders/none", 404),
        ("GET", "/contenders/nginx", 405),
        ("POST", "/imports", 400),
        ("GET", "/imports", 405),
        ("GET", "/nowhere", 404),
        ("DELETE", "/", 405),
    ];
    // These make no page: constant text, and a flag that is set.
    let constant = [
        ("GET", "/assets/ui.css", 200),
        ("GET", "/assets/ui.js", 200),
        ("GET", "/assets/flame.js", 200),
        ("POST", "/live/stop", 409),
        ("GET", "/live/events", 409),
    ];
    for (method, path, expected) in all.iter().chain(&constant) {
        assert_eq!(status(&pages, method, path, &token).await, *expected, "{method} {path}");
    }
    let step_held = Arc::clone(&app.pauses.0).write_owned().await;
    for (method, path, _) in all {
        assert_eq!(status(&pages, method, path, &token).await, 503, "{method} {path} is made during a step");
    }
    for (method, path, expected) in constant {
        assert_eq!(status(&pages, method, path, &token).await, expected, "{method} {path}");
    }
    drop(step_held);
    assert_eq!(status(&pages, "GET", "/", &token).await, 200);
}

/// Whether a piece of the page comes within this time.
async fn has_piece(stream: &mut axum::body::BodyDataStream, within: Duration) -> bool {
    let piece = async {
        while let Some(Ok(bytes)) = stream.next().await {
            if String::from_utf8_lossy(&bytes).contains("event: piece") {
                return true;
            }
        }
        false
    };
    timeout(within, piece).await.unwrap_or(false)
}

#[tokio::test(start_paused = true)]
async fn events_are_drawn_between_two_steps_however_long_one_takes() {
    let (app, _folder) = app();
    let contenders = std::collections::BTreeSet::new();
    let (study, title) = ("small".to_owned(), "A small study".to_owned());
    // Nothing receives the order, so the study never begins.
    let _ = app.start(super::super::job::WantedStudy { study, title, quick: false, contenders });
    let step_held = Arc::clone(&app.pauses.0).write_owned().await;
    let events = super::super::pages::live::events(State(Arc::clone(&app))).await.unwrap().into_response();
    assert_eq!(events.status(), 200, "the stream itself begins at once");
    let mut stream = events.into_body().into_data_stream();
    assert!(!has_piece(&mut stream, Duration::from_hours(1)).await, "nothing is drawn during a step");
    drop(step_held);
    assert!(has_piece(&mut stream, Duration::from_hours(1)).await);
}

#[tokio::test]
async fn a_page_keeps_its_turn_until_it_is_made_although_nobody_waits_for_it() {
    let (app, _folder) = app();
    let (begun, has_begun) = mpsc::channel();
    let (go_on, may_go_on) = mpsc::channel::<()>();
    let ends = Arc::new(std::sync::Mutex::new(Some((begun, may_go_on))));
    let slow = move |State(app): State<Arc<AppState>>| async move {
        let (begun, may_go_on) = ends.lock().unwrap().take().unwrap();
        app.work(move |_| {
            begun.send(()).unwrap();
            Ok(may_go_on.recv().is_ok())
        })
        .await
        .map(|_| "made")
    };
    let pages = Router::new()
        .route("/", get(slow))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), enter))
        .with_state(Arc::clone(&app));
    let asked = tokio::spawn(pages.oneshot(Request::new(Body::empty())));
    tokio::task::spawn_blocking(move || has_begun.recv().unwrap()).await.unwrap();
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled(), "the browser has gone");
    assert!(app.pauses.0.try_write().is_err(), "the store is still being read: no step may begin");
    go_on.send(()).unwrap();
    let _step_held = app.pauses.0.write().await;
}

#[tokio::test]
async fn a_page_that_panics_is_a_page_that_says_so() {
    let (app, _folder) = app();
    let broken = || async {
        assert!(desk_is_sound(), "a bug");
        "made"
    };
    let pages = Router::new()
        .route("/", get(broken))
        .layer(axum::middleware::from_fn_with_state(Arc::clone(&app), enter))
        .with_state(Arc::clone(&app));
    let answer = pages.oneshot(Request::new(Body::empty())).await.unwrap();
    assert_eq!(answer.status(), 500);
    assert!(app.pauses.0.try_write().is_ok(), "its turn is over");
}

fn desk_is_sound() -> bool {
    false
}
