//! `drome serve --root` over time: pipelines, changes, slow readers, HTTP/1.0, an access log.

use crate::common::http::{self, connect, get, parse_all};
use crate::common::{Home, Server, back_ends, run, serve};
use std::io::{ErrorKind, Read, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn serve_site(home: &Home, args: &[&str]) -> Server {
    serve(&[&["--root", home.path().join("site").to_str().unwrap()], args].concat())
}

fn photo() -> String {
    (0..200_000).map(|i| char::from(b'a' + (i % 23) as u8)).collect()
}

#[test]
fn a_pipeline_of_files_arrives_whole_and_in_order_however_slowly_it_is_read() {
    let home = Home::new();
    home.write("site/photo.jpg", &photo());
    home.write("site/small", "small");
    for io in back_ends() {
        pipeline(&serve_site(&home, &["--io", io]));
    }
}

fn pipeline(server: &Server) {
    let mut stream = connect(server.address);
    let pair = b"GET /photo.jpg HTTP/1.1\r\nHost: h\r\n\r\nGET /small HTTP/1.1\r\nHost: h\r\n\r\n";
    let part = b"GET /photo.jpg HTTP/1.1\r\nHost: h\r\nRange: bytes=50000-149999\r\n\r\n";
    let last = b"GET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
    stream.write_all(&[pair.repeat(100), part.to_vec(), last.to_vec()].concat()).unwrap();
    std::thread::sleep(Duration::from_millis(300)); // The server has to wait for this reader.
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    let answers = parse_all(&bytes);
    assert_eq!(answers.len(), 202);
    let photo = photo();
    for pair in answers[..200].chunks(2) {
        assert!(pair[0].body == photo.as_bytes() && pair[1].body == b"small");
    }
    assert!(answers[200].body == photo.as_bytes()[50_000..150_000]);
    assert_eq!((answers[200].status, answers[201].status), (206, 404));
}

#[test]
fn a_changed_file_is_seen_within_a_second() {
    let home = Home::new();
    home.write("site/small", "one");
    home.write("site/large", &photo());
    let server = serve_site(&home, &[]);
    assert_eq!(get(server.address, "/small").text(), "one");
    assert!(get(server.address, "/large").text() == photo());
    home.write("site/small", "two");
    home.write("site/large", &photo()[1..]);
    home.write("site/new", "new");
    assert_eq!(get(server.address, "/new").text(), "new");
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(get(server.address, "/small").text(), "two");
    assert!(get(server.address, "/large").text() == photo()[1..]);
    std::fs::remove_file(home.path().join("site/small")).unwrap();
    std::thread::sleep(Duration::from_secs(1));
    assert_eq!(get(server.address, "/small").status, 404);
}

#[test]
fn a_file_that_shrinks_while_it_is_sent_is_cut_off_and_not_made_up() {
    let home = Home::new();
    for io in back_ends() {
        let path = home.write("site/large", &photo().repeat(200));
        shrinks(&serve_site(&home, &["--io", io]), &path);
    }
}

fn shrinks(server: &Server, path: &Path) {
    let mut stream = connect(server.address);
    stream.write_all(b"GET /large HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let mut first = [0; 1000];
    stream.read_exact(&mut first).unwrap();
    std::fs::File::options().write(true).open(path).unwrap().set_len(10).unwrap();
    let mut rest = Vec::new();
    // An end or a reset: either tells.
    let end = stream.read_to_end(&mut rest);
    assert!(
        end.is_ok() || end.as_ref().is_err_and(|error| error.kind() == ErrorKind::ConnectionReset),
        "{end:?}"
    );
    assert!(rest.len() < 40_000_000, "{} bytes of a file that has 10", rest.len());
    assert_eq!(get(server.address, "/none").status, 404, "the server goes on");
}

#[test]
fn files_have_faults_too() {
    let home = Home::new();
    home.write("site/photo.jpg", &photo());
    let server = serve_site(&home, &["--fault", "chunked", "--fault", "delay=1ms"]);
    let answer = get(server.address, "/photo.jpg");
    assert_eq!(answer.field("transfer-encoding"), Some("chunked"));
    let finished = run(Command::new("curl").args(["-s", &format!("http://{}/photo.jpg", server.address)]));
    assert!(finished.out == photo(), "{} bytes", finished.out.len());
}

#[test]
fn http_1_0_keeps_a_connection_only_when_asked_to() {
    let home = Home::new();
    home.write("site/small", "small");
    let server = serve_site(&home, &["--threads", "2"]);
    let mut stream = connect(server.address);
    let keep = b"GET /small HTTP/1.0\r\nConnection: keep-alive\r\n\r\n";
    stream.write_all(&[&keep[..], b"HEAD /small HTTP/1.0\r\n\r\n"].concat()).unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    let (first, second) = text.split_once("small").unwrap();
    assert!(first.contains("Connection: keep-alive") && first.contains("Content-Length: 5"), "{first}");
    assert!(second.contains("Connection: close") && second.contains("Content-Length: 5"), "{second}");
    assert!(second.ends_with("\r\n\r\n"), "a HEAD has no body: {second}");
}

#[test]
fn every_answer_is_in_the_access_log() {
    let home = Home::new();
    home.write("site/photo.jpg", &photo());
    let log = home.path().join("access.log");
    std::fs::write(&log, "from before\n").unwrap();
    let server = serve_site(&home, &["--threads", "2", "--access-log", log.to_str().unwrap()]);
    for path in ["/photo.jpg", "/none?a=\"b\""] {
        get(server.address, path);
    }
    http::ask(server.address, b"GET /photo.jpg HTTP/1.0\r\nRange: bytes=1-2\r\n\r\n");
    http::ask(server.address, b"non sense\r\n\r\n");
    let lines = || std::fs::read_to_string(&log).unwrap();
    crate::common::wait_for(|| lines().lines().count() == 5, "the log to be written");
    // The threads write in any order.
    let mut requests: Vec<String> = lines().lines().skip(1).map(without_time).collect();
    requests.sort_unstable();
    let expected = [
        "127.0.0.1 - - \"-\" 400 12",
        "127.0.0.1 - - \"GET /none?a=\\x22b\\x22 HTTP/1.1\" 404 10",
        "127.0.0.1 - - \"GET /photo.jpg HTTP/1.0\" 206 2",
        "127.0.0.1 - - \"GET /photo.jpg HTTP/1.1\" 200 200000",
    ];
    assert_eq!(requests, expected);
}

/// A line of the log, its time checked and taken out.
fn without_time(line: &str) -> String {
    let (before, rest) = line.split_once('[').unwrap();
    let (time, after) = rest.split_once("] ").unwrap();
    assert!(time.len() == 26 && time.ends_with(" +0000"), "{line}");
    format!("{before}{after}")
}

#[test]
fn a_folder_or_a_log_that_can_not_be_opened_is_refused() {
    let home = Home::new();
    let file = home.write("file", "");
    for args in [["--root", "/nowhere"], ["--root", file.to_str().unwrap()], ["--access-log", "/nowhere/log"]]
    {
        let finished = run(home.drome(&["serve", "--port", "0"]).args(args));
        finished.assert_err(2, &[args[1]]);
    }
    let finished = run(&mut home.drome(&["serve", "--idle-timeout", "0s"]));
    finished.assert_err(2, &["75s"]);
}
