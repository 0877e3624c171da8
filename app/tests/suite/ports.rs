//! Contenders that listen elsewhere than they are told to.

use crate::common::{Home, run};
use std::net::TcpListener;

const STUDY: &str = r#"
title = "One cell"
contenders = ["deaf", "deaf-too", "fine"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[design]
rounds = [1, 1]
slice = "20ms"
warmup = "20ms"
measure = "100ms"
precision = 0.9
budget = "2h"
"#;

const CONTENDER: &str = r#"
title = "NAME"
language = "sh"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = ["sh", "-c", "'{drome}' serve --port PORT & wait"]
ready = "READY"
[serves]
hello = "/hello"
"#;

/// How long it is waited for a server that never listens where it should: long enough to see where it does.
const DEAF_READY: &str = "4s";

fn contender(home: &Home, name: &str, port: &str) {
    let ready = if name.starts_with("deaf") { DEAF_READY } else { "10s" };
    let text = CONTENDER.replace("NAME", name).replace("PORT", port).replace("READY", ready);
    home.write(&format!("own/contenders/{name}/contender.toml"), &text);
}

#[test]
fn who_listens_on_another_port_is_told_so_even_if_two_want_the_same() {
    let home = Home::new();
    let fixed = control::machine::ports::free_port().unwrap();
    contender(&home, "deaf", &fixed.to_string());
    contender(&home, "deaf-too", &fixed.to_string());
    contender(&home, "fine", "{port}");
    home.write("own/studies/one.toml", STUDY);
    let finished = run(&mut home.with_catalog(&["run", "one"]));
    assert_eq!(finished.code, 4, "two of them have no sound start: {}", finished.err);
    for name in ["deaf", "deaf-too"] {
        let of_it = finished.err.lines().find(|line| line.starts_with(&format!("{name}: failed: "))).unwrap();
        for words in [
            "nothing listens on port ",
            "but its process ",
            &format!(
                " listens on 127.0.0.1:{fixed}: its command or its files must use {{port}} where they set the port"
            ),
        ] {
            assert!(of_it.contains(words), "{words} is not in {of_it}");
        }
    }
    assert!(!finished.err.contains("fine: failed"), "{}", finished.err);
    home.assert_clean();
}

#[test]
fn a_fixed_port_that_is_taken_is_told_in_the_words_of_the_server() {
    let home = Home::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    contender(&home, "deaf", &taken.local_addr().unwrap().port().to_string());
    let finished = run(&mut home.with_catalog(&["verify", "deaf"]));
    assert!(finished.code == 3 && finished.out.contains("it ended ("), "{}", finished.out);
    assert!(finished.out.to_lowercase().contains("in use"), "{}", finished.out);
    home.assert_clean();
}
