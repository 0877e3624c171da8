//! What drome prints as ab is what it reads as ab's, to the report's rounding.

use crate::harness::{OK, exchange, file, parse, read};
use dialects::ab::DIALECT;
use dialects::{Call, Printed};
use model::{End, Exchange, Loss, Reading, Tally, TlsVersion};
use proptest::prelude::*;

/// So many connections take turns.
const CONNECTIONS: u64 = 3;

/// A run and what came of it.
#[derive(Clone, Debug)]
struct Case {
    options: Vec<&'static str>,
    exchanges: Vec<Exchange>,
    tally: Tally,
}

prop_compose! {
    fn exchanges()(
        times in prop::collection::vec((0_u64..50_000_000, 0_u64..9_000_000_000, 0_u64..50_000_000), 1..60),
        bodies in prop::collection::vec(0_u64..3, 60),
        ends in prop::collection::vec(0_u32..12, 60),
    ) -> Vec<Exchange> {
        times.iter().zip(bodies).zip(ends).enumerate().map(|(n, ((&(connect, wait, rest), body), end))| {
            let begin = 1_000_000_000 * n as u64 + 1;
            let sent = begin + connect;
            let end = match end {
                0 => End::Lost(Loss::Receive),
                1 => End::Lost(Loss::Ended),
                2 => End::Lost(Loss::Send),
                3 => End::Answered { status: 404, keeps_alive: true },
                4 => End::Answered { status: 200, keeps_alive: false },
                _ => OK,
            };
            let times_ns = [begin, sent, sent, sent + wait, sent + wait + rest];
            let (connection, nth) = (n as u64 % CONNECTIONS, (n as u64 / CONNECTIONS) as u32);
            exchange(connection, nth, times_ns, 100 + body / 2, end)
        }).collect()
    }
}

prop_compose! {
    fn cases()(
        exchanges in exchanges(),
        options in prop::sample::subsequence(vec!["-k", "-l", "-S", "-d", "-w"], 0..=5),
        duration_ns in 1_000_000_u64..100_000_000_000,
        bytes in (0_u64..1 << 40, 0_u64..1 << 40, 0_u64..1 << 40),
        server in "[a-zA-Z/0-9.]{0,20}",
    ) -> Case {
        let first_answer = format!("HTTP/1.1 200 OK\r\nserver: {server}\r\n\r\nServer: other").into_bytes();
        let (received_bytes, body_bytes, sent_bytes) = bytes;
        let tally = Tally { duration_ns, received_bytes, body_bytes, sent_bytes, first_answer, ..Tally::default() };
        Case { options, exchanges, tally }
    }
}

fn print(case: &Case) -> Printed {
    let args = [&["-r", "-n", "1000", "-c", "3"], &case.options[..], &["http://127.0.0.1:8080/a?b"]].concat();
    let mut job = parse("ab", &args).unwrap();
    let mut printed = job.begin();
    for some in [job.hear(&case.exchanges), job.print(&case.tally)] {
        printed.out += &some.out;
        printed.err += &some.err;
    }
    printed
}

fn close(reading: &Reading, name: &str, expected: f64, rounding: f64) {
    let below = || reading.below.contains_key(name).then_some(0.0);
    let found = reading.get(name).or_else(below).unwrap_or_else(|| panic!("no {name}: {reading:?}"));
    let slack = rounding + expected.abs() * 1e-9;
    assert!((found - expected).abs() <= slack, "{name} is {found}, not {expected}: {reading:?}");
}

