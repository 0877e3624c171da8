//! `drome run --profile`: what the contenders of a study spend their CPU time on, cell by cell.

use crate::common::catalog::{cell, contender_with_pong, keep_alive, study};
use crate::common::{Finished, Home, assert_as_schema, run};
use serde_json::Value;
use std::path::Path;

/// A study of two cells, one of them with open load, and servers that take much longer than the reference.
fn home() -> Home {
    let home = Home::new();
    let open = cell("open, at 200/s", "pong", "open = { rate_per_s = 200, connections = 2 }");
    let design = [("rounds", "[2, 2]"), ("measure", "'500ms'")];
    home.write_study("small", &study(&["spinning", "other"], &(keep_alive(2) + &open), &design));
    let command = r#"["{drome}", "serve", "--port", "{port}", "--spin", "200us"]"#;
    for name in ["spinning", "other"] {
        home.write_contender(name, &contender_with_pong("A spinning server", command));
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
    for cell in home.findings()["cells"].as_array().unwrap() {
        for row in cell["contenders"].as_array().unwrap() {
            let count = |key: &str| row[key].as_u64().unwrap();
            assert_eq!(count("trials") + count("failed"), 2, "two rounds: {row}");
        }
    }
}

#[test]
fn a_page_is_not_profiled_as_it_measured() {
    let finished = drome(&home(), &["run", "small", "--as-published", "--profile", "why"]);
    finished.assert_err(2, &["--profile", "--as-published"]);
}
