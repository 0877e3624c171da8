//! The load engine's ways of asking, on both back ends, judged by counts; judges.rs has servers' own logs.

use crate::common::{Home, assert_accounted, back_ends, process, run, serve};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::Command;

fn measured(url: &str, args: &[&str]) -> (i32, Value, String) {
    let finished = run(Home::new().drome(&["load", url, "--format", "json"]).args(args));
    (finished.code, serde_json::from_str(&finished.out).unwrap_or(Value::Null), finished.err)
}

fn sound(url: &str, args: &[&str]) -> Value {
    let (code, json, err) = measured(url, args);
    // Void is no failure here: on a machine that is busy otherwise, sends lag.
    assert!(matches!(code, 0 | 4) && json["errors"]["total"] == 0, "{args:?}: {err} {json}");
    assert_accounted(&json);
    json
}

#[test]
fn an_encrypted_server_is_asked_on_both_back_ends() {
    for io in back_ends() {
        let server = serve(&["--tls", "--io", io]);
        let url = format!("https://{}/png-50k.png", server.address);
        let json = sound(&url, &["-c", "8", "-n", "200", "--insecure", "--io", io, "--no-keepalive"]);
        assert!(json["handshake_ns"]["min"].is_u64());
    }
}

/// A server of one answer whose body has so many bytes.
fn long(bytes: u64) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let block = vec![b'x'; 1 << 20];
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 4096]);
            let _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n");
            let rest = bytes as usize % block.len();
            let blocks = std::iter::repeat_n(&block[..], bytes as usize / block.len());
            let _ = blocks.chain([&block[..rest]]).try_for_each(|block| stream.write_all(block));
        }
    });
    url
}

#[test]
fn a_body_of_more_bytes_than_32_bits_count_is_counted_to_the_last() {
    let bytes = (1 << 32) + 5;
    let url = long(bytes);
    for io in back_ends() {
        let json = sound(&url, &["-c", "1", "-n", "1", "--timeout", "5min", "--io", io]);
        assert_eq!(json["bytes"]["body"], bytes, "{json}");
    }
}

#[test]
fn a_list_of_paths_is_asked_in_turn_and_a_bad_line_is_named() {
    let home = Home::new();
    let server = serve(&[]);
    let url = format!("http://{}/", server.address);
    let list =
        home.write("paths", "# two of them\n/hello\nHEAD /png-50k.png 2\n/nowhere\n").display().to_string();
    let (_, json, _) = measured(&url, &["-c", "1", "-n", "300", "--urls", &list]);
    assert_eq!((&json["status"]["200"], &json["status"]["404"]), (&200.into(), &100.into()), "{json}");
    assert_eq!(json["bytes"]["body"], 100 * 12 + 100 * 10);
    for (text, words) in [("", "lists no path"), ("/a\n/b x\n", "line 2"), ("a b c d\n", "line 1")] {
        let list = home.write("bad", text).display().to_string();
        let (code, _, err) = measured(&url, &["--urls", &list]);
        assert!(code == 2 && err.contains(words), "{text}: {err}");
    }
    let (code, _, err) = measured(&url, &["--urls", "/no/such/file"]);
    assert!(code == 2 && err.contains("/no/such/file"), "{err}");
}

#[test]
fn a_unix_socket_is_asked_and_a_missing_one_is_named() {
    let home = Home::new();
    let socket = home.path().join("socket").display().to_string();
    let mut server = process::spawn(&mut home.drome(&["serve", "--unix", &socket]));
    crate::common::wait_for(|| std::path::Path::new(&socket).exists(), "the socket");
    let json =
        sound("http://no-such-host.invalid/jpeg-200k.jpg", &["--unix", &socket, "-c", "4", "-n", "100"]);
    assert_eq!(json["requests"]["completed"], 100);
    Command::new("kill").arg(server.id().to_string()).status().unwrap();
    process::wait(&mut server);
    let (code, _, err) = measured("http://localhost/", &["--unix", "/no/such/socket", "-n", "100"]);
    assert!(code == 1 && err.contains("/no/such/socket"), "{code} {err}");
}

#[test]
fn source_addresses_think_time_and_connection_rates_are_kept() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    sound(&url, &["-c", "8", "-n", "200", "--no-keepalive", "--source", "127.0.0.2,127.0.0.3"]);
    let json = sound(&url, &["-c", "10", "-d", "1s", "--think", "50ms..150ms"]);
    let completed = json["requests"]["completed"].as_u64().unwrap();
    assert!((10..=200).contains(&completed), "ten connections, about ten a second each: {completed}");
    let json = sound(&url, &["-c", "50", "-d", "1s", "--no-keepalive", "--connection-rate", "0.1k"]);
    let completed = json["requests"]["completed"].as_u64().unwrap();
    assert!((1..=115).contains(&completed), "a hundred connections a second: {completed}");
}

#[test]
fn bodies_are_sampled_and_how_many_is_told() {
    let server = serve(&[]);
    let url = format!("http://{}/hello", server.address);
    let sha = "d2a84f4b8b650937ec8f73cd8be2c74add5a911ba64df27458ed8229da804a26";
    let verified = |how: &str, sha: &str| {
        let (code, json, _) =
            measured(&url, &["-c", "4", "-n", "1280", "--expect-sha256", sha, "--verify", how]);
        (code, json["requests"]["verified"].as_u64().unwrap())
    };
    assert_eq!(verified("all", sha), (0, 1280));
    assert_eq!(verified("first", sha), (0, 4));
    let (code, sampled) = verified("sample", sha);
    assert!(code == 0 && (20..=28).contains(&sampled), "{sampled}");
    let (code, json, _) = measured(&url, &["-c", "4", "-n", "640", "--no-keepalive", "--expect-sha256", sha]);
    let sampled = json["requests"]["verified"].as_u64().unwrap();
    assert!(
        code == 0 && (10..=18).contains(&sampled),
        "a new connection for each is none more often: {sampled}"
    );
    assert_eq!(verified("first", &"0".repeat(64)).0, 0, "four wrong ones of 1,280 are errors, and no void");
    assert_eq!(verified("all", &"0".repeat(64)).0, 4);
}
