//! What arrives in other pieces than it was sent, or not as it was sent, or leaves late.

use super::certificates::Authority;
use super::sides::{Pair, epoll, pattern};
use net::{Completion, Epoll, Event, Io, Operation, Slot};
use rustls::version::{TLS12, TLS13};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A back end that hands on what it receives in pieces, with one byte bent if wanted.
struct Bent<I> {
    inner: I,
    piece: usize,
    /// Which of the bytes that are received is changed.
    changed: Option<usize>,
    received: usize,
    pieces: Vec<u8>,
    at: usize,
    slot: Slot,
    given: std::ops::Range<usize>,
}

impl<I> Bent<I> {
    fn new(inner: I, piece: usize, changed: Option<usize>) -> Self {
        Self { inner, piece, changed, received: 0, pieces: Vec::new(), at: 0, slot: 0, given: 0..0 }
    }
}

impl<I: Io> Io for Bent<I> {
    fn connect(&mut self, slot: Slot, to: &net::Endpoint) {
        self.inner.connect(slot, to);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.inner.listen(listener)
    }

    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.inner.send(slot, bytes)
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        self.inner.send_file(slot, file, offset, length)
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        self.inner.skip(slot, bytes);
    }

    fn reset(&mut self, slot: Slot) {
        self.inner.reset(slot);
    }

    fn close(&mut self, slot: Slot) {
        self.pieces.clear();
        self.at = 0;
        self.inner.close(slot);
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.inner.wait(longest)
    }

    fn next(&mut self) -> Option<Completion> {
        if self.at < self.pieces.len() {
            self.given = self.at..self.pieces.len().min(self.at + self.piece);
            self.at = self.given.end;
            return Some(Completion { slot: self.slot, event: Event::Received });
        }
        let completion = self.inner.next()?;
        if completion.event != Event::Received {
            return Some(completion);
        }
        self.pieces = self.inner.bytes().to_vec();
        self.at = 0;
        self.slot = completion.slot;
        let end = self.received + self.pieces.len();
        if let Some(bent) = self.changed.filter(|bent| (self.received..end).contains(bent)) {
            self.pieces[bent - self.received] ^= 0x41;
        }
        self.received = end;
        self.next()
    }

    fn bytes(&self) -> &[u8] {
        &self.pieces[self.given.clone()]
    }
}

/// A back end that has everything wait for a moment.
struct Slow {
    inner: Epoll,
    drained: Vec<Slot>,
}

impl Io for Slow {
    fn connect(&mut self, slot: Slot, to: &net::Endpoint) {
        self.inner.connect(slot, to);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.inner.listen(listener)
    }

    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        assert!(self.inner.send(slot, bytes), "a few bytes fit into any socket buffer");
        self.drained.push(slot);
        false
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        self.inner.send_file(slot, file, offset, length)
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        self.inner.skip(slot, bytes);
    }

    fn reset(&mut self, slot: Slot) {
        self.inner.reset(slot);
    }

    fn close(&mut self, slot: Slot) {
        self.drained.retain(|other| *other != slot);
        self.inner.close(slot);
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.inner.wait(longest)
    }

    fn next(&mut self) -> Option<Completion> {
        let drained = self.drained.pop().map(|slot| Completion { slot, event: Event::Drained });
        drained.or_else(|| self.inner.next())
    }

    fn bytes(&self) -> &[u8] {
        self.inner.bytes()
    }
}

