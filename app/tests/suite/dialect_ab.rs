//! `drome ab` beside the real ab, run in turn with the same arguments against the same server: all that is not a
//! timing is equal.

use crate::common::counted::Counted;
use crate::common::tools::{Ears, Ended, drome, real, shape, wire};
use crate::common::{Home, process, serve, start};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Lines of the report that no timing has a part in.
const SURE: &str = "Server Software:|Server Hostname:|Server Port:|SSL/TLS Protocol:|Server Temp Key:|TLS Server Name:|\
    Document Path:|Document Length:|Concurrency Level:|Complete requests:|Failed requests:|   (Connect:|Write errors:|\
    Non-2xx responses:|Keep-Alive requests:|Total transferred:|Total body sent:|HTML transferred:|Completed |\
    Finished |Total of ";

fn both(args: &[&str]) -> (Ended, Ended) {
    (real("ab", args), drome("ab", args))
}

/// Options and a URL.
fn with<'a>(options: &[&'a str], url: &'a str) -> Vec<&'a str> {
    [options, &[url]].concat()
}

/// Without what drome adds in its own name, and without warnings that are a matter of luck.
fn bare(text: &str) -> String {
    let lucky =
        ["WARNING: The median", "ERROR: The median", "        These results", "       deviation apart"];
    let is_bare = |line: &&str| !line.starts_with("drome") && !lucky.iter().any(|l| line.starts_with(l));
    text.lines().filter(is_bare).map(|line| format!("{line}\n")).collect()
}

fn sure(text: &str) -> Vec<&str> {
    text.lines().filter(|line| SURE.split('|').any(|label| line.starts_with(label))).collect()
}

/// Both say the same, timings apart, and end alike.
fn assert_alike(args: &[&str]) -> (Ended, Ended) {
    let (mut theirs, ours) = both(args);
    // The one field that drome leaves empty: the size of the key in the server's certificate.
    theirs.out = theirs.out.replace(",256,256\n", ",,256\n");
    let shown = format!("{args:?}\n{}{}\n---\n{}{}", theirs.out, theirs.err, ours.out, ours.err);
    assert_eq!(theirs.code, ours.code, "{shown}");
    assert_eq!(shape(&bare(&theirs.out)), shape(&bare(&ours.out)), "{shown}");
    assert_eq!(sure(&theirs.out), sure(&ours.out), "{shown}");
    assert_eq!(bare(&theirs.err), bare(&ours.err), "{shown}");
    (theirs, ours)
}

/// The same, and word for word.
fn assert_same(args: &[&str]) {
    let (theirs, ours) = both(args);
    assert_eq!((theirs.code, &theirs.out, &theirs.err), (ours.code, &ours.out, &ours.err), "{args:?}");
}

/// The figure behind a label.
fn figure(report: &str, label: &str) -> f64 {
    let line = report.lines().find(|line| line.starts_with(label));
    let line = line.unwrap_or_else(|| panic!("no {label} in {report}"));
    line[label.len()..].split_whitespace().next().unwrap().parse().unwrap()
}

