//! Reports of wrk and wrk2 in all the texts that they are found in.

use crate::harness::{assert_figures, one, read};

/// As the program prints it.
pub const WHOLE: &str = "\
Running 10s test @ http://127.0.0.1:8080/index.html
  2 threads and 10 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   635.91us    0.89ms  12.92ms   93.69%
    Req/Sec    56.20k     8.07k   62.00k    86.54%
  Latency Distribution
     50%  250.00us
     75%  491.00us
     90%  700.00us
     99%    5.80ms
  1118745 requests in 10.10s, 52.30MB read
  Socket errors: connect 1, read 2, write 3, timeout 4
  Non-2xx or 3xx responses: 5
Requests/sec: 110766.83
Transfer/sec:      5.18MB
";

pub const WRK2: &str = "\
Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread calibration: mean lat.: 9.747ms, rate sampling interval: 21ms
  Thread calibration: mean lat.: 9.631ms, rate sampling interval: 21ms
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.46ms    1.93ms  12.34ms   67.66%
    Req/Sec     1.05k     1.12k    2.50k    64.84%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 75.000%    7.78ms
 90.000%    9.14ms
 99.000%   11.18ms
 99.900%   12.30ms
 99.990%   12.45ms
 99.999%   12.50ms
100.000%   12.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.921     0.000000            1         1.00
       4.053     0.100000         3951         1.11
      12.503     1.000000        39500          inf
#[Mean    =        6.460, StdDeviation   =        1.930]
#[Max     =       12.496, Total count    =        39500]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------

  Latency Distribution (HdrHistogram - Uncorrected Latency (measured without taking delayed starts into account))
 50.000%    1.67ms
 99.900%    4.30ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       0.921     0.000000            1         1.00
      12.503     1.000000        39500          inf
#[Mean    =        1.460, StdDeviation   =        0.930]
#[Max     =       12.496, Total count    =        39500]
#[Buckets =           27, SubBuckets     =         2048]
----------------------------------------------------------
  60018 requests in 30.00s, 19.81MB read
Requests/sec:   2000.28
Transfer/sec:    676.18KB
";

const FIGURES: [(&str, f64); 20] = [
    ("completed", 1_118_745.0),
    ("connections", 10.0),
    ("duration_ns", 10.1e9),
    ("latency_ns_max", 12.92e6),
    ("latency_ns_mean", 635_910.0),
    ("latency_ns_p50", 250_000.0),
    ("latency_ns_p75", 491_000.0),
    ("latency_ns_p90", 700_000.0),
    ("latency_ns_p99", 5.8e6),
    ("latency_ns_sd", 890_000.0),
    ("latency_ns_within_sd_share", 0.9369),
    ("planned_duration_ns", 10e9),
    ("rate_per_s", 110_766.83),
    ("received_bytes", 52.3 * 1024.0 * 1024.0),
    ("received_bytes_per_s", 5.18 * 1024.0 * 1024.0),
    ("thread_rate_per_s_max", 62_000.0),
    ("thread_rate_per_s_mean", 56_200.0),
    ("thread_rate_per_s_sd", 8070.0),
    ("thread_rate_per_s_within_sd_share", 0.8654),
    ("threads", 2.0),
];

#[test]
fn every_figure_is_read() {
    let found = one("wrk", WHOLE);
    assert_figures(&found.reading, &FIGURES);
    assert_eq!((found.at.clone(), &found.strange), (0..WHOLE.len() - 1, &vec![]));
    assert_eq!(found.reading.url.as_deref(), Some("http://127.0.0.1:8080/index.html"));
    let errors: Vec<_> = found.reading.errors.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(errors, [("connect", 1), ("read", 2), ("status", 5), ("timeout", 4), ("write", 3)]);
    assert!(read("wrk2", WHOLE).is_empty());
}

#[test]
fn wrk2_says_more() {
    let found = one("wrk2", WRK2);
    assert!(found.strange.is_empty() && read("wrk", WRK2).is_empty(), "{found:?}");
    let of = |name: &str| found.reading.get(name);
    let latency = ["p50", "p99", "p999", "p9999", "p99999", "max"].map(|p| of(&format!("latency_ns_{p}")));
    let expected = [6.67e6, 11.18e6, 12.3e6, 12.45e6, 12.5e6, 12.34e6];
    for (got, expected) in latency.into_iter().zip(expected) {
        assert!((got.unwrap() / expected - 1.0).abs() < 1e-12, "{got:?} {expected}");
    }
    assert_eq!((of("service_ns_p50"), of("service_ns_p999")), (Some(1.67e6), Some(4.3e6)));
    assert_eq!((of("completed"), of("rate_per_s")), (Some(60018.0), Some(2000.28)));
}

