//! What every back end must do. Two of them talk to each other on the loopback.

mod files;
mod lifetimes;
mod retiring;

use super::back_ends::{ANY, BackEnd, with_every_back_end};
use files::{
    a_closed_connection_lets_go_of_its_files,
    a_file_that_becomes_shorter_while_it_is_sent_fails_and_can_be_closed,
    a_file_that_has_become_shorter_fails, a_shut_down_comes_after_all_that_was_sent,
    after_a_shut_down_the_peer_is_still_heard,
    files_come_after_what_was_sent_before_and_before_what_is_sent_later,
    files_larger_than_the_socket_wait_their_turn_and_arrive_whole,
    pieces_of_files_keep_their_place_between_bytes, who_does_not_listen_any_more_refuses,
};
use lifetimes::{
    a_body_that_is_looked_at_after_one_that_was_not_comes_in_large_pieces,
    a_connection_takes_a_port_of_its_own_range, a_connection_that_is_closed_while_it_waits_for_room_ends,
    a_connection_that_takes_the_place_of_one_being_read_ends_when_it_is_closed,
    under_pressure_bytes_stay_in_order,
};
use net::{Completion, Endpoint, Errno, Event, Operation, Slot, socket};
use retiring::{
    a_peer_that_closes_first_keeps_the_ports_busy, a_peer_that_only_sends_no_more_is_not_kept_waiting,
    a_peer_that_stays_is_reset_when_its_time_is_up, the_place_of_a_retired_connection_is_free_at_once,
};
use std::net::Ipv4Addr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(30);

with_every_back_end!(
    bytes_go_both_ways_and_an_end_is_told,
    an_end_that_comes_with_the_last_bytes_is_not_lost,
    what_the_peer_does_not_read_waits_and_arrives_whole,
    many_small_sends_to_a_peer_that_does_not_read_stay_in_order,
    what_was_sent_before_a_close_arrives,
    what_nobody_looks_at_is_dropped_and_what_follows_is_not,
    a_send_that_fails_is_told_once_a_wait,
    a_refused_connection_fails,
    a_slot_that_is_used_again_hears_nothing_of_its_past,
    slots_of_closed_connections_are_given_again,
    unix_sockets_and_chosen_source_addresses_connect,
    more_bytes_than_there_are_buffers_arrive_whole,
    a_back_end_that_is_dropped_leaves_its_port,
    a_reset_is_told_as_a_failure,
    pieces_of_files_keep_their_place_between_bytes,
    files_larger_than_the_socket_wait_their_turn_and_arrive_whole,
    files_come_after_what_was_sent_before_and_before_what_is_sent_later,
    a_file_that_has_become_shorter_fails,
    a_file_that_becomes_shorter_while_it_is_sent_fails_and_can_be_closed,
    a_closed_connection_lets_go_of_its_files,
    after_a_shut_down_the_peer_is_still_heard,
    a_shut_down_comes_after_all_that_was_sent,
    who_does_not_listen_any_more_refuses,
    a_connection_that_is_closed_while_it_waits_for_room_ends,
    a_connection_that_takes_the_place_of_one_being_read_ends_when_it_is_closed,
    a_body_that_is_looked_at_after_one_that_was_not_comes_in_large_pieces,
    under_pressure_bytes_stay_in_order,
    a_connection_takes_a_port_of_its_own_range,
    a_peer_that_closes_first_keeps_the_ports_busy,
    a_peer_that_only_sends_no_more_is_not_kept_waiting,
    a_peer_that_stays_is_reset_when_its_time_is_up,
    the_place_of_a_retired_connection_is_free_at_once,
    a_back_end_that_is_dropped_closes_connections_that_nobody_took,
    what_the_kernel_has_not_taken_is_known_and_an_early_answer_is_heard_first,
);

/// One side, and all that it has received, by slot.
struct Side<I> {
    io: I,
    received: Vec<Vec<u8>>,
    skipped: u64,
    /// Other completions, until they are waited for.
    seen: Vec<Completion>,
}

impl<I: BackEnd> Side<I> {
    fn new() -> Self {
        Self::on(I::make())
    }

    fn on(io: I) -> Self {
        Self { io, received: vec![Vec::new(); 512], skipped: 0, seen: Vec::new() }
    }

