//! Reports in the forms of several versions, and broken ones.

use super::read as reports_of;
use crate::statistic::statistic;

/// What oha's reader finds.
fn read(text: &str) -> Vec<crate::Found> {
    reports_of(text, "oha")
}

/// The form of 1.4 and later.
const REPORT: &str = "Summary:
  Success rate:\t100.00%
  Total:\t50.1000 ms
  Slowest:\t9.5000 ms
  Fastest:\t0.2500 ms
  Average:\t1.5000 ms
  Requests/sec:\t1996.0080

  Total data:\t1.00 MiB
  Size/request:\t512 B
  Size/sec:\t2.00 MiB

Response time histogram:
  0.250 ms [1]  |
  9.500 ms [99] |■■■■■■■■■

Response time distribution:
  10.00% in 0.3000 ms
  50.00% in 1.2000 ms
  99.00% in 8.0000 ms
  99.90% in 9.4000 ms
  99.99% in 9.5000 ms

Response time distribution (2xx only):
  50.00% in 7.0000 ms

Details (average, fastest, slowest):
  DNS+dialup:\t0.5000 ms, 0.1000 ms, 0.9000 ms
  DNS-lookup:\t0.0100 ms, 0.0010 ms, 0.0500 ms

Status code distribution:
  [200] 95 responses
  [404] 5 responses

Error distribution:
  [3] connection refused
";

/// The form of 0.5.
const OLD: &str = "Summary:
  Success rate:\t1.0000
  Total:\t0.5000 secs
  Slowest:\t0.0100 secs
  Fastest:\t0.0010 secs
  Average:\t0.0020 secs
  Requests/sec:\t200.0000

  Total data:\t117.19 KiB
  Size/request:\t1.17 KiB
  Size/sec:\t234.38 KiB

Response time histogram:
  0.001 [1] |■
  0.010 [99] |■■■

Latency distribution:
  50% in 0.0020 secs
  99% in 0.0090 secs

Details (average, fastest, slowest):
  DNS+dialup:\t0.0005 secs, 0.0001 secs, 0.0009 secs
  DNS-lookup:\t0.0000 secs, 0.0000 secs, 0.0001 secs

Status code distribution:
  [200] 100 responses
";

const JSON: &str = r#"{
  "summary": {"successRate": 1.0, "total": 0.05, "slowest": 0.0095, "fastest": 0.00025, "average": 0.0015,
    "requestsPerSec": 1996.0, "totalData": 1048576, "sizePerRequest": null, "sizePerSec": 2097152.0},
  "responseTimeHistogram": {"0.001": 4},
  "latencyPercentiles": {"p10": 0.0003, "p50": 0.0012, "p99": 0.008, "p99.9": 0.0094, "p99.99": null},
  "details": {"DNSDialup": {"average": 0.0005, "fastest": 0.0001, "slowest": 0.0009},
    "DNSLookup": {"average": 1e-5, "fastest": 1e-6, "slowest": 5e-5}},
  "statusCodeDistribution": {"200": 95, "404": 5},
  "errorDistribution": {"connection refused": 3}
}"#;

fn close(found: &crate::Found, name: &str, value: f64) {
    let read = found.reading.get(name).unwrap_or_else(|| panic!("{name} is not in {:?}", found.reading));
    assert!((read - value).abs() <= value * 1e-9, "{name}: {read} instead of {value}");
}

#[test]
fn a_summary_and_its_json_say_the_same() {
    for text in [REPORT.to_owned(), REPORT.replace('\n', "\r\n    "), JSON.to_owned(), format!("x {JSON} y")]
    {
        let found = read(&text);
        assert_eq!(found.len(), 1, "{text}");
        close(&found[0], "rate_per_s", if text.contains("1996.0080") { 1996.008 } else { 1996.0 });
        close(&found[0], "latency_ns_max", 9.5e6);
        close(&found[0], "latency_ns_p50", 1.2e6);
        close(&found[0], "latency_ns_p999", 9.4e6);
        close(&found[0], "latency_ns_p10", 0.3e6);
        close(&found[0], "connect_ns_max", 0.9e6);
        close(&found[0], "body_bytes", 1_048_576.0);
        close(&found[0], "completed", 100.0);
        close(&found[0], "failed", 3.0);
        assert_eq!((found[0].reading.status["404"], found[0].reading.errors["connection refused"]), (5, 3));
        assert_eq!(found[0].strange, Vec::<String>::new());
    }
}

