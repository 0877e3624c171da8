//! weighttp's reports, as they stand on pages.

use crate::harness::{assert_figures, one, read};

pub const REPORT: &str = "\
weighttp - a lightweight and simple webserver benchmarking tool

starting benchmark...
spawning thread #1: 6 concurrent requests, 5000 total requests
spawning thread #2: 5 concurrent requests, 5000 total requests
progress:  10% done
progress: 100% done

finished in 1 sec, 665 millisec and 7 microsec, 6005 req/s, 1225 kbyte/s
requests: 10000 total, 10000 started, 10000 done, 9990 succeeded, 10 failed, 3 errored
status codes: 9990 2xx, 0 3xx, 7 4xx, 0 5xx
traffic: 2090000 bytes total, 1970000 bytes http, 120000 bytes data
";

#[test]
fn every_figure_has_drome_s_name_and_unit() {
    let found =
        one("weighttp", &format!("$ weighttp -k -c11 -t2 -n10000 'http://127.0.0.1:8080/'\n{REPORT}"));
    let expected = [
        ("body_bytes", 120_000.0),
        ("completed", 9990.0),
        ("connections", 11.0),
        ("duration_ns", 1_665_007_000.0),
        ("failed", 10.0),
        ("head_bytes", 1_970_000.0),
        ("rate_per_s", 6005.0),
        ("received_bytes", 2_090_000.0),
        ("received_bytes_per_s", 1_254_400.0),
        ("requests", 10_000.0),
        ("sent", 10_000.0),
        ("threads", 2.0),
    ];
    let reading = &found.reading;
    assert_figures(reading, &expected);
    let count = |name: &str, n: u64| (name.to_owned(), n);
    assert_eq!(reading.status, [count("2xx", 9990), count("4xx", 7)].into());
    assert_eq!(reading.errors, [count("errored", 3), count("failed", 7)].into());
    assert_eq!(reading.command.as_deref(), Some("weighttp -k -c11 -t2 -n10000 'http://127.0.0.1:8080/'"));
    assert_eq!(reading.url.as_deref(), Some("http://127.0.0.1:8080/"));
    assert_eq!(found.strange, Vec::<String>::new());
}

#[test]
fn marks_of_emphasis_and_later_versions() {
    let session = format!("$ weighttp -n 10000 -c 11 -t 2 -k localhost/index.html\n{REPORT}");
    let plain = one("weighttp", &session).reading;
    assert_eq!(plain.url.as_deref(), Some("localhost/index.html"));
    assert_eq!(one("weighttp", &session.replace("6005 req/s", "**6005** req/s")).reading, plain);
    let newer = REPORT.replace("weighttp -", "weighttp 0.5 -");
    assert_eq!(one("weighttp", &newer).reading.version.as_deref(), Some("0.5"));
}

#[test]
fn several_broken_off_and_alone() {
    let line = "finished in 0 sec, 552 millisec and 381 microsec, 18103 req/s, 2139 kbyte/s";
    let text =
        format!("* one\n\n{line}\n\n* two\n\n{line}\n{REPORT}{}", &REPORT[..REPORT.find("status").unwrap()]);
    let all = read("weighttp", &text);
    assert_eq!(all.len(), 4);
    assert_eq!(all[1].reading.get("duration_ns"), Some(552_381_000.0));
    assert_eq!((all[3].reading.get("failed"), all[3].reading.get("received_bytes")), (Some(10.0), None));
    (REPORT.find("6005").unwrap()..REPORT.len()).for_each(|end| drop(one("weighttp", &REPORT[..end])));
}
