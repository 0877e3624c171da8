//! What goes wrong in a run, by the real binary: the report says what can't be said. The goldens of each kind are beside
//! `lab/src/bad_input.rs`.

use crate::common::{Home, run};
use serde_json::Value;

/// Every second start fails.
const SCRIPT: &str = r#"n=$(cat "$1" 2>/dev/null || echo 0)
echo $((n + 1)) > "$1"
[ $((n % 2)) = 1 ] && { echo out of luck >&2; exit 3; }
exec "$2" serve --port "$3"
"#;

/// The run of a study whose contender crashes in half its starts.
fn flipped() -> Home {
    let home = Home::new();
    let count = home.path().join("count");
    home.add_study("flips", &["flips"], 4);
    let command = format!(r#"["sh", "{{src}}/flips.sh", "{}", "{{drome}}", "{{port}}"]"#, count.display());
    home.add_contender("flips", &command);
    home.write("own/contenders/flips/src/flips.sh", SCRIPT);
    let finished = run(&mut home.with_catalog(&["run", "flips"]));
    finished.assert_out(
        0,
        &["2, 2 failed", "out of luck", "(2 of 4 starts)", "2 of 4 starts failed, so no rank"],
    );
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
    gate.assert_err(
        4,
        &["flips (keep-alive) is inconclusive: ", "flips (keep-alive) failed in 2 of 4 starts"],
    );

    // The same file from another machine, and from a drome that did not yet ask for so much.
    json["environment"]["memory_bytes"] = Value::from(1_u64 << 20);
    json["environment"]["kernel"] = Value::from("2.6.32");
    let other = home.write("other.json", &json.to_string()).display().to_string();
    let gate = run(&mut home.drome(&["compare", &other, "--fail-if-slower", "3%"]));
    gate.assert_err(2, &["different amount of memory (1.05 MB then", "different kernel (2.6.32 then"]);
    json["environment"] = serde_json::json!({"drome": "0.1.0", "cpu": json["environment"]["cpu"],
        "cores": json["environment"]["cores"], "server_cpus": json["environment"]["server_cpus"],
        "client_cpus": json["environment"]["client_cpus"], "core_notes": json["environment"]["core_notes"],
        "virtualization": json["environment"]["virtualization"]});
    json.as_object_mut().unwrap().remove("conditions");
    let old = home.write("old.json", &json.to_string()).display().to_string();
    let compared = run(&mut home.drome(&["compare", &old, &baseline]));
    compared.assert_out(0, &["so they can't be compared: "]);
}
