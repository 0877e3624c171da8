//! h2load and drome in its place, against the same servers: the same lines, the same counts, the same ends. What drome does not know has
//! no figure, and its statistics are of other times.

use crate::common::tools::{Ended, drome, real, wire};
use crate::common::{Server, serve};
use dialects::{Found, read};

/// What a report says of header fields, which drome does not know.
const HEADERS: &str = " headers (space savings ";

/// What must be equal: every line with each word that begins with a digit, a unit or not, replaced, but the figures of header fields.
fn shape(out: &str) -> Vec<String> {
    let word = |word: &str| {
        let is_figure = word.trim_start_matches('(').starts_with(|c: char| c.is_ascii_digit());
        if is_figure { "#".to_owned() } else { word.to_owned() }
    };
    let line = |line: &str| match (line.split_once(" total, "), line.split_once("%), ")) {
        (Some((before, after)), Some((_, behind))) if after.contains(HEADERS) => {
            format!("{before} total, headers, {behind}")
        }
        _ => line.to_owned(),
    };
    let words = |line: String| line.split_whitespace().map(word).collect::<Vec<_>>().join(" ");
    out.lines().map(|text| words(line(text))).collect()
}

fn found(ended: &Ended) -> Found {
    let mut found = read(&ended.out, "h2load");
    assert_eq!((ended.code, found.len()), (Some(0), 1), "{ended:?}");
    found.remove(0)
}

/// Both tools with the same arguments, and the counts that are equal in both.
fn assert_alike(args: &[&str]) -> [Found; 2] {
    let (theirs, ours) = (real("h2load", args), drome("h2load", args));
    assert_eq!(shape(&ours.out), shape(&theirs.out), "{args:?}\n{}\n{}", theirs.out, ours.out);
    let all = [found(&theirs), found(&ours)];
    let [theirs, ours] = &all;
    assert_eq!((&ours.strange, &ours.reading.status), (&theirs.strange, &theirs.reading.status), "{args:?}");
    assert_eq!(ours.reading.errors, theirs.reading.errors, "{args:?}");
    for name in ["requests", "sent", "completed", "failed", "body_bytes", "connections", "threads"] {
        assert_eq!(ours.reading.get(name), theirs.reading.get(name), "{args:?}: {name}");
    }
    all
}

fn url(server: &Server, scheme: &str, path: &str) -> String {
    format!("{scheme}://{}{path}", server.address)
}

#[test]
fn counts_and_lines_are_those_of_the_tool() {
    let server = serve(&[]);
    let url = url(&server, "http", "/hello");
    for line in ["", "-n 21 -c 5 -t 2 -m 3", "-n20 -c3 --h1", "-n 40 -c 2 -m 4 -p http/1.1", "-n 3 -H A:b"] {
        let args: Vec<&str> = line.split_whitespace().chain([url.as_str()]).collect();
        let [theirs, ours] = assert_alike(&args);
        let bytes = |found: &Found| found.reading.get("received_bytes").unwrap_or(0.0);
        // The reference server says the same to both; it acknowledges drome's settings and the tool's alike.
        let difference = (bytes(&theirs) - bytes(&ours)).abs();
        assert!(difference <= 40.0 * ours.reading.get("connections").unwrap(), "{args:?}: {difference}");
    }
}

#[test]
fn several_uris_and_failures_are_counted_alike() {
    let server = serve(&[]);
    let (hello, none) = (url(&server, "http", "/hello"), url(&server, "http", "/nothing"));
    assert_alike(&["-n", "9", &hello, "/nothing", &hello]);
    assert_alike(&["-n", "9", "-c", "3", "--h1", &none]);
    let address = server.address.to_string();
    assert_alike(&["-n", "4", "--connect-to", &address, "http://nosuchhost.invalid:99/hello"]);
}

#[test]
fn a_test_that_time_ends_has_the_same_lines() {
    let server = serve(&["--fault", "delay=2ms"]);
    let url = url(&server, "http", "/hello");
    // Of several threads, the tool's lines come in any order.
    let args = ["-D", "1", "--warm-up-time", "200ms", "-c", "4", "-m", "2", &url];
    let (theirs, ours) = (real("h2load", &args), drome("h2load", &args));
    assert_eq!(shape(&ours.out), shape(&theirs.out), "{}\n{}", theirs.out, ours.out);
    for found in [found(&theirs), found(&ours)] {
        let reading = found.reading;
        let seconds = reading.get("duration_ns").unwrap_or(0.0) / 1e9;
        assert!((1.1..3.0).contains(&seconds) && reading.errors.is_empty(), "{reading:?}");
        let per_s = reading.get("completed").unwrap_or(0.0);
        assert!((reading.get("rate_per_s").unwrap_or(0.0) / per_s - 1.0).abs() < 0.05, "{reading:?}");
        assert_eq!(reading.get("connect_ns_mean"), None, "connections were opened before");
    }
}

