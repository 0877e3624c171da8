//! Tests with slow, silent and many clients.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use axum::routing::get;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream as Peer};

/// Nothing here takes longer, on however slow a machine.
const PATIENCE: Duration = Duration::from_mins(1);

/// More than all buffers of a connection hold.
const LARGE_BYTES: usize = 64 << 20;

const SHORT: Limits =
    Limits { connections: 4, head: Duration::from_millis(300), stalled: Duration::from_millis(300) };

/// Serves `/` and a large page, on a thread that ends with the tests.
fn server(limits: Limits) -> SocketAddr {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let router = Router::new()
            .route("/", get(|| async { "here" }))
            .route("/large", get(|| async { vec![0_u8; LARGE_BYTES] }));
        runtime.block_on(async { serve(TcpListener::from_std(listener).unwrap(), router, limits).await });
    });
    address
}

fn peer(at: SocketAddr, says: &str) -> Peer {
    let mut peer = Peer::connect(at).unwrap();
    peer.set_read_timeout(Some(PATIENCE)).unwrap();
    peer.write_all(says.as_bytes()).unwrap();
    peer
}

/// All that comes until the server closes.
fn rest(mut peer: Peer) -> String {
    let mut bytes = Vec::new();
    match peer.read_to_end(&mut bytes) {
        Err(error) if error.kind() != ErrorKind::ConnectionReset => panic!("it was not closed: {error}"),
        _ => String::from_utf8_lossy(&bytes).into_owned(),
    }
}

#[test]
fn clients_that_do_not_ask_are_disconnected() {
    let at = server(SHORT);
    for says in ["", "G", "GET / HTTP/1.1\r\nHost: h\r\n"] {
        assert_eq!(rest(peer(at, says)), "", "{says:?}");
    }
    // Nor is an idle one that has asked before; it has time to ask, however slow the machine.
    let at = server(Limits { head: Duration::from_secs(5), ..SHORT });
    let told = rest(peer(at, "GET / HTTP/1.1\r\nHost: h\r\n\r\n"));
    assert!(told.starts_with("HTTP/1.1 200") && told.ends_with("here"), "{told}");
}

#[test]
fn a_head_that_drips_has_no_longer_than_one_that_does_not_come() {
    let mut peer = peer(server(SHORT), "GET / HTTP/1.1\r\n");
    let begun = std::time::Instant::now();
    // Every byte comes well before the time is over, but the head has no end.
    while peer.write_all(b"A").is_ok() {
        assert!(begun.elapsed() < PATIENCE, "it is heard for ever");
        std::thread::sleep(SHORT.head / 10);
    }
}

#[test]
fn many_silent_peers_do_not_keep_others_out() {
    let at = server(SHORT);
    let silent: Vec<Peer> = (0..10 * SHORT.connections).map(|_| peer(at, "")).collect();
    let told = rest(peer(at, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
    assert!(told.ends_with("here"), "{told}");
    silent.into_iter().for_each(|peer| assert_eq!(rest(peer), ""));
}

#[test]
fn only_so_many_connections_are_open_at_once() {
    let at = server(Limits { head: PATIENCE, ..SHORT });
    let ask = "GET / HTTP/1.1\r\nHost: h\r\n\r\n";
    let mut kept: Vec<Peer> = (0..SHORT.connections).map(|_| peer(at, ask)).collect();
    for peer in &mut kept {
        // Each is answered and stays open.
        peer.read_exact(&mut [0; 12]).unwrap();
    }
    let waiting = peer(at, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n");
    waiting.set_read_timeout(Some(Duration::from_millis(300))).unwrap();
    assert!((&waiting).read(&mut [0; 1]).is_err(), "one more is not served yet");
    kept.pop();
    waiting.set_read_timeout(Some(PATIENCE)).unwrap();
    assert!(rest(waiting).ends_with("here"), "when another has gone, it is");
}

#[test]
fn clients_that_accept_nothing_are_disconnected() {
    let at = server(SHORT);
    // These take all places. They ask for a large page and never read it.
    let greedy: Vec<Peer> =
        (0..SHORT.connections).map(|_| peer(at, "GET /large HTTP/1.1\r\nHost: h\r\n\r\n")).collect();
    let told = rest(peer(at, "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"));
    assert!(told.ends_with("here"), "{told}");
    drop(greedy);
}
