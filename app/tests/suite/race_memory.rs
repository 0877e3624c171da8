//! `drome race` of a server that keeps memory of every answer.

use crate::common::{Home, run};
use std::process::Command;

/// A small server that keeps so many bytes of every answer as `LEAK_BYTES` says.
const SERVER: &str = include_str!("../../../bench/src/guard/server.c");

/// What the leaking server keeps of an answer, in bytes.
const LEAK: f64 = 1024.0;

/// Compiles the server; returns the command that starts it.
fn server(home: &Home, name: &str, leak: f64) -> String {
    assert!(SERVER.contains("#define LEAK_BYTES 0"));
    let text = SERVER.replace("#define LEAK_BYTES 0", &format!("#define LEAK_BYTES {leak}"));
    let (source, program) = (home.write(&format!("{name}.c"), &text), home.path().join(name));
    let built = run(Command::new("cc").args(["-O2", "-o"]).args([program.as_path(), source.as_path()]));
    assert_eq!(built.code, 0, "{}", built.err);
    format!("{} {{port}}", program.display())
}

#[test]
fn a_leak_is_told_by_answer_and_only_of_the_server_that_has_it() {
    let home = Home::new();
    let (sound, leaks) = (server(&home, "sound", 0.0), server(&home, "leaks", LEAK));
    let mut command = home.drome(&["race", &sound, &leaks, "--seed", "1", "-c", "1", "--metric", "rss"]);
    let finished = run(command.args(["--warmup", "50ms", "--duration", "300ms", "--rounds", "3"]));
    assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
    let told = finished.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("B's memory grows by ") && told.contains("B per answer, 95 % "), "{told}");
    assert!(!told.contains("A's memory grows"), "{told}");
    let json = home.findings();
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    let growth = |name: &str| {
        let row = rows.iter().find(|row| row["name"] == name).unwrap();
        let growth = &row["in_heats"]["memory_growth_bytes_per_answer"];
        ["median", "low", "high"].map(|key| growth[key].as_f64().unwrap_or_else(|| panic!("{row}")))
    };
    // A block has a few bytes more than were asked for. The kernel counts memory in pages, and some of them late.
    let [by, low, high] = growth("B");
    assert!(by > 0.5 * LEAK && by < 1.6 * LEAK, "{by}");
    assert!(0.0 < low && low <= by && by <= high, "{low} {high}");
    let [_, low, _] = growth("A");
    assert!(low <= 0.0, "{low}");
}
