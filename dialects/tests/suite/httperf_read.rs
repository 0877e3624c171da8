//! httperf's reports, as they stand on pages.

use crate::harness::{assert_figures, one, read};

/// As httperf 0.9.0 prints it, after its own command line.
pub const REPORT: &str = "\
Maximum connect burst length: 7

Total: connections 1000 requests 999800 replies 999700 test-duration 4.970 s

Connection rate: 201.2 conn/s (5.0 ms/conn, <=980 concurrent connections)
Connection time [ms]: min 1902.6 avg 3975.9 max 4345.9 median 4029.5 stddev 274.3
Connection time [ms]: connect 1.3
Connection length [replies/conn]: 999.700

Request rate: 201167.0 req/s (0.0 ms/req)
Request size [B]: 62.0

Reply rate [replies/s]: min 192000.2 avg 201000.5 max 210000.7 stddev 120.0 (2 samples)
Reply time [ms]: response 57.1 transfer 0.2
Reply size [B]: header 38.0 content 4.0 footer 2.0 (total 44.0)
Reply status: 1xx=0 2xx=999600 3xx=0 4xx=100 5xx=0

CPU time [s]: user 0.96 system 3.98 (user 19.3% system 80.1% total 99.4%)
Net I/O: 20435.6 KB/s (167.4*10^6 bps)

Errors: total 7 client-timo 4 socket-timo 0 connrefused 1 connreset 2
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
";

pub const ECHO: &str = "httperf --hog --client=0/1 --server=127.0.0.1 --port=3000 --uri=/pong --rate=1000 --send-buffer=4096 \
    --recv-buffer=16384 --num-conns=1000 --num-calls=1000 --burst-length=20";
pub const TYPED: &str =
    "httperf --hog --num-conns 1000 --num-calls 1000 --burst-length 20 --port 3000 --rate 1000 --uri=/pong";

#[test]
fn every_figure_has_drome_s_name_and_unit() {
    let found = one("httperf", &format!("{ECHO}\n{REPORT}"));
    let expected = [
        ("client_core_use", 0.994),
        ("client_cpu_system_ns", 3.98e9),
        ("client_cpu_user_ns", 0.96e9),
        ("completed", 999_700.0),
        ("connect_burst_max", 7.0),
        ("connect_ns_mean", 1.3e6),
        ("connection_ns_max", 4345.9e6),
        ("connection_ns_mean", 3975.9e6),
        ("connection_ns_min", 1902.6e6),
        ("connection_ns_p50", 4029.5e6),
        ("connection_ns_sd", 274.3e6),
        ("connections_max", 980.0),
        ("connections_opened", 1000.0),
        ("connections_per_s", 201.2),
        ("document_bytes", 4.0),
        ("duration_ns", 4.97e9),
        ("failed", 7.0),
        ("first_byte_ns_mean", 57.1e6),
        ("footer_bytes", 2.0),
        ("header_bytes", 38.0),
        ("network_bytes_per_s", 20_926_054.4),
        // Replies over the time that they took, since not all requests had one.
        ("rate_per_s", 201_146.881_287_726_36),
        ("rate_samples", 2.0),
        ("replies_per_connection", 999.7),
        ("reply_bytes", 44.0),
        ("request_bytes", 62.0),
        ("sampled_rate_per_s_max", 210_000.7),
        ("sampled_rate_per_s_mean", 201_000.5),
        ("sampled_rate_per_s_min", 192_000.2),
        ("sampled_rate_per_s_sd", 120.0),
        ("sent", 999_800.0),
        ("sent_per_s", 201_167.0),
        ("transfer_ns_mean", 0.2e6),
    ];
    assert_figures(&found.reading, &expected);
    let reading = &found.reading;
    assert_eq!(reading.url.as_deref(), Some("http://127.0.0.1:3000/pong"));
    assert_eq!(reading.command.as_deref(), Some(ECHO));
    let count = |name: &str, n: u64| (name.to_owned(), n);
    assert_eq!(reading.status, [count("2xx", 999_600), count("4xx", 100)].into());
    assert_eq!(
        reading.errors,
        [count("client-timo", 4), count("connrefused", 1), count("connreset", 2), count("status", 100)]
            .into()
    );
    assert_eq!(found.strange, Vec::<String>::new());
    assert_eq!((found.at.start, found.at.end), (0, ECHO.len() + REPORT.len()));
}

#[test]
fn commands_are_found_in_every_form() {
    let session = format!("$ {TYPED}\n{ECHO}\n{REPORT}");
    let plain = one("httperf", &session).reading;
    assert_eq!(plain.command.as_deref(), Some(TYPED));
    for text in [
        session.replace("$ ", "user@host:~/bin# ./").replace("<=", "&lt;="),
        session.replace(
            "Maximum",
            "httperf: maximum number of open descriptors = 1024\nreply-rate = 2.0\nMaximum",
        ),
        session.replace("Maximum", "httperf: warning: open file limit > FD_SETSIZE; limiting max.\nMaximum"),
    ] {
        let found = one("httperf", &text);
        assert_eq!(found.reading, plain, "{text}");
        assert_eq!(found.strange, Vec::<String>::new(), "{text}");
    }
    // Without an echo, and typed over several lines.
    let typed = TYPED.replace(" --port", " \\\n  --port");
    let command = one("httperf", &format!("% {typed}\n\n{REPORT}")).reading.command;
    assert_eq!(command.map(|c| c.split_whitespace().collect::<Vec<_>>().join(" ")).as_deref(), Some(TYPED));
}