fn check(case: &Case) {
    let Case { options, exchanges, tally } = case;
    let text = print(case).out;
    let found = read("ab", &text);
    assert_eq!(found.len(), 1, "{text}");
    assert_eq!(found[0].strange, Vec::<String>::new(), "{text}");
    let reading = &found[0].reading;
    let has = |option| options.contains(&option);
    let is_html = has("-w");
    assert_eq!(reading.url.as_deref(), Some("http://127.0.0.1:8080/a?b"));
    let head = String::from_utf8_lossy(&tally.first_answer);
    let server = head.lines().nth(1).unwrap().trim_start_matches("server: ").trim();
    assert_eq!(reading.server.as_deref(), Some(server));
    let count = |wanted: &dyn Fn(&Exchange) -> bool| exchanges.iter().filter(|e| wanted(e)).count() as f64;
    let done = count(&|_| true);
    close(reading, "completed", done, 0.0);
    close(reading, "connections", 3.0, 0.0);
    close(reading, "received_bytes", tally.received_bytes as f64, 0.0);
    close(reading, "body_bytes", tally.body_bytes as f64, 0.0);
    let (second, ms) = (1e9, 1e6);
    close(reading, "duration_ns", tally.duration_ns as f64, 0.000_501 * second);
    let seconds = tally.duration_ns as f64 / second;
    // ab's clock counts microseconds.
    let of_clock = 1.0 + 1e-6 / seconds;
    close(reading, "rate_per_s", done / seconds, 0.005_1 + done / seconds * (of_clock - 1.0));
    assert_eq!(
        reading.status.get("non-2xx").copied().unwrap_or(0) as f64,
        count(&|e| e.status() == Some(404))
    );
    if has("-k") {
        let kept = |e: &Exchange| matches!(e.end, End::Answered { keeps_alive: true, .. });
        close(reading, "kept_alive", count(&kept), 0.0);
    }
    if has("-l") {
        assert_eq!(reading.get("document_bytes"), None);
    } else if !reading.errors.contains_key("length") {
        let first = exchanges[0].body_bytes as f64;
        assert!(exchanges.iter().all(|e| e.body_bytes as f64 == first), "{text}");
    }
    let lost = count(&|e| e.end == End::Lost(Loss::Receive));
    assert_eq!(reading.errors.get("exceptions").copied().unwrap_or(0) as f64, lost, "{text}");
    let mut totals: Vec<f64> = exchanges.iter().map(|e| (e.done_ns - e.began_ns()) as f64).collect();
    totals.sort_by(f64::total_cmp);
    close(reading, "latency_ns_min", totals[0], 0.501 * ms);
    close(reading, "latency_ns_max", totals[totals.len() - 1], 0.501 * ms);
    let mean = totals.iter().sum::<f64>() / done;
    close(reading, "latency_ns_mean", mean, if is_html { 1.501 * ms } else { 0.502 * ms });
    if !is_html {
        close(reading, "time_per_request_ns", 3.0 * seconds * second / done, 3.0 * 1000.0 + 501.0);
        let waits: Vec<f64> = exchanges.iter().map(|e| (e.first_byte_ns - e.sent_ns) as f64).collect();
        close(reading, "first_byte_ns_mean", waits.iter().sum::<f64>() / done, 0.502 * ms);
        let has_percentiles = !has("-d") && totals.len() > 1;
        let has_p99 = reading.get("latency_ns_p99").is_some() || reading.below.contains_key("latency_ns_p99");
        assert_eq!(has_p99, has_percentiles);
        if has_percentiles {
            close(reading, "latency_ns_p90", totals[totals.len() * 90 / 100], 0.501 * ms);
            close(reading, "latency_ns_p50", totals[totals.len() / 2], 0.501 * ms);
        }
        let has_sd = reading.get("latency_ns_sd").is_some() || reading.below.contains_key("latency_ns_sd");
        assert_eq!(has_sd, !has("-S"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, ..ProptestConfig::default() })]

    #[test]
    fn what_is_printed_is_read(case in cases()) {
        check(&case);
    }
}

