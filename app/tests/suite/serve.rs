//! `drome serve` on the wire.

use crate::common::punctual::until_sound;
use crate::common::{Home, Server, back_ends, load, process, run, serve};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

/// Sends bytes, then reads until the server closes.
fn ask(server: &Server, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    String::from_utf8_lossy(&answer).into_owned()
}

#[test]
fn a_pipeline_is_answered_in_order_and_closed_when_asked() {
    let server = serve(&[]);
    let got = ask(&server, b"GET /hello HTTP/1.1\r\nHost: h\r\n\r\nGET /pong?x=1 HTTP/1.1\r\nHost: h\r\n\r\nGET /none HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    let bodies: Vec<&str> =
        got.split("HTTP/1.1 ").skip(1).map(|a| a.split("\r\n\r\n").nth(1).unwrap()).collect();
    assert_eq!(bodies, ["Hello World\n", "PONG", "Not Found\n"], "{got}");
    assert!(
        got.contains("404 Not Found") && got.ends_with("Not Found\n") && got.contains("Connection: close")
    );
}

#[test]
fn a_long_pipeline_of_large_bodies_arrives_whole() {
    let server = serve(&[]);
    let one = b"GET /jpeg-200k.jpg HTTP/1.1\r\nHost: h\r\n\r\n";
    let all = [one.repeat(99), b"GET /jpeg-200k.jpg HTTP/1.1\r\nConnection: close\r\n\r\n".to_vec()].concat();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(&all).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(200)); // The server has to wait for this reader.
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let heads = answer.len() - 100 * 200_000;
    assert!((100 * 60..100 * 200).contains(&heads), "{heads} bytes beside the bodies");
}

#[test]
fn what_was_asked_before_the_peer_half_closed_is_answered_however_slowly_it_reads() {
    let server = serve(&[]);
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
    // Asked in two parts: the second waits, since the answers to the first fill the socket.
    let half = b"GET /jpeg-200k.jpg HTTP/1.1\r\nHost: h\r\n\r\n".repeat(100);
    stream.write_all(&half).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    stream.write_all(&half).unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.len() > 200 * 200_000, "{} bytes", answer.len());
}

#[test]
fn http_1_0_head_and_other_methods() {
    let server = serve(&[]);
    let got = ask(&server, b"GET /hello HTTP/1.0\r\n\r\n");
    assert!(got.contains("Connection: close") && got.ends_with("Hello World\n"), "{got}");
    let got =
        ask(&server, b"GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\nGET /hello HTTP/1.0\r\n\r\n");
    assert!(got.contains("Connection: keep-alive") && got.matches("Hello World").count() == 2, "{got}");
    let got = ask(&server, b"HEAD /hello HTTP/1.0\r\n\r\n");
    assert!(got.contains("Content-Length: 12") && got.ends_with("\r\n\r\n"), "{got}");
    let got = ask(&server, b"DELETE /hello HTTP/1.0\r\n\r\n");
    assert!(got.contains("405 Method Not Allowed") && got.contains("Allow: GET, HEAD"), "{got}");
    let got = ask(&server, b"nonsense\r\n\r\n");
    assert!(got.contains("400 Bad Request"), "{got}");
}

#[test]
fn curl_gets_real_files() {
    let server = serve(&["--threads", "2"]);
    let cases = [
        ("/", "text/html", 228),
        ("/html-147.html", "text/html", 147),
        ("/png-50k.png", "image/png", 50_000),
        ("/jpeg-200k.jpg", "image/jpeg", 200_000),
    ];
    for (path, content_type, bytes) in cases {
        let url = format!("http://{}{path}", server.address);
        let finished = run(Command::new("curl").args([
            "-s",
            "-o",
            "/dev/null",
            "-w",
            "%{http_code} %{content_type} %{size_download}",
            &url,
        ]));
        assert_eq!(finished.out, format!("200 {content_type} {bytes}"));
    }
}

