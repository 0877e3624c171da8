//! A study that was started on the page, from the button to its end. The lab's thread updates it between two
//! steps of a heat (`job/run_study.rs`), and pages read it. The pieces for watching browsers are also built here, between two steps.

pub mod known;
pub mod run_study;

use super::pages::piece;
use known::{KnownOfJob, Phase};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::runtime::Handle;
use tokio::sync::watch;

/// The number of browsers that can watch at once: each holds a connection, and some must stay free for pages.
const MOST_WATCHERS: usize = 32;

/// What to run.
#[derive(Clone, Debug)]
pub struct WantedStudy {
    /// The study's name.
    pub study: String,
    /// Its title.
    pub title: String,
    /// Whether it is only a first look.
    pub quick: bool,
    /// The contenders that take part.
    pub contenders: BTreeSet<String>,
}

/// An update for watching browsers.
#[derive(Clone, Debug)]
pub struct Piece {
    /// A piece of the page.
    pub html: Arc<str>,
    /// Whether it is the last one.
    pub is_last: bool,
}

/// A study, from the button to its end.
#[derive(Debug)]
pub struct Job {
    /// What to run.
    pub wanted: WantedStudy,
    stop: Arc<AtomicBool>,
    known: Mutex<KnownOfJob>,
    told: watch::Sender<Piece>,
    pages: Handle,
}

impl Job {
    /// A study that has not begun.
    pub fn new(wanted: WantedStudy, pages: Handle) -> Self {
        let known = KnownOfJob {
            phase: Phase::Preparing,
            run: None,
            heat: None,
            done: 0,
            least: 0,
            outcomes: Vec::new(),
            left: None,
            findings: None,
        };
        let told = watch::Sender::new(Piece { html: Arc::from(""), is_last: false });
        Self { wanted, stop: Arc::default(), known: Mutex::new(known), told, pages }
    }

    /// Asks the study to stop. The current cell is dropped; all finished cells are kept.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the study has ended or failed.
    pub fn is_over(&self) -> bool {
        self.known().is_over()
    }

    /// Whether the study was asked to stop.
    pub fn is_stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What is known so far.
    pub fn known(&self) -> MutexGuard<'_, KnownOfJob> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All updates from now on; none if too many browsers watch already.
    pub fn watch(&self) -> Option<watch::Receiver<Piece>> {
        (self.told.receiver_count() < MOST_WATCHERS).then(|| self.told.subscribe())
    }

    /// The current state as an update.
    pub fn now(&self) -> Piece {
        self.draw(&self.known())
    }

    fn draw(&self, known: &KnownOfJob) -> Piece {
        let html = piece::fragment(known, self.is_stopping()).into_string();
        Piece { html: Arc::from(html), is_last: known.is_over() }
    }

    fn tell(&self, change: impl FnOnce(&mut KnownOfJob)) {
        let mut known = self.known();
        change(&mut known);
        // Without watchers nothing is drawn.
        if self.told.receiver_count() > 0 {
            let drawn = self.draw(&known);
            drop(known);
            self.told.send_replace(drawn);
        }
    }

    /// Ends the study with a failure.
    pub fn fail(&self, why: String) {
        self.end(Phase::Failed(why));
    }

    fn end(&self, phase: Phase) {
        let tell = || self.tell(|known| (known.phase, known.heat) = (phase, None));
        // Drawing may panic, and may be why the study ended; the phase is set before.
        let _ = catch_unwind(AssertUnwindSafe(tell));
    }
}

#[cfg(test)]
#[path = "job/tests.rs"]
mod tests;
