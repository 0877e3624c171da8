//! What every back end must do. Two of them talk to each other on the loopback.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use net::{Completion, Epoll, Errno, Event, Io, Operation, Slot, socket};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const ANY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::LOCALHOST), 0);
const PATIENCE: Duration = Duration::from_secs(30);

/// One side, and all that it has received, by slot.
struct Side {
    io: Epoll,
    received: Vec<Vec<u8>>,
}

impl Side {
    fn new() -> Self {
        Self { io: Epoll::new().unwrap(), received: vec![Vec::new(); 8] }
    }

    /// A side that listens, and where.
    fn listening() -> (Self, SocketAddr) {
        let mut side = Self::new();
        let listener = socket::listener(&ANY).unwrap();
        let address = socket::local_address(&listener).unwrap();
        side.io.listen(listener).unwrap();
        (side, address)
    }

    /// What completes within a few milliseconds, received bytes aside.
    fn turn(&mut self) -> Vec<Completion> {
        self.io.wait(Some(Duration::from_millis(5))).unwrap();
        let mut completions = Vec::new();
        while let Some(completion) = self.io.next() {
            match completion.event {
                Event::Received => self.received[completion.slot as usize].extend_from_slice(self.io.bytes()),
                _ => completions.push(completion),
            }
        }
        completions
    }

    /// Turns until this event has come.
    fn until(&mut self, slot: Slot, event: Event) {
        let deadline = Instant::now() + PATIENCE;
        while !self.turn().contains(&Completion { slot, event }) {
            assert!(Instant::now() < deadline, "{event:?} never came");
        }
    }

    fn until_received(&mut self, slot: Slot, bytes: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.received[slot as usize].len() < bytes {
            self.turn();
            assert!(Instant::now() < deadline, "{bytes} bytes never came");
        }
    }
}

/// A connection on slot 0 of both sides.
fn connected() -> (Side, Side, SocketAddr) {
    let ((mut server, address), mut client) = (Side::listening(), Side::new());
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    server.until(0, Event::Accepted);
    (server, client, address)
}

#[test]
fn bytes_go_both_ways_and_an_end_is_told() {
    let (mut server, mut client, _) = connected();
    assert!(client.io.send(0, b"ping"));
    server.until_received(0, 4);
    assert!(server.io.send(0, b"pong"));
    server.io.close(0);
    client.until_received(0, 4);
    assert_eq!((server.received[0].as_slice(), client.received[0].as_slice()), (&b"ping"[..], &b"pong"[..]));
    // The end came with the last bytes, or after them: told it is either way.
    let ended = client.turn();
    assert!(ended.is_empty() || ended[0].event == Event::Ended);
}

#[test]
fn an_end_that_comes_with_the_last_bytes_is_not_lost() {
    for _ in 0..50 {
        let (mut server, mut client, _) = connected();
        server.io.send(0, b"the last bytes");
        server.io.close(0);
        std::thread::sleep(Duration::from_millis(1)); // Bytes and end are there before the client looks.
        client.until(0, Event::Ended);
        assert_eq!(client.received[0], b"the last bytes");
    }
}

#[test]
fn what_the_peer_does_not_read_waits_and_arrives_whole() {
    let (mut server, mut client, _) = connected();
    let bytes: Vec<u8> = (0..30_000_000_u32).map(|i| (i % 251) as u8).collect();
    assert!(!server.io.send(0, &bytes), "no socket buffer holds 30 MB");
    assert!(!server.io.send(0, b"!"), "what is sent later waits behind");
    let deadline = Instant::now() + PATIENCE;
    let mut is_drained = false;
    while client.received[0].len() <= bytes.len() {
        is_drained |= server.turn().contains(&Completion { slot: 0, event: Event::Drained });
        client.turn();
        assert!(Instant::now() < deadline, "{} of {}", client.received[0].len(), bytes.len());
    }
    assert!(is_drained);
    assert!(client.received[0].ends_with(b"!") && client.received[0].starts_with(&bytes));
}

#[test]
fn a_refused_connection_fails() {
    let (server, address) = Side::listening();
    drop(server);
    let mut client = Side::new();
    client.io.connect(3, &address);
    client.until(3, Event::Failed(Operation::Connect, Errno::CONNREFUSED));
}

