//! `drome doctor`, and what a run keeps of its machine, by the real binary.

use crate::common::{DROME, Home, assert_as_schema, run};
use serde_json::Value;
use sha2::{Digest, Sha256};

#[test]
fn the_doctor_is_advice_unless_points_are_asked_for() {
    let home = Home::new();
    let finished = run(&mut home.drome(&["doctor"]));
    assert_eq!(finished.code, 0, "{}", finished.err);
    assert!(finished.out.contains(" of 10: 10"), "the score comes with its derivation\n{}", finished.out);
    // What else runs differs from look to look; each is held against its own score.
    let cases: [(&[&str], u64); 4] =
        [(&[], 0), (&["--least", "0"], 0), (&["--least", "10"], 10), (&["--strict"], 10)];
    for (args, least) in cases {
        let finished = run(home.drome(&["doctor", "--format", "json"]).args(args));
        let json: Value = serde_json::from_str(&finished.out).unwrap();
        let score = json["score"].as_u64().unwrap();
        assert_eq!(finished.code, if score < least { 3 } else { 0 }, "{args:?}: {score}, {}", finished.err);
        let checks = json["checks"].as_array().unwrap();
        let lost = checks.iter().filter(|c| !c["trouble"].is_null()).map(|c| c["weight"].as_u64().unwrap());
        assert_eq!(score, 10_u64.saturating_sub(lost.sum()), "{json}");
        let unknown = checks.iter().filter(|c| c["found"].is_null()).count();
        assert_eq!((json["unknown"].as_array().unwrap().len(), &json["schema"]), (unknown, &Value::from(1)));
        assert!(json["environment"]["machine"]["sysctls"].is_object(), "{json}");
        assert_as_schema(&home, "doctor", &json);
    }
    assert_eq!(run(&mut home.drome(&["doctor", "--least", "11"])).code, 2);
}

#[test]
fn a_run_keeps_its_machine_and_what_ran_to_the_byte() {
    let home = Home::new();
    let server = format!("{DROME} serve --port {{port}}");
    let short = ["--duration", "100ms", "--warmup", "50ms", "--rounds", "1", "--seed", "1"];
    let finished = run(home.drome(&["race", &server, &server]).args(short));
    assert_eq!(finished.code, 0, "{}", finished.err);
    let json = home.findings();
    assert_as_schema(&home, "report", &json);
    let own = Sha256::digest(std::fs::read(DROME).unwrap());
    let own: String = own.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(json["environment"]["machine"]["drome_sha256"], own.as_str());
    for contender in json["cells"][0]["contenders"].as_array().unwrap() {
        let ran = &contender["ran"];
        assert_eq!(ran["executables"].as_array().unwrap().len(), 1, "{ran}");
        assert_eq!(ran["executables"][0]["sha256"], own.as_str(), "the shell has become the server");
        assert_eq!(ran["source_sha256"].as_str().unwrap().len(), 64);
    }
    let highest = json["conditions"]["load_average_max"].as_f64();
    assert!(highest.is_some_and(|load| load >= 0.0), "{}", json["conditions"]);
    let markdown = run(&mut home.drome(&["report", "--format", "markdown"])).out;
    assert!(markdown.contains("- during the measurements: "), "{markdown}");
}
