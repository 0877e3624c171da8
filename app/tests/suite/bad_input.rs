//! What goes wrong in a run, by the real binary: the report says what can't be said. The goldens of each kind are beside
//! `lab/src/bad_input.rs`.

use crate::common::{Home, run};
use serde_json::Value;

const STUDY: &str = r#"
title = "A server that comes and goes"
contenders = ["flips"]
[[cell]]
title = "keep-alive"
workload = "hello"
load = { closed = { connections = 2 } }
[design]
rounds = [4, 4]
slice = "20ms"
warmup = "50ms"
measure = "200ms"
precision = 0.9
budget = "2h"
"#;

const CONTENDER: &str = r#"
title = "Flips"
language = "sh"
kind = "server"
homepage = "http://127.0.0.1/"
[version]
command = ["echo", "1.0"]
[run]
command = ["sh", "{src}/flips.sh", "COUNT", "{drome}", "{port}"]
ready = "30s"
[serves]
hello = "/hello"
"#;

/// Every second start fails.
const SCRIPT: &str = r#"n=$(cat "$1" 2>/dev/null || echo 0)
echo $((n + 1)) > "$1"
[ $((n % 2)) = 1 ] && { echo out of luck >&2; exit 3; }
exec "$2" serve --port "$3"
"#;

/// The run of a study whose contender crashes in half its starts.
fn flipped() -> Home {
    let home = Home::new();
    let count = home.path().join("count").display().to_string();
    home.write("own/studies/flips.toml", STUDY);
    home.write("own/contenders/flips/contender.toml", &CONTENDER.replace("COUNT", &count));
    home.write("own/contenders/flips/src/flips.sh", SCRIPT);
    let finished = run(&mut home.with_catalog(&["run", "flips"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    for words in ["2, 2 failed", "out of luck", "(2 of 4 starts)", "2 of 4 starts failed, so no rank"] {
        assert!(finished.out.contains(words), "{words} is not in\n{}", finished.out);
    }
    home
}

#[test]
fn a_contender_that_crashes_in_half_its_starts_has_no_rank_and_is_not_judged() {
    let home = flipped();
    let finished = run(&mut home.drome(&["report", "--format", "json"]));
    let mut json: Value = serde_json::from_str(&finished.out).unwrap();
    let rows = json["cells"][0]["contenders"].as_array().unwrap();
    let flips = rows.iter().find(|row| row["name"] == "flips").unwrap();
    assert_eq!((&flips["trials"], &flips["failed"]), (&Value::from(2), &Value::from(2)));
    assert!(flips["rate_per_s"]["median"].is_number(), "{flips}");
    assert!(flips["tier"].is_null() && flips["rank_low"].is_null(), "{flips}");
    assert_eq!(flips["in_heats"]["unranked"], "failed", "{flips}");
    let by_round = flips["rate_per_s_by_block"].as_array().unwrap();
    assert_eq!(by_round.iter().filter(|rate| rate.is_null()).count(), 2, "{flips}");

    // The gate is not green for what it can't judge, and says so.
    let baseline = home.write("baseline.json", &finished.out).display().to_string();
    let gate = run(&mut home.drome(&["compare", &baseline, "--fail-if-slower", "3%"]));
    assert!(
        gate.code == 4
            && gate.err.contains("Flips (keep-alive) is inconclusive: ")
            && gate.err.contains("Flips (keep-alive) failed in 2 of 4 trials"),
        "{}",
        gate.err
    );

    // The same file from another machine, and from a drome that did not yet ask for so much.
    json["environment"]["memory_bytes"] = Value::from(1_u64 << 20);
    json["environment"]["kernel"] = Value::from("2.6.32");
    let other = home.write("other.json", &json.to_string()).display().to_string();
    let gate = run(&mut home.drome(&["compare", &other, "--fail-if-slower", "3%"]));
    assert!(gate.code == 2 && gate.err.contains("different amount of memory (1.05 MB then"), "{}", gate.err);
    assert!(gate.err.contains("different kernel (2.6.32 then"), "{}", gate.err);
    json["environment"] = serde_json::json!({"drome": "0.1.0", "cpu": json["environment"]["cpu"],
        "cores": json["environment"]["cores"], "server_cpus": json["environment"]["server_cpus"],
        "client_cpus": json["environment"]["client_cpus"], "core_notes": json["environment"]["core_notes"],
        "virtualization": json["environment"]["virtualization"]});
    json.as_object_mut().unwrap().remove("conditions");
    let old = home.write("old.json", &json.to_string()).display().to_string();
    let compared = run(&mut home.drome(&["compare", &old, &baseline]));
    assert!(
        compared.code == 0 && compared.out.contains("so they can't be compared: "),
        "{}{}",
        compared.out,
        compared.err
    );
}
