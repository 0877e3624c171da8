//! Bytes go both ways, whole and in order, whatever they are cut into; ends are told, clean or not.

use super::certificates::Authority;
use super::sides::{Pair, Side, pattern};
use crate::back_ends::{BackEnd, with_every_back_end};
use net::tls::{ClientOptions, ClientTls, ServerOptions, Tls};
use net::{Event, Io, Operation};
use rustls::version::{TLS12, TLS13};
use std::io::{Read, Write};
use std::net::TcpStream;

with_every_back_end!(
    bytes_go_both_ways_in_both_versions,
    a_certificate_made_at_the_start_serves_clients_that_believe_anyone,
    ten_megabytes_go_each_way_at_once,
    sends_of_every_size_arrive_whole,
    many_connections_keep_apart,
    what_is_sent_before_the_handshake_is_whole_waits_for_it,
    a_close_is_heard_as_a_clean_end_after_the_last_bytes,
    a_client_that_closes_is_heard_as_well,
    an_end_without_a_word_is_an_end_that_may_be_a_cut,
    a_peer_that_has_ended_can_still_be_answered,
    a_connection_closed_in_the_middle_of_a_body_fails_and_its_slots_are_good_again,
    a_connection_closed_in_the_middle_of_its_handshake_is_gone,
    a_refused_connection_fails_as_without_tls,
);

fn pair<I: BackEnd>() -> Pair<Tls<I>, Tls<I>> {
    let authority = Authority::new();
    Pair::between(&authority.client(), &authority.leaf("localhost").server())
}

fn bytes_go_both_ways_in_both_versions<I: BackEnd>() {
    for (version, name) in [(&TLS13, "TLS 1.3"), (&TLS12, "TLS 1.2")] {
        let authority = Authority::new();
        let server = authority.leaf("localhost").server_with(&[version], None);
        let mut pair = Pair::<Tls<I>, Tls<I>>::between(&authority.client(), &server).connected();
        pair.client.io.send(0, b"ping");
        pair.until(|_, server| server.has(0) == b"ping");
        // A header of 5 bytes, a tag of 16, and the type of the content or a nonce of 8.
        assert_eq!(pair.client.io.record_bytes(0), if name == "TLS 1.3" { 22 } else { 29 });
        pair.server.io.send(0, b"pong");
        pair.until(|client, _| client.has(0) == b"pong");
        for handshake in [pair.client.io.handshake(0).unwrap(), pair.server.io.handshake(0).unwrap()] {
            assert_eq!((handshake.protocol, handshake.is_resumed), (name, false));
            assert!(handshake.cipher_suite.starts_with("TLS_"), "{handshake:?}");
            assert_eq!(handshake.group, Some("X25519"));
        }
        // Both heard of a connection and then of its handshake.
        let events = |told: &[net::Completion]| {
            // Whether something has to wait is the back end's own affair.
            told.iter().map(|c| c.event).filter(|event| *event != Event::Drained).collect::<Vec<_>>()
        };
        assert_eq!(events(&pair.server.told), [Event::Accepted, Event::Secured]);
        assert_eq!(events(&pair.client.told), [Event::Connected, Event::Secured]);
    }
}

fn a_certificate_made_at_the_start_serves_clients_that_believe_anyone<I: BackEnd>() {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let server = ServerOptions::default().config().unwrap();
    for host in ["localhost", "127.0.0.1", "[::1]", "other.example"] {
        let mut pair =
            Pair::<Tls<I>, Tls<I>>::between(&ClientTls::new(&options, host).unwrap(), &server).connected();
        pair.client.io.send(0, host.as_bytes());
        pair.until(|_, server| server.has(0) == host.as_bytes());
    }
}

fn ten_megabytes_go_each_way_at_once<I: BackEnd>() {
    let mut pair = pair::<I>().connected();
    let bytes = pattern(10_000_000);
    assert!(!pair.client.io.send(0, &bytes), "no socket buffer holds 10 MB");
    assert!(!pair.server.io.send(0, &bytes));
    assert!(!pair.client.io.send(0, b"!"), "what is sent later waits behind");
    pair.until(|client, server| client.has(0).len() >= bytes.len() && server.has(0).len() > bytes.len());
    pair.until(|client, server| client.was_told(0, Event::Drained) && server.was_told(0, Event::Drained));
    assert!(
        pair.client.has(0) == bytes
            && pair.server.has(0).starts_with(&bytes)
            && pair.server.has(0).ends_with(b"!")
    );
    // Told once, not for every piece.
    let drained = |told: &[net::Completion]| told.iter().filter(|c| c.event == Event::Drained).count();
    assert_eq!((drained(&pair.client.told), drained(&pair.server.told)), (1, 1));
}

