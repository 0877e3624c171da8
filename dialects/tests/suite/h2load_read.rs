//! h2load's reports, as it prints them and as they are copied.

use crate::harness::{one, read};

/// Printed by h2load of nghttp2 1.52.0.
pub const REPORT: &str = "starting benchmark...
spawning thread #0: 1 total client(s). 100 total requests
spawning thread #1: 3 total client(s). 100 total requests
Application protocol: http/1.1
progress: 100% done

finished in 186.17ms, 1074.30 req/s, 110.21KB/s
requests: 200 total, 200 started, 200 done, 190 succeeded, 10 failed, 0 errored, 0 timeout
status codes: 190 2xx, 0 3xx, 10 4xx, 0 5xx
traffic: 1.40MB (1468210) total, 29.69KB (30400) headers (space savings 0.00%), 1.35MB (1413200) data
                     min         max         mean         sd        +/- sd
time for request:      301us     20.36ms      3.50ms      3.25ms    90.00%
time for connect:       28us        85us        52us        24us    75.00%
time to 1st byte:        0us         0us         0us         0us     0.00%
req/s           :     269.37      306.50      279.44       18.05    75.00%
";

#[test]
fn a_whole_report() {
    let found = one("h2load", REPORT);
    let get = |name: &str| found.reading.get(name);
    let figures = ["rate_per_s", "connections", "threads", "completed", "failed", "received_bytes"].map(get);
    assert_eq!(figures, [1074.30, 4.0, 2.0, 190.0, 10.0, 1_468_210.0].map(Some));
    let close = |name: &str, value: f64| assert!((get(name).unwrap() - value).abs() < 1.0, "{name}");
    close("duration_ns", 186.17e6);
    close("latency_ns_min", 301e3);
    close("latency_ns_sd", 3.25e6);
    close("connect_ns_max", 85e3);
    assert_eq!((get("first_byte_ns_mean"), get("latency_ns_p99")), (None, None));
    assert_eq!((found.reading.status["4xx"], found.reading.errors["failed"]), (10, 10));
    assert_eq!(found.strange, Vec::<String>::new());
    assert!(found.at.start == 0 && REPORT[found.at.end..].trim().is_empty());
}

#[test]
fn later_versions_have_more_columns() {
    let table =
        "              min         max         median       p95    p99    mean         sd        +/- sd
request     :  1us  9ms  2ms  3ms  4ms  5ms  6ms  90.00%\n";
    let found = one("h2load", &format!("finished in 1.00s, 5.00 req/s, 1B/s\n{table}"));
    let get = |name: &str| found.reading.get(name);
    let figures = ["latency_ns_min", "latency_ns_p50", "latency_ns_p99", "latency_ns_sd"].map(get);
    assert_eq!(figures, [1e3, 2e6, 4e6, 6e6].map(Some));
}

#[test]
fn several_broken_and_strange_ones() {
    let broken = &REPORT[..REPORT.find(" succeeded").unwrap()];
    let odd = REPORT.replace("status codes", "Brand new: 7\nstatus codes");
    let text = format!("a\n{REPORT}b\n{odd}\n# c\n{broken}");
    let found = read("h2load", &text);
    assert_eq!(found.len(), 3);
    assert_eq!(found[1].strange, ["Brand new: 7"]);
    assert_eq!((found[2].reading.get("completed"), found[2].reading.get("sent")), (None, Some(200.0)));
    let odd = REPORT.replace("(1468210)", "(21010)");
    assert!(one("h2load", &odd).strange[0].starts_with("traffic"));
}
