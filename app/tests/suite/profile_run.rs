//! `drome run --profile`: what the contenders of a study spend their CPU time on, cell by cell.

use crate::common::{Finished, Home, assert_as_schema, run};
use serde_json::Value;
use std::path::Path;

/// Two cells, one of them with open load.
const STUDY: &str = r#"
title = "A small study"
contenders = ["spinning", "other"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[[cell]]
title = "open, at 200/s"
workload = "pong"
load = { open = { rate_per_s = 200, connections = 2 } }
[design]
rounds = [2, 2]
warmup = "50ms"
measure = "500ms"
precision = 0.9
budget = "2h"
"#;

/// A server that takes much longer than the reference.
const CONTENDER: &str = r#"
title = "A spinning server"
language = "Rust"
kind = "server"
homepage = "http://127.0.0.1/"
class = "native"
[version]
command = ["{drome}", "--version"]
[run]
command = ["{drome}", "serve", "--port", "{port}", "--spin", "200us"]
[serves]
hello = "/hello"
pong = "/pong"
"#;

fn home() -> Home {
    let home = Home::new();
    home.write("own/studies/small.toml", STUDY);
    for name in ["spinning", "other"] {
        home.write(&format!("own/contenders/{name}/contender.toml"), CONTENDER);
    }
    home
}

fn drome(home: &Home, args: &[&str]) -> Finished {
    run(&mut home.with_catalog(args))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn each_contender_of_each_cell_is_sampled_under_its_load() {
    let home = home();
    let folder = home.path().join("new/why");
    let path = folder.display().to_string();
    let finished =
        drome(&home, &["run", "small", "--contender", "spinning", "--profile", &path, "--seed", "5"]);
    // On a machine that is busy otherwise, a contender may have no sound start.
    assert!([0, 4].contains(&finished.code), "{}{}", finished.out, finished.err);
    assert!(finished.err.contains("samples it after its warm-up: 4 loads, about "), "{}", finished.err);
    assert!(finished.err.contains("profile 1 of 4: reference, keep-alive\n"), "{}", finished.err);
    home.assert_clean();
    if finished.err.contains("no profile:") {
        assert!(finished.err.contains("sysctl kernel.perf_event_paranoid=1"), "{}", finished.err);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        return;
    }
    for line in [
        "profile 2 of 4: spinning, keep-alive\n",
        "profile 3 of 4: reference, open, at 200/s\n",
        "profile 4 of 4: spinning, open, at 200/s\n",
        "profile of spinning (A spinning server): ",
        "spinning spends ",
    ] {
        assert!(finished.err.contains(line), "no {line:?} in {}", finished.err);
    }
    let (closed, open) = (folder.join("1-keep-alive"), folder.join("2-open--at-200-s"));
    for file in ["reference.svg", "spinning.svg", "spinning-against-reference.svg"] {
        let svg = read(&closed.join(file));
        assert!(svg.contains("<svg ") && svg.contains("</svg>"), "{svg}");
    }
    for cell in [&closed, &open] {
        for name in ["reference", "spinning"] {
            assert!(read(&cell.join(format!("{name}.folded"))).starts_with("# drome profile 1\n"));
            let json: Value = serde_json::from_str(&read(&cell.join(format!("{name}.json")))).unwrap();
            assert_as_schema(&home, "profile", &json);
            assert!(json["work"]["answers"].as_u64() > Some(0), "{json}");
        }
        let files = std::fs::read_dir(cell).unwrap().flatten().map(|file| file.file_name());
        let names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).collect();
        assert!(!names.iter().any(|name| name.contains("other")), "{names:?}");
    }
    // Open load asks as often as it did in the study, and not as often as the server can answer.
    let json: Value = serde_json::from_str(&read(&open.join("reference.json"))).unwrap();
    assert!(json["work"]["answers"].as_u64() < Some(1_000), "{}", json["work"]);
    // Nothing of it is stored.
    let stored: Value = serde_json::from_str(&drome(&home, &["report", "--format", "json"]).out).unwrap();
    for cell in stored["cells"].as_array().unwrap() {
        for row in cell["contenders"].as_array().unwrap() {
            let count = |key: &str| row[key].as_u64().unwrap();
            assert_eq!(count("trials") + count("failed"), 2, "two rounds: {row}");
        }
    }
}

#[test]
fn what_can_not_be_profiled_is_refused_before_the_run() {
    let home = home();
    let file = home.write("file", "").display().to_string();
    let refused = |args: &[&str], why: &str| {
        let finished = drome(&home, args);
        assert_eq!(finished.code, 2, "{}", finished.err);
        assert!(finished.err.contains("--profile") && finished.err.contains(why), "{}", finished.err);
    };
    refused(&["run", "small", "--profile", &format!("{file}/why")], "the folder can't be made");
    refused(&["run", "small", "--as-published", "--profile", "why"], "--as-published");
}
