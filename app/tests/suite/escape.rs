//! The real binary gives away nothing from outside the folder that it serves, however it is asked.

use crate::common::http::{Answer, ask, get};
use crate::common::{Home, Server, serve};
use std::os::unix::fs::symlink;

const SECRET: &str = "SECRET-OF-THE-TEST";

const DOTS: &[&str] = &[
    "..",
    "%2e%2e",
    ".%2e",
    "%2E.",
    "%252e%252e",
    "%25%32%65%25%32%65",
    "..%00",
    "%00..",
    "..;",
    "..\\",
    "..%5c",
    "%c0%ae%c0%ae",
    "...",
    ". .",
    "..%20",
    "%u002e%u002e",
    ".%00.",
    "..%09",
];
const SLASHES: &[&str] = &["/", "%2f", "%2F", "//", "\\", "%5c", "%252f", "/./", "%c0%af", "/;/", "%00/"];
const STARTS: &[&str] = &["", "sub/", "sub/deep/", "outdir/", "none/", "page/"];
const ENDS: &[&str] = &["", "%00", "%00.html", "?x", "#x", "/", "%20"];

/// A folder that is served, and beside it what must never come.
fn site() -> (Home, Server) {
    let home = Home::new();
    home.write("secret.txt", SECRET);
    home.write("site/page", "public");
    home.write("site/sub/deep/page", "public");
    let site = home.path().join("site");
    let links = [
        ("../secret.txt", "out.txt"),
        ("..", "outdir"),
        ("out.txt", "chain.txt"),
        ("../../secret.txt", "sub/out.txt"),
        ("/", "top"),
        ("/proc/self/root", "magic"),
        ("loop", "loop"),
    ];
    for (to, name) in links {
        symlink(to, site.join(name)).unwrap();
    }
    symlink(home.path().join("secret.txt"), site.join("absolute.txt")).unwrap();
    symlink(home.path(), site.join("absolute")).unwrap();
    let server = serve(&["--root", site.to_str().unwrap()]);
    (home, server)
}

fn assert_refused(target: &str, answer: &Answer) {
    assert!(matches!(answer.status, 400 | 404), "{target}: {}", answer.status);
    assert!(!answer.text().contains(SECRET), "{target}: the secret is out");
}

#[test]
fn thousands_of_ways_out_lead_nowhere() {
    let (home, server) = site();
    let top = home.path().to_str().unwrap().trim_start_matches('/').to_owned();
    let mut count = 0;
    for (dots, slash) in DOTS.iter().flat_map(|dots| SLASHES.iter().map(move |slash| (dots, slash))) {
        for (i, start) in STARTS.iter().enumerate() {
            let depth = 1 + (count + i) % 5;
            let end = ENDS[(count / 3) % ENDS.len()];
            let up = format!("{dots}{slash}").repeat(depth);
            for target in [
                format!("/{start}{up}secret.txt{end}"),
                format!("/{start}{}{top}/secret.txt{end}", up.repeat(8)),
            ] {
                assert_refused(&target, &get(server.address, &target));
                count += 1;
            }
        }
    }
    assert!(count >= 2000, "{count}");
    assert_eq!(get(server.address, "/sub/../page").text(), "public", "the way inside stays open");
}

#[test]
fn links_that_lead_out_are_not_followed() {
    let (_home, server) = site();
    for target in [
        "/out.txt",
        "/outdir",
        "/outdir/",
        "/outdir/secret.txt",
        "/outdir/site/page",
        "/chain.txt",
        "/sub/out.txt",
        "/top",
        "/top/etc/passwd",
        "/magic/etc/passwd",
        "/magic",
        "/loop",
        "/absolute.txt",
        "/absolute/secret.txt",
        "/absolute/site/page",
    ] {
        assert_refused(target, &get(server.address, target));
    }
}

#[test]
fn what_is_no_request_gets_nothing() {
    let (_home, server) = site();
    let requests: &[&[u8]] = &[
        b"GET ../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET \\..\\secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET file:///../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET http:///../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET http://h/../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /../secret.txt\0 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /out.txt\tHTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /\xff\xfe/../../secret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /..\xc0\xafsecret.txt HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET * HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n",
        b"GET /out.txt\r\n\r\n",
    ];
    for request in requests {
        assert_refused(&request.escape_ascii().to_string(), &ask(server.address, request));
    }
}
