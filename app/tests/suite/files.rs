//! `drome serve --root` beside a real nginx: both serve the same folder, are asked the same, and answer the
//! same, but for what is different on purpose.

use crate::common::http::{self, Answer, ask};
use crate::common::{Home, Server};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";

/// Where both answer alike: a line for a request, with its fields after it.
const SAME: &[&str] = &[
    // What is there, and what is not.
    "GET /",
    "GET /page.html",
    "GET /page.html?query=1",
    "GET /photo.jpg",
    "HEAD /",
    "HEAD /page.html",
    "HEAD /photo.jpg",
    "HEAD /none",
    "GET /plain.txt",
    "GET /noext",
    "GET /unknown.xyz",
    "GET /UPPER.JPG",
    "GET /empty.txt",
    "GET /none",
    "GET /none/",
    "GET /page.html/",
    "GET /sub/none",
    // Folders.
    "GET /sub",
    "GET /sub?x=1&y=%20",
    "GET /sub%20dir",
    "HEAD /sub",
    "GET /sub/",
    "GET /bare",
    "GET /bare/",
    "GET /linked",
    // Names.
    "GET /n%61me%20with%20space%20%C3%A9.txt",
    "GET /a+b.txt",
    "GET /a%2Bb.txt",
    "GET /100%25.txt",
    "GET /%3Fquestion.txt",
    "GET //page.html",
    "GET /./sub/.././page.html",
    "GET /sub/%2e%2e/page.html",
    "GET /sub%2findex.html",
    "GET /sub/..",
    "GET http://elsewhere/page.html",
    // Ways out.
    "GET /..",
    "GET /../secret.txt",
    "GET /sub/../../secret.txt",
    "GET /%2e%2e/secret.txt",
    "GET /..%2fsecret.txt",
    "GET /%252e%252e/secret.txt",
    "GET /..\\secret.txt",
    "GET /%5c../secret.txt",
    "GET /page.html%00",
    "GET /%zz",
    "GET /%",
    // Ranges.
    "GET /page.html|Range: bytes=0-0",
    "GET /page.html|Range: bytes=0-99",
    "GET /page.html|range: BYTES=900-",
    "GET /page.html|Range: bytes=-100",
    "GET /page.html|Range: bytes=-5000",
    "GET /page.html|Range: bytes=990-5000",
    "GET /page.html|Range: bytes= 5 - 6 ",
    "GET /page.html|Range: bytes=1000-",
    "GET /page.html|Range: bytes=-0",
    "GET /page.html|Range: bytes=5-3",
    "GET /page.html|Range: bytes=abc",
    "GET /page.html|Range: lines=0-5",
    "GET /empty.txt|Range: bytes=0-",
    "GET /empty.txt|Range: bytes=-5",
    "GET /photo.jpg|Range: bytes=100000-150000",
    "GET /photo.jpg|Range: bytes=200000-",
    "GET /page.html|Range: bytes=0-9|If-Range: \"other\"",
    // Methods, versions, hosts, lengths.
    "POST /page.html|Content-Length: 3",
    "PUT /page.html",
    "DELETE /page.html",
    "OPTIONS /page.html",
    "PATCH /none",
    "GET /page.html HTTP/1.0",
    "GET /page.html HTTP/1.0|Range: bytes=0-9",
    "GET /page.html HTTP/1.1 without a host",
    "GET /page.html|Host: another",
    "GET /page.html HTTP/2.0",
    "GET /page.html nonsense",
    "GET /LONG",
];

/// Where they differ, on purpose: what nginx answers, what drome answers, and why.
const DIFFERENT: &[(&str, u16, u16, &str)] = &[
    // drome ignores lists of ranges and conditions: it sends the whole file, as to whoever asks for the first time.
    ("GET /page.html|Range: bytes=0-9,20-29", 206, 200, "14.2: a server may ignore the field"),
    ("GET /page.html|Range: bytes=0-1,", 416, 200, "a list, if only of one"),
    ("GET /page.html|Range: bytes=5000-,6000-7000", 416, 200, "a list, if none is in the file"),
    ("GET /photo.jpg|Range: bytes=0-9,70000-140000,-1", 206, 200, "of a large file, too"),
    (
        "GET /page.html|Range: bytes=0-9|If-Range: MODIFIED",
        206,
        200,
        "the whole file is right whether it changed or not",
    ),
    ("GET /page.html|If-None-Match: *", 304, 200, "no condition"),
    ("GET /page.html|If-Modified-Since: MODIFIED", 304, 200, "no condition"),
    ("GET /page.html|If-Match: \"other\"", 412, 200, "no condition"),
    ("GET /page.html|If-Unmodified-Since: Thu, 01 Jan 1970 00:00:00 GMT", 412, 200, "no condition"),
    ("HEAD /page.html|Range: bytes=0-9", 206, 200, "14.2: ranges are defined for GET only"),
    (
        "GET /page.html|Range: bytes=5-99999999999999999999",
        416,
        206,
        "14.1.2: a last byte past the end is the end",
    ),
    ("GET /empty.txt|Range: bytes=5-", 416, 200, "the whole of nothing is what there is"),
    ("GET /outward.txt", 200, 404, "a link out of the folder is no part of it"),
    ("GET /absolute.txt", 200, 404, "so is one that names its target from the top"),
    ("GET /page.html#part", 200, 400, "9110 7.1: a fragment is never sent"),
    ("POST /none|Content-Length: 0", 404, 405, "what the method can't do anywhere is said first"),
    ("get /page.html", 400, 405, "9110 9.1: a method that is not known, though well formed"),
    ("GET /page.html|X: HUGE", 400, 431, "RFC 6585 has a status of its own for it"),
];

