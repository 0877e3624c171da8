//! The starts in which servers are profiled: runtimes are told to name their functions, in these starts only, and nothing is left of it.

use crate::common::{DROME, Home, run};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the user has in the variable that Node.js reads.
const OWN: &str = "--max-old-space-size=512";

/// A server that notes what it is told at its start, and leaves behind what Node.js leaves behind.
const SERVER: &str = r#"echo "$1 $NODE_OPTIONS, $JAVA_TOOL_OPTIONS, $PYTHONPERFSUPPORT, $DOTNET_PerfMapEnabled" >> "$2/starts"
case "$NODE_OPTIONS" in *--perf-basic-prof*)
    echo $$ >> "$2/pids"
    echo "1000 10 f" > "/tmp/perf-$$.map"
esac
exec "$3" serve --port "$4"
"#;

/// A server that does not start with what drome tells it.
const REFUSING: &str = r#"case "$NODE_OPTIONS" in *perf*) echo "node: --perf-basic-prof is not allowed" >&2; exit 9 ;; esac
exec "$1" serve --port "$2"
"#;

/// A race of these two that is soon over, with profiles in this folder.
fn race(home: &Home, a: &str, b: &str, folder: &Path) -> Command {
    let folder = folder.display().to_string();
    let mut race =
        home.drome(&["race", a, b, "--profile", &folder, "-c", "1", "--seed", "1", "--rounds", "1"]);
    race.args(["--warmup", "50ms", "--duration", "100ms", "--url", "http://127.0.0.1:{port}/hello"]);
    for name in ["NODE_OPTIONS", "JAVA_TOOL_OPTIONS", "PYTHONPERFSUPPORT", "DOTNET_PerfMapEnabled"] {
        race.env_remove(name);
    }
    race
}

fn lines(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines().map(str::to_owned).collect()
}

#[test]
fn only_the_starts_that_are_sampled_are_told_to_name_functions() {
    let home = Home::new();
    let script = home.write("server.sh", SERVER).display().to_string();
    let folder = home.path().display().to_string();
    let server = |letter: &str| format!("sh {script} {letter} {folder} {DROME} {{port}}");
    let why = home.path().join("why");
    let race = run(race(&home, &server("A"), &server("B"), &why).env("NODE_OPTIONS", OWN));
    assert!(matches!(race.code, 0 | 4), "{}{}", race.out, race.err);
    let starts = lines(&home.path().join("starts"));
    let (told, plain): (Vec<&String>, Vec<&String>) = starts.iter().partition(|line| line.contains("perf"));
    assert!(plain.len() >= 4, "{starts:?}");
    for line in plain {
        assert_eq!(line[1..], format!(" {OWN}, , , "), "{starts:?}");
    }
    // Where the kernel lets nobody look, there is no second one.
    let letters: Vec<&str> = if race.err.contains("no profile:") { vec!["A"] } else { vec!["A", "B"] };
    // A server is started again where another program took its port.
    let mut sampled: Vec<&str> = told.iter().map(|line| &line[..1]).collect();
    sampled.dedup();
    assert_eq!(sampled, letters, "{starts:?}");
    for line in &told {
        assert!(line[1..].starts_with(&format!(" {OWN} --perf-basic-prof ")), "{line}");
        assert!(line.contains(" -XX:+PreserveFramePointer ") && line.ends_with(", 1, 1"), "{line}");
    }
    let pids = lines(&home.path().join("pids"));
    assert_eq!(pids.len(), told.len());
    // This script writes its map before it has a port, and drome removes the map of the start that had one: the last.
    let is_last = |nth: &usize| told.get(nth + 1).is_none_or(|next| next[..1] != told[*nth][..1]);
    let pids = (0..told.len()).filter(is_last).map(|nth| &pids[nth]);
    let maps: Vec<PathBuf> = pids.map(|pid| PathBuf::from(format!("/tmp/perf-{pid}.map"))).collect();
    assert!(!maps.iter().any(|map| map.exists()), "they are removed: {maps:?}");
    home.assert_clean();
}

#[test]
fn a_server_that_does_not_start_with_it_is_sampled_without() {
    let home = Home::new();
    let script = home.write("server.sh", REFUSING).display().to_string();
    let (a, b) = (format!("{DROME} serve --port {{port}}"), format!("sh {script} {DROME} {{port}}"));
    let why = home.path().join("why");
    let race = run(&mut race(&home, &a, &b, &why));
    assert!(matches!(race.code, 0 | 4), "{}{}", race.out, race.err);
    if !race.err.contains("no profile:") {
        assert!(race.err.contains("profile: B is started again without being told to name"), "{}", race.err);
        assert!(race.err.contains("is not allowed"), "with the last lines of its log: {}", race.err);
        assert!(why.join("B.folded").exists(), "{}", race.err);
    }
    home.assert_clean();
}
