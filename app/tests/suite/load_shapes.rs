//! `drome load` with a rate that changes: what is due follows the shape, and the report says so.

use crate::common::{Home, assert_accounted, load, run, serve};
use serde_json::json;

#[test]
fn what_becomes_due_is_the_integral_of_the_shape() {
    let server = serve(&[]);
    // A ramp up, one down that is cut off half way, steps, a ramp after a warm-up, and one that ends early. The one after a
    // warm-up is gentle: of a window that opens late, what is due counts from its opening, here one more for each 5 ms.
    let cases: [(&[&str], u64, f64); 5] = [
        (&["--ramp", "200..2k/1s"], 1100, 1.0),
        (&["--ramp", "2k..200/2s", "-d", "1s"], 1550, 1.0),
        (&["--steps", "200,2k,500/300ms"], 810, 0.9),
        (&["--ramp", "200..400/1s", "--warmup", "300ms", "-t", "2"], 300, 1.0),
        (&["--ramp", "2k..400/500ms", "-d", "1s"], 800, 1.0),
    ];
    for (args, due, seconds) in cases {
        let (_, json) = load(server.address, "/hello", &[&["-c", "8"], args].concat());
        let got = json["requests"]["due"].as_u64().unwrap();
        assert!(got.abs_diff(due) <= 3, "{args:?}: {got} were due, not {due}");
        assert!((json["duration_s"].as_f64().unwrap() - seconds).abs() < 1e-6, "{args:?}: {json}");
        let offered = json["plan"]["rate_per_s"].as_f64().unwrap();
        assert!((offered * seconds - due as f64).abs() < 0.01, "{args:?}: offered {offered}");
        assert_accounted(&json);
    }
}

#[test]
fn the_shape_stands_in_the_report() {
    let server = serve(&[]);
    let (_, json) = load(server.address, "/hello", &["--ramp", "2k..1k/200ms", "--arrivals", "poisson"]);
    let ramp = json!({"ramp": {"from_per_s": 2000.0, "to_per_s": 1000.0, "over_s": 0.2}});
    assert_eq!((&json["plan"]["shape"], &json["plan"]["mode"]), (&ramp, &json!("open")));
    let url = format!("http://{}/hello", server.address);
    let finished = run(&mut Home::new().drome(&["load", &url, "--steps", "1k,3k/100ms"]));
    assert!(
        finished.out.contains("arrivals in 2 steps of 100 ms: 1,000; 3,000 requests/s"),
        "{}",
        finished.out
    );
    assert!(finished.out.contains("2,000 requests/s offered on average"), "{}", finished.out);
}