#[test]
fn older_versions_and_several_in_one_text() {
    let text = format!("# a\n{OLD}\nwords\n{REPORT}\n{JSON}");
    let found = read(&text);
    assert_eq!(found.len(), 3);
    close(&found[0], "rate_per_s", 200.0);
    close(&found[0], "duration_ns", 0.5e9);
    close(&found[0], "latency_ns_p99", 9e6);
    close(&found[0], "body_bytes_per_s", 234.38 * 1024.0);
    assert_eq!(found[0].reading.get("latency_ns_p999"), None);
    assert!(found.windows(2).all(|pair| pair[0].at.end <= pair[1].at.start));
}

#[test]
fn a_failed_run_a_broken_and_a_strange_one() {
    let failed = "Summary:\n  Success rate:\tNaN%\n  Total:\t0.1 secs\n  Slowest:\t-inf secs\n  Average:\tNaN secs\n  Requests/sec:\t20.0000\n  Size/request:\tNaN\n\nError distribution:\n  [2] refused\n";
    let found = read(failed);
    assert_eq!((found[0].reading.get("latency_ns_mean"), found[0].reading.get("completed")), (None, None));
    close(&found[0], "failed", 2.0);
    let found = read(&REPORT[..REPORT.find("Requests/sec").unwrap()]);
    close(&found[0], "latency_ns_mean", 1.5e6);
    assert_eq!(found[0].reading.get("rate_per_s"), None);
    let found = read(&REPORT.replace("  Total data", "  Novelty: 7\n  Total data"));
    assert_eq!(found[0].strange, ["Novelty: 7"]);
    assert_eq!(found[0].strange.len(), 1);
    let hey = "Summary:\n  Total: 1.8 secs\n  Slowest: 1.7 secs\n  Requests/sec: 109.4\n";
    for text in
        [hey, "Summary:", "{\"summary\": {\"total\": 1}}", "{\"summary\":", "\"summary\"", "{\"summary\": 3}"]
    {
        assert_eq!(read(text), [], "{text}");
    }
    let deep = "{\"summary\":[".repeat(1000);
    assert_eq!(read(&deep), []);
}

#[test]
fn statistics_have_names() {
    let names = [
        "p10", "50th", "90%", "p(99)", "99.9", "p99_99", "avg", "med", "100", "2.5%", "0.1", "count",
        "total", "p999",
    ];
    let expected =
        ["p10", "p50", "p90", "p99", "p999", "p9999", "mean", "p50", "max", "", "", "", "", "p999"];
    assert_eq!(names.map(|name| statistic(name).unwrap_or_default()), expected);
}

#[test]
fn what_breaks_off_is_read_as_far_as_it_is_sure() {
    let whole = "Bombarding http://h/ for 1s using 20 connection(s)\nStatistics Avg Stdev Max\n  Reqs/sec 8330.5 36.3 182.4\n  Latency 2.40ms 4.78ms 80.36ms\n";
    for length in 0..=whole.len() {
        for found in reports_of(&whole[..length], "bombardier") {
            let value = |name: &str| found.reading.get(name);
            assert!(matches!(value("rate_per_s"), None | Some(8330.5)), "{length}: {:?}", found.reading);
            assert!(matches!(value("latency_ns_max"), None | Some(80.36e6)), "{length}: {:?}", found.reading);
        }
    }
}

#[test]
fn time_is_linear() {
    for unit in [
        "Summary:\n",
        "{\"requests\":",
        "10% in 0.1 secs\n",
        "http_reqs",
        "│ ",
        "1 2 3 ",
        "{\"latency_us\": {\"p50\":[",
    ] {
        let text = unit.repeat(50_000);
        for tool in ["hey", "autocannon", "k6", "gcannon"] {
            assert!(reports_of(&text, tool).len() <= text.len());
        }
    }
}