#[test]
fn only_what_the_caller_sends_is_told_to_have_left() {
    let authority = Authority::new();
    let server = authority.leaf("localhost").server();
    let slow = || Slow { inner: epoll(), drained: Vec::new() };
    let mut pair = Pair::over(slow(), &authority.client(), slow(), &server);
    pair.client.io.connect(0, &pair.address.into());
    pair.client.until_next(0, Event::Connected);
    assert!(!pair.client.io.send(0, b"before the handshake"));
    let drained = |told: &[Completion]| told.iter().filter(|c| c.event == Event::Drained).count();
    pair.until(|client, server| drained(&client.told) > 0 && !server.has(0).is_empty());
    for _ in 0..3 {
        pair.turn();
    }
    let events: Vec<_> = pair.client.told.iter().map(|c| c.event).collect();
    assert_eq!(events, [Event::Connected, Event::Secured, Event::Drained]);
    // The server sent its part of the handshake, and tickets, unasked.
    assert_eq!(drained(&pair.server.told), 0);
    assert!(!pair.server.io.send(0, b"an answer"));
    pair.until(|client, server| drained(&server.told) == 1 && client.has(0) == b"an answer");
}

#[test]
fn records_may_come_in_any_pieces() {
    let authority = Authority::new();
    for version in [&TLS13, &TLS12] {
        let server = authority.leaf("localhost").server_with(&[version], None);
        for piece in [1, 2, 3, 5, 7, 64, 1_000, 16_401, 16_407] {
            let (below, below_server) = (Bent::new(epoll(), piece, None), Bent::new(epoll(), piece, None));
            let mut pair = Pair::over(below, &authority.client(), below_server, &server).connected();
            let bytes = pattern(40_000);
            pair.client.io.send(0, &bytes);
            pair.until(|_, server| server.has(0).len() >= bytes.len());
            pair.server.io.send(0, &bytes);
            pair.server.io.close(0);
            pair.until(|client, _| client.was_told(0, Event::Ended));
            assert!(pair.client.has(0) == bytes && pair.server.has(0) == bytes, "in pieces of {piece}");
        }
    }
}

/// Talks with one byte bent on its way to the client (or the server): what failed.
fn bend(authority: &Authority, to_client: bool, at: usize) -> Option<Operation> {
    let server = authority.leaf("localhost").server();
    let bent = |is_it: bool| Bent::new(epoll(), usize::MAX / 2, is_it.then_some(at));
    let mut pair = Pair::over(bent(to_client), &authority.client(), bent(!to_client), &server);
    pair.client.io.connect(0, &net::Endpoint::from(pair.address));
    let is_over = |event| matches!(event, Event::Ended | Event::Failed(..));
    let (mut is_asked, mut is_answered) = (false, false);
    // Lengths that were bent upwards make a side wait for what never comes: that is what timeouts are for.
    for _ in 0..30 {
        pair.turn();
        if !is_asked && pair.client.was_told(0, Event::Secured) {
            is_asked = true;
            pair.client.io.send(0, b"a question");
        }
        if !is_answered && pair.server.has(0) == b"a question" {
            is_answered = true;
            pair.server.io.send(0, b"an answer");
        }
        let told = pair.client.told.iter().chain(&pair.server.told);
        if told.into_iter().any(|c| is_over(c.event)) || pair.client.has(0) == b"an answer" {
            break;
        }
    }
    let (client, server) = (&pair.client, &pair.server);
    assert!(b"an answer".starts_with(client.has(0)), "bent at {at}: {:?}", client.has(0));
    assert!(b"a question".starts_with(server.has(0)), "bent at {at}: {:?}", server.has(0));
    let is_unexplained = |failure: Option<Operation>, reason: String| failure.is_some() && reason.is_empty();
    assert!(!is_unexplained(client.failure(0), client.reason(0)), "bent at {at}");
    assert!(!is_unexplained(server.failure(0), server.reason(0)), "bent at {at}");
    client.failure(0).or(server.failure(0))
}

#[test]
fn a_bent_byte_never_gets_through_and_never_panics() {
    let authority = Authority::new();
    let mut failed = 0;
    for at in (0..80).chain((80..1_200).step_by(7)) {
        for to_client in [true, false] {
            failed += u32::from(bend(&authority, to_client, at).is_some());
        }
    }
    assert!(failed > 200, "only {failed} were noticed");
}