/// An option of each kind, against a server that is well.
#[test]
fn reports_are_alike() {
    let server = serve(&[]);
    let home = Home::new();
    let body = home.write("body", "some=thing&else=1");
    let body = body.to_str().unwrap();
    let url = format!("http://{}/hello", server.address);
    let image = format!("http://{}/jpeg-200k.jpg", server.address);
    let cases: &[&[&str]] = &[
        &[&url],
        &["-n", "100", &url],
        &["-n", "100", "-c", "10", &url],
        &["-n100", "-kc10", &url],
        &["-n", "100", "-c", "10", "-k", "-l", &url],
        &["-n", "451", "-c", "5", "-k", &url],
        &["-n", "451", "-c", "5", "-k", "-q", &url],
        &["-n", "1200", "-c", "5", "-k", &url],
        &["-n", "30", "-i", &url],
        &["-n", "30", "-i", "-k", &url],
        &["-n", "30", "-d", &url],
        &["-n", "30", "-S", &url],
        &["-n", "30", "-d", "-S", "-k", &url],
        &["-n", "20", "-p", body, &url],
        &["-n", "20", "-u", body, "-T", "text/x", "-k", &url],
        &["-n", "20", "-m", "DELETE", &url],
        &["-n", "20", "-c", "4", &image],
        &["-n", "20", "-c", "4", "-k", &image],
        &["-n", "20", &format!("http://{}/nothing?at=all", server.address)],
        &["-n", "20", "-B", "127.0.0.1", &url],
        &["-n", "20", "-s", "5", "-r", "-v", "1", &url],
        &["-n", "20", "-H", "Host: elsewhere", "-C", "a=b", &url],
        &["-n", "20", "-X", &server.address.to_string(), "http://nowhere.invalid:81/hello"],
        &["-n", "20", "-w", &url],
        &["-n", "20", "-w", "-k", "-l", &url],
        &["-n", "20", "-x", "border=1", "-y", "align=left", "-z", "class=x", "-p", body, &url],
        &["-n", "160", "-w", &format!("http://{}/nothing", server.address)],
        &["-n", "20", "--", &url],
        // What ab complains of, and goes on.
        &["-Q", &url],
        &["-f", "nonsense", &url],
    ];
    for args in cases {
        assert_alike(args);
    }
}

/// What servers do to each answer, and what both say to that.
#[test]
fn faults_are_counted_alike() {
    let cases: &[(&str, &[&str])] = &[
        ("status=503", &["-n", "40", "-c", "4"]),
        ("status=302", &["-n", "40", "-c", "4", "-k"]),
        ("http10", &["-n", "40", "-c", "4"]),
        ("http10", &["-n", "40", "-c", "4", "-k"]),
        ("truncate", &["-n", "40", "-c", "4"]),
        ("truncate", &["-n", "40", "-c", "4", "-k"]),
        ("length=+5", &["-n", "40", "-c", "4"]),
        ("garbage", &["-n", "40", "-c", "4"]),
        ("close-after=4", &["-n", "40", "-c", "1", "-k"]),
        ("reset", &["-n", "40", "-c", "4"]),
        ("reset", &["-n", "40", "-c", "4", "-r"]),
        ("delay=2ms", &["-n", "40", "-c", "4"]),
    ];
    for (fault, args) in cases {
        let server = serve(&["--fault", fault]);
        let url = format!("http://{}/hello", server.address);
        assert_alike(&with(args, &url));
    }
}

#[test]
fn the_request_is_the_same_to_the_byte() {
    const ANSWER: &[u8] = b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let home = Home::new();
    let body = home.write("body", "some=thing");
    let body = body.to_str().unwrap();
    let cases: &[&[&str]] = &[
        &[],
        &["-k"],
        &["-i"],
        &["-C", "a=1", "-C", "b=2"],
        &["-A", " u:p", "-P", "x:y"],
        &["-H", "X-A:1", "-H", "Host:foo"],
        &["-H", "user-agent: z", "-H", "accept:q", "-k"],
        &["-p", body],
        &["-p", body, "-T", "a/b", "-k", "-C", "a=1", "-H", "X: y"],
        &["-u", body],
        &["-m", "PATCH"],
        &["-p", body, "-m", "PATCH"],
    ];
    for options in cases {
        let run = |of: fn(&str, &[&str]) -> Ended| {
            wire(|url| drop(of("ab", &with(options, &format!("{url}/a b?c=d#e")))), ANSWER, true)
        };
        assert_eq!(run(real), run(drome), "{options:?}");
    }
}

#[test]
fn a_proxy_is_asked_for_the_whole_url() {
    let heard = |of: fn(&str, &[&str]) -> Ended| {
        let ears = Ears::new(b"HTTP/1.0 200 OK\r\n\r\n", true);
        of("ab", &["-X", &format!("127.0.0.1:{}", ears.port), "http://nowhere.invalid:81/x?y"]);
        ears.first()
    };
    let ours = heard(drome);
    assert!(ours.starts_with(b"GET http://nowhere.invalid:81/x?y HTTP/1.0\r\nHost: nowhere.invalid:81\r\n"));
    assert_eq!(heard(real), ours);
}

