//! A back end without sockets, whose clock only moves when a worker waits: a script decides what happens to every connection and to every
//! request, and when.

use net::{Completion, Endpoint, Errno, Event, Handshake, Io, Operation, Slot};
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

pub const MS: u64 = 1_000_000;
pub const SECOND: u64 = 1_000_000_000;

/// The clock when a test begins: no moment is 0.
pub const START: u64 = 5 * SECOND;

/// How long it takes to look for completions and find none.
const LOOK_NS: u64 = 1_000;

/// Something that the worker asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// Open a connection; it is the `nth` of all, counted from 0.
    Connect { nth: usize },
    /// Send `requests` requests on the `nth` connection at once; `before` were sent on it earlier.
    Send { nth: usize, requests: usize, before: usize },
}

/// How the peer responds to a call.
#[derive(Clone, Debug)]
pub enum What {
    Connected,
    Secured,
    Bytes(Vec<u8>),
    /// The peer's end; whether it was announced, where there is TLS.
    Ended(Option<bool>),
    Failed(Operation, Errno),
}

/// Decides how the peer responds to a call: what happens, each with its delay after the call in nanoseconds.
pub type Script<'s> = Box<dyn FnMut(Call) -> Vec<(u64, What)> + 's>;

#[derive(Clone, Copy, Debug, Default)]
struct Peer {
    nth: usize,
    generation: usize,
    is_open: bool,
    requests: usize,
    ended_cleanly: Option<bool>,
    has_ended: bool,
}

/// How a connection was closed, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// After its peer.
    AfterPeer(u64),
    /// Before its peer.
    First(u64),
    /// Before its peer, with a reset.
    Reset(u64),
}

/// A connection that was given up and whose peer may close it first.
struct Retired {
    nth: usize,
    until_ns: u64,
    /// When the peer will close it.
    ends_ns: u64,
}

/// What a test sees of the back end after the worker has consumed it.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// When each connection was asked for.
    pub connects_ns: Vec<u64>,
    /// When each send left.
    pub handed_over_ns: Vec<u64>,
    /// How each connection was closed, by its number.
    pub closed: BTreeMap<usize, Closed>,
}

/// The back end.
pub struct Fake<'s> {
    script: Script<'s>,
    /// Several back ends may share one.
    clock: Rc<Cell<u64>>,
    peers: Vec<Peer>,
    /// When, in which order, on which slot and generation, what.
    due: BinaryHeap<Reverse<(u64, usize, Slot, usize)>>,
    what: Vec<What>,
    retired: Vec<Retired>,
    bytes: Vec<u8>,
    /// Sends that have not left yet, and what one takes.
    waiting: Vec<(Slot, usize, Call)>,
    pub send_takes_ns: u64,
    /// What the worker takes for each completion.
    pub completion_takes_ns: u64,
    /// Whether a send leaves at once, not when the worker waits.
    pub sends_at_once: bool,
    /// When it breaks; `u64::MAX`: never.
    pub breaks_ns: u64,
    /// The part of each send that the kernel never takes.
    pub unsent_bytes: u64,
    /// How many bytes more TLS makes of each request.
    pub record_bytes: u64,
    request_bytes: usize,
    pub seen: Rc<RefCell<Seen>>,
}

impl<'s> Fake<'s> {
    /// A back end whose requests have `request_bytes` bytes each.
    pub fn new(request_bytes: usize, script: Script<'s>) -> Self {
        Self::on(Rc::new(Cell::new(START)), request_bytes, script)
    }

    /// The same on a clock that other back ends share.
    pub fn on(clock: Rc<Cell<u64>>, request_bytes: usize, script: Script<'s>) -> Self {
        Self {
            script,
            clock,
            peers: Vec::new(),
            due: BinaryHeap::new(),
            what: Vec::new(),
            retired: Vec::new(),
            bytes: Vec::new(),
            waiting: Vec::new(),
            send_takes_ns: 0,
            completion_takes_ns: 0,
            sends_at_once: false,
            breaks_ns: u64::MAX,
            unsent_bytes: 0,
            record_bytes: 0,
            request_bytes,
            seen: Rc::default(),
        }
    }

    fn call(&mut self, slot: Slot, call: Call) {
        for (after_ns, what) in (self.script)(call) {
            self.happens(slot, after_ns, what);
        }
    }

    /// Makes something happen on a connection after this time, if it is still open then.
    pub fn happens(&mut self, slot: Slot, after_ns: u64, what: What) {
        let generation = self.peers[slot as usize].generation;
        self.due.push(Reverse((self.now_ns() + after_ns, self.what.len(), slot, generation)));
        self.what.push(what);
    }

    fn hand_over(&mut self) {
        for (slot, generation, call) in std::mem::take(&mut self.waiting) {
            self.clock.set(self.now_ns() + self.send_takes_ns);
            self.seen.borrow_mut().handed_over_ns.push(self.now_ns());
            let peer = self.peers[slot as usize];
            if peer.is_open && peer.generation == generation {
                self.call(slot, call);
            }
        }
    }

    /// Closes retired connections whose peer has closed them.
    fn close_after_peers(&mut self) {
        let now = self.now_ns();
        let mut seen = self.seen.borrow_mut();
        self.retired.retain(|retired| {
            if retired.ends_ns <= now {
                seen.closed.insert(retired.nth, Closed::AfterPeer(now));
            }
            retired.ends_ns > now
        });
    }

    fn has_something(&mut self) -> bool {
        while let Some(Reverse((_, _, slot, generation))) = self.due.peek() {
            let peer = self.peers[*slot as usize];
            if peer.is_open && peer.generation == *generation {
                break;
            }
            self.due.pop();
        }
        self.due.peek().is_some_and(|Reverse((at_ns, ..))| *at_ns <= self.now_ns())
    }
}

