//! Peers that do not speak TLS, or not the same: each fails at once and says why, and none hangs.

use super::certificates::Authority;
use super::sides::{Pair, Side};
use crate::back_ends::{BackEnd, with_every_back_end};
use net::tls::{ClientTls, Tls};
use net::{Event, Io, Operation};
use rustls::version::{TLS12, TLS13};
use std::sync::Arc;

with_every_back_end!(a_plain_server, a_plain_client, anything_at_all_may_arrive);

/// A TLS client and a server that answers the first bytes with these, or closes if there are none.
fn answered_with<I: BackEnd>(answer: &[u8]) -> String {
    let client = Tls::client(I::make(), Authority::new().client());
    let mut pair = Pair::of(client, I::make());
    pair.client.io.connect(0, &net::Endpoint::from(pair.address));
    pair.until(|_, server| !server.has(0).is_empty());
    if answer.is_empty() {
        pair.server.io.close(0);
    } else {
        pair.server.io.send(0, answer);
    }
    pair.until(|client, _| client.failure(0).is_some());
    assert_eq!(pair.client.failure(0), Some(Operation::Handshake));
    let reason = pair.client.reason(0);
    // Nothing more is told of it, whatever else comes.
    let told = pair.client.told.len();
    pair.server.io.send(0, b"and more");
    pair.server.io.close(0);
    (0..5).for_each(|_| pair.turn());
    assert_eq!(pair.client.told.len(), told);
    pair.client.io.close(0);
    assert_eq!(pair.client.io.reason(0), None);
    reason
}

fn a_plain_server<I: BackEnd>() {
    assert_eq!(
        answered_with::<I>(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
        "the server does not speak TLS (it answered in plain HTTP): use http:// instead of https://"
    );
    assert_eq!(
        answered_with::<I>(b"220 mail.example ESMTP\r\n"),
        "the server does not speak TLS (it answered with something else)"
    );
    assert_eq!(
        answered_with::<I>(b""),
        "the server closed the connection in the middle of the handshake: does it speak TLS?"
    );
}

fn a_plain_client<I: BackEnd>() {
    let server = Authority::new().leaf("localhost").server();
    let mut pair = Pair::of(I::make(), Tls::server(I::make(), server));
    pair.client.io.connect(0, &net::Endpoint::from(pair.address));
    pair.client.until(|client| client.was_told(0, Event::Connected));
    pair.client.io.send(0, b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    pair.until(|_, server| server.failure(0).is_some());
    assert_eq!(pair.server.failure(0), Some(Operation::Handshake));
    assert_eq!(pair.server.reason(0), "the client does not speak TLS (it sent something else)");
    assert!(pair.server.has(0).is_empty());
    pair.server.io.close(0);
    // An alert, and the end: the client knows at once.
    pair.until(|client, _| client.told.len() > 1);
    // A record, of which an alert is one (RFC 8446 section 5.1).
    assert!(matches!(pair.client.has(0), [20..=23, 3, 0..=4, ..]), "{:?}", pair.client.has(0));
}

#[test]
fn versions_without_a_match() {
    let authority = Authority::new();
    let leaf = authority.leaf("localhost");
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let expected =
        "and drome have no version of TLS in common: drome speaks 1.2 and 1.3, or the one that it was told";
    for (ours, theirs) in [(&TLS13, &TLS12), (&TLS12, &TLS13)] {
        let config = rustls::ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&[ours])
            .unwrap()
            .with_root_certificates(roots.clone())
            .with_no_client_auth();
        let client = ClientTls::with_config(config, "localhost", false).unwrap();
        let mut pair = Pair::new(&client, &leaf.server_with(&[theirs], None));
        assert_eq!(pair.refused(), format!("the server {expected}"));
        pair.until(|_, server| server.failure(0).is_some());
        assert_eq!(pair.server.reason(0), format!("the client {expected}"));
    }
}

#[test]
fn a_server_of_another_protocol() {
    let authority = Authority::new();
    let mut server = (*authority.leaf("localhost").server()).clone();
    server.alpn_protocols = vec![b"h2".to_vec()];
    let mut pair = Pair::new(&authority.client(), &Arc::new(server));
    assert_eq!(pair.refused(), "the server speaks none of the protocols that were offered to it (ALPN)");
}

/// What a server hears from a scanner, or from someone who means ill.
fn anything_at_all_may_arrive<I: BackEnd>() {
    let mut server = Side::new(Tls::server(I::make(), Authority::new().leaf("localhost").server()));
    let address = server.listen();
    let mut client = Side::new(I::make());
    let hello = [22_u8, 3, 1, 0, 4, 1, 0, 0, 0];
    let no_end = [&[22_u8, 3, 1, 0, 4, 1, 0, 0xff, 0xff][..], &[22, 3, 1, 0, 1, 0].repeat(3_000)].concat();
    for bytes in
        [&[0; 100][..], &[22; 100], &hello, &no_end, &[21, 3, 3, 0, 2, 1, 0], &[20, 3, 3, 0, 1, 1], b"\x16"]
    {
        client.io.connect(0, &net::Endpoint::from(address));
        client.until(|client| client.was_told(0, Event::Connected));
        client.io.send(0, bytes);
        client.io.close(0);
        client.turn();
        client.told.clear();
        server.until(|server| server.told.iter().any(|c| matches!(c.event, Event::Failed(..))));
        let slot = server.accepted()[0];
        assert_eq!(server.failure(slot), Some(Operation::Handshake));
        assert!(!server.reason(slot).is_empty());
        server.io.close(slot);
        server.told.clear();
    }
}