#[test]
fn wrong_command_lines_are_answered_word_for_word() {
    let home = Home::new();
    let folder = home.path().to_str().unwrap();
    let long = "a".repeat(900);
    let cases: &[&[&str]] = &[
        &[],
        &["-h"],
        &["-V"],
        &["-n"],
        &["-Q"],
        &["-Qk", "http://127.0.0.1:1/"],
        &["-n", "0", "http://127.0.0.1:1/"],
        &["-n", "x", "http://127.0.0.1:1/"],
        &["-n", "5", "-c", "10", "http://127.0.0.1:1/"],
        &["-c", "-1", "http://127.0.0.1:1/"],
        &["-c", "200001", "-n", "200002", "http://127.0.0.1:1/"],
        &["-c", "0", "http://127.0.0.1:1/"],
        &["http://127.0.0.1:1/", "-n", "5"],
        &["http://127.0.0.1:1/", "http://127.0.0.1:1/"],
        &["127.0.0.1:1"],
        &["http://127.0.0.1:99999/"],
        &["http:///x"],
        &["-p", "/nonexistent/body", "http://127.0.0.1:1/"],
        &["-u", folder, "http://127.0.0.1:1/"],
        &["-i", "-p", "/nonexistent/body", "http://127.0.0.1:1/"],
        &["-m", "GET", "-i", "http://127.0.0.1:1/"],
        &["-A", &long, "http://127.0.0.1:1/"],
        &["-P", &long, "http://127.0.0.1:1/"],
        &["-n", "200", "http://127.0.0.1:1/"],
        &["http://127.0.0.1:1/"],
        &["http://nowhere.invalid/"],
        &["foo:bar/"],
        &["-B", "nowhere.invalid", "http://127.0.0.1:1/"],
    ];
    for args in cases {
        assert_same(args);
    }
}

#[test]
fn what_is_not_honoured_is_said() {
    let ours = drome("ab", &["-b", "5", "http://127.0.0.1:1/"]);
    assert_eq!((ours.code, ours.out.as_str()), (Some(2), ""));
    assert!(ours.err.starts_with("drome ab: -b is not supported: "), "{}", ours.err);
    // With nobody there ab counts failures that never were requests.
    let ours = drome("ab", &["-r", "-n", "20", "http://127.0.0.1:1/"]);
    assert!(ours.code == Some(111) && ours.err.contains("nothing to report"), "{ours:?}");
}

#[test]
fn a_server_that_says_nothing_is_waited_for_no_longer_than_was_said() {
    let server = serve(&["--fault", "delay=1h"]);
    let url = format!("http://{}/hello", server.address);
    let began = Instant::now();
    assert_alike(&["-n", "10", "-c", "2", "-s", "1", &url]);
    assert!(began.elapsed() >= Duration::from_secs(2));
    assert_same(&["-s", "0", &url]);
}

#[test]
fn a_run_that_breaks_off_tells_how_far_it_came() {
    // The fifth request has no answer: it comes on a connection that is reset.
    let answers = |of: fn(&str, &[&str]) -> Ended| {
        let address = resets_after(4);
        of("ab", &["-n", "300", "-k", &format!("http://{address}/")])
    };
    let (theirs, ours) = (answers(real), answers(drome));
    assert_eq!((theirs.code, theirs.code), (ours.code, Some(104)), "{theirs:?} {ours:?}");
    assert_eq!((bare(&theirs.out), bare(&theirs.err)), (bare(&ours.out), bare(&ours.err)));
    assert!(ours.out.ends_with("Total of 4 requests completed\n"), "{ours:?}");
}