impl Io for Fake<'_> {
    fn connect(&mut self, slot: Slot, _: &Endpoint) {
        let mut seen = self.seen.borrow_mut();
        let nth = seen.connects_ns.len();
        seen.connects_ns.push(self.now_ns());
        drop(seen);
        let index = slot as usize;
        if index >= self.peers.len() {
            self.peers.resize(index + 1, Peer::default());
        }
        assert!(!self.peers[index].is_open, "slot {slot} is opened twice");
        let generation = self.peers[index].generation + 1;
        self.peers[index] = Peer { nth, generation, is_open: true, ..Peer::default() };
        self.call(slot, Call::Connect { nth });
    }

    fn listen(&mut self, _: OwnedFd) -> std::io::Result<()> {
        Ok(())
    }

    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let peer = &mut self.peers[slot as usize];
        assert!(peer.is_open, "a send on slot {slot}, which is closed");
        let requests = bytes.len() / self.request_bytes;
        assert_eq!(bytes.len() % self.request_bytes, 0, "whole requests");
        let call = Call::Send { nth: peer.nth, requests, before: peer.requests };
        peer.requests += requests;
        let generation = peer.generation;
        self.waiting.push((slot, generation, call));
        if self.sends_at_once {
            self.hand_over();
        }
        self.unsent_bytes == 0
    }

    fn unsent(&self, _: Slot) -> u64 {
        self.unsent_bytes
    }

    fn record_bytes(&self, _: Slot) -> u64 {
        self.record_bytes
    }

    fn sends_at_once(&self) -> bool {
        self.sends_at_once
    }

    fn send_file(&mut self, _: Slot, _: &Arc<OwnedFd>, _: u64, _: u64) -> bool {
        true
    }

    fn skip(&mut self, _: Slot, _: u64) {}

    fn close(&mut self, slot: Slot) {
        let now = self.now_ns();
        if let Some(peer) = self.peers.get_mut(slot as usize).filter(|peer| peer.is_open) {
            peer.is_open = false;
            let closed = if peer.has_ended { Closed::AfterPeer(now) } else { Closed::First(now) };
            self.seen.borrow_mut().closed.insert(peer.nth, closed);
        }
    }

    fn reset(&mut self, slot: Slot) {
        self.close(slot);
    }

    fn retire(&mut self, slot: Slot, until_ns: u64) {
        let peer = &mut self.peers[slot as usize];
        assert!(peer.is_open, "slot {slot}, which is closed, is given up");
        if peer.has_ended {
            return self.close(slot);
        }
        peer.is_open = false;
        let Peer { nth, generation, .. } = *peer;
        let is_end = |what: usize| matches!(self.what[what], What::Ended(_) | What::Failed(..));
        let ends = self
            .due
            .iter()
            .filter(|Reverse((_, what, of, born))| (*of, *born) == (slot, generation) && is_end(*what));
        let ends_ns = ends.map(|Reverse((at_ns, ..))| *at_ns).min().unwrap_or(u64::MAX);
        self.retired.push(Retired { nth, until_ns, ends_ns });
    }

    fn retired_until_ns(&self) -> Option<u64> {
        self.retired.iter().map(|retired| retired.until_ns).min()
    }

    fn close_retired(&mut self, now_ns: u64) {
        self.close_after_peers();
        let mut seen = self.seen.borrow_mut();
        self.retired.retain(|retired| {
            if retired.until_ns <= now_ns {
                seen.closed.insert(retired.nth, Closed::Reset(self.clock.get()));
            }
            retired.until_ns > now_ns
        });
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.hand_over();
        Ok(())
    }

    fn now_ns(&self) -> u64 {
        self.clock.get()
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        self.hand_over();
        self.close_after_peers();
        if self.now_ns() >= self.breaks_ns {
            return Err(Errno::NOMEM.into());
        }
        if self.has_something() {
            return Ok(true);
        }
        let longest_ns = longest.map_or(u64::MAX, |longest| longest.as_nanos() as u64).max(LOOK_NS);
        let until_ns = self.now_ns().saturating_add(longest_ns);
        let next_ns = self.due.peek().map_or(u64::MAX, |Reverse((at_ns, ..))| *at_ns);
        // Another back end may have been waited for beyond what is due here.
        let ends_ns = self.retired.iter().map(|retired| retired.ends_ns).min().unwrap_or(u64::MAX);
        self.clock.set(until_ns.min(next_ns).min(ends_ns).max(self.now_ns()));
        self.close_after_peers();
        assert!(self.now_ns() < u64::MAX, "the worker waits for ever");
        Ok(self.has_something())
    }

    fn next(&mut self) -> Option<Completion> {
        if !self.has_something() {
            return None;
        }
        let Reverse((_, what, slot, _)) = self.due.pop()?;
        self.clock.set(self.now_ns() + self.completion_takes_ns);
        let event = match std::mem::replace(&mut self.what[what], What::Connected) {
            What::Connected => Event::Connected,
            What::Secured => Event::Secured,
            What::Failed(operation, errno) => {
                self.peers[slot as usize].has_ended = true;
                Event::Failed(operation, errno)
            }
            What::Bytes(bytes) => {
                self.bytes = bytes;
                Event::Received
            }
            What::Ended(cleanly) => {
                let peer = &mut self.peers[slot as usize];
                (peer.ended_cleanly, peer.has_ended) = (cleanly, true);
                Event::Ended
            }
        };
        Some(Completion { slot, event })
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn handshake(&self, _: Slot) -> Option<Handshake> {
        None
    }

    fn ended_cleanly(&self, slot: Slot) -> Option<bool> {
        self.peers[slot as usize].ended_cleanly
    }
}