/// RFC 9110 section 10.1.1. What drome does wrong on purpose befalls the answer, not the leave to send a body.
#[test]
fn a_client_that_waits_for_leave_to_send_a_body_gets_it() {
    const LEAVE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    for io in crate::common::back_ends() {
        for faults in [&[][..], &["--fault", "status=503"]] {
            let server = serve(&[&["--io", io], faults].concat());
            let mut stream = TcpStream::connect(server.address).unwrap();
            stream.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
            for _ in 0..2 {
                stream
                    .write_all(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
                    .unwrap();
                let mut leave = vec![0; LEAVE.len()];
                stream.read_exact(&mut leave).unwrap();
                assert_eq!(String::from_utf8_lossy(&leave), String::from_utf8_lossy(LEAVE));
                stream.write_all(b"abc").unwrap();
                let mut answer = Vec::new();
                while !answer.ends_with(b"\r\n\r\nabc") {
                    let mut byte = [0];
                    stream.read_exact(&mut byte).unwrap();
                    answer.push(byte[0]);
                }
                let status: &[u8] = if faults.is_empty() { b"HTTP/1.1 200" } else { b"HTTP/1.1 503" };
                assert!(answer.starts_with(status), "{}", String::from_utf8_lossy(&answer));
            }
        }
    }
}

#[test]
fn without_descriptors_open_connections_are_answered_and_new_ones_later() {
    let drome = env!("CARGO_BIN_EXE_drome");
    // With so few descriptors there is no io_uring.
    let script = format!("ulimit -n 40; exec {drome} serve --port {{port}} --threads 1 --io epoll");
    let server = crate::common::start("sh", &["-c", &script]);
    let answered = |peer: &mut TcpStream| {
        let (mut answer, mut byte) = (Vec::new(), [0]);
        while !answer.ends_with(b"PONG") {
            peer.read_exact(&mut byte).unwrap();
            answer.push(byte[0]);
        }
    };
    let ask = |peer: &mut TcpStream| peer.write_all(b"GET /pong HTTP/1.1\r\nHost: h\r\n\r\n").unwrap();
    let connect = || {
        let peer = TcpStream::connect(server.address).unwrap();
        peer.set_read_timeout(Some(crate::common::PATIENCE)).unwrap();
        peer
    };
    let mut first = connect();
    ask(&mut first);
    answered(&mut first);
    let mut others: Vec<_> = (0..60).map(|_| connect()).collect();
    let mut last = others.pop().unwrap();
    ask(&mut last);
    for _ in 0..100 {
        ask(&mut first);
        answered(&mut first);
    }
    drop((others, first));
    answered(&mut last); // Accepted once there are descriptors.
}

#[test]
fn many_servers_of_a_user_share_the_usual_limit_of_locked_memory() {
    let drome = env!("CARGO_BIN_EXE_drome");
    let ordinary = crate::common::ordinary();
    let script =
        format!("ulimit -l 8192; exec {ordinary} {drome} serve --port {{port}} --threads 1 --io uring");
    let servers: Vec<Server> = (0..12).map(|_| crate::common::start("sh", &["-c", &script])).collect();
    for server in &servers {
        let answer = ask(server, b"GET /pong HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
        assert!(answer.ends_with("PONG"), "{answer}");
    }
}

#[test]
fn it_stops_cleanly_and_frees_its_port() {
    let mut server = serve(&[]);
    process::signal(&server.child, "-TERM");
    assert_eq!(process::wait(&mut server.child).code(), Some(0));
    assert!(TcpStream::connect(server.address).is_err());
}

#[test]
fn a_port_in_use_and_a_fault_that_is_none_are_refused() {
    let server = serve(&[]);
    let finished = run(&mut Home::new().drome(&["serve", "--port", &server.address.port().to_string()]));
    finished.assert_err(2, &["is in use"]);
    let finished = run(&mut Home::new().drome(&["serve", "--fault", "melt=1s"]));
    finished.assert_err(2, &["stall=100ms/1s"]);
}

#[test]
fn an_answer_that_took_its_time_does_not_wait_for_those_after_it() {
    let spin_ms = 50;
    for io in back_ends() {
        let server = serve(&["--threads", "1", "--io", io, "--spin", &format!("{spin_ms}ms")]);
        // A machine that lets the readers wait makes up for what lay between the answers.
        until_sound(|| {
            let mut peers: Vec<_> = (0..8).map(|_| TcpStream::connect(server.address).unwrap()).collect();
            for peer in &mut peers {
                peer.write_all(b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            }
            let arrived = |mut peer: TcpStream| {
                std::thread::spawn(move || {
                    let n = peer.read(&mut [0; 1024]).unwrap();
                    assert!(n > 0);
                    std::time::Instant::now()
                })
            };
            let threads: Vec<_> = peers.into_iter().map(arrived).collect();
            let mut times: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            times.sort();
            // One after the other they take seven spins longer; together they would take none.
            let apart = times[7] - times[0];
            let is_apart = apart.as_millis() >= 3 * spin_ms;
            if is_apart { Ok(()) } else { Err(format!("{io}: all answers within {apart:?}")) }
        });
    }
}

#[test]
fn the_spin_is_a_known_truth() {
    let server = serve(&["--spin", "2ms"]);
    let (_, json) = crate::common::load(server.address, "/hello", &["-c", "1", "-n", "50"]);
    // One spin makes up for what another overran: it is the mean that is known.
    let mean = json["latency_ns"]["mean"].as_f64().unwrap();
    assert!(mean >= 1_950_000.0, "answers come no sooner than the spin lasts: {mean} ns");
}

/// Each thread has a listener of its own, so that the kernel spreads connections over them.
#[test]
fn two_threads_have_two_listeners_and_both_answer() {
    for io in back_ends() {
        let server = serve(&["--threads", "2", "--io", io]);
        let pid = server.child.id();
        let port = format!(":{:04X}", server.address.port());
        let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
        let listens = |line: &&str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            words.len() > 3 && words[1].ends_with(&port) && words[3] == "0A"
        };
        assert_eq!(table.lines().filter(listens).count(), 2, "{table}");
        let (code, json) = load(server.address, "/hello", &["-c", "64", "-n", "6400", "-t", "1"]);
        assert!(matches!(code, 0 | 4) && json["errors"]["total"] == 0, "{json}");
        // The kernel's own count of what each thread ran, in nanoseconds.
        let ran = |task: std::fs::DirEntry| {
            let name = std::fs::read_to_string(task.path().join("comm")).ok()?;
            let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
            let is_own = !name.starts_with("iou-") && task.file_name() != pid.to_string().as_str();
            is_own.then(|| text.split(' ').next()?.parse::<u64>().ok()).flatten()
        };
        let tasks = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
        let mut ran: Vec<u64> = tasks.flatten().filter_map(ran).collect();
        ran.sort_unstable();
        assert_eq!(ran.len(), 2, "{io}: {ran:?}");
        assert!(ran[0] * 10 > ran[1], "{io}: one of them has all connections: {ran:?}");
    }
}
