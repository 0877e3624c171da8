//! Files over TLS: a peer that does not read holds up a few records and nothing else, and one that reads quickly does not keep others waiting.

use super::certificates::Authority;
use super::sides::{Pair, pattern};
use crate::back_ends::{BackEnd, with_every_back_end};
use net::tls::Tls;
use net::{Completion, Endpoint, Errno, Event, Io, Operation, Slot};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

with_every_back_end!(
    a_file_for_a_peer_that_does_not_read_stays_where_it_is,
    one_that_reads_a_large_file_does_not_keep_others_waiting,
    what_follows_a_file_comes_after_it,
    a_file_that_is_sent_before_the_handshake_is_whole_is_not_read_before_it,
    a_file_that_is_too_short_fails_once,
    a_connection_that_is_closed_within_a_file_leaves_nothing_behind,
);

/// No socket buffers of this machine hold as much.
const LARGE: u64 = 1 << 32;

/// Four records of TLS, with their heads and tags.
const CHUNK_BYTES: usize = 4 * 16_406;

/// What was handed to a back end.
#[derive(Default)]
struct Watch {
    /// Since the peer had to read first, by slot.
    behind: HashMap<Slot, usize>,
    most_behind: usize,
    /// Since the last wait, by slot.
    in_turn: HashMap<Slot, usize>,
    most_in_turn: usize,
    all: usize,
}

/// Counts what is handed to a back end.
struct Counted<I> {
    inner: I,
    watch: Rc<RefCell<Watch>>,
}

impl<I: Io> Io for Counted<I> {
    fn connect(&mut self, slot: Slot, to: &Endpoint) {
        self.inner.connect(slot, to);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.inner.listen(listener)
    }

    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let watch = &mut *self.watch.borrow_mut();
        watch.all += bytes.len();
        let in_turn = watch.in_turn.entry(slot).or_default();
        *in_turn += bytes.len();
        watch.most_in_turn = watch.most_in_turn.max(*in_turn);
        if let Some(behind) = watch.behind.get_mut(&slot) {
            *behind += bytes.len();
            watch.most_behind = watch.most_behind.max(*behind);
        }
        let is_sent = self.inner.send(slot, bytes);
        if !is_sent {
            watch.behind.entry(slot).or_default();
        }
        is_sent
    }

    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        self.inner.send_file(slot, file, offset, length)
    }

    fn skip(&mut self, slot: Slot, bytes: u64) {
        self.inner.skip(slot, bytes);
    }

    fn close(&mut self, slot: Slot) {
        self.watch.borrow_mut().behind.remove(&slot);
        self.inner.close(slot);
    }

    fn reset(&mut self, slot: Slot) {
        self.inner.reset(slot);
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.watch.borrow_mut().in_turn.clear();
        self.inner.wait(longest)
    }

    fn next(&mut self) -> Option<Completion> {
        let completion = self.inner.next()?;
        if completion.event == Event::Drained {
            self.watch.borrow_mut().behind.remove(&completion.slot);
        }
        Some(completion)
    }

    fn bytes(&self) -> &[u8] {
        self.inner.bytes()
    }
}

type Both<I> = Pair<Tls<I>, Tls<Counted<I>>>;

fn pair<I: BackEnd>() -> (Both<I>, Rc<RefCell<Watch>>) {
    let authority = Authority::new();
    let server = authority.leaf("localhost").server();
    let watch = Rc::new(RefCell::new(Watch::default()));
    let below = Counted { inner: I::make(), watch: Rc::clone(&watch) };
    (Pair::over(I::make(), &authority.client(), below, &server), watch)
}

fn file(bytes: &[u8]) -> Arc<OwnedFd> {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    Arc::new(file.into())
}

fn large_file() -> Arc<OwnedFd> {
    let file = tempfile::tempfile().unwrap();
    file.set_len(LARGE).unwrap();
    Arc::new(file.into())
}

fn a_file_for_a_peer_that_does_not_read_stays_where_it_is<I: BackEnd>() {
    let (pair, watch) = pair::<I>();
    let mut pair = pair.connected();
    pair.server.io.send(0, b"head");
    assert!(!pair.server.io.send_file(0, &large_file(), 0, LARGE));
    // The peer's socket and the server's are full after some turns.
    let mut before = 0;
    for _ in 0..10_000 {
        pair.server.turn();
        let all = watch.borrow().all;
        if all == before {
            break;
        }
        before = all;
    }
    (0..10).for_each(|_| pair.server.turn());
    let watch = watch.borrow();
    assert!(watch.most_behind <= CHUNK_BYTES, "{} bytes wait in memory", watch.most_behind);
    assert!(watch.all < 64 << 20, "{} bytes of a socket's room", watch.all);
    assert!(!pair.server.was_told(0, Event::Drained));
}

