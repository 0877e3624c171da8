//! ab's reports as they stand in the world: on pages, in shells, cut off, of other versions.

use crate::harness::{assert_figures, one, read};
use dialects::Found;

/// A report as one of the founding pages has it, indented as Markdown wants code to be.
pub const OLD: &str = "\
    Server Software:        nginx/1.2.1
    Server Hostname:        192.168.1.7
    Server Port:            80

    Document Path:          /
    Document Length:        228 bytes

    Concurrency Level:      10
    Time taken for tests:   2.845 seconds
    Complete requests:      1000
    Failed requests:        0
    Total transferred:      438000 bytes
    HTML transferred:       228000 bytes
    Requests per second:    351.49 [#/sec] (mean)
    Time per request:       28.450 [ms] (mean)
    Time per request:       2.845 [ms] (mean, across all concurrent requests)
    Transfer rate:          150.34 [Kbytes/sec] received

    Connection Times (ms)
                  min  mean[+/-sd] median   max
    Connect:        2    3   1.4      3      13
    Processing:     6   25   7.7     26      61
    Waiting:        6   25   7.6     26      60
    Total:          9   28   7.7     28      65

    Percentage of the requests served within a certain time (ms)
      50%     28
      66%     30
      75%     31
      80%     32
      90%     38
      95%     43
      98%     48
      99%     54
     100%     65 (longest request)
";

/// What a run with failures looks like in a shell.
pub const FAILED: &str = "\
me@host:~$ ab -n 30 -c 2 -k -p body https://[::1]:8443/a?b=c
This is ApacheBench, Version 2.3 <$Revision$>
Copyright 1996 Adam Twiss, Zeus Technology Ltd, http://www.zeustech.net/
Licensed to The Apache Software Foundation, http://www.apache.org/

Benchmarking ::1 (be patient).....done

Server Software:        
Server Hostname:        ::1
Server Port:            8443
SSL/TLS Protocol:       TLSv1.3,TLS_AES_256_GCM_SHA384,256,256
Server Temp Key:        X25519 253 bits

Document Path:          /a?b=c
Document Length:        Variable

Concurrency Level:      2
Time taken for tests:   1.000 seconds
Complete requests:      30
Failed requests:        7
   (Connect: 0, Receive: 4, Length: 3, Exceptions: 0)
Write errors:           1
Non-2xx responses:      5
Keep-Alive requests:    20
Total transferred:      2000 bytes
Total body sent:        900
HTML transferred:       100 bytes
Requests per second:    30.00 [#/sec] (mean)
Time per request:       66.667 [ms] (mean)
Time per request:       33.333 [ms] (mean, across all concurrent requests)
Transfer rate:          1.95 [Kbytes/sec] received
                        0.88 kb/s sent
                        2.83 kb/s total

Connection Times (ms)
              min  mean[+/-sd] median   max
Connect:        0    0   0.0      0       0
Processing:     0    1   0.2      2       3
Waiting:        0    1   0.2      2       3
Total:          0    1   0.2      2       3
WARNING: The median and mean for the processing time are not within a normal deviation
        These results are probably not that reliable.
ERROR: The median and mean for the waiting time are more than twice the standard
       deviation apart. These results are NOT reliable.
";

#[test]
fn a_report_of_the_founding_page() {
    let found = one("ab", OLD);
    let expected = [
        ("body_bytes", 228_000.0),
        ("completed", 1000.0),
        ("connect_ns_max", 13e6),
        ("connect_ns_mean", 3e6),
        ("connect_ns_min", 2e6),
        ("connect_ns_p50", 3e6),
        ("connect_ns_sd", 1.4e6),
        ("connections", 10.0),
        ("document_bytes", 228.0),
        ("duration_ns", 2.845e9),
        ("failed", 0.0),
        ("first_byte_ns_max", 60e6),
        ("first_byte_ns_mean", 25e6),
        ("first_byte_ns_min", 6e6),
        ("first_byte_ns_p50", 26e6),
        ("first_byte_ns_sd", 7.6e6),
        ("latency_ns_max", 65e6),
        ("latency_ns_mean", 28e6),
        ("latency_ns_min", 9e6),
        ("latency_ns_p50", 28e6),
        ("latency_ns_p66", 30e6),
        ("latency_ns_p75", 31e6),
        ("latency_ns_p80", 32e6),
        ("latency_ns_p90", 38e6),
        ("latency_ns_p95", 43e6),
        ("latency_ns_p98", 48e6),
        ("latency_ns_p99", 54e6),
        ("latency_ns_sd", 7.7e6),
        ("rate_per_s", 351.49),
        ("received_bytes", 438_000.0),
        ("received_bytes_per_s", 150.34 * 1024.0),
        ("service_ns_max", 61e6),
        ("service_ns_mean", 25e6),
        ("service_ns_min", 6e6),
        ("service_ns_p50", 26e6),
        ("service_ns_sd", 7.7e6),
        ("time_per_request_ns", 28.45e6),
        ("time_per_request_over_all_ns", 2.845e6),
    ];
    assert_figures(&found.reading, &expected);
    assert_eq!(found.reading.url.as_deref(), Some("http://192.168.1.7/"));
    assert_eq!(found.reading.server.as_deref(), Some("nginx/1.2.1"));
    assert_eq!((found.reading.command, found.reading.version), (None, None));
    assert_eq!(found.strange, Vec::<String>::new());
    assert_eq!(OLD[found.at].trim(), OLD.trim());
}

#[test]
fn a_failed_run_in_a_shell_has_command_version_and_errors() {
    let found = one("ab", FAILED);
    let reading = &found.reading;
    assert_eq!(reading.command.as_deref(), Some("ab -n 30 -c 2 -k -p body https://[::1]:8443/a?b=c"));
    assert_eq!(reading.version.as_deref(), Some("2.3"));
    assert_eq!(reading.url.as_deref(), Some("https://[::1]:8443/a?b=c"));
    assert_eq!(reading.server.as_deref(), Some(""));
    let errors: Vec<_> = reading.errors.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(errors, [("length", 3), ("receive", 4), ("status", 2), ("write", 1)]);
    assert_eq!(reading.status.get("non-2xx"), Some(&5));
    assert_eq!(reading.get("document_bytes"), None);
    assert_eq!(reading.get("kept_alive"), Some(20.0));
    assert_eq!(reading.get("sent_bytes"), Some(900.0));
    assert_eq!(reading.get("sent_bytes_per_s"), Some(0.88 * 1024.0));
    assert_eq!(found.strange, Vec::<String>::new());
    assert_eq!(&FAILED[found.at], FAILED[FAILED.find("This").unwrap()..].trim_end());
}

#[test]
fn a_command_belongs_to_the_report_right_below_it_only() {
    let command = |text: String| one("ab", &text).reading.command;
    assert_eq!(command(format!("$ ab http://a/\n\n```\n{OLD}")).as_deref(), Some("ab http://a/"));
    assert_eq!(command(format!("$ ab http://a/\nwas run on another day\n{OLD}")), None);
    assert_eq!(command(format!("use ab http://a/\n{OLD}")), None);
}

#[test]
fn what_is_cut_off_is_read_as_far_as_it_is_sure() {
    let until = |text: &str| one("ab", &OLD[..OLD.find(text).unwrap() + text.len()]).reading;
    let reading = until("Complete requests:      10");
    assert_eq!((reading.get("duration_ns"), reading.get("completed")), (Some(2.845e9), None));
    let reading = until("Connect:        2    3   1.4");
    assert_eq!((reading.get("rate_per_s"), reading.get("connect_ns_min")), (Some(351.49), None));
    let reading = until("98%     4");
    assert_eq!((reading.get("latency_ns_p95"), reading.get("latency_ns_p98")), (Some(43e6), None));
    assert_eq!(read("ab", &OLD[..OLD.find("Document Length").unwrap()]), []);
    // Two of them, each cut off.
    let half = &OLD[..OLD.find("    Total transferred").unwrap()];
    assert_eq!(read("ab", &format!("{half}{half}")).len(), 2);
}

#[test]
fn an_aborted_run_says_why() {
    let banner = &FAILED[FAILED.find("This").unwrap()..FAILED.find(".....done").unwrap()];
    let refused = one("ab", &format!("{banner}...apr_socket_recv: Connection refused (111)\n"));
    let errors = |found: &Found| found.reading.errors.keys().cloned().collect::<Vec<_>>();
    assert_eq!(errors(&refused), ["apr_socket_recv: Connection refused"]);
    assert_eq!(refused.reading.figures.len(), 0);
    let reset = format!(
        "{banner}\nCompleted 100 requests\napr_socket_recv: Connection reset by peer (104)\nTotal of 166 requests completed\n"
    );
    let reset = one("ab", &reset);
    assert_eq!(errors(&reset), ["apr_socket_recv: Connection reset by peer"]);
    assert_eq!(reset.reading.get("completed"), Some(166.0));
    let failures = format!(
        "{banner}\n\nTest aborted after 10 failures\n\napr_socket_connect(): Connection refused (111)\n"
    );
    assert_eq!(errors(&one("ab", &failures)).len(), 2);
}

#[test]
fn what_is_not_understood_is_told() {
    let text = OLD.replace("    Failed requests:        0\n", "    Dropped requests:       3\n");
    assert_eq!(one("ab", &text).strange, ["Dropped requests:       3"]);
    let text = OLD.replace("228 bytes", "many bytes");
    let found = one("ab", &text);
    assert_eq!((found.strange.len(), found.reading.get("document_bytes")), (1, None));
    let text = OLD.replace("13\n", "thirteen\n");
    assert_eq!(one("ab", &text).reading.get("connect_ns_max"), None);
}

#[test]
fn older_and_newer_versions() {
    let old = OLD
        .replace("                  min  mean[+/-sd] median   max", "                  min   avg   max")
        .replace("2    3   1.4      3      13", "2     3    13")
        .replace("    Total transferred", "    Broken pipe errors:     2\n    Total transferred")
        .replace("(longest request)", "(last request)");
    let found = one("ab", &old);
    assert_eq!(found.strange, Vec::<String>::new());
    assert_eq!(found.reading.errors.get("write"), Some(&2));
    assert_eq!((found.reading.get("connect_ns_max"), found.reading.get("connect_ns_sd")), (Some(13e6), None));
    let new = OLD
        .replace("    Concurrency", "    Number of workers:      1\n    Concurrency")
        .replace(
            "    Time taken",
            "    Concurrency achieved:   10\n    Rampup delay:           0 [ms]\n    Time taken",
        )
        .replace("    Complete", "    Number of requests:     1000\n    Complete");
    assert_eq!(one("ab", &new).reading, one("ab", OLD).reading);
}
