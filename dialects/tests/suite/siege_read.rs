//! siege's reports, read from texts as they are found.

use crate::harness::{assert_figures, one, read};

/// As page 001 has them: line breaks became blanks, and a count differs by one from another.
const PAGE: &str = "Siege have provided the following results:
Transactions: 973 hits Availability: 100.00 % Elapsed time: 9.55 secs Data transferred: 187.80 MB Response time: 1.59 secs Transaction rate: 101.88 trans/sec Throughput: 19.66 MB/sec Concurrency: 162.37 Successful transactions: 974 Failed transactions: 0 Longest transaction: 2.36 Shortest transaction: 0.19
Transactions: 840 hits Availability: 100.00 % Elapsed time: 9.81 secs Data transferred: 161.96 MB Response time: 1.66 secs Transaction rate: 85.63 trans/sec Throughput: 16.51 MB/sec Concurrency: 141.88 Successful transactions: 840 Failed transactions: 0 Longest transaction: 8.87 Shortest transaction: 0.27
Monkey was capable to serve the linux.jpg file 101.88 times per second";

/// As siege 4.0.7 writes it to a terminal.
pub const TERMINAL: &str = "\
pi@berry:~$ siege -b -t10S -c200 http://localhost:2001/linux.jpg
** SIEGE 4.0.7
** Preparing 200 concurrent users for battle.
The server is now under siege...
HTTP/1.1 200     0.01 secs:     264 bytes ==> GET  /linux.jpg
\u{1b}[0;34mHTTP/1.1 200     0.01 secs:     264 bytes ==> GET  /linux.jpg\u{1b}[0m
[\u{1b}[1;33merror\u{1b}[0m] socket: unable to connect sock.c:282: Connection refused

Lifting the server siege...
Transactions:\t\t         973 hits
Availability:\t\t       99.90 %
Elapsed time:\t\t        9.55 secs
Data transferred:\t      187.80 MB
Response time:\t\t        1.59 secs
Transaction rate:\t      101.88 trans/sec
Throughput:\t\t       19.66 MB/sec
Concurrency:\t\t      162.37
Successful transactions:         973
Failed transactions:\t           1
Longest transaction:\t        2.36
Shortest transaction:\t        0.19
\u{20}
LOG FILE: /var/log/siege.log
";

#[test]
fn the_page_has_two_on_a_line_each() {
    let found = read("siege", PAGE);
    assert_eq!(found.len(), 2);
    let reading = &found[0].reading;
    assert_eq!(reading.tool, "siege");
    let figures = [
        ("completed", 973.0),
        ("availability_percent", 100.0),
        ("duration_ns", 9.55e9),
        ("body_bytes", 187.8 * 1_048_576.0),
        ("latency_ns_mean", 1.59e9),
        ("rate_per_s", 101.88),
        ("body_bytes_per_s", 19.66 * 1_048_576.0),
        ("concurrency", 162.37),
        ("successful", 974.0),
        ("failed", 0.0),
        ("latency_ns_max", 2.36e9),
        ("latency_ns_min", 0.19e9),
    ];
    assert_figures(reading, &figures);
    assert_eq!(found[1].reading.get("rate_per_s"), Some(85.63));
    assert!(PAGE[found[0].at.clone()].starts_with("Transactions: 973"));
    assert!(PAGE[found[0].at.clone()].ends_with("transaction: 0.19"));
    assert_eq!((&found[0].strange, &reading.command), (&vec![], &None));
}

#[test]
fn a_terminal_tells_version_users_and_command() {
    let found = one("siege", TERMINAL);
    let reading = &found.reading;
    assert_eq!(reading.version.as_deref(), Some("4.0.7"));
    assert_eq!(reading.command.as_deref(), Some("siege -b -t10S -c200 http://localhost:2001/linux.jpg"));
    assert_eq!(reading.url.as_deref(), Some("http://localhost:2001/linux.jpg"));
    assert_eq!((reading.get("connections"), reading.get("failed")), (Some(200.0), Some(1.0)));
    assert!(TERMINAL[found.at.clone()].trim_start().starts_with("pi@berry"), "{found:?}");
    assert!(TERMINAL[found.at].ends_with("0.19"));
}

#[test]
fn a_command_is_not_taken_from_another_place() {
    let text = format!("$ siege -c2 http://a/\n\nAnd this is what ab says:\n\n{}", &PAGE[43..]);
    assert_eq!(read("siege", &text).iter().filter(|found| found.reading.command.is_some()).count(), 0);
}

#[test]
fn units_are_what_the_report_says() {
    // siege 4.1.7.
    let new = "Transactions: 100 hits\nAvailability: 100.00 %\nResponse time: 28.47 ms\nLongest transaction: 110.00 ms\nShortest transaction: 0.00 ms\n";
    let reading = one("siege", new).reading;
    assert_eq!(reading.get("latency_ns_mean"), Some(28.47e6));
    assert_eq!((reading.get("latency_ns_max"), reading.below["latency_ns_min"]), (Some(110e6), 1e4));
    // siege 2.5.
    let old = "Transactions: 1000 hits\nAvailability: 100.00 %\nElapsed time: 617.99 secs\nData transferred: 4848000 bytes\nResponse time: 59.41 secs\nTransaction rate: 1.62 trans/sec\nThroughput: 7844.79 bytes/sec\nConcurrency: 96.13\nStatus code 200: 1000\nSuccessful transactions: 1000\nFailed transactions: 0\n";
    let reading = one("siege", old).reading;
    assert_eq!(
        (reading.get("body_bytes"), reading.get("body_bytes_per_s")),
        (Some(4_848_000.0), Some(7844.79))
    );
    assert_eq!((reading.status.get("200"), reading.get("failed")), (Some(&1000), Some(0.0)));
}

#[test]
fn json_has_no_units_and_its_arithmetic_tells_them() {
    let json = |response: &str, longest: &str| {
        format!(
            "{{\t\"transactions\":\t\t\t         973,\n\t\"availability\":\t100.00,\n\t\"elapsed_time\": 9.55,\n\t\"response_time\": {response},\n\t\"transaction_rate\": 101.88,\n\t\"concurrency\": 162.37,\n\t\"longest_transaction\": {longest},\n\t\"shortest_transaction\": 0.19\n}}\n"
        )
    };
    let seconds = one("siege", &json("1.59", "2.36"));
    assert_eq!(seconds.reading.get("latency_ns_mean"), Some(1.59e9));
    assert_eq!(seconds.reading.get("latency_ns_max"), Some(2.36e9));
    assert_eq!(seconds.at, 0..json("1.59", "2.36").len() - 1);
    let milliseconds = one("siege", &json("1593.70", "2360.00")).reading;
    assert_eq!(milliseconds.get("latency_ns_mean"), Some(1593.7e6));
    assert_eq!(milliseconds.get("latency_ns_max"), Some(2360e6));
    // Neither fits: nothing is guessed, and the rest is read.
    let neither = one("siege", &json("15.00", "2.36")).reading;
    assert_eq!((neither.get("latency_ns_mean"), neither.get("latency_ns_max")), (None, None));
    assert_eq!((neither.get("rate_per_s"), neither.get("duration_ns")), (Some(101.88), Some(9.55e9)));
}

#[test]
fn a_failed_run_has_no_times() {
    let failed = "siege aborted due to excessive socket failure; you\ncan change the failure threshold in $HOME/.siegerc\n\nTransactions:\t\t           0 hits\nAvailability:\t\t        0.00 %\nElapsed time:\t\t        0.00 secs\nData transferred:\t        0.00 MB\nResponse time:\t\t        0.00 secs\nTransaction rate:\t        0.00 trans/sec\nThroughput:\t\t        0.00 MB/sec\nConcurrency:\t\t        0.00\nSuccessful transactions:           0\nFailed transactions:\t        1024\nLongest transaction:\t        0.00\nShortest transaction:\t        0.00\n";
    let reading = one("siege", failed).reading;
    assert_eq!((reading.get("completed"), reading.get("failed")), (Some(0.0), Some(1024.0)));
    for unknown in ["latency_ns_mean", "latency_ns_max", "latency_ns_min", "rate_per_s", "concurrency"] {
        assert_eq!(reading.get(unknown), None, "{unknown}");
    }
}

#[test]
fn strange_lines_are_kept_and_cut_reports_end_early() {
    let text =
        "Transactions: 10 hits\nAvailability: 100.00 %\nMood: fine\nElapsed time: 1.00 secs\nand so on\n";
    let found = one("siege", text);
    assert_eq!(
        (found.strange.as_slice(), found.reading.get("duration_ns")),
        (&["Mood: fine".to_owned()][..], Some(1e9))
    );
    assert!(text[found.at].ends_with("1.00 secs"));
    let cut = one("siege", "Transactions: 10 hits\nAvailability: 10");
    assert_eq!(cut.reading.get("availability_percent"), None, "it may have been 100");
    let two = read("siege", "Transactions: 10 hits\nElapsed time: 1.00 secs\nTransactions: 12 hits\n");
    assert_eq!(two.iter().map(|f| f.reading.get("completed")).collect::<Vec<_>>(), [Some(10.0), Some(12.0)]);
}