fn one_that_reads_a_large_file_does_not_keep_others_waiting<I: BackEnd>() {
    let (pair, watch) = pair::<I>();
    let mut pair = pair.connected();
    pair.secure(1);
    let [large, other] = pair.server.accepted()[..] else { panic!("two connections") };
    pair.server.io.send_file(large, &large_file(), 0, LARGE);
    pair.client.io.send(1, b"ping");
    pair.until(|_, server| server.has(other) == b"ping");
    pair.server.io.send(other, b"pong");
    pair.until(|client, _| client.has(1) == b"pong");
    assert!(pair.client.has(0).len() < LARGE as usize / 2);
    let watch = watch.borrow();
    assert!(watch.most_in_turn <= 5 * CHUNK_BYTES, "{} bytes in one turn", watch.most_in_turn);
}

fn what_follows_a_file_comes_after_it<I: BackEnd>() {
    let (pair, watch) = pair::<I>();
    let mut pair = pair.connected();
    let (bytes, small) = (pattern(20_000_000), pattern(70_000));
    let (large_one, small_one) = (file(&bytes), file(&small));
    let io = &mut pair.server.io;
    io.send_more(0, b"<");
    assert!(!io.send_file(0, &large_one, 1, bytes.len() as u64 - 1));
    assert!(!io.send(0, b"|") && !io.send(0, b"|"));
    assert!(!io.send_file(0, &small_one, 0, small.len() as u64) && !io.send_file(0, &small_one, 7, 0));
    assert!(!io.send(0, b">"));
    let expected = [b"<", &bytes[1..], b"||", &small, b">"].concat();
    pair.until(|client, _| client.has(0).len() >= expected.len());
    assert!(pair.client.has(0) == expected, "the bytes are not those that were sent");
    pair.until(|_, server| server.was_told(0, Event::Drained));
    let drained = pair.server.told.iter().filter(|c| c.event == Event::Drained).count();
    assert!(drained == 1 && watch.borrow().most_behind <= CHUNK_BYTES + 64, "told {drained} times");
    // And one that needs no waiting.
    assert!(pair.server.io.send_file(0, &small_one, 0, 10));
    pair.until(|client, _| client.has(0).ends_with(&small[..10]));
    assert_eq!(Arc::strong_count(&large_one), 1);
}

fn a_file_that_is_sent_before_the_handshake_is_whole_is_not_read_before_it<I: BackEnd>() {
    let (mut pair, watch) = pair::<I>();
    pair.client.io.connect(0, &Endpoint::from(pair.address));
    pair.until(|_, server| server.was_told(0, Event::Accepted));
    assert!(!pair.server.io.send(0, b"<"));
    assert!(!pair.server.io.send_file(0, &large_file(), 0, LARGE));
    pair.until(|client, _| client.has(0).len() > 1_000_000);
    assert!(pair.client.has(0).starts_with(b"<\0\0"));
    assert!(watch.borrow().most_behind <= CHUNK_BYTES, "{}", watch.borrow().most_behind);
}

fn a_file_that_is_too_short_fails_once<I: BackEnd>() {
    let (pair, _) = pair::<I>();
    let mut pair = pair.connected();
    pair.server.io.send_file(0, &file(&pattern(100_000)), 0, 200_000);
    let failed = Event::Failed(Operation::Send, Errno::IO);
    pair.until(|client, server| client.has(0).len() == 100_000 && server.was_told(0, failed));
    (0..3).for_each(|_| pair.turn());
    let told = pair.server.told.iter().filter(|c| matches!(c.event, Event::Failed(..) | Event::Drained));
    assert_eq!(told.count(), 1);
}

fn a_connection_that_is_closed_within_a_file_leaves_nothing_behind<I: BackEnd>() {
    for by_reset in [false, true] {
        let (pair, _) = pair::<I>();
        let mut pair = pair.connected();
        let large = large_file();
        pair.server.io.send_file(0, &large, 0, LARGE);
        if by_reset {
            pair.server.io.reset(0);
        } else {
            pair.server.io.close(0);
        }
        assert_eq!(Arc::strong_count(&large), 1);
        assert!(pair.server.io.next().is_none_or(|c| c.event != Event::Drained));
        // Its slot is good again.
        pair.until(|client, _| {
            client
                .told
                .iter()
                .any(|c| c.slot == 0 && c.event != Event::Connected && c.event != Event::Secured)
        });
        pair.client.io.close(0);
        pair.secure(1);
        assert_eq!(pair.server.accepted(), [0, 0]);
        pair.server.io.send(0, b"hello");
        pair.until(|client, _| client.has(1) == b"hello");
    }
}
