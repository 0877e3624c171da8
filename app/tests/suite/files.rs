//! `drome serve --root` beside a real nginx: both serve the same folder, are asked the same, and answer the
//! same, but for what is different on purpose.

use crate::common::http::{self, Answer, ask};
use crate::common::{Home, Server};
use std::fs::File;
use std::path::Path;
use std::time::{Duration, UNIX_EPOCH};

const MODIFIED: &str = "Sun, 06 Nov 1994 08:49:37 GMT";
const BEFORE: &str = "Sun, 06 Nov 1994 08:49:36 GMT";
const AFTER: &str = "Sun, 06 Nov 1994 08:49:38 GMT";

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
    "GET /page.html|Range: bytes=0-1,",
    "GET /page.html|Range: lines=0-5",
    "GET /page.html|Range: bytes=0-9,20-29",
    "GET /page.html|Range: bytes=0-499,300-700",
    "GET /page.html|Range: bytes=0-699,300-999",
    "GET /page.html|Range: bytes=0-9,5000-",
    "GET /page.html|Range: bytes=5000-,6000-7000",
    "GET /empty.txt|Range: bytes=0-",
    "GET /empty.txt|Range: bytes=-5",
    "GET /photo.jpg|Range: bytes=100000-150000",
    "GET /photo.jpg|Range: bytes=0-9,70000-140000,-1",
    "GET /photo.jpg|Range: bytes=200000-",
    "GET /page.html|Range: bytes=0-9|If-Range: ETAG",
    "GET /page.html|Range: bytes=0-9|If-Range: W/ETAG",
    "GET /page.html|Range: bytes=0-9|If-Range: \"other\"",
    "GET /page.html|Range: bytes=0-9|If-Range: MODIFIED",
    "GET /page.html|Range: bytes=0-9|If-Range: BEFORE",
    "GET /page.html|If-Range: ETAG",
    // Conditions.
    "GET /page.html|If-None-Match: ETAG",
    "GET /page.html|If-None-Match: W/ETAG",
    "GET /page.html|If-None-Match: \"other\", ETAG",
    "GET /page.html|If-None-Match: *",
    "GET /page.html|If-None-Match: \"other\"",
    "HEAD /page.html|If-None-Match: ETAG",
    "GET /page.html|If-None-Match: ETAG|Range: bytes=0-9",
    "GET /page.html|If-Modified-Since: MODIFIED",
    "GET /page.html|If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT",
    "GET /page.html|If-Modified-Since: Sun Nov  6 08:49:37 1994",
    "GET /page.html|If-Modified-Since: BEFORE",
    "GET /page.html|If-Modified-Since: yesterday",
    "GET /page.html|If-None-Match: \"other\"|If-Modified-Since: MODIFIED",
    "GET /page.html|If-Match: ETAG",
    "GET /page.html|If-Match: \"other\", ETAG",
    "GET /page.html|If-Match: *",
    "GET /page.html|If-Match: \"other\"",
    "GET /page.html|If-Match: W/ETAG",
    "GET /page.html|If-Unmodified-Since: MODIFIED",
    "GET /page.html|If-Unmodified-Since: AFTER",
    "GET /page.html|If-Unmodified-Since: BEFORE",
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
    (
        "GET /page.html|If-Modified-Since: AFTER",
        200,
        304,
        "nginx wants the exact date; RFC 9110 13.1.3 does not",
    ),
    (
        "GET /page.html|If-None-Match: ETAG|If-Modified-Since: BEFORE",
        200,
        304,
        "13.1.3: with tags, no date counts",
    ),
    (
        "GET /page.html|If-Match: ETAG|If-Unmodified-Since: BEFORE",
        412,
        200,
        "13.1.4: with tags, no date counts",
    ),
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
    let modified = page.field("last-modified");
    assert_eq!(modified, Some(MODIFIED));
    let tag_of = |server: &Server| http::get(server.address, "/page.html").field("etag").unwrap().to_owned();
    let (nginx_tag, drome_tag) = (tag_of(&nginx), tag_of(&drome));
    let mut wrong = Vec::new();
    for line in SAME {
        let theirs = ask(nginx.address, &request(line, &nginx_tag));
        let ours = ask(drome.address, &request(line, &drome_tag));
        let (expected, got) = (facts(&theirs), facts(&ours));
        if expected != got {
            wrong.push(format!("{line}\n   nginx {expected:?}\n   drome {got:?}"));
        } else if matches!(ours.status, 200 | 206) && body(&theirs) != body(&ours) {
            wrong.push(format!("{line}: other bytes"));
        }
    }
    for (line, theirs, ours, why) in DIFFERENT {
        let status = ask(drome.address, &request(line, &drome_tag)).status;
        let got = (ask(nginx.address, &request(line, &nginx_tag)).status, status);
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
        let answer = ask(drome.address, &request(line, ""));
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
fn request(line: &str, etag: &str) -> Vec<u8> {
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
    text.replace("ETAG", etag)
        .replace("MODIFIED", MODIFIED)
        .replace("BEFORE", BEFORE)
        .replace("AFTER", AFTER)
        .replace("LONG", &"x".repeat(9000))
        .replace("HUGE", &"x".repeat(70_000))
        .into_bytes()
}

/// What has to be the same of two answers: the status, and where that is no error all that says what came.
fn facts(answer: &Answer) -> Vec<(&'static str, String)> {
    let names: &[&'static str] = match answer.status {
        200 | 206 | 304 => &[
            "content-type",
            "content-length",
            "content-range",
            "etag",
            "last-modified",
            "accept-ranges",
            "location",
        ],
        301 => &["location"],
        _ => &["content-range"],
    };
    let mut facts = vec![("status", answer.status.to_string())];
    for name in names {
        if let Some(value) = answer.field(name) {
            // A tag is each server's own.
            let value = if *name == "etag" { "there" } else { value };
            facts.push((name, value.split("boundary=").next().unwrap().to_owned()));
        }
    }
    facts.push(("close", answer.field("connection").unwrap_or_default().to_owned()));
    facts
}

/// The body, with what separates its parts made the same.
fn body(answer: &Answer) -> String {
    let text = answer.text();
    match answer.field("content-type").and_then(|kind| kind.split_once("boundary=")) {
        Some((_, boundary)) => text.replace(boundary, "BOUNDARY"),
        None => text,
    }
}