/// Without `-L`, and shorter than its calibration, its report is like wrk's; then only its command tells.
#[test]
fn a_short_wrk2_report_is_known_by_its_command() {
    let of = |command: &str| {
        (
            read("wrk", &format!("{command}\n{WHOLE}")).len(),
            read("wrk2", &format!("{command}\n{WHOLE}")).len(),
        )
    };
    assert_eq!(of("$ wrk2 -c10 http://a/"), (0, 1));
    assert_eq!(of("$ wrk --rate 100 http://a/"), (0, 1));
    assert_eq!(of("$ wrk -c10 http://a/"), (1, 0));
    assert_eq!(of("wrk is faster than ab"), (1, 0));
}

/// wrk says `0.00` and `-nan%` where it has nothing; wrk2 knows no mean.
#[test]
fn what_wrk2_does_not_know_is_a_sign_of_it() {
    let sampled = WHOLE.replace("56.20k     8.07k   62.00k    86.54%", "  -nan      -nan   0.00      0.00%");
    let found = one("wrk2", &sampled);
    assert_eq!(found.strange, ["Req/Sec: nan (no figure)"]);
    assert!(read("wrk", &sampled).is_empty(), "{found:?}");
    let of = |name| found.reading.get(name);
    assert_eq!(
        (of("completed"), of("thread_rate_per_s_mean"), of("thread_rate_per_s_max")),
        (Some(1_118_745.0), None, None)
    );
    let unanswered =
        sampled.replace("635.91us    0.89ms  12.92ms   93.69%", "  -nanus    -nanus   0.00us    0.00%");
    let found = one("wrk2", &unanswered);
    assert_eq!(found.reading.get("latency_ns_mean"), None);
    assert_eq!(found.strange, ["Latency: nan (no figure)", "Req/Sec: nan (no figure)"]);
}

#[test]
fn strange_lines_are_kept_and_the_rest_is_read() {
    let text = WHOLE
        .replace("  1118745", "  a line of a later version: 7\n  1118745")
        .replace("  Thread Stats", "hello from a script\n  Thread Stats");
    let found = one("wrk", &text);
    assert_figures(&found.reading, &FIGURES);
    assert_eq!(found.strange, ["hello from a script", "a line of a later version: 7"]);
}

#[test]
fn a_report_ends_where_it_ends() {
    let cut = &WHOLE[..WHOLE.find("  Latency Dist").unwrap()];
    let text = format!("{cut}\nSummary:\n  Total: 1.0 secs\n  Requests/sec: 99.50\n  Transfer/sec: 1.00MB\n");
    let found = one("wrk", &text);
    assert_eq!((found.at.end, found.reading.get("rate_per_s")), (cut.len() - 1, None));
    assert!(found.strange.is_empty());
}

#[test]
fn a_run_without_answers() {
    let text = "Running 1s test @ http://a/\n  1 threads and 1 connections\n  Thread Stats   Avg      Stdev     Max   +/- Stdev\n    \
                Latency     0.00us    0.00us   0.00us    -nan%\n    Req/Sec     0.00      0.00     0.00      -nan%\n  \
                0 requests in 1.00s, 0.00B read\nRequests/sec:      0.00\nTransfer/sec:       0.00B\n";
    let found = one("wrk", text);
    assert_eq!((found.reading.get("completed"), found.reading.get("rate_per_s")), (Some(0.0), Some(0.0)));
    assert_eq!(found.reading.get("latency_ns_within_sd_share"), None);
    assert!(found.strange.is_empty());
}

#[test]
fn the_oldest_version() {
    let text = "Making 100000 requests to http://a/\n  8 threads and 200 connections\n  Thread Stats   Avg      Stdev     Max   \
                +/- Stdev\n    Latency   439.75us  350.49us   7.60ms   92.88%\n    Req/sec    61.13k     8.26k   72.00k    \
                87.54%\n  100005 requests in 4.02s, 17.11MB read\nRequests/sec:  24876.00\nTransfer/sec:      4.26MB\n";
    let found = one("wrk", text);
    assert_eq!(
        (found.reading.get("thread_rate_per_s_mean"), found.reading.get("completed")),
        (Some(61_130.0), Some(100_005.0))
    );
}

#[test]
fn a_rate_in_a_command_line_further_up_the_page_is_that_of_wrk2() {
    for (rate, per_s) in [("-R1M", 1e6), ("-R 2k", 2e3), ("--rate=500", 500.0)] {
        let page = format!("I ran `wrk -t2 -c10 {rate} http://h/`.\n\nThis is what it printed:\n\n{WHOLE}");
        let reading = dialects::page::read(&page).items.remove(0).reading;
        assert_eq!(
            (reading.tool.as_str(), reading.get("offered_rate_per_s")),
            ("wrk2", Some(per_s)),
            "{rate}"
        );
    }
}