/// A server of one connection at a time: what it answers to the n-th request of them all, and of the connection;
/// where it answers nothing, it closes at once.
fn scripted(answer: impl Fn(usize, usize, &[u8]) -> Option<String> + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let mut all = 0;
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut buffer = [0; 4096];
            for nth in 0.. {
                // What is closed before all of it is read is reset.
                let Ok(n @ 1..) = stream.peek(&mut buffer) else { break };
                let Some(answer) = answer(all, nth, &buffer[..n]) else { break };
                stream.read_exact(&mut buffer[..n]).unwrap();
                all += 1;
                if stream.write_all(answer.as_bytes()).is_err() || !answer.contains("Keep-Alive") {
                    break;
                }
            }
        }
    });
    address
}

fn resets_after(most: usize) -> SocketAddr {
    let answer = "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi";
    scripted(move |_, nth, _| (nth < most).then(|| answer.to_owned()))
}

#[test]
fn answers_of_another_length_are_failures_unless_any_will_do() {
    for options in [&["-n", "40"][..], &["-n", "40", "-k"], &["-n", "40", "-l"]] {
        let address = lengthens();
        let theirs = real("ab", &with(options, &format!("http://{address}/")));
        let address = lengthens();
        let ours = drome("ab", &with(options, &format!("http://{address}/")));
        let without_port = |text: &str| bare(text).replace(&figure(text, "Server Port:").to_string(), "PORT");
        let (theirs, ours) = (without_port(&theirs.out), without_port(&ours.out));
        assert_eq!(sure(&theirs), sure(&ours));
        let failed = if options.contains(&"-l") { 0.0 } else { 30.0 };
        assert_eq!(figure(&ours, "Failed requests:"), failed, "{ours}");
    }
}

/// A server whose answers grow by a byte a time, four times, and then begin again.
fn lengthens() -> SocketAddr {
    scripted(|all, _, request| {
        let is_kept = request.windows(10).any(|w| w == b"Keep-Alive");
        let kept = if is_kept { "Connection: Keep-Alive\r\n" } else { "" };
        let length = 5 + all % 4;
        let body = "x".repeat(length);
        Some(format!("HTTP/1.0 200 OK\r\n{kept}Content-Length: {length}\r\n\r\n{body}"))
    })
}

#[test]
fn time_ends_a_run_or_a_number_does() {
    let server = serve(&["--fault", "delay=5ms"]);
    let url = format!("http://{}/hello", server.address);
    let (theirs, ours) = both(&["-t", "1", "-c", "2", "-k", &url]);
    assert_eq!((theirs.code, ours.code), (Some(0), Some(0)));
    // How often progress is told is a matter of speed.
    assert_eq!(shape(&bare(&theirs.out)), shape(&bare(&ours.out)));
    for report in [&theirs.out, &ours.out] {
        let (taken, done) = (figure(report, "Time taken for tests:"), figure(report, "Complete requests:"));
        // Two connections, and no answer in less than 5 ms.
        let most = 2.0 * (taken / 0.005 + 1.0);
        assert!(taken >= 0.95 && done >= 1.0 && done <= most, "{report}");
    }
    assert!(ours.err.contains(&format!("Finished {} requests\n", figure(&ours.out, "Complete requests:"))));
    assert_alike(&["-t", "30", "-n", "160", "-c", "2", "-k", &url]);
    // The other way round it is fifty thousand.
    let fast = serve(&[]);
    let ours =
        drome("ab", &["-n", "7", "-t", "60", "-c", "8", "-k", &format!("http://{}/hello", fast.address)]);
    assert_eq!(figure(&ours.out, "Complete requests:"), 50_000.0);
    assert_eq!(ours.err.lines().filter(|line| line.starts_with("Completed")).count(), 10);
}

