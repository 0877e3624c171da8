//! Tests that watching browsers learn how a study ends.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::run_study::attend;
use super::*;

fn job(pages: &tokio::runtime::Runtime) -> Job {
    let wanted = WantedStudy {
        study: "small".to_owned(),
        title: "A small study".to_owned(),
        quick: false,
        contenders: BTreeSet::new(),
    };
    Job::new(wanted, pages.handle().clone())
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

#[test]
fn a_panic_ends_it_with_a_reason() {
    let pages = runtime();
    let job = job(&pages);
    job.tell(|known| known.phase = Phase::Measuring);
    let mut receiver = job.watch().unwrap();
    assert!(!job.now().is_last && !job.is_over());
    attend(&job, || panic!("index {} out of bounds", 7));
    assert!(job.is_over());
    let last = receiver.borrow_and_update().clone();
    assert!(last.is_last, "{}", last.html);
    for words in ["index 7 out of bounds", "drome has a bug", "every finished cell is kept", "data-over"] {
        assert!(last.html.contains(words), "{words} is not in {}", last.html);
    }
}

#[test]
fn who_comes_after_the_end_is_told_once() {
    let pages = runtime();
    let job = job(&pages);
    job.fail("no thread could be started".to_owned());
    let first = job.now();
    assert!(first.is_last && first.html.contains("no thread could be started"), "{}", first.html);
}

#[test]
fn only_so_many_watch_at_once() {
    let pages = runtime();
    let job = job(&pages);
    let mut watchers: Vec<_> = (0..MOST_WATCHERS).map(|_| job.watch().unwrap()).collect();
    assert!(job.watch().is_none());
    watchers.pop();
    assert!(job.watch().is_some());
}
