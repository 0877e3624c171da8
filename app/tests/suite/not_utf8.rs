//! Arguments that are no text: no command panics on them, and none takes them for others.

use crate::common::{Home, run};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

/// A name that is not UTF-8.
fn odd(text: &str) -> OsString {
    OsString::from_vec([text.as_bytes(), b"\xff"].concat())
}

#[test]
fn an_argument_that_is_not_utf_8_is_used_or_refused_and_never_a_panic() {
    let home = Home::new();
    let server = "sh -c 'exit 7' {port}";
    let mut lines: Vec<(Vec<&str>, OsString, i32, &str)> = vec![
        (vec!["race", "--bisect", "--fail-if-slower", "2%", server], odd("x {port}"), 128, "UTF-8"),
        (
            vec!["race", "--bisect", "--fail-if-slower", "2%", server, server, "--output"],
            odd("o"),
            128,
            "exit status: 7",
        ),
        (vec!["race", server, server, "--output"], odd("o"), 2, "exit status: 7"),
        (vec!["race", "--file"], odd("race.toml"), 2, "race.toml"),
        (vec!["run", "none", "--output"], odd("o"), 2, "none"),
        (vec!["help"], odd("ab"), 2, "no command or topic"),
        (vec!["load", "http://127.0.0.1:1/", "--body-file"], odd("body"), 2, "--body-file"),
        (vec!["load"], odd("http://127.0.0.1:1/"), 2, "UTF-8"),
    ];
    for dialect in ["ab", "wrk", "wrk2", "siege", "httperf", "http_load", "weighttp", "h2load"] {
        lines.push((vec![dialect], odd("http://127.0.0.1:1/"), 2, "not UTF-8"));
    }
    for (before, odd, code, why) in lines {
        let mut command = home.drome(&before);
        let finished = run(command.arg(odd));
        finished.assert_err(code, &[why]);
        assert!(!finished.err.contains("panicked"), "{before:?}: {}", finished.err);
    }
}

#[test]
fn the_options_of_a_file_are_read_beside_an_argument_that_is_not_utf_8() {
    let home = Home::new();
    let text = "[race]\nurls = [\"http://127.0.0.1:1/\", \"http://127.0.0.1:1/\"]\n";
    let file = home.write("race.toml", text).display().to_string();
    let finished = run(home.drome(&["race", "--file", &file, "--output"]).arg(odd("o")));
    finished.assert_err(2, &["does not answer"]);
}