    /// A side that listens, and where.
    fn listening() -> (Self, Endpoint) {
        Self::listening_on(I::make())
    }

    fn listening_on(io: I) -> (Self, Endpoint) {
        let mut side = Self::on(io);
        let listener = socket::listener(&ANY).unwrap();
        let address = socket::local_address(&listener).unwrap();
        side.io.listen(listener).unwrap();
        (side, address.into())
    }

    /// What completes within a few milliseconds, received bytes aside.
    fn turn(&mut self) -> Vec<Completion> {
        self.io.wait(Some(Duration::from_millis(5))).unwrap();
        self.take()
    }

    /// Takes what a wait has brought.
    fn take(&mut self) -> Vec<Completion> {
        let mut completions = Vec::new();
        while let Some(completion) = self.io.next() {
            match completion.event {
                Event::Received => self.received[completion.slot as usize].extend_from_slice(self.io.bytes()),
                Event::Skipped(n) => self.skipped += n,
                _ => completions.push(completion),
            }
        }
        self.seen.extend(&completions);
        completions
    }

    /// Turns until this event has come.
    fn until(&mut self, slot: Slot, event: Event) {
        let deadline = Instant::now() + PATIENCE;
        let wanted = Completion { slot, event };
        while !self.seen.contains(&wanted) {
            self.turn();
            assert!(Instant::now() < deadline, "{event:?} never came");
        }
        self.seen.retain(|completion| *completion != wanted);
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
fn connected<I: BackEnd>() -> (Side<I>, Side<I>, Endpoint) {
    let ((mut server, address), mut client) = (Side::<I>::listening(), Side::<I>::new());
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    server.until(0, Event::Accepted);
    (server, client, address)
}

fn bytes_go_both_ways_and_an_end_is_told<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    assert!(client.io.send(0, b"ping"));
    client.turn();
    server.until_received(0, 4);
    assert!(server.io.send(0, b"pong"));
    server.io.close(0);
    server.turn();
    client.until_received(0, 4);
    assert_eq!((server.received[0].as_slice(), client.received[0].as_slice()), (&b"ping"[..], &b"pong"[..]));
    server.turn();
    client.until(0, Event::Ended);
}

fn an_end_that_comes_with_the_last_bytes_is_not_lost<I: BackEnd>() {
    for _ in 0..50 {
        let (mut server, mut client, _) = connected::<I>();
        server.io.send(0, b"the last bytes");
        server.io.close(0);
        server.turn();
        server.turn();
        std::thread::sleep(Duration::from_millis(1)); // Bytes and end are there before the client looks.
        client.until(0, Event::Ended);
        assert_eq!(client.received[0], b"the last bytes");
    }
}

fn what_the_peer_does_not_read_waits_and_arrives_whole<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
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

fn a_send_that_fails_is_told_once_a_wait<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    assert!(!server.io.send(0, &vec![0; 30_000_000]));
    client.until_received(0, 1_000_000);
    client.io.close(0); // With bytes unread: the server is reset.
    client.turn();
    let deadline = Instant::now() + PATIENCE;
    let mut told = Vec::new();
    while told.is_empty() {
        told = server.turn();
        told.retain(|c| matches!(c.event, Event::Failed(..)));
        assert!(Instant::now() < deadline, "it never failed");
    }
    assert!(told.len() <= 2, "the send, and perhaps the receive: {told:?}");
}

fn a_refused_connection_fails<I: BackEnd>() {
    let (server, address) = Side::<I>::listening();
    drop(server);
    let mut client = Side::<I>::new();
    client.io.connect(3, &address);
    client.until(3, Event::Failed(Operation::Connect, Errno::CONNREFUSED));
}

fn a_slot_that_is_used_again_hears_nothing_of_its_past<I: BackEnd>() {
    let (mut server, mut client, address) = connected::<I>();
    server.io.send(0, b"for the first");
    server.turn();
    std::thread::sleep(Duration::from_millis(2));
    client.io.wait(Some(Duration::from_secs(1))).unwrap(); // The bytes are reported, and not yet taken.
    client.io.close(0);
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    server.until(1, Event::Accepted);
    server.io.send(1, b"for the second");
    server.turn();
    client.until_received(0, 14);
    assert_eq!(client.received[0], b"for the second");
}

