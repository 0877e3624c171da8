//! Contenders that listen elsewhere than they are told to.

use crate::common::catalog::contender;
use crate::common::{Home, assert_has, run};
use std::net::TcpListener;

/// How long it is waited for a server that never listens where it should: long enough to see where it does.
const DEAF_READY: &str = "4s";

fn add_contender(home: &Home, name: &str, port: &str) {
    let command = format!(r#"["sh", "-c", "'{{drome}}' serve --port {port} & wait"]"#);
    let ready = if name.starts_with("deaf") { DEAF_READY } else { "10s" };
    let run = format!("[run]\nready = \"{ready}\"\n");
    home.write_contender(name, &contender(name, &command).replace("[run]\n", &run));
}

#[test]
fn who_listens_on_another_port_is_told_so_even_if_two_want_the_same() {
    let home = Home::new();
    let fixed = control::machine::ports::free_port().unwrap();
    add_contender(&home, "deaf", &fixed.to_string());
    add_contender(&home, "deaf-too", &fixed.to_string());
    add_contender(&home, "fine", "{port}");
    home.add_study("one", &["deaf", "deaf-too", "fine"], 1);
    let finished = run(&mut home.with_catalog(&["run", "one"]));
    assert_eq!(finished.code, 4, "two of them have no sound start: {}", finished.err);
    for name in ["deaf", "deaf-too"] {
        let of_it = finished.err.lines().find(|line| line.starts_with(&format!("{name}: failed: "))).unwrap();
        assert_has(
            of_it,
            &[
                "nothing listens on port ",
                "but its process ",
                &format!(
                    " listens on 127.0.0.1:{fixed}: its command or its files must use {{port}} where they set the port"
                ),
            ],
        );
    }
    assert!(!finished.err.contains("fine: failed"), "{}", finished.err);
    home.assert_clean();
}

#[test]
fn a_fixed_port_that_is_taken_is_told_in_the_words_of_the_server() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    add_contender(&home, "deaf", &taken.local_addr().unwrap().port().to_string());
    let finished = run(&mut home.with_catalog(&["verify", "deaf"]));
    finished.assert_out(3, &["it ended ("]);
    assert!(finished.out.to_lowercase().contains("in use"), "{}", finished.out);
    home.assert_clean();
}
