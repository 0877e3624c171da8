//! The search for the capacity of a server whose capacity is known; its latencies are compared with the closed form.

use super::server;
use crate::drome::Drome;
use anyhow::{Context, Result};
use serde_json::Value;
use stats::queue;
use std::fmt::Write;

/// Service time of the server, which has one worker. Its inverse is the capacity, apart from a request's other costs.
const SERVICE_NS: u64 = 1_000_000;

/// Capacity and knee may differ from the known value by this share.
const TOLERANCE: f64 = 0.05;

/// Sweeps the server and returns a table of what is known and what was found.
pub fn measure(drome: &Drome) -> Result<String> {
    let server = server(drome, SERVICE_NS);
    eprintln!("sweeping a server that spins for {} ms a request", SERVICE_NS / 1_000_000);
    let sweep = drome.json(&["sweep", "--start", &server, "--format", "json", "--duration", "4s"])?;
    table(&sweep)
}

fn table(sweep: &Value) -> Result<String> {
    let swept = &sweep["contenders"][0];
    let known = 1e9 / SERVICE_NS as f64;
    let mut text =
        "| what | known | drome sweep | ratio | within 5 % |\n| --- | --- | --- | --- | --- |\n".to_owned();
    for (what, key) in [("capacity, requests/s", "capacity_per_s"), ("knee, requests/s", "knee_per_s")] {
        let found = &swept[key];
        let median = found["median"].as_f64().with_context(|| format!("the sweep gives no {key}"))?;
        let range = |bound: &str| found[bound].as_f64().map_or("–".to_owned(), |v| format!("{v:.1}"));
        let (low, high) = (range("low"), range("high"));
        let ratio = median / known;
        let is_within = if (ratio - 1.0).abs() <= TOLERANCE { "yes" } else { "**no**" };
        writeln!(text, "| {what} | {known:.1} | {median:.1} ({low}–{high}) | {ratio:.3} | {is_within} |")?;
    }
    let no_steps = Vec::new();
    for step in swept["steps"].as_array().unwrap_or(&no_steps) {
        let Some(offered) = step["due_per_s"]["median"].as_f64() else { continue };
        let load = offered * SERVICE_NS as f64 / 1e9;
        if !(0.05..0.92).contains(&load) {
            continue;
        }
        for (name, share) in [("p50", 0.5), ("p99", 0.99)] {
            let Some(truth) = queue::sojourn(share, load) else { continue };
            let truth_ms = truth * SERVICE_NS as f64 / 1e6;
            let Some(found_ns) = step[format!("latency_ns_{name}")]["median"].as_f64() else { continue };
            let (seen_ms, of) = (found_ns / 1e6, format!("{name} at a load of {load:.2}, ms"));
            writeln!(text, "| {of} | {truth_ms:.2} | {seen_ms:.2} | {:.3} | |", seen_ms / truth_ms)?;
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_is_known_and_what_was_found_are_in_the_table() {
        let steps = json!([{"due_per_s": {"median": 500.0}, "latency_ns_p50": {"median": 1.3e6},
            "latency_ns_p99": {"median": 4.1e6}}, {"due_per_s": null}]);
        let spread = json!({"median": 990.0, "low": 980.0, "high": 1001.0});
        let far = json!({"median": 900.0, "low": null, "high": null});
        let sweep = json!({"contenders": [{"capacity_per_s": spread, "knee_per_s": far, "steps": steps}]});
        let text = table(&sweep).unwrap();
        assert!(
            text.contains("| capacity, requests/s | 1000.0 | 990.0 (980.0–1001.0) | 0.990 | yes |"),
            "{text}"
        );
        assert!(text.contains("| knee, requests/s | 1000.0 | 900.0 (–––) | 0.900 | **no** |"), "{text}");
        assert!(text.contains("| p50 at a load of 0.50, ms | 1.") && text.lines().count() == 6, "{text}");
    }

    #[test]
    fn a_sweep_that_found_nothing_is_an_error() {
        assert!(table(&json!({"contenders": [{}]})).is_err());
    }
}
