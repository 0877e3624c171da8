//! `drome sweep` with real servers and known truths.

use crate::common::counted::Counted;
use crate::common::punctual::until_sound;
use crate::common::{DROME, Finished, Home, process, run, serve};
use serde_json::Value;

/// Short steps, few of them.
const SHORT: [&str; 10] = [
    "--connections",
    "8",
    "--shares",
    "20%,50%,130%,160%,2",
    "--repeats",
    "2",
    "--duration",
    "300ms",
    "--warmup",
    "100ms",
];

fn sweep(home: &Home, args: &[&str]) -> Finished {
    run(home.drome(&["sweep"]).args(SHORT).args(args))
}

fn json(finished: &Finished) -> Value {
    serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}\n{}", finished.out, finished.err))
}

/// Repeats the sweep until every contender's search ends with `outcome` and the whole passes `is_sound`. On a machine that is
/// busy with something else, points can be void or the budget can run out: such a search ends as `unknown`, and the sweep is
/// tried again. Any other outcome fails the test.
fn search(home: &Home, args: &[&str], outcome: &str, is_sound: impl Fn(&Value) -> bool) -> Value {
    until_sound(|| {
        let finished = sweep(home, args);
        if finished.code == 4 {
            return Err(finished.out);
        }
        assert_eq!(finished.code, 0, "{}{}", finished.out, finished.err);
        let found = json(&finished);
        for contender in found["contenders"].as_array().unwrap() {
            let kept = &contender["kept"];
            if kept["outcome"] != outcome {
                assert_eq!(kept["outcome"], "unknown", "not {outcome}: {kept}");
                return Err(kept.to_string());
            }
        }
        if is_sound(&found) { Ok(found) } else { Err(found.to_string()) }
    })
}

#[test]
fn a_server_of_known_capacity_has_its_knee_there() {
    let home = Home::new();
    // Two milliseconds an answer and one thread: less than 500/s, whatever else it costs.
    let server = serve(&["--spin", "2ms"]);
    let url = format!("http://{}/hello", server.address);
    let (file, chart) = (home.path().join("sweep.json"), home.path().join("sweep.svg"));
    let also = ["--export", file.to_str().unwrap(), "--chart", chart.to_str().unwrap()];
    let asked = [&url, "--seed", "3", "--format", "json", "--keep", "p90 < 10s"];
    let figure = |one: &Value, name: &str| one[name]["median"].as_f64();
    let args = [&asked[..], &also].concat();
    // Other programs make a server slower and never faster: it must be undisturbed in one of a few attempts.
    let found = search(&home, &args, "capacity_keeps", |found| {
        let one = &found["contenders"][0];
        let (Some(capacity), knee) = (figure(one, "capacity_per_s"), figure(one, "knee_per_s")) else {
            return false;
        };
        assert!(capacity < 600.0, "{one}");
        capacity > 20.0 && knee.is_some_and(|knee| knee > 0.3 * capacity && knee < 1.5 * capacity)
    });
    let drawn = std::fs::read_to_string(chart).unwrap();
    assert!(drawn.starts_with("<svg ") && drawn.contains("server CPU, cores"), "{drawn}");
    assert_eq!(found, serde_json::from_str::<Value>(&std::fs::read_to_string(file).unwrap()).unwrap());
    assert_eq!(
        (&found["schema"], &found["seed"], &found["arrivals"]),
        (&1.into(), &3.into(), &"poisson".into())
    );
    let one = &found["contenders"][0];
    let steps = one["steps"].as_array().unwrap();
    let offered: Vec<f64> = steps.iter().map(|s| s["offered_per_s"].as_f64().unwrap()).collect();
    assert!(offered.len() == 5 && offered.windows(2).all(|pair| pair[0] < pair[1]), "{offered:?}");
    for step in steps.iter().filter(|s| !s["achieved_per_s"].is_null()) {
        // It spins by the clock: where others take its core, that costs it less CPU.
        assert!(step["server_cpu_ns_per_request"]["median"].as_f64().unwrap() > 0.0, "{step}");
        assert!(step["latency_ns_p50"]["median"].as_f64().unwrap() > 1_900_000.0, "{step}");
    }
    assert_eq!(one["trials"].as_array().unwrap().iter().filter(|t| t["part"] == "step").count(), 10);
}

