//! Tests that labels are short and tell commands apart.

use super::*;

#[test]
fn labels_keep_what_differs() {
    let cases: &[(&[&str], &[&str])] = &[
        (&["./old --port {port}", "./new --port {port}"], &["old", "new"]),
        (&["node a.js {port}", "node b.js {port}"], &["a.js", "b.js"]),
        (&["/home/me/x/target/server {port}", "/home/me/y/target/server {port}"], &["x", "y"]),
        (&["/opt/a/b/server {port}", "/opt/a/server {port}"], &["b", "server"]),
        (&["bin/server -t 1 -p {port}", "bin/server -t 4 -p {port}"], &["server -t 1", "server -t 4"]),
        (&["/bin/drome {port} --spin 9ns", "/bin/drome {port}"], &["drome --spin 9ns", "drome"]),
        (&["WORKERS=1 ./s {port}", "WORKERS=2 ./s {port}"], &["WORKERS=1", "WORKERS=2"]),
        (&["nginx -c a.conf {port}", "caddy run {port}"], &["nginx -c a.conf", "caddy run"]),
    ];
    for (commands, labels) in cases {
        assert_eq!(short_labels(commands), *labels, "{commands:?}");
    }
}

#[test]
fn identical_commands_get_numbers() {
    assert_eq!(short_labels(&["./a/server {port}", "./a/server {port}"]), ["server #1", "server #2"]);
    assert_eq!(short_labels(&["./a {port}", "./a {port}", "./b {port}"]), ["a #1", "a #2", "b"]);
}

#[test]
fn labels_are_never_empty_and_never_long() {
    assert_eq!(short_labels(&["/usr/bin/env {port}"]), ["env"]);
    assert_eq!(short_labels(&["", "/"]), ["command", "/"]);
    let long = |word: &str| format!("python3 -c 'import {}{word}' {{port}}", "x".repeat(99));
    let labels = short_labels(&[&long("a"), &long("b")]);
    assert!(labels.iter().all(|label| label.chars().count() <= LONGEST + 3), "{labels:?}");
    assert_ne!(labels[0], labels[1], "what was cut was what told them apart");
}

#[test]
fn chosen_names_are_taken_in_order_or_refused() {
    let entrants = || BTreeMap::from(["A", "B"].map(|name| (name.to_owned(), Entrant::default())));
    let named = |names: &[&str]| {
        let mut entrants = entrants();
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        name_entrants(&mut entrants, &names).map(|()| race_title(&entrants)).map_err(|e| e.to_string())
    };
    assert_eq!(named(&["old", " new "]), Ok("old against new".to_owned()));
    assert_eq!(named(&[]), Ok(" against ".to_owned()), "they keep the titles that they have");
    for names in [&["old"][..], &["old", "old"], &["old", " "], &["a", "b", "c"]] {
        let why = named(names).expect_err("refused");
        assert!(why.contains("for 2 commands") && why.contains("different name"), "{why}");
    }
}