#[test]
fn over_tls_both_say_what_was_agreed_on() {
    let server = serve(&["--tls"]);
    let url = url(&server, "https", "/hello");
    for args in [&["-n", "8", "-c", "2", "-m", "2", &url][..], &["-n", "8", "--h1", &url]] {
        let (theirs, ours) = (real("h2load", args), drome("h2load", args));
        let [mut theirs, mut ours] =
            [&theirs, &ours].map(|ended| ended.out.lines().map(str::to_owned).collect::<Vec<_>>());
        let is_told = |line: &String| {
            ["TLS Protocol: ", "Cipher: ", "Server Temp Key: ", "Application protocol: "]
                .iter()
                .any(|words| line.starts_with(words))
        };
        let told = |lines: &mut Vec<String>| lines.extract_if(.., |line| is_told(line)).collect::<Vec<_>>();
        // Both sides' preferences decide the cipher suite, and the tool's are not drome's.
        let [of_theirs, of_ours] = [told(&mut theirs), told(&mut ours)]
            .map(|lines| lines.into_iter().filter(|line| !line.starts_with("Cipher: ")).collect::<Vec<_>>());
        assert_eq!((of_theirs.len(), &of_ours), (3, &of_theirs), "{args:?}");
        assert_eq!(shape(&ours.join("\n")), shape(&theirs.join("\n")), "{args:?}");
    }
}

#[test]
fn a_server_without_http_2_is_errored_unless_it_is_asked_over_http_1() {
    let ears = crate::common::tools::Ears::new(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", false);
    let url = format!("http://127.0.0.1:{}/", ears.port);
    let ended = drome("h2load", &["-n", "2", &url]);
    assert!(ended.out.contains("2 failed, 2 errored") && !ended.err.is_empty(), "{ended:?}");
    assert!(drome("h2load", &["-n", "2", "--h1", &url]).out.contains("2 succeeded, 0 failed"));
}

#[test]
fn the_bytes_of_http_1_are_the_tool_s() {
    const OK: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n";
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    std::fs::write(&data, "a=b").unwrap();
    let data = data.to_str().unwrap();
    for args in [
        &["--h1"][..],
        &["--h1", "-H", "X-Y: z", "-H", "user-agent:me", "-H", ":authority:it"],
        &["-p", "http/1.1", "-d", data, "-H", ":method: PUT"],
    ] {
        let sent = |run: fn(&str, &[&str]) -> Ended| {
            wire(|url| drop(run("h2load", &[args, &[&format!("{url}/a?b")]].concat())), OK, false)
        };
        assert_eq!(sent(drome), sent(real), "{args:?}");
    }
}

#[test]
fn wrong_command_lines_end_alike() {
    let url = "http://127.0.0.1:1/";
    for args in [
        &[][..],
        &["-n", "x", url],
        &["-n0", url],
        &["-c2", url],
        &["-t2", url],
        &["-m0", url],
        &["-D", "1.5", url],
        &["--foo", url],
        &["--requests"],
        &["127.0.0.1"],
        &["-Hx", url],
        &["-pfoo", url],
        &["-d/dev/null", url],
        &["-i/nonexistent"],
        &["--connect-to=:1", url],
        &["--version"],
    ] {
        let (theirs, ours) = (real("h2load", args), drome("h2load", args));
        assert_eq!((ours.code, &ours.out), (theirs.code, &theirs.out), "{args:?}");
        // To an option that it does not know, the tool adds what may be meant.
        let first = theirs.err.split("\nDid you mean:").next().unwrap_or_default();
        assert_eq!(ours.err, first, "{args:?}");
    }
}

#[test]
fn where_nobody_listens_all_is_errored() {
    let port = control::machine::ports::free_port().unwrap();
    let [_, ours] = assert_alike(&["-n", "4", "-c", "2", &format!("http://127.0.0.1:{port}/")]);
    assert_eq!(ours.reading.errors, [("errored".to_owned(), 4)].into());
}