fn slots_of_closed_connections_are_given_again<I: BackEnd>() {
    let (mut server, mut client, address) = connected::<I>();
    server.io.close(0);
    server.turn();
    client.io.connect(1, &address);
    client.until(1, Event::Connected);
    server.until(0, Event::Accepted);
}

fn many_small_sends_to_a_peer_that_does_not_read_stay_in_order<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let mut expected = Vec::new();
    for i in 0..200_000_u32 {
        let bytes = format!("[{i} of many, padded so that the kernel soon has no room]");
        server.io.send(0, bytes.as_bytes());
        expected.extend_from_slice(bytes.as_bytes());
        if i % 3 == 0 {
            server.io.wait(Some(Duration::ZERO)).unwrap();
            while server.io.next().is_some() {}
        }
    }
    let deadline = Instant::now() + PATIENCE;
    while client.received[0].len() < expected.len() {
        server.turn();
        client.turn();
        assert!(Instant::now() < deadline, "{} of {}", client.received[0].len(), expected.len());
    }
    assert!(client.received[0] == expected, "the bytes are not those that were sent");
}

fn what_was_sent_before_a_close_arrives<I: BackEnd>() {
    for size in [1, 1000, 100_000, 20_000_000] {
        let (mut server, mut client, _) = connected::<I>();
        let bytes: Vec<u8> = (0..size).map(|i: u32| (i % 249) as u8).collect();
        for chunk in bytes.chunks(5000) {
            server.io.send(0, chunk);
        }
        // As a server does: it closes when it knows that all was taken.
        let deadline = Instant::now() + PATIENCE;
        if size < 5000 {
            server.io.close(0);
        }
        while client.received[0].len() < bytes.len() {
            server.turn();
            client.turn();
            assert!(Instant::now() < deadline, "{} of {}", client.received[0].len(), bytes.len());
        }
        assert!(client.received[0] == bytes);
        if size < 5000 {
            server.turn();
            client.until(0, Event::Ended);
        }
    }
}

fn what_nobody_looks_at_is_dropped_and_what_follows_is_not<I: BackEnd>() {
    let (mut server, mut client, _) = connected::<I>();
    let body = vec![7; 300_000];
    for round in 0..20 {
        (client.skipped, client.received[0]) = (0, Vec::new());
        server.io.send(0, b"head\n");
        if round == 0 {
            server.turn();
            client.until_received(0, 5); // Later rounds bring head and body at once.
            client.io.skip(0, body.len() as u64);
        }
        let mut answer = body.clone();
        answer.extend_from_slice(b"tail");
        server.io.send(0, &answer);
        let deadline = Instant::now() + PATIENCE;
        let mut is_asked = round == 0;
        let whole = 5 + body.len() as u64 + 4;
        while client.received[0].len() as u64 + client.skipped < whole {
            server.turn();
            client.io.wait(Some(Duration::from_millis(5))).unwrap();
            while let Some(completion) = client.io.next() {
                match completion.event {
                    Event::Received => {
                        client.received[0].extend_from_slice(client.io.bytes());
                        if !is_asked && client.received[0].len() >= 5 {
                            is_asked = true;
                            client.io.skip(0, (5 + body.len() - client.received[0].len()) as u64);
                        }
                    }
                    Event::Skipped(n) => client.skipped += n,
                    other => panic!("{other:?}"),
                }
            }
            assert!(Instant::now() < deadline, "{} and {}", client.received[0].len(), client.skipped);
        }
        assert!(client.received[0].starts_with(b"head\n") && client.received[0].ends_with(b"tail"));
        assert!(client.received[0][5..client.received[0].len() - 4].iter().all(|byte| *byte == 7));
        assert!(round < 2 || client.skipped > 290_000, "{}", client.skipped);
    }
}

fn unix_sockets_and_chosen_source_addresses_connect<I: BackEnd>() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("socket");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let mut client = Side::<I>::new();
    client.io.connect(0, &Endpoint::Unix(path));
    client.until(0, Event::Connected);
    drop(listener);

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let from = Some(std::net::IpAddr::V4(Ipv4Addr::new(127, 0, 0, 9)));
    client.io.connect(1, &Endpoint::Tcp { to: listener.local_addr().unwrap(), from });
    client.until(1, Event::Connected);
    assert_eq!(Some(listener.accept().unwrap().1.ip()), from);
    client.io.connect(2, &Endpoint::Unix(folder.path().join("missing")));
    client.until(2, Event::Failed(Operation::Connect, Errno::NOENT));
}

