//! `--verdict FILE` of `drome race` and `drome compare`, and `drome report FILE`.

use crate::common::{DROME, Home, assert_as_schema, run};
use crate::gate::findings;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A verdict as a stranger may have written it.
pub const VERDICT: &str = r#"{"schema": 1, "outcome": "slower", "margin": 0.02, "title": "base and change", "against": "base",
    "changes": [{"title": "change", "cell": null, "metric": "rate", "speed": 0.75, "low": 0.5, "high": 0.875,
    "slowdown": 0.25, "judged": "slower"}], "left_out": 0, "unknown": [], "smallest_slowdown": 0.25, "elapsed_s": 61.5,
    "rounds": 14, "machine": {"cores": 4, "cpu": null, "kernel": "6.1"}, "drome": "0.1.0"}"#;

fn json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
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
    refused.assert_err(2, &["name a file that ends in .json or .md"]);
    let without = run(&mut home.drome(&["compare", &old, &worse, "--verdict", &path("x.json")]));
    assert_eq!(without.code, 2, "there is nothing to judge");
    assert!(!home.path().join("x.json").exists());
}

#[test]
fn a_verdict_is_written_in_a_known_form_or_nothing_is_measured() {
    let server = format!("{DROME} serve --port {{port}}");
    let race = ["race", &server, &server, "--fail-if-slower", "2%", "--verdict", "v.txt"];
    let refused = run(&mut Home::new().drome(&race));
    refused.assert_err(2, &["--verdict v.txt: name a file that ends in"]);
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
    fair.assert_out(0, &["| `change` | 25.0 % slower |"]);
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
    none.assert_err(2, &["none.json is not a verdict"]);
    let marker = run(&mut home.drome(&["report", "none.json", "--marker=-->"]));
    marker.assert_err(2, &["letters, digits and single hyphens"]);
}