#[test]
fn times_are_measured_and_not_made_up() {
    let server = serve(&["--fault", "delay=50ms"]);
    let url = format!("http://{}/hello", server.address);
    let (theirs, ours) = assert_alike(&["-n", "8", "-c", "4", &url]);
    for report in [&theirs.out, &ours.out] {
        let row = |label: &str| {
            let line = report.lines().find(|line| line.starts_with(label)).unwrap();
            let numbers = line[label.len()..].split_whitespace().map(|n| n.parse::<f64>().unwrap());
            numbers.collect::<Vec<_>>()
        };
        // To the millisecond that ab rounds to.
        let taken_ms = figure(report, "Time taken for tests:") * 1e3 + 1.0;
        for label in ["Processing:", "Waiting:", "Total:"] {
            let row = row(label);
            // The real one looks at the clock after it has sent, by when a busy machine may have let the server begin.
            let least = if label == "Waiting:" && report == &theirs.out { 0.0 } else { 49.0 };
            assert!(
                row[0] >= least && row[4] <= taken_ms && row[0] <= row[3] && row[3] <= row[4],
                "{report}"
            );
        }
        // Whoever took longest to connect has waited 50 ms besides.
        assert!(row("Connect:")[4] + 49.0 <= row("Total:")[4], "{report}");
        assert!(figure(report, "Time taken for tests:") >= 0.099, "{report}");
        assert!(figure(report, "  50%") >= 49.0, "{report}");
    }
}

#[test]
fn an_address_that_is_not_ours_can_not_be_started_from() {
    let server = serve(&[]);
    // RFC 5737: nobody has it.
    assert_same(&["-B", "192.0.2.1", &format!("http://{}/hello", server.address)]);
}

#[test]
fn who_interrupts_it_gets_what_there_is() {
    let interrupted = |command: &mut Command| {
        let server = Counted::new(&["--fault", "delay=20ms"]);
        let url = server.url();
        let child = command
            .args(["-n", "100000", "-c", "2", "-k", &url])
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let child = process::spawn(child);
        process::interrupt_at_work(&child, || server.answers() > 10);
        let output = process::output(child, "ab");
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let theirs = interrupted(&mut Command::new("ab"));
    let ours = interrupted(Command::new(env!("CARGO_BIN_EXE_drome")).arg("ab"));
    assert_eq!((theirs.0, ours.0), (Some(1), Some(1)));
    assert_eq!(shape(&bare(&theirs.1)), shape(&bare(&ours.1)));
    // Of the answers that were logged by then, each connection may not have read its last.
    assert!((9.0..100_000.0).contains(&figure(&ours.1, "Complete requests:")), "{}", ours.1);
}

#[test]
fn files_have_the_same_form() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let home = Home::new();
    let written = |of: fn(&str, &[&str]) -> Ended, name: &str| {
        let file = |kind: &str| home.path().join(format!("{name}.{kind}"));
        let (csv, plot) = (file("csv"), file("plot"));
        let args = ["-n", "60", "-e", csv.to_str().unwrap(), "-g", plot.to_str().unwrap(), &url];
        assert_eq!(of("ab", &args).code, Some(0));
        [csv, plot].map(|file| std::fs::read_to_string(file).unwrap())
    };
    let (theirs, ours) = (written(real, "theirs"), written(drome, "ours"));
    assert_eq!(shape(&theirs[0]), shape(&ours[0]));
    let rows: Vec<f64> =
        ours[0].lines().skip(1).map(|line| line.split_once(',').unwrap().1.parse().unwrap()).collect();
    assert!(rows.len() == 101 && rows.is_sorted() && rows[0] > 0.0, "{rows:?}");
    let form =
        |text: &str| -> Vec<String> { text.lines().map(|line| shape(&line[line.len().min(3)..])).collect() };
    assert_eq!(form(&theirs[1]).len(), 61);
    let second =
        |text: &str| -> u64 { text.lines().nth(1).unwrap().split('\t').nth(1).unwrap().parse().unwrap() };
    assert!(second(&ours[1]).abs_diff(second(&theirs[1])) < 60, "{} {}", ours[1], theirs[1]);
    assert_eq!(form(&theirs[1])[0], form(&ours[1])[0]);
    assert_eq!(form(&ours[1]).len(), 61);
}

