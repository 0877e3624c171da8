//! Handshakes that go on from earlier sessions: where both sides want it, and only there.

use super::certificates::Authority;
use super::sides::Pair;
use crate::back_ends::{BackEnd, with_every_back_end};
use net::tls::{ClientOptions, ClientTls, ServerOptions, Tls};
use net::{Event, Io, Slot};
use rustls::version::{TLS12, TLS13};

with_every_back_end!(both_sides_must_want_it, both_versions_can, of_many_connections_at_once_all_are_resumed);

fn client(resume: bool) -> ClientTls {
    ClientTls::new(&ClientOptions { insecure: true, resume, ..ClientOptions::default() }, "localhost")
        .unwrap()
}

/// How many of so many handshakes, one after the other, were resumed.
fn resumed<I: BackEnd>(client: &ClientTls, server: &std::sync::Arc<rustls::ServerConfig>) -> usize {
    let mut pair = Pair::<Tls<I>, Tls<I>>::between(client, server);
    let mut resumed = 0;
    for at in 0..5 {
        pair.client.told.clear();
        pair.server.received.clear();
        pair.secure(0);
        pair.client.io.send(0, b"?");
        pair.until(|_, server| server.received.len() == 1);
        let slot = *pair.server.received.keys().next().unwrap();
        let handshake = pair.client.io.handshake(0).unwrap();
        assert_eq!(pair.server.io.handshake(slot), Some(handshake), "both sides see the same");
        resumed += usize::from(handshake.is_resumed);
        assert!(at > 0 || !handshake.is_resumed, "the first has nothing to go on from");
        // An answer: what the server remembers for the client came before it.
        pair.client.received.clear();
        pair.server.io.send(slot, b"!");
        pair.until(|client, _| client.has(0) == b"!");
        pair.client.io.close(0);
        assert_eq!(pair.client.io.handshake(0), None);
        pair.until(|_, server| server.was_told(slot, Event::Ended));
        pair.server.told.clear();
        pair.server.io.close(slot);
    }
    resumed
}

fn both_sides_must_want_it<I: BackEnd>() {
    for (by_client, by_server) in [(true, true), (true, false), (false, true), (false, false)] {
        let server = ServerOptions { resume: by_server, ..ServerOptions::default() }.config().unwrap();
        let expected = if by_client && by_server { 4 } else { 0 };
        assert_eq!(
            resumed::<I>(&client(by_client), &server),
            expected,
            "client {by_client}, server {by_server}"
        );
    }
}

fn both_versions_can<I: BackEnd>() {
    for version in [&TLS13, &TLS12] {
        let server = Authority::new().leaf("localhost").server_with(&[version], None);
        assert_eq!(resumed::<I>(&client(true), &server), 4);
    }
}

fn of_many_connections_at_once_all_are_resumed<I: BackEnd>() {
    const CONNECTIONS: Slot = 100;
    let mut pair =
        Pair::<Tls<I>, Tls<I>>::between(&client(true), &ServerOptions::default().config().unwrap());
    for round in 0..3 {
        pair.client.told.clear();
        pair.server.told.clear();
        pair.client.received.clear();
        for slot in 0..CONNECTIONS {
            pair.client.io.connect(slot, &net::Endpoint::from(pair.address));
        }
        pair.until(|client, _| (0..CONNECTIONS).all(|slot| client.was_told(slot, Event::Secured)));
        let resumed =
            (0..CONNECTIONS).filter(|slot| pair.client.io.handshake(*slot).unwrap().is_resumed).count();
        assert_eq!(resumed, if round == 0 { 0 } else { CONNECTIONS as usize }, "round {round}");
        let accepted = pair.server.accepted();
        pair.until(|_, server| accepted.iter().all(|slot| server.io.handshake(*slot).is_some()));
        for slot in &accepted {
            pair.server.io.send(*slot, b"!");
        }
        pair.until(|client, _| (0..CONNECTIONS).all(|slot| client.has(slot) == b"!"));
        (0..CONNECTIONS).for_each(|slot| pair.client.io.close(slot));
        pair.until(|_, server| accepted.iter().all(|slot| server.was_told(*slot, Event::Ended)));
        for slot in &accepted {
            pair.server.io.close(*slot);
        }
    }
}

#[test]
fn each_worker_has_a_memory_of_its_own() {
    let server = ServerOptions::default().config().unwrap();
    let one = client(true);
    assert_eq!(resumed::<net::Epoll>(&one, &server), 4);
    assert_eq!(resumed::<net::Epoll>(&one.with_own_memory(), &server), 4); // Its first is checked to be a full one.
}