#[test]
fn servers_that_are_started_are_held_side_by_side() {
    let home = Home::new();
    let slow = format!("{DROME} serve --port {{port}} --spin 4ms");
    let fast = format!("{DROME} serve --port {{port}} --spin 1ms");
    let commands = ["--start", &slow, "--start", &fast, "--url", "http://127.0.0.1:{port}/hello"];
    // No answer takes less than it spins.
    let keep = ["--keep", "p50 < 1us", "--format", "json"];
    let found = search(&home, &[&commands[..], &keep].concat(), "lowest_does_not", |found| {
        let held = |i: usize| {
            let one = &found["contenders"][i];
            one["knee_per_s"]["median"].as_f64().or_else(|| one["capacity_per_s"]["median"].as_f64()).unwrap()
        };
        let (slow, fast, common) = (held(0), held(1), &found["common"]);
        let slowest = if slow <= fast { "A" } else { "B" };
        assert_eq!(
            (&common["slowest"], common["contenders"].as_array().unwrap().len()),
            (&slowest.into(), 2)
        );
        assert!(common["rate_per_s"].as_f64().unwrap() < 250.0, "{common}");
        // Where others take the core of the fast one in its few short steps, its knee can be the lower one.
        slow <= fast
    });
    assert_eq!(found["common"]["slowest"], "A");
    home.assert_clean();
}

#[test]
fn what_can_not_be_swept_is_refused_with_the_reason() {
    let home = Home::new();
    let nobody = format!("http://127.0.0.1:{}/", control::machine::ports::free_port().unwrap());
    let cases: [(&[&str], i32, &str); 11] = [
        (&[], 2, "required"),
        (&[&nobody], 1, "is the server running"),
        (&[&nobody, "--keep", "fast"], 2, "no <"),
        (&[&nobody, "--keep", "p10 < 1ms"], 2, "is not a percentile"),
        (&[&nobody, "--keep", "p99 < often"], 2, "is not a bound"),
        (&[&nobody, "--shares", "0,100%"], 2, "above 0"),
        (&[&nobody, "--common", "150%"], 2, "below 1"),
        (&[&nobody, "--duration", "0s"], 2, "a time above 0"),
        (&[&nobody, "--chart", "sweep.gif"], 2, "ends in .svg or .png"),
        (&["--start", "sleep 5"], 2, "has no {port}"),
        (&["--start", "echo gone {port}; exit 4"], 2, "exit status: 4"),
    ];
    for (args, code, why) in cases {
        let finished = run(home.drome(&["sweep"]).args(args));
        finished.assert_err(code, &[why]);
    }
}

#[test]
fn a_server_that_never_answers_as_expected_has_no_capacity() {
    let home = Home::new();
    let server = serve(&[]);
    let url = format!("http://{}/no-such-page", server.address);
    let finished = sweep(&home, &[&url, "--keep", "p99 < 10ms"]);
    finished.assert_out(4, &["its capacity is unknown", "inconclusive"]);
}

#[test]
fn a_server_that_dies_half_way_is_told_and_the_rest_is_kept() {
    let home = Home::new();
    // It starts four times: once to be asked what it answers, then for its capacity and a step.
    let counter = home.path().join("starts");
    let mortal = format!(
        "echo x >> {0}; test $(wc -l < {0}) -le 4 && exec {DROME} serve --port {{port}} --spin 1ms",
        counter.display()
    );
    let finished = sweep(&home, &["--start", &mortal, "--format", "json"]);
    // Whether the only step is sound is up to the machine.
    assert!([0, 4].contains(&finished.code), "{}{}", finished.out, finished.err);
    let one = &json(&finished)["contenders"][0];
    assert!(one["notes"][0].as_str().unwrap().contains("given up after 3 failures"), "{one}");
    let trials = one["trials"].as_array().unwrap();
    let of_capacity = trials.iter().filter(|t| t["part"] == "capacity" && t["failed"].is_null());
    assert_eq!(of_capacity.count(), 2, "{one}");
    let sum = |key: &str| -> u64 {
        one["steps"].as_array().unwrap().iter().map(|s| s[key].as_u64().unwrap()).sum()
    };
    assert_eq!((sum("trials"), sum("failed")), (1, 3), "{one}");
    home.assert_clean();
}

#[test]
fn what_was_measured_before_an_interruption_is_told() {
    let home = Home::new();
    // At 2 ms an answer, a trial of 100 ms has 50 of them.
    let server = Counted::new(&["--spin", "2ms"]);
    let url = server.url();
    let args = [
        "sweep",
        &url,
        "-c",
        "8",
        "--duration",
        "100ms",
        "--warmup",
        "0s",
        "--repeats",
        "1000",
        "--format",
        "json",
    ];
    let child = process::spawn_heard(&mut home.drome(&args));
    process::interrupt_at_work(&child, || server.answers() > 200);
    let finished = process::ended(child);
    assert_eq!(finished.code, 130, "{}{}", finished.out, finished.err);
    let found = json(&finished);
    assert_eq!((&found["interrupted"], &found["ended"]), (&true.into(), &"interrupted".into()));
    assert!(!found["contenders"][0]["trials"].as_array().unwrap().is_empty(), "{found}");
}