#[test]
fn answers_are_those_of_nginx() {
    let (_home, nginx, drome) = both();
    let page = http::get(nginx.address, "/page.html");
    assert_eq!(page.field("last-modified"), Some(MODIFIED));
    let mut wrong = Vec::new();
    for line in SAME {
        let [theirs, ours] = [&nginx, &drome].map(|server| ask(server.address, &request(line)));
        let (expected, got) = (facts(&theirs), facts(&ours));
        if expected != got {
            wrong.push(format!("{line}\n   nginx {expected:?}\n   drome {got:?}"));
        } else if matches!(ours.status, 200 | 206) && theirs.body != ours.body {
            wrong.push(format!("{line}: other bytes"));
        }
    }
    for (line, theirs, ours, why) in DIFFERENT {
        let [nginx, drome] = [&nginx, &drome].map(|server| ask(server.address, &request(line)).status);
        let got = (nginx, drome);
        if got != (*theirs, *ours) {
            wrong.push(format!("{line}: nginx and drome answer {got:?}, not {:?} ({why})", (theirs, ours)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_answer_has_a_date_and_a_name() {
    let (_home, _nginx, drome) = both();
    for line in SAME.iter().chain(DIFFERENT.iter().map(|(line, ..)| line)) {
        let answer = ask(drome.address, &request(line));
        assert_eq!(answer.field("server"), Some("drome"), "{line}");
        let date = answer.field("date").unwrap_or_else(|| panic!("{line}: no date"));
        assert!(date.len() == 29 && date.ends_with(" GMT"), "{line}: {date}");
        if answer.status == 405 {
            assert_eq!(answer.field("allow"), Some("GET, HEAD"), "{line}");
        }
    }
}

/// A folder with files, served by nginx and by drome.
fn both() -> (Home, Server, Server) {
    let home = Home::new();
    let site = home.path().join("site");
    fill(&home);
    let location = format!(
        "root {};
         types {{ text/html html; text/plain txt; image/jpeg jpg; }}
         default_type application/octet-stream;
         sendfile on; absolute_redirect off;",
        site.display()
    );
    let nginx = crate::common::nginx(&home, &location);
    let drome = crate::common::serve(&["--root", site.to_str().unwrap()]);
    (home, nginx, drome)
}

fn fill(home: &Home) {
    let bytes = |n: usize| (0..n).map(|i| char::from(b'!' + (i % 89) as u8)).collect::<String>();
    let files = [
        ("site/index.html", "the index".to_owned()),
        ("site/page.html", bytes(1000)),
        ("site/photo.jpg", bytes(200_000)),
        ("site/UPPER.JPG", bytes(10)),
        ("site/plain.txt", "plain".to_owned()),
        ("site/noext", "no extension".to_owned()),
        ("site/unknown.xyz", "unknown".to_owned()),
        ("site/empty.txt", String::new()),
        ("site/name with space é.txt", "a name".to_owned()),
        ("site/a+b.txt", "plus".to_owned()),
        ("site/100%.txt", "percent".to_owned()),
        ("site/?question.txt", "question".to_owned()),
        ("site/sub/index.html", "sub".to_owned()),
        ("site/sub dir/index.html", "sub dir".to_owned()),
        ("site/bare/file", "in a folder without index".to_owned()),
        ("secret.txt", "SECRET".to_owned()),
    ];
    for (path, text) in files {
        let path = home.write(path, &text);
        let modified = UNIX_EPOCH + Duration::from_secs(784_111_777);
        File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();
    }
    let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, home.path().join(name)).unwrap();
    link(Path::new("sub/index.html"), "site/linked");
    link(Path::new("../secret.txt"), "site/outward.txt");
    link(&home.path().join("site/plain.txt"), "site/absolute.txt");
}

/// A line of the tables as bytes.
fn request(line: &str) -> Vec<u8> {
    let mut parts = line.split('|');
    let first = parts.next().unwrap();
    let (first, host) = match first.strip_suffix(" without a host") {
        Some(first) => (first, ""),
        None => (first, "Host: h\r\n"),
    };
    let version = if first.split(' ').count() == 2 { " HTTP/1.1" } else { "" };
    let fields: String = parts.map(|field| format!("{field}\r\n")).collect();
    let body = if line.contains("Content-Length: 3") { "abc" } else { "" };
    let text = format!("{first}{version}\r\n{host}Connection: close\r\n{fields}\r\n{body}");
    text.replace("MODIFIED", MODIFIED)
        .replace("LONG", &"x".repeat(9000))
        .replace("HUGE", &"x".repeat(70_000))
        .into_bytes()
}

/// What has to be the same of two answers: the status, and where that is no error all that says what came.
fn facts(answer: &Answer) -> Vec<(&'static str, String)> {
    let names: &[&'static str] = match answer.status {
        200 | 206 => {
            &["content-type", "content-length", "content-range", "last-modified", "accept-ranges", "location"]
        }
        301 => &["location"],
        _ => &["content-range"],
    };
    let mut facts = vec![("status", answer.status.to_string())];
    for name in names {
        if let Some(value) = answer.field(name) {
            facts.push((name, value.to_owned()));
        }
    }
    facts.push(("close", answer.field("connection").unwrap_or_default().to_owned()));
    facts
}
