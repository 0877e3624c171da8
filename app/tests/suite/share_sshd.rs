//! `drome push` and `drome pull` over a real ssh and sshd: runs go to the store of who logs in there and come back from it, once.

use super::share::{FIRST, filled, json, refused};
use crate::common::sshd::Sshd;
use crate::common::{Finished, Home, run};

/// It went well, and all that was printed is what became of the first run.
fn assert_became(finished: &Finished, what: &str) {
    let expected = format!("{FIRST}  example  {what}\n");
    assert_eq!((finished.code, &finished.out), (0, &expected), "{}", finished.err);
}

#[test]
fn a_run_goes_by_ssh_to_another_store_and_from_there_to_a_third_and_only_once() {
    let (one, third, sshd) = (filled(), Home::new(), Sshd::usual());
    let board = sshd.transport("config");
    let push = || run(&mut one.drome(&["push", "--to", &board, FIRST, "--machine", "ci-1"]));
    let pull = || run(&mut third.drome(&["pull", "--from", &board]));
    assert_became(&push(), "pulled from ci-1");
    assert!(sshd.user.join(".local/share/drome/drome.sqlite").is_file(), "the store of who logs in");
    assert_became(&pull(), "pulled from ci-1");
    let (own, mut back) = (json(&one, FIRST), json(&third, FIRST));
    assert_eq!(back["origin"]["machine"], "ci-1");
    back.as_object_mut().unwrap().remove("origin");
    assert_eq!(own, back, "the same figures");
    assert_became(&push(), "already here");
    assert_became(&pull(), "already here");
    sshd.assert_clean();
}

#[test]
fn who_may_not_log_in_neither_sends_nor_takes_runs_and_is_told() {
    let (one, third, sshd) = (filled(), Home::new(), Sshd::usual());
    let board = sshd.transport("wrong-key");
    for finished in [
        run(&mut one.drome(&["push", "--to", &board, FIRST])),
        run(&mut third.drome(&["pull", "--from", &board])),
    ] {
        refused(&finished, 1, "Permission denied");
        refused(&finished, 1, "what it printed says why");
    }
    assert!(!sshd.user.join(".local").exists());
    sshd.assert_clean();
}
