//! Names with several addresses, of which the server has only one; credentials and other parts of URLs that the server must see, and nobody else.

use crate::common::{DROME, Finished, Home, Server, process, run, run_with_input, serve, start};
use serde_json::Value;
use std::process::Command;

/// A name with an address at which nothing listens, and one of the servers'.
const NAME: &str = "several.test";

/// Runs drome where the name has its addresses.
fn drome(home: &Home, args: &[&str]) -> Finished {
    let hosts = home.write("hosts", &format!("127.0.0.1 localhost\n::1 {NAME}\n127.0.0.1 {NAME}\n"));
    let mut unshare = Command::new("unshare");
    let script = format!("mount --bind {} /etc/hosts && exec \"$@\"", hosts.display());
    unshare.args(["--mount", "sh", "-c", &script, "sh"]);
    run_with_input(&mut process::run_by(unshare, &home.drome(args)))
}

fn url(server: &Server, path: &str) -> String {
    format!("http://{NAME}:{}{path}", server.address.port())
}

#[test]
fn every_command_goes_on_to_the_address_at_which_the_server_listens() {
    let home = Home::new();
    let (one, other) = (serve(&[]), serve(&[]));
    let (url, other) = (url(&one, "/hello"), url(&other, "/hello"));
    let at = format!("{url} at {}", one.address);
    let list = home.write("urls", &format!("{url}\n")).display().to_string();
    let port = one.address.port().to_string();
    let lines: Vec<(Vec<&str>, &str)> = vec![
        (vec!["load", &url, "-n", "20", "-c", "2"], &at),
        (vec!["load", &url, "-n", "20", "-c", "2", "--load-from", "here"], &at),
        (
            vec![
                "sweep",
                &url,
                "-c",
                "1",
                "-d",
                "100ms",
                "--warmup",
                "0s",
                "--repeats",
                "1",
                "--shares",
                "20%",
            ],
            &at,
        ),
        (vec!["race", &url, &other, "--rounds", "1", "-c", "1", "-d", "100ms", "--format", "json"], &at),
        (vec!["ab", "-n", "4", &url], "Complete requests:      4"),
        (vec!["wrk", "-t1", "-c1", "-d1s", &url], "Requests/sec:"),
        (vec!["wrk2", "-t1", "-c1", "-d1s", "-R10", &url], "Requests/sec:"),
        (vec!["siege", "-b", "-c1", "-r2", &url], "\"transactions\":"),
        (vec!["http_load", "-parallel", "1", "-fetches", "4", &list], "4 fetches"),
        (
            vec!["httperf", "--server", NAME, "--port", &port, "--uri", "/hello", "--num-conns", "4"],
            "replies 4",
        ),
        (vec!["weighttp", "-n", "4", &url], "4 succeeded"),
        (vec!["h2load", "-n", "4", &url], "4 succeeded"),
    ];
    for (line, expected) in lines {
        let done = drome(&home, &line);
        // Of a short measurement, the figures may be void. What matters here is that the server was asked.
        assert!(done.out.contains(expected), "{line:?}: {}{}", done.out, done.err);
    }
}

#[test]
fn the_addresses_that_were_tried_are_named_when_none_answers() {
    let home = Home::new();
    for line in
        [&["load"][..], &["load", "--load-from", "here"], &["sweep"], &["race", "http://127.0.0.1:1/"]]
    {
        let done = drome(&home, &[line, &[&format!("http://{NAME}:1/")]].concat());
        assert!(
            matches!(done.code, 1 | 2) && done.err.contains("127.0.0.1:1"),
            "{line:?}: {}: {}",
            done.code,
            done.err
        );
        assert!(done.err.contains("is the server running"), "{line:?}: {}", done.err);
    }
}

