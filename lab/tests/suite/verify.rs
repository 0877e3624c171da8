//! Servers that do their work wrongly in a known way: each is refused, and all that is wrong is told at once.

use control::verify::work::Works;
use control::verify::{Verified, full};
use model::contender::Faults;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};

/// From method, path with query, and body to the whole answer.
type Script = fn(&str, &str, &[u8]) -> Vec<u8>;

/// A server by script: one answer a connection.
fn serve(script: Script) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || listener.incoming().flatten().for_each(|stream| answer(stream, script)));
    address
}

fn answer(mut stream: TcpStream, script: Script) {
    let (mut request, mut buffer) = (Vec::new(), [0; 65536]);
    loop {
        let Ok(n) = stream.read(&mut buffer) else { return };
        request.extend_from_slice(&buffer[..n]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let length = text.split_once("Content-Length: ").and_then(|(_, rest)| rest.lines().next());
        let length: usize = length.map_or(0, |n| n.parse().unwrap());
        let head = request.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4);
        if let Some(head) = head.filter(|head| request.len() >= head + length) {
            let mut words = text.split(' ');
            let (method, path) = (words.next().unwrap(), words.next().unwrap());
            let _ = stream.write_all(&script(method, path, &request[head..]));
            return;
        }
        if n == 0 {
            return;
        }
    }
}

fn reply(status: &str, fields: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    [format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n").as_bytes(), body].concat()
}

/// Does everything right.
fn right(method: &str, path: &str, body: &[u8]) -> Vec<u8> {
    match (method, path.split_once('?').unwrap_or((path, ""))) {
        ("GET", ("/hello", _)) => {
            reply("200 OK", "Content-Type: text/plain; charset=utf-8\r\n", b"Hello World\n")
        }
        ("GET", ("/json", query)) => {
            let number = query.trim_start_matches("n=");
            let text = format!("{{\"message\":\"Hello World\",\"number\":{number}}}");
            reply("200 OK", "Content-Type: application/json\r\n", text.as_bytes())
        }
        ("POST", ("/echo", _)) => reply("200 OK", "Content-Type: application/octet-stream\r\n", body),
        _ => reply("404 Not Found", "", b""),
    }
}

fn verify(script: Script) -> Verified {
    let catalog = control::Catalog::built_in().unwrap();
    let works: Works = control::prepare::assets::works(&catalog).unwrap();
    let serves = ["hello", "json", "echo"].map(|name| (name.to_owned(), format!("/{name}")));
    full(&serve(script).into(), &BTreeMap::from(serves), &Faults::default(), &works).unwrap()
}

/// What is wrong, and how many of the three workloads are done rightly.
fn wrong(script: Script) -> (Vec<String>, usize) {
    let verified = verify(script);
    (verified.wrong(), verified.right())
}

#[test]
fn who_does_everything_right_has_nothing_wrong() {
    let verified = verify(right);
    assert_eq!((verified.wrong(), verified.right()), (Vec::<String>::new(), 3));
    assert_eq!(verified.wire_bytes["hello"], right("GET", "/hello", b"").len());
}

/// Its answer's fields are read, not those of the interim answer before it.
#[test]
fn who_sends_hints_first_has_nothing_wrong() {
    let verified = verify(|method, path, body| {
        let hints = b"HTTP/1.1 103 Early Hints\r\nContent-Type: text/html\r\n\r\n";
        [&hints[..], &right(method, path, body)].concat()
    });
    assert_eq!((verified.wrong(), verified.right()), (Vec::<String>::new(), 3));
}

#[test]
fn a_wrong_byte_is_found_in_every_form_of_the_question() {
    let (wrong, right) = wrong(|method, path, body| {
        if path.starts_with("/hello") {
            reply("200 OK", "Content-Type: text/plain\r\n", b"Hello Worle\n")
        } else {
            right(method, path, body)
        }
    });
    assert_eq!((wrong.len(), right), (3, 2), "{wrong:?}");
    assert!(
        wrong
            .iter()
            .all(|w| w.starts_with("hello (/hello") && w.ends_with("the body differs from byte 10 on"))
    );
    assert!(wrong[1].contains("?q=") && wrong[2].contains("in fragments"), "{wrong:?}");
}

#[test]
fn a_wrong_length_is_told_as_what_it_is() {
    let short: Script = |m, path, body| {
        if path.starts_with("/hello") {
            reply("200 OK", "Content-Type: text/plain\r\n", b"Hello World")
        } else {
            right(m, path, body)
        }
    };
    assert!(wrong(short).0[0].ends_with("11 bytes instead of 12"));
    let too_small: Script = |m, path, body| {
        if path.starts_with("/hello") {
            b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 12\r\n\r\nHello World\nmore"
                .to_vec()
        } else {
            right(m, path, body)
        }
    };
    assert!(wrong(too_small).0[0].contains("its Content-Length is too small"));
    let too_large: Script = |m, path, body| {
        if path.starts_with("/hello") {
            {
                b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello World\n"
                    .to_vec()
            }
        } else {
            right(m, path, body)
        }
    };
    assert!(wrong(too_large).0[0].contains("no answer: closed before the answer was whole, after 12 bytes"));
}

#[test]
fn an_unknown_path_must_not_be_found() {
    let (wrong, right) = wrong(|method, path, body| match right(method, path, body) {
        answer if answer.starts_with(b"HTTP/1.1 404") => reply("200 OK", "", b"everything is here"),
        answer => answer,
    });
    assert_eq!((wrong.len(), right), (1, 3), "{wrong:?}");
    assert!(wrong[0].contains("an unknown path") && wrong[0].ends_with("status 200 instead of 404"));
}

#[test]
fn an_encoding_that_nobody_asked_for_is_refused() {
    let (wrong, _) = wrong(|method, path, body| {
        if path.starts_with("/hello") {
            reply("200 OK", "Content-Type: text/plain\r\nContent-Encoding: gzip\r\n", b"\x1f\x8b")
        } else {
            right(method, path, body)
        }
    });
    assert!(wrong[0].ends_with("content encoding gzip, but none was asked for"), "{wrong:?}");
    assert!(wrong[1].ends_with("2 bytes instead of 12"), "all that is wrong is told: {wrong:?}");
}

#[test]
fn who_answers_json_or_an_echo_from_a_cache_is_found_out() {
    let (wrong, right) = wrong(|method, path, body| match path.split('?').next() {
        Some("/json") => right("GET", "/json?n=1", b""),
        Some("/echo") => right("POST", "/echo", &lab_echo()),
        _ => right(method, path, body),
    });
    assert_eq!(right, 1, "{wrong:?}");
    let about = |name: &str| wrong.iter().filter(|w| w.starts_with(name)).count();
    assert_eq!((about("json (/json?n="), about("echo (/echo, ")), (3, 3), "{wrong:?}");
    assert!(wrong.iter().any(|w| w.contains("70000 bytes sent): 1024 bytes instead of 70000")), "{wrong:?}");
}

/// What is sent under load.
fn lab_echo() -> Vec<u8> {
    let catalog = control::Catalog::built_in().unwrap();
    control::verify::work::Work::of(catalog.workload("echo").unwrap()).unwrap().send
}

/// A server that reads a request in one piece only, but for the first so many that come in fragments: those seem to be whole, as
/// where the machine halts for longer than a client's pauses.
fn in_one_piece(mut seem_whole: usize) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let (mut buffer, mut n) = ([0; 65536], 0);
            let is_whole = |bytes: &[u8]| bytes.ends_with(b"\r\n\r\n");
            n += stream.read(&mut buffer).unwrap_or(0);
            if !is_whole(&buffer[..n]) && seem_whole > 0 {
                seem_whole -= 1;
                while !is_whole(&buffer[..n]) {
                    n += stream.read(&mut buffer[n..]).unwrap();
                }
            }
            let path = String::from_utf8_lossy(&buffer[..n]).split(' ').nth(1).unwrap_or("/?").to_owned();
            let _ = stream.write_all(&right("GET", &path, b""));
        }
    });
    address
}