fn sends_of_every_size_arrive_whole<I: BackEnd>() {
    let mut pair = pair::<I>().connected();
    let sizes = [0, 1, 2, 3, 16_383, 16_384, 16_385, 65_535, 65_536, 65_537, 200_000].into_iter();
    let mut expected = Vec::new();
    for size in sizes.chain(std::iter::repeat_n(1, 3_000)) {
        let bytes = &pattern(expected.len() + size)[expected.len()..];
        pair.client.io.send(0, bytes);
        expected.extend_from_slice(bytes);
        if size > 1_000 {
            pair.turn();
        }
    }
    pair.until(|_, server| server.has(0).len() >= expected.len());
    assert!(pair.server.has(0) == expected);
}

fn many_connections_keep_apart<I: BackEnd>() {
    const CONNECTIONS: u32 = 200;
    let mut pair = pair::<I>();
    for slot in 0..CONNECTIONS {
        pair.client.io.connect(slot, &net::Endpoint::from(pair.address));
    }
    pair.until(|client, _| (0..CONNECTIONS).all(|slot| client.was_told(slot, Event::Secured)));
    for slot in 0..CONNECTIONS {
        pair.client.io.send(slot, format!("connection {slot}").as_bytes());
    }
    pair.until(|_, server| (0..CONNECTIONS).all(|slot| server.has(slot).len() >= "connection 0".len()));
    for slot in 0..CONNECTIONS {
        let echo = pair.server.received[&slot].clone();
        pair.server.io.send(slot, &echo);
    }
    pair.until(|client, _| {
        (0..CONNECTIONS).all(|slot| client.has(slot) == format!("connection {slot}").as_bytes())
    });
}

fn what_is_sent_before_the_handshake_is_whole_waits_for_it<I: BackEnd>() {
    let mut pair = pair::<I>();
    pair.client.io.connect(0, &net::Endpoint::from(pair.address));
    pair.client.until(|client| client.was_told(0, Event::Connected));
    assert!(!pair.client.io.send(0, b"too early, "));
    assert!(!pair.client.io.send(0, b"and in order"));
    pair.until(|client, server| client.was_told(0, Event::Drained) && server.has(0).len() >= 23);
    assert_eq!(pair.server.has(0), b"too early, and in order");
    let events: Vec<_> = pair.client.told.iter().map(|c| c.event).collect();
    assert_eq!(events, [Event::Connected, Event::Secured, Event::Drained]);
}

fn a_close_is_heard_as_a_clean_end_after_the_last_bytes<I: BackEnd>() {
    for _ in 0..20 {
        let mut pair = pair::<I>().connected();
        assert_eq!(pair.client.io.ended_cleanly(0), None);
        pair.until(|_, server| server.io.handshake(0).is_some());
        pair.server.io.send(0, b"the last bytes");
        pair.server.io.close(0);
        pair.until(|client, _| client.was_told(0, Event::Ended));
        assert_eq!(pair.client.has(0), b"the last bytes");
        assert_eq!(pair.client.io.ended_cleanly(0), Some(true));
        (0..3).for_each(|_| pair.turn());
        assert_eq!(pair.client.told.iter().filter(|c| c.event == Event::Ended).count(), 1);
        pair.client.io.close(0);
        assert_eq!(pair.client.io.ended_cleanly(0), None);
    }
}

fn a_client_that_closes_is_heard_as_well<I: BackEnd>() {
    let mut pair = pair::<I>().connected();
    if !pair.client.io.send(0, b"bye") {
        pair.until(|client, _| client.was_told(0, Event::Drained));
    }
    pair.client.io.close(0);
    pair.until(|_, server| server.was_told(0, Event::Ended));
    assert_eq!((pair.server.has(0), pair.server.io.ended_cleanly(0)), (&b"bye"[..], Some(true)));
}

/// rustls's own client, on a socket of its own.
fn blocking(authority: &Authority, to: &std::net::SocketAddr) -> (rustls::ClientConnection, TcpStream) {
    let config = authority.client().config;
    let connection = rustls::ClientConnection::new(config, "localhost".try_into().unwrap()).unwrap();
    (connection, TcpStream::connect(to).unwrap())
}

