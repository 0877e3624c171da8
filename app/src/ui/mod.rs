//! The web interface. A thread on the cores of the load generator serves it. Studies are measured by a thread of
//! the lab, with the same steps as `drome run`. The two never work at the same time (see [`pauses`]).
//!
//! A study runs in this process, not in a child, so that the lab can report every step of a heat
//! without the store. The servers and the load generator have their own processes and threads either way.

#![allow(clippy::unused_async, reason = "axum accepts only async handlers")]

mod access;
mod job;
mod outcomes;
mod pages;
mod pauses;
mod recent;
mod state;

pub use access::rules::AccessRules;

use crate::console;
use crate::failure::INTERRUPTED;
use crate::web::connections::{self, Limits};
use access::body::IMPORT_PATH;
use access::entrance::enter;
use access::rules;
use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use control::Catalog;
use control::machine::cores::Cores;
use pages::{assets, compare, contenders, error_page, flame, import, live, run, runs, studies};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use state::{AppState, PageOrder};
use std::net::TcpListener;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// The settings of the web interface.
#[derive(Debug)]
pub struct UiConfig {
    /// The listening socket.
    pub listener: TcpListener,
    /// The access control.
    pub rules: AccessRules,
    /// The address to print.
    pub address: String,
    /// The results database.
    pub store: PathBuf,
    /// Studies and contenders.
    pub catalog: Catalog,
    /// Whether measurements count under background load.
    pub may_be_busy: bool,
}

/// Serves until it is stopped, which also stops a running study, as Ctrl-C stops `drome run`.
pub fn serve(config: UiConfig) -> anyhow::Result<ExitCode> {
    let (orders, inbox) = channel();
    stop_by_signal(orders.clone())?;
    let app = Arc::new(AppState::new(config.store, config.catalog, orders.clone(), config.may_be_busy));
    let router = router(Arc::clone(&app), config.rules);
    let client = Cores::deal().client;
    // This thread must keep all cores: the lab's threads inherit them and divide them.
    thread::spawn(move || {
        let _ = net::cpu::pin(&client);
        let answered = catch_unwind(AssertUnwindSafe(|| {
            connections::answer(config.listener, router, Limits::default())
        }));
        let why = match answered {
            Ok(Err(error)) => error.to_string(),
            Ok(Ok(())) | Err(_) => "drome has a bug; please report it".to_owned(),
        };
        let _ = orders.send(PageOrder::Failed(why));
    });
    console::print(&format!("{}\n", config.address))?;
    note!("drome: press Ctrl-C to stop; that also stops a running study");
    obey(&app, &inbox)
}

/// Every page and every button. Requests that are answered even during a step are separate: they build no page.
fn router(app: Arc<AppState>, rules: AccessRules) -> Router {
    let pages = Router::new()
        .route("/", get(runs::list))
        .route("/runs/{id}", get(run::show))
        .route("/runs/{id}/chart", get(run::picture))
        .route("/runs/{id}/{format}", get(run::report))
        .route("/runs/{id}/flame/{contender}", get(flame::show))
        .route("/compare", get(compare::show))
        .route("/studies", get(studies::list))
        .route("/studies/{name}", get(studies::show).post(studies::start))
        .route("/live", get(live::show))
        .route("/contenders", get(contenders::list).post(contenders::list_installed))
        .route("/contenders/{name}", post(contenders::state))
        .route(IMPORT_PATH, post(import::receive))
        .fallback(error_page::nothing_here)
        // `enter` has its own limits.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(Arc::clone(&app), enter));
    let ungated = Router::new()
        .route("/live/stop", post(live::stop))
        .route("/live/events", get(live::events))
        .route("/assets/{name}", get(assets::show));
    pages.merge(ungated).layer(from_fn_with_state(Arc::new(rules), rules::check)).with_state(app)
}

/// Stops at the first signal, and exits at once at the second.
fn stop_by_signal(orders: Sender<PageOrder>) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    thread::spawn(move || {
        let mut is_asked = false;
        for _ in signals.forever() {
            if is_asked || orders.send(PageOrder::Quit).is_err() {
                std::process::exit(INTERRUPTED.into());
            }
            is_asked = true;
        }
    });
    Ok(())
}

/// Runs studies, one at a time, each in its own thread, until drome is stopped.
fn obey(app: &Arc<AppState>, inbox: &Receiver<PageOrder>) -> anyhow::Result<ExitCode> {
    let mut at_work = None;
    for order in inbox {
        match order {
            PageOrder::Start(job) => {
                let (for_job, running) = (Arc::clone(app), Arc::clone(&job));
                match thread::Builder::new().spawn(move || job::run_study::run(&for_job, &running)) {
                    Ok(thread) => at_work = Some(thread),
                    Err(error) => job.fail(format!("can't start a thread: {error}")),
                }
            }
            PageOrder::Failed(why) => anyhow::bail!("can't serve the page any more: {why}"),
            PageOrder::Quit => break,
        }
    }
    let Some(job) = app.under_way() else { return Ok(ExitCode::SUCCESS) };
    job.stop();
    if let Some(thread) = at_work {
        let _ = thread.join();
    }
    alert!("drome: {}", lab::LabError::Interrupted);
    Ok(ExitCode::from(INTERRUPTED))
}