#[test]
fn a_slot_that_is_used_again_hears_nothing_of_its_past() {
    let (mut server, mut client, address) = connected();
    server.io.send(0, b"for the first");
    std::thread::sleep(Duration::from_millis(2));
    client.io.wait(Some(Duration::from_secs(1))).unwrap(); // The bytes are reported, and not yet taken.
    client.io.close(0);
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    server.until(1, Event::Accepted);
    server.io.send(1, b"for the second");
    client.until_received(0, 14);
    assert_eq!(client.received[0], b"for the second");
}

#[test]
fn slots_of_closed_connections_are_given_again() {
    let (mut server, mut client, address) = connected();
    server.io.close(0);
    client.io.connect(1, &address);
    client.until(1, Event::Connected);
    server.until(0, Event::Accepted);
}

/// A file with these bytes that has no name any more.
fn file(bytes: &[u8]) -> Arc<OwnedFd> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name = format!("drome-io-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::write(&path, bytes).unwrap();
    let file = std::fs::File::open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    Arc::new(file.into())
}

fn counted(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|i| (i % 251) as u8).collect()
}

#[test]
fn pieces_of_files_keep_their_place_between_bytes() {
    let (mut server, mut client, _) = connected();
    let bytes = counted(1000);
    let file = file(&bytes);
    assert!(server.io.send_more(0, b"head "));
    assert!(server.io.send_file(0, &file, 10, 20));
    assert!(server.io.send_file(0, &file, 990, 10));
    assert!(server.io.send_file(0, &file, 5, 0));
    assert!(server.io.send(0, b" tail"));
    client.until_received(0, 40);
    assert_eq!(client.received[0], [b"head ", &bytes[10..30], &bytes[990..], b" tail"].concat());
}

#[test]
fn files_larger_than_the_socket_wait_their_turn_and_arrive_whole() {
    let (mut server, mut client, _) = connected();
    let bytes = counted(30_000_000);
    let file = file(&bytes);
    server.io.send_more(0, b"<");
    assert!(!server.io.send_file(0, &file, 0, 30_000_000), "no socket buffer holds 30 MB");
    assert!(!server.io.send(0, b"|"), "what is sent later waits behind");
    assert!(!server.io.send_file(0, &file, 29_000_000, 1_000_000));
    assert!(!server.io.send(0, b">"));
    let expected = [b"<", &bytes[..], b"|", &bytes[29_000_000..], b">"].concat();
    let deadline = Instant::now() + PATIENCE;
    let mut is_drained = false;
    while client.received[0].len() < expected.len() {
        is_drained |= server.turn().contains(&Completion { slot: 0, event: Event::Drained });
        client.turn();
        assert!(Instant::now() < deadline, "{} of {}", client.received[0].len(), expected.len());
    }
    assert!(is_drained && client.received[0] == expected);
}

#[test]
fn a_file_that_has_become_shorter_fails() {
    let (mut server, _client, _) = connected();
    server.io.send_file(0, &file(b"short"), 0, 100);
    server.until(0, Event::Failed(Operation::Send, Errno::IO));
}

#[test]
fn a_closed_connection_lets_go_of_its_files() {
    let (mut server, _client, _) = connected();
    let file = file(&counted(30_000_000));
    assert!(!server.io.send_file(0, &file, 0, 30_000_000));
    server.io.close(0);
    server.turn();
    assert_eq!(Arc::strong_count(&file), 1);
}

#[test]
fn after_a_shut_down_the_peer_is_still_heard() {
    let (mut server, mut client, _) = connected();
    server.io.send(0, b"last words");
    server.io.shut_down(0);
    client.until(0, Event::Ended);
    assert_eq!(client.received[0], b"last words");
    client.io.send(0, b"thanks");
    server.until_received(0, 6);
}

#[test]
fn who_does_not_listen_any_more_refuses() {
    let (mut server, mut client, address) = connected();
    assert_eq!(server.io.peer(0), Some(address.ip()));
    server.io.stop_listening();
    client.io.connect(1, &address);
    client.until(1, Event::Failed(Operation::Connect, Errno::CONNREFUSED));
    client.io.send(0, b"still here");
    server.until_received(0, 10);
}
