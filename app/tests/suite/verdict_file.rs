//! `--verdict FILE` of `drome race` and `drome compare`, and `drome report FILE`.

use crate::common::{Home, assert_as_schema, run};
use crate::gate::findings;
use serde_json::Value;
use std::fs;
use std::path::Path;

const DROME: &str = env!("CARGO_BIN_EXE_drome");

/// A verdict as a stranger may have written it.
pub const VERDICT: &str = r#"{"schema": 1, "outcome": "slower", "margin": 0.02, "title": "base and change", "against": "base",
    "changes": [{"title": "change", "cell": null, "metric": "rate", "speed": 0.75, "low": 0.5, "high": 0.875,
    "slowdown": 0.25, "judged": "slower"}], "left_out": 0, "unknown": [], "smallest_slowdown": 0.25, "elapsed_s": 61.5,
    "rounds": 14, "machine": {"cores": 4, "cpu": null, "kernel": "6.1"}, "drome": "0.1.0"}"#;

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn a_race_writes_its_verdict_and_ends_as_without() {
    let home = Home::new();
    let (fast, slow) =
        (format!("{DROME} serve --port {{port}}"), format!("{DROME} serve --port {{port}} --spin 20ms"));
    let file = home.path().join("verdict.json");
    let path = file.display().to_string();
    let load =
        ["--url", "http://127.0.0.1:{port}/hello", "-c", "1", "--warmup", "50ms", "--duration", "100ms"];
    let names = ["--name", "old", "--name", "@everyone | </details>"];
    let gate = ["--fail-if-slower", "2%", "--budget", "3min", "--seed", "1", "--verdict", &path];
    let race = run(home.drome(&["race", &fast, &slow]).args(load).args(names).args(gate));
    assert_eq!(race.code, 3, "{}{}", race.out, race.err);
    let verdict = json(&file);
    assert_as_schema(&home, "verdict", &verdict);
    let change = &verdict["changes"][0];
    assert!(verdict["outcome"] == "slower" && change["judged"] == "slower", "{verdict}");
    assert!(verdict["against"] == "old" && change["title"] == "@everyone | </details>", "{verdict}");
    assert!(change["slowdown"].as_f64().unwrap() > 0.5 && change["metric"] == "rate", "{verdict}");
    assert!(verdict["rounds"].as_u64() >= Some(2) && verdict["elapsed_s"].as_f64() > Some(0.0), "{verdict}");
    assert!(
        verdict["machine"]["cores"].as_u64() > Some(0) && verdict.get("revisions").is_none(),
        "{verdict}"
    );
    let comment = run(&mut home.drome(&["report", &path, "--marker", "nightly-2"]));
    let head =
        "<!-- drome: nightly-2 -->\n\n**`@everyone ¦ </details>` is more than 2 % slower than `old`.**\n";
    assert!(comment.code == 0 && comment.out.starts_with(head), "{}{}", comment.out, comment.err);
}

#[test]
fn a_comparison_writes_it_as_json_and_as_markdown() {
    let home = Home::new();
    let file = |name: &str, rate| findings(&home, name, 1.0, rate, "a cpu").display().to_string();
    let (old, worse) = (file("old", 50_000.0), file("worse", 35_000.0));
    let path = |name: &str| home.path().join(name).display().to_string();
    let compare = |name: &str| {
        let file = path(name);
        run(&mut home.drome(&["compare", &old, &worse, "--fail-if-slower", "3%", "--verdict", &file]))
    };
    assert_eq!(compare("v.json").code, 3);
    let verdict = json(&home.path().join("v.json"));
    assert_as_schema(&home, "verdict", &verdict);
    assert!(verdict["against"] == "old" && verdict["changes"][0]["cell"] == "keep-alive", "{verdict}");
    assert_eq!(compare("v.md").code, 3);
    let text = fs::read_to_string(home.path().join("v.md")).unwrap();
    assert!(text.starts_with("**`nginx` is more than 3 % slower than `old`.**\n"), "{text}");
    assert!(text.contains("| `nginx` | `keep-alive` | 30.0 % slower |"), "{text}");
    let comment = run(&mut home.drome(&["report", &path("v.json")])).out;
    assert_eq!(comment.strip_prefix("<!-- drome: race -->\n\n"), Some(text.as_str()), "one text for both");
    let refused = compare("v.html");
    assert!(
        refused.code == 2 && refused.err.contains("name a file that ends in .json or .md"),
        "{}",
        refused.err
    );
    let without = run(&mut home.drome(&["compare", &old, &worse, "--verdict", &path("x.json")]));
    assert_eq!(without.code, 2, "there is nothing to judge");
    assert!(!home.path().join("x.json").exists());
}

#[test]
fn a_verdict_needs_a_margin_and_a_place_before_anything_is_measured() {
    let home = Home::new();
    let server = format!("{DROME} serve --port {{port}}");
    let refused = |args: &[&str], why: &str| {
        let finished = run(home.drome(&["race", &server, &server]).args(args));
        assert!(finished.code == 2 && finished.err.contains(why), "{}", finished.err);
    };
    refused(&["--verdict", "v.json"], "--verdict needs --fail-if-slower");
    refused(&["--fail-if-slower", "2%", "--verdict", "/no/such/folder/v.json"], "can't be written");
    refused(&["--fail-if-slower", "2%", "--verdict", "v.txt"], "--verdict v.txt: name a file that ends in");
}

#[test]
fn what_a_stranger_wrote_is_read_or_refused_with_the_reason() {
    let home = Home::new();
    let comment = |text: &str| {
        let file = home.write("verdict.json", text);
        run(home.drome(&["report", file.to_str().unwrap()]).env_remove("COLUMNS"))
    };
    let long = "x".repeat(300_000);
    let fair = comment(VERDICT);
    assert!(fair.code == 0 && fair.out.contains("| `change` | 25.0 % slower |"), "{}{}", fair.out, fair.err);
    for (from, to, why) in [
        ("\"schema\": 1", "\"schema\": 2", "its schema is 2"),
        ("\"title\"", "\"\\n::error::\\u001b[2J\": 1, \"title\"", "unknown field"),
        ("0.25", "1e999", "out of range"),
        ("\"slower\", \"margin\"", "\"passed\", \"margin\"", "does not follow"),
        ("base and change", long.as_str(), "more than 262,144 bytes"),
        (VERDICT, "", "EOF"),
    ] {
        let refused = comment(&VERDICT.replace(from, to));
        assert!(refused.code == 2 && refused.out.is_empty() && refused.err.contains(why), "{}", refused.err);
        assert!(refused.err.lines().count() == 1 && !refused.err.contains('\u{1b}'), "{:?}", refused.err);
    }
    let none = run(&mut home.drome(&["report", "none.json"]));
    assert!(none.code == 2 && none.err.contains("none.json is not a verdict"), "{}", none.err);
    let marker = run(&mut home.drome(&["report", "none.json", "--marker=-->"]));
    assert!(marker.code == 2 && marker.err.contains("letters, digits and single hyphens"), "{}", marker.err);
}