fn an_end_without_a_word_is_an_end_that_may_be_a_cut<I: BackEnd>() {
    let authority = Authority::new();
    let mut server = Side::new(Tls::server(I::make(), authority.leaf("localhost").server()));
    let address = server.listen();
    let peer = std::thread::spawn(move || {
        let (mut connection, mut socket) = blocking(&authority, &address);
        let mut stream = rustls::Stream::new(&mut connection, &mut socket);
        stream.write_all(b"half a qu").unwrap();
        stream.flush().unwrap();
        socket.shutdown(std::net::Shutdown::Write).unwrap();
        let mut rest = Vec::new();
        let _ = connection.complete_io(&mut socket);
        socket.read_to_end(&mut rest).ok();
    });
    server.until(|server| server.was_told(0, Event::Ended));
    assert_eq!((server.has(0), server.io.ended_cleanly(0)), (&b"half a qu"[..], Some(false)));
    server.io.close(0);
    server.until(|_| peer.is_finished());
}

fn a_peer_that_has_ended_can_still_be_answered<I: BackEnd>() {
    let authority = Authority::new();
    let mut server = Side::new(Tls::server(I::make(), authority.leaf("localhost").server()));
    let address = server.listen();
    let peer = std::thread::spawn(move || {
        let (mut connection, mut socket) = blocking(&authority, &address);
        let mut stream = rustls::Stream::new(&mut connection, &mut socket);
        stream.write_all(b"the only question").unwrap();
        connection.send_close_notify();
        let mut answer = String::new();
        rustls::Stream::new(&mut connection, &mut socket).read_to_string(&mut answer).unwrap();
        answer
    });
    server.until(|server| server.was_told(0, Event::Ended));
    assert_eq!(server.io.ended_cleanly(0), Some(true));
    server.io.send(0, b"the answer");
    server.io.close(0);
    server.until(|_| peer.is_finished());
    // Without the server's last word, rustls's reader would call the end unexpected.
    assert_eq!(peer.join().unwrap(), "the answer");
}

fn a_connection_closed_in_the_middle_of_a_body_fails_and_its_slots_are_good_again<I: BackEnd>() {
    let mut pair = pair::<I>().connected();
    pair.until(|_, server| server.io.handshake(0).is_some());
    assert!(!pair.server.io.send(0, &pattern(10_000_000)));
    pair.until(|client, _| client.has(0).len() > 1_000_000);
    pair.client.io.close(0);
    pair.client.received.clear();
    let is_over = |event| matches!(event, Event::Ended | Event::Failed(..));
    pair.until(|_, server| server.told.iter().any(|c| c.slot == 0 && is_over(c.event)));
    pair.server.io.close(0);
    pair.client.told.clear();
    pair.server.told.clear();
    pair.secure(0);
    let slot = pair.server.accepted()[0];
    pair.until(|_, server| server.io.handshake(slot).is_some());
    pair.server.io.send(slot, b"for the second");
    pair.until(|client, _| client.has(0).len() >= 14);
    assert_eq!(pair.client.has(0), b"for the second", "nothing of its past");
}

fn a_connection_closed_in_the_middle_of_its_handshake_is_gone<I: BackEnd>() {
    let mut pair = pair::<I>();
    pair.client.io.connect(0, &net::Endpoint::from(pair.address));
    pair.client.until(|client| client.was_told(0, Event::Connected));
    pair.client.io.close(0);
    pair.until(|_, server| server.failure(0).is_some());
    assert_eq!(pair.server.failure(0), Some(Operation::Handshake));
    assert_eq!(
        pair.server.reason(0),
        "the client closed the connection in the middle of the handshake: does it speak TLS?"
    );
    // At once, before the greeting: nothing is said on a connection that is closed, nor on the next too early.
    pair.client.told.clear();
    pair.client.io.connect(1, &pair.address.into());
    pair.client.until_next(1, Event::Connected);
    pair.client.io.close(1);
    pair.secure(1);
    let events: Vec<_> = pair.client.told.iter().map(|c| c.event).collect();
    assert_eq!(events, [Event::Connected, Event::Connected, Event::Secured]);
}

fn a_refused_connection_fails_as_without_tls<I: BackEnd>() {
    let Pair { mut client, server, address } = pair::<I>();
    drop(server);
    client.io.connect(3, &net::Endpoint::from(address));
    client.until(|client| client.failure(3).is_some());
    assert_eq!((client.failure(3), client.io.reason(3)), (Some(Operation::Connect), None));
}