fn more_bytes_than_there_are_buffers_arrive_whole<I: BackEnd>() {
    let (mut server, address) = Side::<I>::listening();
    let mut client = Side::<I>::new();
    let bytes: Vec<u8> = (0..400_000_u32).map(|i| (i % 241) as u8).collect();
    for slot in 0..32 {
        client.io.connect(slot, &address);
        client.until(slot, Event::Connected);
        server.until(slot, Event::Accepted);
        server.io.send(slot, &bytes);
    }
    std::thread::sleep(Duration::from_millis(20));
    let deadline = Instant::now() + PATIENCE;
    while client.received[..32].iter().any(|received| received.len() < bytes.len()) {
        server.turn();
        client.turn();
        assert!(Instant::now() < deadline);
    }
    assert!(client.received[..32].iter().all(|received| *received == bytes));
}

fn a_back_end_that_is_dropped_leaves_its_port<I: BackEnd>() {
    let (server, client, address) = connected::<I>();
    drop(server);
    let Endpoint::Tcp { to, .. } = address else { unreachable!() };
    // A program that another test is starting has a copy of the listener until it is executed.
    let deadline = Instant::now() + PATIENCE;
    while let Err(why) = std::net::TcpListener::bind(to) {
        assert!(Instant::now() < deadline, "the listener is still there: {why}");
        std::thread::sleep(Duration::from_millis(1));
    }
    drop(client);
}

fn a_reset_is_told_as_a_failure<I: BackEnd>() {
    let (mut server, mut client, address) = connected::<I>();
    server.io.send(0, b"lost, or not");
    server.io.reset(0);
    server.turn();
    client.until(0, Event::Failed(Operation::Receive, Errno::CONNRESET));
    server.io.reset(0); // Of what is closed: nothing.
    client.io.close(0);
    client.io.connect(0, &address);
    client.until(0, Event::Connected);
    server.until(0, Event::Accepted);
}

fn a_back_end_that_is_dropped_closes_connections_that_nobody_took<I: BackEnd>() {
    let (mut server, endpoint) = Side::<I>::listening();
    let Endpoint::Tcp { to: address, .. } = endpoint else { panic!("{endpoint:?}") };
    let mut clients: Vec<_> = (0..3).map(|_| std::net::TcpStream::connect(address).unwrap()).collect();
    // Its waits accept them, and it never looks at what they brought.
    for _ in 0..20 {
        server.io.wait(Some(Duration::from_millis(5))).unwrap();
    }
    drop(server);
    for client in &mut clients {
        client.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        match std::io::Read::read(client, &mut [0]) {
            Ok(n) => assert_eq!(n, 0),
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
    }
}

fn what_the_kernel_has_not_taken_is_known_and_an_early_answer_is_heard_first<I: BackEnd>() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let endpoint: Endpoint = listener.local_addr().unwrap().into();
    let mut client = Side::<I>::new();
    client.io.connect(0, &endpoint);
    client.until(0, Event::Connected);
    let (mut server, _) = listener.accept().unwrap();
    assert_eq!(client.io.unsent(0), 0);
    let bytes = vec![b'x'; 64 * 1024 * 1024];
    assert!(!client.io.send(0, &bytes), "more than the kernel takes");
    client.turn();
    let unsent = client.io.unsent(0);
    assert!(unsent > 0 && unsent < bytes.len() as u64, "{unsent}");
    // It answers and closes without reading the rest, which breaks the connection.
    std::io::Write::write_all(&mut server, b"early").unwrap();
    drop(server);
    let deadline = Instant::now() + PATIENCE;
    while !client.seen.iter().any(|completion| matches!(completion.event, Event::Ended | Event::Failed(..))) {
        client.turn();
        assert!(Instant::now() < deadline, "it never ended: {:?}, {:?}", client.seen, client.received[0]);
    }
    assert_eq!(client.received[0], b"early", "{:?}", client.seen);
    assert!(client.io.unsent(0) > 0, "known until it is closed");
    client.io.close(0);
    assert_eq!(client.io.unsent(0), 0);
}
