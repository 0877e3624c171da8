//! drome in weighttp's place, against real servers. The tool itself is in no registry that the tests may use; its
//! report is held against what is known of it in the tests of `dialects`.

use crate::common::serve;
use crate::common::tools::{drome, wire};
use dialects::read;
use model::Reading;

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// Measures and reads the report.
fn reading(line: &str) -> Reading {
    let finished = drome("weighttp", &words(line));
    assert_eq!(finished.code, Some(0), "{line}\n{}{}", finished.out, finished.err);
    let mut found = read(&finished.out, "weighttp");
    assert_eq!((found.len(), &found[0].strange), (1, &vec![]), "{}", finished.out);
    found.remove(0).reading
}

fn figures<const N: usize>(reading: &Reading, names: [&str; N]) -> [Option<f64>; N] {
    names.map(|name| reading.get(name))
}

#[test]
fn every_request_is_counted() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    for line in ["-n 100", "-n 100 -c 10", "-n 100 -c 10 -k", "-k -n101 -c7 -t3", "-n 100 -c 3 -t 2 -H X:1"] {
        let n = if line.contains("101") { 101.0 } else { 100.0 };
        let found = reading(&format!("{line} {url}"));
        let names = ["requests", "sent", "completed", "failed", "body_bytes"];
        assert_eq!(figures(&found, names), [n, n, n, 0.0, 12.0 * n].map(Some), "{line}");
        assert_eq!(found.status, [("2xx".to_owned(), n as u64)].into(), "{line}");
        assert!(
            found.get("received_bytes") > Some(100.0 * n) && found.get("duration_ns") > Some(0.0),
            "{line}"
        );
    }
}

#[test]
fn failures_are_counted() {
    let status = serve(&["--fault", "status=503"]);
    let found = reading(&format!("-n 20 -c 2 -k http://{}/hello", status.address));
    assert_eq!(figures(&found, ["completed", "failed", "body_bytes"]), [0.0, 20.0, 0.0].map(Some));
    assert_eq!(
        (found.status, found.errors),
        ([("5xx".to_owned(), 20)].into(), [("failed".to_owned(), 20)].into())
    );
    let reset = serve(&["--fault", "reset"]);
    let finished = drome("weighttp", &["-n", "6", "-c", "2", &format!("http://{}/hello", reset.address)]);
    let found = read(&finished.out, "weighttp").remove(0).reading;
    assert_eq!(figures(&found, ["sent", "completed", "failed"]), [6.0, 0.0, 6.0].map(Some));
    assert_eq!(found.errors, [("errored".to_owned(), 6)].into(), "each of the failed ones is an errored one");
    assert!(finished.err.contains("error: receive: "), "{}", finished.err);
}

#[test]
fn where_nobody_listens_one_request_is_errored() {
    let port = control::machine::ports::free_port().unwrap();
    let finished = drome("weighttp", &["-n", "1000", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(
        (finished.code, finished.err.as_str()),
        (Some(0), "error: connect() failed: Connection refused (111)\n")
    );
    assert!(
        finished.out.contains("requests: 1000 total, 1 started, 1 done, 0 succeeded, 1 failed, 1 errored\n")
    );
}

#[test]
fn requests_are_the_tool_s_bytes() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let sent = |args: &[&str]| {
        wire(|url| drop(drome("weighttp", &[args, &[&format!("{url}/a?b")]].concat())), OK, true)
    };
    let head = "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n";
    let agent = "User-Agent: weighttp/0.3\r\n";
    assert_eq!(sent(&["-n", "1"]), format!("{head}{agent}Connection: close\r\n\r\n"));
    assert_eq!(sent(&["-kn1"]), format!("{head}{agent}Connection: keep-alive\r\n\r\n"));
    let own = ["-n1", "-H", "User-Agent: x", "-H", "A: b"];
    assert_eq!(sent(&own), format!("{head}User-Agent: x\r\nA: b\r\nConnection: close\r\n\r\n"));
}

/// The command line on page 003, but for the port.
#[test]
fn the_command_line_of_the_page_runs_unchanged() {
    let server = serve(&[]);
    let url = format!("http://{}/", server.address);
    let finished = drome("weighttp", &["-k", "-c10", "-n10000", &url]);
    let found = read(&finished.out, "weighttp").remove(0).reading;
    assert_eq!(figures(&found, ["requests", "sent", "connections"]), [10_000.0, 10_000.0, 10.0].map(Some));
    let steps: Vec<_> = finished.out.lines().filter(|line| line.starts_with("progress: ")).collect();
    assert_eq!((steps.len(), steps[0], steps[9]), (10, "progress:  10% done", "progress: 100% done"));
}
