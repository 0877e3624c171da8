//! `drome load` second by second: the CSV, the log of `HdrHistogram` and the spectrum say what the JSON says.

use crate::common::{Home, assert_accounted, run, serve};
use base64::Engine;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::SocketAddr;

/// A measurement with all outputs: the JSON, the CSV's rows and the log.
fn measure(address: SocketAddr, args: &[&str]) -> (Value, Vec<BTreeMap<String, String>>, String) {
    let home = Home::new();
    let path = |name: &str| home.path().join(name).display().to_string();
    let (csv, hdr) = (path("a.csv"), path("a.hlog"));
    let url = format!("http://{address}/hello");
    let outputs = ["--format", "json", "--percentile-spectrum", "--series", &csv, "--hdr", &hdr];
    let finished = run(home.drome(&["load", &url]).args(args).args(outputs));
    let json: Value = serde_json::from_str(&finished.out).unwrap_or_else(|e| panic!("{e}: {}", finished.err));
    assert_accounted(&json);
    let csv = std::fs::read_to_string(csv).unwrap();
    let mut lines = csv.lines().map(|line| line.split(',').map(ToOwned::to_owned).collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let rows = lines.map(|cells| {
        assert_eq!(cells.len(), head.len(), "{csv}");
        head.iter().cloned().zip(cells).collect()
    });
    (json, rows.collect(), std::fs::read_to_string(hdr).unwrap())
}

/// The log's histograms by tag, each tag's put together, and how many lines it has.
fn read(log: &str) -> BTreeMap<String, (Histogram<u64>, u64)> {
    let mut tags = BTreeMap::new();
    for entry in IntervalLogIterator::new(log.as_bytes()) {
        let LogEntry::Interval(interval) = entry.unwrap() else { continue };
        let bytes = base64::prelude::BASE64_STANDARD.decode(interval.encoded_histogram()).unwrap();
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).unwrap();
        assert!((interval.max() - histogram.max() as f64 / 1e6).abs() < 0.001, "the largest value is in ms");
        let tag = interval.tag().unwrap().as_str().to_owned();
        let new = || (Histogram::new_with_bounds(1, 3_600_000_000_000, 3).unwrap(), 0);
        let (all, lines) = tags.entry(tag).or_insert_with(new);
        assert_eq!(interval.start_timestamp().as_secs(), *lines, "a line a second");
        all.add(&histogram).unwrap();
        *lines += 1;
    }
    tags
}

fn sum(rows: &[BTreeMap<String, String>], column: &str) -> u64 {
    rows.iter().map(|row| row[column].parse::<u64>().unwrap()).sum()
}

fn assert_agree(json: &Value, rows: &[BTreeMap<String, String>], log: &str) {
    let n = |pointer: &str| json.pointer(pointer).unwrap().as_u64().unwrap();
    assert_eq!(sum(rows, "completed"), n("/requests/completed"));
    assert_eq!(sum(rows, "sent"), n("/requests/sent"));
    assert_eq!(sum(rows, "errors"), n("/errors/total"));
    assert_eq!(sum(rows, "received_bytes"), n("/bytes/received"));
    let max = rows.iter().filter_map(|row| row["latency_ns_max"].parse::<u64>().ok()).max();
    assert_eq!(max.unwrap(), n("/latency_ns/max"));
    let tags = read(log);
    assert_eq!(tags.keys().collect::<Vec<_>>(), ["latency", "service"]);
    for (tag, (histogram, lines)) in &tags {
        assert_eq!(*lines, rows.len() as u64);
        for (name, p) in [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p999", 0.999)] {
            assert_eq!(histogram.value_at_quantile(p), n(&format!("/{tag}_ns/{name}")), "{tag} {name}");
        }
        assert_eq!(histogram.max(), n(&format!("/{tag}_ns/max")));
    }
    let spectrum = json["latency_spectrum"].as_array().unwrap();
    let last = spectrum.last().unwrap();
    assert_eq!((last["p"].as_f64(), last["count"].as_u64()), (Some(1.0), Some(tags["latency"].0.len())));
    for tick in spectrum {
        let ns = tags["latency"].0.value_at_quantile(tick["p"].as_f64().unwrap());
        let spread = tick["ns"].as_u64().unwrap().abs_diff(ns) as f64 / ns as f64;
        assert!(spread < 0.002, "{tick} {ns}: but for rounding");
    }
}

#[test]
fn all_outputs_of_a_closed_load_agree() {
    let server = serve(&["--fault", "delay=1ms"]);
    let (json, rows, log) =
        measure(server.address, &["-c", "6", "-t", "2", "-d", "2500ms", "--warmup", "200ms"]);
    assert_agree(&json, &rows, &log);
    assert_eq!(rows.iter().map(|row| row["second"].as_str()).collect::<Vec<_>>(), ["0", "1", "2"]);
    assert!(rows.iter().all(|row| row["connections_open"] == "6"), "{rows:?}");
    // Each row's rate is by its own length, that of its longer thread. The last is what is left of the window, the shorter the
    // later the machine ended those before.
    let number = |row: &BTreeMap<String, String>, column: &str| row[column].parse::<f64>().unwrap();
    let seconds: Vec<f64> =
        rows.iter().map(|row| number(row, "completed") / number(row, "rate_per_s")).collect();
    assert!(seconds.iter().sum::<f64>() > 2.49 && seconds[2] < 0.51, "{seconds:?} {rows:?}");
    assert!(log.starts_with("#drome load http://127.0.0.1:") && log.contains("#[StartTime: "), "{log}");
}

#[test]
fn all_outputs_of_an_open_load_with_a_stall_agree() {
    let server = serve(&["--fault", "stall=100ms/300ms"]);
    let args = ["-c", "4", "--ramp", "1k..100/3s", "-t", "1"];
    let (json, rows, log) = measure(server.address, &args);
    assert_agree(&json, &rows, &log);
    assert_eq!(rows.len(), 3);
    // Latency counts from the due time, service from the send.
    assert!(json["latency_ns"]["p90"].as_u64() >= json["service_ns"]["p90"].as_u64());
}

#[test]
fn a_second_without_an_answer_has_empty_cells_not_zeros() {
    let server = serve(&["--fault", "stall=60s/61s"]);
    let (_, rows, _) = measure(server.address, &["-c", "2", "--rate", "200", "-d", "3s"]);
    let silent: Vec<_> = rows.iter().filter(|row| row["completed"] == "0").collect();
    assert!(!silent.is_empty(), "{rows:?}");
    // What was under way when time was up is shown in the last second.
    let within: Vec<_> = silent.iter().filter(|row| row["second"] != "2").collect();
    assert!(
        within.iter().all(|row| row["latency_ns_p50"].is_empty() && row["rate_per_s"] == "0.000"),
        "{rows:?}"
    );
}

#[test]
fn a_viewer_needs_a_terminal() {
    let finished = run(&mut Home::new().drome(&["load", "http://127.0.0.1:9/", "--tui"]));
    finished.assert_err(2, &["--tui draws on standard error, which is not a terminal here"]);
}