/// A server that answers with the request's fields that it got.
const ECHO: &str = r"
import http.server, sys
class H(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    def do_GET(self):
        if self.headers['Authorization'] != 'Basic dTpzZWNyZXQ=': self.send_response(401); body = b'no'
        else: self.send_response(200); body = b'ok'
        self.send_header('Content-Length', '2'); self.end_headers(); self.wfile.write(body)
    def log_message(self, *a): pass
address = sys.argv[2]
http.server.ThreadingHTTPServer.address_family = 10 if ':' in address else 2
http.server.ThreadingHTTPServer((address, int(sys.argv[1])), H).serve_forever()
";

/// All bytes of the store and its journal.
fn stored(home: &Home) -> Vec<u8> {
    let folder = home.store().parent().unwrap().to_owned();
    let files = std::fs::read_dir(folder)
        .unwrap()
        .flatten()
        .filter(|file| file.path().display().to_string().contains(".sqlite"));
    files.flat_map(|file| std::fs::read(file.path()).unwrap()).collect()
}

#[test]
fn a_password_reaches_the_server_and_nothing_that_is_printed_stored_or_shared() {
    let home = Home::new();
    let script = home.write("echo.py", ECHO).display().to_string();
    let command = |host: &str| format!("python3 {script} {{port}} {host}");
    let (one, own) = (command("127.0.0.2"), "http://u:secret@127.0.0.2:{port}/");
    let short = ["-c", "1", "-d", "100ms", "--warmup", "50ms", "--rounds", "1"];
    let raced = run(home.drome(&["race", &one, &one, "--url", own]).args(short));
    assert_eq!(raced.code, 0, "{}{}", raced.out, raced.err);
    let refused = run(home.drome(&["race", &one, &one, "--url", "http://127.0.0.2:{port}/"]).args(short));
    refused.assert_err(2, &["status 401"]);
    let page = home.path().join("page.html").display().to_string();
    let shared = home.path().join("runs.jsonl").display().to_string();
    let mut all = vec![raced.out, raced.err];
    for line in [
        &["report", "--format", "json"][..],
        &["report", "--output", &page],
        &["push", &shared],
        &["load", "http://u:secret@127.0.0.1:1/"],
        &["load", "http://u:secret@127.0.0.1:x/"],
        &["sweep", "http://u:secret@127.0.0.1:1/"],
        &["load", "http://a/", "http://u:secret@b/"],
        &["race", "http://u:secret@127.0.0.1:1/"],
        &["race", "http://u:secret@127.0.0.1:1/", "true {port}"],
        &["race", "http://u:secret@127.0.0.1:1/", "http://u:secret@127.0.0.1:1/"],
        &["race", &one, &one, "--url", "http://u:secret@192.0.2.1:{port}/"],
    ] {
        let done = run(&mut home.drome(line));
        all.extend([done.out, done.err]);
    }
    all.extend([page, shared].map(|file| std::fs::read_to_string(file).unwrap()));
    all.push(String::from_utf8_lossy(&stored(&home)).into_owned());
    for text in all {
        assert!(!text.contains("secret") && !text.contains("dTpzZWNyZXQ"), "{text}");
    }
}

#[test]
fn the_password_of_a_load_and_of_running_servers_is_sent_and_its_report_has_none() {
    let home = Home::new();
    let script = home.write("echo.py", ECHO).display().to_string();
    let server = start("python3", &[&script, "{port}", "127.0.0.1"]);
    let url = format!("http://u:secret@{}/", server.address);
    let done = run(&mut home.drome(&["load", &url, "-n", "4", "-c", "1", "--format", "json"]));
    let json: Value = serde_json::from_str(&done.out).unwrap();
    assert_eq!(json["requests"]["completed"].as_u64(), Some(4), "{json}");
    assert!(!done.out.contains("secret") && done.out.contains("***@127.0.0.1"), "{}", done.out);
    let raced = run(&mut home.drome(&["race", &url, &url, "--rounds", "1", "-c", "1", "-d", "100ms"]));
    assert!(!raced.err.contains("401") && !raced.out.contains("secret"), "{}{}", raced.out, raced.err);
    let twice = run(&mut home.drome(&["load", &url, "-H", "Authorization: Bearer x"]));
    twice.assert_err(2, &["leave one of them out"]);
}

#[test]
fn the_host_of_the_url_of_a_race_is_asked_whichever_address_of_this_machine_it_is() {
    let home = Home::new();
    let short = ["-c", "1", "-d", "100ms", "--warmup", "50ms", "--rounds", "1"];
    let race = |listens: &str, url: &str, more: &[&str]| {
        // A listener in a ring is not seen to be any process's.
        let command =
            format!("{DROME} serve --io epoll --listen {listens} --port {{port}} --fault delay=1ms");
        drome(&home, &[&["race", &command, &command, "--url", url][..], &short, more].concat())
    };
    for (listens, url) in [
        ("127.0.0.3", "http://127.0.0.3:{port}/hello"),
        ("{host}", "http://127.0.0.4:{port}/hello"),
        ("0.0.0.0", "http://127.0.0.5:{port}/hello"),
        ("::1", "http://[::1]:{port}/hello"),
        ("::1", "http://several.test:{port}/hello"),
        ("127.0.0.1", "http://several.test:{port}/hello"),
        ("::", "http://[::1]:{port}/hello"),
    ] {
        let raced = race(listens, url, &[]);
        assert_eq!(raced.code, 0, "{listens} {url}: {}{}", raced.out, raced.err);
    }
    let elsewhere = race("::1", "http://127.0.0.1:{port}/hello", &["--ready", "4s"]);
    elsewhere.assert_err(2, &["listens only on [::1]:"]);
}