proptest! {
    /// No name but an address is looked up, so neither -B nor -X.
    #[test]
    fn no_command_line_is_too_strange(args in prop::collection::vec(
        "-[a-zACEHIPS-WYZ-]{0,3}|[0-9x+-]{0,5}|(https?://)?127\\.0\\.0\\.1:[0-9]{1,6}/[ -~ä]{0,5}|\\[::1\\]/", 0..6,
    )) {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        match parse("ab", &args) {
            Ok(job) => prop_assert!(job.plan().load.connections() > 0),
            Err(printed) => prop_assert!(printed.exit.is_some() && printed != Printed::default()),
        }
    }
}

#[test]
fn an_interrupted_run_reports_what_it_has() {
    let mut job = parse("ab", &["-n", "10", "-w", "http://127.0.0.1:1/"]).unwrap();
    job.hear(&[exchange(0, 0, [1, 2, 2, 3, 4], 5, OK)]);
    let tally = Tally { interrupted: true, duration_ns: 1_000_000, ..Tally::default() };
    let printed = job.print(&tally);
    assert_eq!(printed.exit, Some(1));
    assert!(printed.out.starts_with("\n\nServer Software:        \n"), "{}", printed.out);
    assert_eq!(read("ab", &printed.out)[0].reading.get("completed"), Some(1.0));
}

#[test]
fn the_last_known_version_of_tls_is_the_one_that_is_offered() {
    let parse = |options: &[&str]| {
        let args = [options, &["http://127.0.0.1:1/"]].concat();
        parse("ab", &args).map(|job| job.plan().tls.version)
    };
    assert_eq!(parse(&[]), Ok(None));
    assert_eq!(parse(&["-f", "TLS1.2"]), Ok(Some(TlsVersion::Tls12)));
    assert_eq!(parse(&["-f", "TLS1.2", "-f", "tls1.3"]), Ok(Some(TlsVersion::Tls13)));
    assert_eq!(parse(&["-f", "TLS1.2", "-f", "nonsense"]), Ok(Some(TlsVersion::Tls12)));
    assert_eq!(parse(&["-f", "TLS1.2", "-f", "ALL"]), Ok(None));
    for old in ["SSL2", "SSL3", "TLS1", "TLS1.1"] {
        let printed = parse(&["-f", old]).unwrap_err();
        let words = format!("drome ab: -f {old} is not supported: ");
        assert!(printed.exit == Some(2) && printed.err.starts_with(&words), "{printed:?}");
    }
}

#[test]
fn more_connections_than_descriptors_are_not_begun() {
    let mut call = Call::new("ab", &["-n", "2000", "-c", "1000", "http://127.0.0.1:1/"]);
    assert!((DIALECT.parse)(&Call { descriptors: 1064, ..call.clone() }).is_ok());
    call.descriptors = 1063;
    let printed = (DIALECT.parse)(&call).err().unwrap();
    assert_eq!((printed.exit, printed.err.as_str()), (Some(24), "socket: Too many open files (24)\n"));
    assert!(printed.out.ends_with("Benchmarking 127.0.0.1 (be patient)\n"));
}

#[test]
fn a_client_s_certificate_is_looked_for_whatever_the_scheme() {
    let (certificate, key) = ("-----BEGIN CERTIFICATE-----\n", "-----BEGIN PRIVATE KEY-----\n");
    for (text, missing) in [
        (format!("{certificate}{key}"), None),
        (format!("{}{certificate}", key.replace("PRIVATE", "RSA PRIVATE")), None),
        (certificate.to_owned(), Some("private key")),
        (key.to_owned(), Some("certificate")),
        ("a: b\n".to_owned(), Some("certificate")),
        (String::new(), Some("certificate")),
    ] {
        let (_file, path) = file(&text);
        for url in ["http://127.0.0.1:1/", "https://127.0.0.1:1/"] {
            let printed = parse("ab", &["-E", &path, url]).err();
            let told = missing.map(|what| format!("unable to get {what} from '{path}'\n"));
            let told = told.map(|err| (Some(1), err));
            assert_eq!(printed.map(|printed| (printed.exit, printed.err)), told, "{text:?} {url}");
        }
    }
}