fn hello(address: SocketAddr, faults: &Faults) -> Verified {
    let works = control::prepare::assets::works(&control::Catalog::built_in().unwrap()).unwrap();
    let serves = BTreeMap::from([("hello".to_owned(), "/hello".to_owned())]);
    full(&address.into(), &serves, faults, &works).unwrap()
}

#[test]
fn who_reads_a_request_in_one_piece_only_is_found_out() {
    let address = in_one_piece(0);
    // A server that the machine lets read late finds all fragments there at once, but not each time.
    let is_found_out = || {
        let wrong = hello(address, &Faults::default()).wrong();
        assert!(wrong.iter().all(|w| w.contains("in fragments")), "{wrong:?}");
        !wrong.is_empty()
    };
    assert!((0..20).any(|_| is_found_out()), "it was late to read in each of 20 attempts");
}

#[test]
fn a_fault_that_is_declared_is_gone_only_where_it_is_not_seen_again() {
    let declared = Faults { fragments: Some("as its manual says".to_owned()) };
    let by_chance = hello(in_one_piece(1), &declared);
    assert_eq!(by_chance.wrong(), Vec::<String>::new());
    assert!(by_chance.known[0].ends_with(": as its manual says"), "{:?}", by_chance.known);
    let mended = hello(in_one_piece(99), &declared).wrong();
    assert!(mended.len() == 1 && mended[0].contains("remove `fragments` from [faults]"), "{mended:?}");
}