#[test]
fn an_encrypted_server_is_reported_alike() {
    let server = serve(&["--tls"]);
    let port = server.address.port();
    for options in [&["-n", "20", "-c", "2"][..], &["-n", "20", "-c", "2", "-k"], &["-n", "5", "-I"]] {
        for host in ["127.0.0.1", "localhost"] {
            assert_alike(&with(options, &format!("https://{host}:{port}/hello")));
        }
    }
    for (version, agreed) in [("TLS1.2", "TLSv1.2,"), ("tls1.3", "TLSv1.3,")] {
        let url = format!("https://localhost:{port}/hello");
        let (_, ours) = assert_alike(&["-n", "5", "-f", version, &url]);
        assert!(ours.out.contains(&format!("SSL/TLS Protocol:       {agreed}")), "{}", ours.out);
    }
}

#[test]
fn more_is_said_where_it_is_asked_for() {
    let server = serve(&["--fault", "status=503"]);
    let url = format!("http://{}/hello", server.address);
    let (theirs, ours) = both(&["-n", "2", "-v", "2", &url]);
    let info = |text: &str| text.split("LOG:").next().unwrap().split("WARNING:").next().unwrap().to_owned();
    assert_eq!(info(&theirs.out), info(&ours.out));
    for report in [&theirs.out, &ours.out] {
        assert_eq!(report.matches("WARNING: Response code not 2xx (503)\n").count(), 2, "{report}");
        assert!(report.contains("LOG: header received:\nHTTP/1.1 503 Fault\r\n"), "{report}");
    }
    assert!(ours.err.contains("drome ab: -v 2"), "{}", ours.err);
}

#[test]
fn other_peoples_servers_are_reported_alike() {
    let home = Home::new();
    home.write("index.html", &"x".repeat(3_000));
    let folder = home.path().display().to_string();
    let python = start("python3", &["-m", "http.server", "{port}", "--bind", "127.0.0.1", "-d", &folder]);
    assert_alike(&["-n", "20", "-c", "2", &format!("http://{}/index.html", python.address)]);
    assert_alike(&["-n", "20", "-c", "2", "-k", &format!("http://{}/nothing", python.address)]);
    let nginx = crate::common::nginx(&home, &format!("root {folder};"));
    for options in
        [&["-n", "100", "-c", "10"][..], &["-n", "100", "-c", "10", "-k"], &["-n", "10", "-i", "-k"]]
    {
        assert_alike(&with(options, &format!("http://{}/index.html", nginx.address)));
    }
}

/// The command lines of the founding pages, but for host and port.
#[test]
fn the_founding_pages_command_lines_run_unchanged() {
    let server = serve(&[]);
    let url = format!("http://{}/", server.address);
    let (_, ours) = assert_alike(&["-r", "-c", "10", "-n", "1000", &url]);
    assert_eq!(figure(&ours.out, "Complete requests:"), 1000.0);
    let slow = serve(&["--fault", "delay=5ms"]);
    let url = format!("http://{}/", slow.address);
    let (theirs, ours) = both(&["-k", "-c10", "-n10000", "-t1", "-r", &url]);
    assert_eq!((theirs.code, ours.code), (Some(0), Some(0)));
    assert_eq!(shape(&bare(&theirs.out)), shape(&bare(&ours.out)));
    // So -n is what -t makes of it.
    assert!(figure(&ours.out, "Time taken for tests:") >= 0.95, "{}", ours.out);
}

#[test]
fn drome_answers_to_the_name_of_ab_and_says_what_it_thinks_itself() {
    let home = Home::new();
    let link = home.path().join("ab");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_drome"), &link).unwrap();
    let server = serve(&[]);
    let json = home.path().join("own.json");
    let args =
        ["-n", "50", "--drome-json", json.to_str().unwrap(), &format!("http://{}/hello", server.address)];
    let finished = crate::common::tools::run(Command::new(&link).args(args));
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let own: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
    assert_eq!(own["requests"]["completed"], 50);
    let read = dialects::read(&finished.out, "ab");
    assert_eq!(read.len(), 1);
    assert_eq!(
        (read[0].reading.get("completed"), read[0].reading.get("document_bytes")),
        (Some(50.0), Some(12.0))
    );
}