#[test]
fn several_in_one_text_each_by_itself() {
    let ab = "Concurrency Level:      10\nRequests per second:    351.49 [#/sec] (mean)\n".repeat(6);
    let second = REPORT.replace("999700", "5").replace("Errors: total 7", "Errors: total 8");
    let text = format!(
        "## nginx\n{ECHO}\n{REPORT}\n{ab}\n## go\n$ httperf --server=b --uri /x --ssl\n{second}{REPORT}"
    );
    let all = read("httperf", &text);
    assert_eq!(
        all.iter().map(|f| f.reading.get("completed").unwrap()).collect::<Vec<_>>(),
        [999_700.0, 5.0, 999_700.0]
    );
    let urls: Vec<_> = all.iter().map(|f| f.reading.url.as_deref()).collect();
    assert_eq!(urls, [Some("http://127.0.0.1:3000/pong"), Some("https://b/x"), None]);
    assert_eq!(all[2].reading.command, None);
    assert!(all.iter().all(|found| found.strange.is_empty()));
}

#[test]
fn what_breaks_off_is_read_as_far_as_it_goes() {
    let begin = REPORT.find("Connection rate: 201.2 ").unwrap() + 24;
    (begin..REPORT.len()).for_each(|end| drop(one("httperf", &REPORT[..end])));
    assert_eq!(one("httperf", &REPORT[..REPORT.find("\n\nErrors").unwrap()]).reading.errors.len(), 1);
    let last = &REPORT[REPORT.find("Reply rate").unwrap()..];
    assert_eq!(one("httperf", last).reading.get("duration_ns"), None);
}

#[test]
fn what_is_0_because_it_is_unknown_is_not_there() {
    let failed = "Maximum connect burst length: 0

Total: connections 30 requests 0 replies 0 test-duration 5.800 s

Connection rate: 5.2 conn/s (193.3 ms/conn, <=1 concurrent connections)
Connection time [ms]: min 0.0 avg 0.0 max 0.0 median 0.0 stddev 0.0
Connection time [ms]: connect 0.0
Connection length [replies/conn]: 0.000

Request rate: 0.0 req/s (0.0 ms/req)
Request size [B]: 0.0

Reply rate [replies/s]: min 0.0 avg 0.0 max 0.0 stddev 0.0 (0 samples)
Reply time [ms]: response 0.0 transfer 0.0
Reply size [B]: header 0.0 content 0.0 footer 0.0 (total 0.0)
Reply status: 1xx=0 2xx=0 3xx=0 4xx=0 5xx=0

CPU time [s]: user 4.09 system 1.70 (user 70.5% system 29.2% total 99.7%)
Net I/O: 0.0 KB/s (0.0*10^6 bps)

Errors: total 30 client-timo 0 socket-timo 0 connrefused 30 connreset 0
Errors: fd-unavail 0 addrunavail 0 ftab-full 0 other 0
";
    let found = one("httperf", failed);
    let names: Vec<&str> = found.reading.figures.keys().map(String::as_str).collect();
    let expected = "client_core_use client_cpu_system_ns client_cpu_user_ns completed connect_burst_max \
        connections_max connections_opened connections_per_s duration_ns failed network_bytes_per_s rate_per_s \
        rate_samples sent sent_per_s";
    assert_eq!(names.join(" "), expected);
    assert_eq!(found.reading.errors, [("connrefused".to_owned(), 30)].into());
}

#[test]
fn sessions_are_read_too() {
    let text = format!(
        "{REPORT}\nSession rate [sess/s]: min 0.20 avg 0.59 max 2.40 stddev 0.37 (240/450)\n\
         Session: avg 6.45 connections/session\nSession lifetime [s]: 123.9\nSession failtime [s]: 58.5\n\
         Session length histogram: 4 7 4\n"
    );
    let found = one("httperf", &text);
    let get = |name| found.reading.get(name).unwrap();
    assert_eq!(
        [get("sessions"), get("sessions_completed"), get("connections_per_session")],
        [450.0, 240.0, 6.45]
    );
    assert_eq!([get("sessions_per_s_mean"), get("session_ns_mean")], [0.59, 123.9e9]);
    assert_eq!(found.strange, Vec::<String>::new());
}

#[test]
fn what_is_not_understood_is_strange() {
    let text = REPORT.replace("Request size [B]: 62.0", "Request size : 62.0");
    assert_eq!(one("httperf", &text).strange, ["Request size : 62.0"]);
}
