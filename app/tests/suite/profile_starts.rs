//! The starts in which servers are profiled: runtimes are told to name their functions, in these starts only, and nothing is left of it.

use crate::common::{Home, run};
use std::path::{Path, PathBuf};

const DROME: &str = env!("CARGO_BIN_EXE_drome");

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
    let why = home.path().join("why").display().to_string();
    let race = run(home
        .drome(&["race", &server("A"), &server("B"), "--profile", &why, "-c", "1", "--seed", "1"])
        .args(["--warmup", "50ms", "--duration", "100ms", "--url", "http://127.0.0.1:{port}/hello"])
        .args(["--budget", "20s"])
        .env("NODE_OPTIONS", OWN)
        .env_remove("JAVA_TOOL_OPTIONS")
        .env_remove("PYTHONPERFSUPPORT")
        .env_remove("DOTNET_PerfMapEnabled"));
    assert!(matches!(race.code, 0 | 4), "{}{}", race.out, race.err);
    let starts = lines(&home.path().join("starts"));
    let (told, plain): (Vec<&String>, Vec<&String>) = starts.iter().partition(|line| line.contains("perf"));
    assert!(plain.len() >= 4, "{starts:?}");
    for line in plain {
        assert_eq!(line[1..], format!(" {OWN}, , , "), "{starts:?}");
    }
    // Where the kernel lets nobody look, there is no second one.
    let letters: Vec<&str> = if race.err.contains("no profile:") { vec!["A"] } else { vec!["A", "B"] };
    assert_eq!(told.iter().map(|line| &line[..1]).collect::<Vec<_>>(), letters, "{starts:?}");
    for line in told {
        assert!(line[1..].starts_with(&format!(" {OWN} --perf-basic-prof ")), "{line}");
        assert!(line.contains(" -XX:+PreserveFramePointer ") && line.ends_with(", 1, 1"), "{line}");
    }
    let pids = lines(&home.path().join("pids"));
    assert_eq!(pids.len(), letters.len());
    let maps: Vec<PathBuf> = pids.iter().map(|pid| PathBuf::from(format!("/tmp/perf-{pid}.map"))).collect();
    assert!(!maps.iter().any(|map| map.exists()), "they are removed: {maps:?}");
    home.assert_clean();
}
