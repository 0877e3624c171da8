//! One thread of the server: accept, read, answer. Answers to a pipeline leave in one send.

use crate::connections::accept_pause::AcceptPause;
use crate::connections::out::{Each, Out, OutputKind};
use crate::connections::protocol::{ProtocolState, WebSocketEcho};
use crate::connections::streams::Http2Session;
use crate::fault::{Draft, FaultyOutbox};
use crate::responder::http2::Http2Connection;
use crate::responder::{Next, Responder};
use crate::turnstile::Turnstile;
use crate::{BackEnd, Config};
use net::tls::Tls;
use net::{Completion, Epoll, Event, Io, LISTENER, Sizes, Slot, clock, cpu};
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use wire::RequestParser;

/// How long an idle thread may take to notice a stop.
pub const LOOK_UP: Duration = Duration::from_millis(100);

/// The largest number of connections of a thread for which a ring is sized; more are served a little more slowly.
const MOST_CONNECTIONS: usize = 64 * 1024;

#[derive(Default)]
pub struct Connection {
    pub parser: RequestParser,
    /// Requests that arrived while earlier answers had to wait.
    pub waiting: Vec<u8>,
    pub is_open: bool,
    /// Whether answers wait, in the back end for a peer that does not read or in the outbox for their time.
    pub is_blocked: bool,
    /// Whether the peer sends no more requests.
    has_ended: bool,
    /// What follows the last answer, once everything is sent; nothing more is answered.
    pub last: Option<Next>,
    /// Whether the last request was HTTP/1.0.
    is_http10: bool,
    /// When it was accepted or last sent something, by the coarse clock.
    pub stamp_ns: u64,
    /// The peer's address, if it is logged.
    peer: Option<IpAddr>,
    pub protocol: ProtocolState,
}

impl Connection {
    /// Whether it waits for its peer to read, or for the time of an answer.
    pub fn is_held(&self) -> bool {
        self.is_blocked || self.protocol.has_delayed()
    }

    /// Whether there is something to do without anything more from the peer.
    fn can_go_on(&self) -> bool {
        !self.waiting.is_empty() || self.protocol.http2().is_some_and(Http2Session::can_send)
    }
}

/// The task of a thread.
pub struct Task<'s> {
    /// The configuration.
    pub config: &'s Config,
    /// When to end.
    pub ends: Ends<'s>,
    /// When the server began.
    pub origin_ns: u64,
    /// The listener whose connections are the thread's.
    pub listener: OwnedFd,
    /// The back end that drives the sockets.
    pub back_end: BackEnd,
    /// What the thread passes before it answers.
    pub turnstile: Turnstile,
}

/// When a thread is to end.
#[derive(Clone, Copy)]
pub struct Ends<'s> {
    /// Set to stop the server.
    pub stop: &'s AtomicBool,
    /// Set when another thread has ended.
    pub is_over: &'s AtomicBool,
}

impl Ends<'_> {
    fn is_now(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || self.is_over.load(Ordering::Relaxed)
    }
}

pub struct Worker<'s, I> {
    pub config: &'s Config,
    origin_ns: u64,
    pub responder: Responder,
    pub io: I,
    accept_pause: AcceptPause,
    pub connections: Vec<Connection>,
    pub out: Out,
    /// The outbox of answers that faults change before they are sent.
    outbox: Option<FaultyOutbox<'s>>,
    /// When idle connections were last looked for, by the coarse clock.
    pub swept_ns: u64,
}

/// Answers until it is to stop, then answers what has arrived and ends.
pub fn run(task: Task<'_>, responder: Responder, outbox: Option<FaultyOutbox<'_>>) -> std::io::Result<()> {
    match task.back_end {
        BackEnd::Uring => encrypt(net::uring(sizes())?, task, responder, outbox),
        BackEnd::Epoll => encrypt(Epoll::new()?, task, responder, outbox),
    }
}

/// The sizes of a thread's ring: for as many connections as the limit of descriptors allows.
pub fn sizes() -> Sizes {
    let most =
        net::limits::descriptors().0.map_or(MOST_CONNECTIONS, |most| (most as usize).min(MOST_CONNECTIONS));
    Sizes::of_server(most)
}

fn encrypt<I: Io>(
    io: I,
    task: Task<'_>,
    responder: Responder,
    outbox: Option<FaultyOutbox<'_>>,
) -> std::io::Result<()> {
    match task.config.tls.clone() {
        None => run_on(io, task, responder, outbox),
        Some(tls) => run_on(Tls::server(io, tls), task, responder, outbox),
    }
}

fn run_on<'s, I: Io>(
    mut io: I,
    task: Task<'s>,
    responder: Responder,
    outbox: Option<FaultyOutbox<'s>>,
) -> std::io::Result<()> {
    let Task { config, ends, origin_ns, listener, turnstile, .. } = task;
    io.listen(listener.try_clone()?)?;
    let accept_pause = AcceptPause::new(listener);
    if outbox.is_some() {
        cpu::wake_precisely();
    }
    let out = Out::new(if outbox.is_some() { Each::Alone } else { Each::Gathered });
    let connections = Vec::new();
    let mut worker =
        Worker { config, origin_ns, responder, io, accept_pause, connections, out, outbox, swept_ns: 0 };
    if !turnstile.pass() {
        return Ok(());
    }
    while !ends.is_now() {
        worker.turn(LOOK_UP)?;
        worker.sweep();
    }
    worker.end()
}

impl<I: Io> Worker<'_, I> {
    /// Waits and handles what completed. False: nothing did.
    #[inline]
    pub fn turn(&mut self, longest: Duration) -> std::io::Result<bool> {
        let longest = self.outbox.as_ref().map_or(longest, |outbox| outbox.wait(clock::now_ns(), longest));
        let longest = self.accept_pause.go_on(&mut self.io, longest);
        let is_busy = self.io.wait(Some(longest))?;
        self.responder.tick();
        if self.outbox.is_some() {
            self.stall();
            self.send_due(clock::now_ns());
        }
        while let Some(completion) = self.io.next() {
            self.stall();
            self.take(completion);
            // An answer whose service took time leaves now, not after the service of those that follow.
            if self.responder.service.is_some() {
                self.io.flush()?;
            }
        }
        Ok(is_busy)
    }

    /// Stops listening for good.
    pub fn stop_listening(&mut self) {
        self.accept_pause.end();
        self.io.stop_listening();
    }

    #[inline]
    fn stall(&self) {
        if let Some(stall) = &self.config.faults.stall {
            stall.sleep(self.origin_ns);
        }
    }

    #[inline]
    fn take(&mut self, completion: Completion) {
        let Completion { slot, event } = completion;
        match event {
            Event::Received => self.received(slot),
            Event::Accepted => self.accepted(slot),
            Event::Drained => self.drained(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(..) if slot == LISTENER => self.accept_pause.begin(&mut self.io),
            Event::Failed(..) => self.close(slot),
            Event::Secured => self.secured(slot),
            Event::Connected | Event::Skipped(_) => {}
        }
    }

    fn accepted(&mut self, slot: Slot) {
        let index = slot as usize;
        if index >= self.connections.len() {
            self.connections.resize_with(index + 1, Connection::default);
        }
        let peer = self.responder.log.as_ref().and_then(|_| self.io.peer(slot));
        let stamp_ns = self.responder.clock.now_ns();
        self.connections[index] = Connection { is_open: true, stamp_ns, peer, ..Connection::default() };
        if let Some(outbox) = &mut self.outbox {
            outbox.forget(slot);
        }
        if let Some(service) = &mut self.responder.service {
            service.run_for_connection();
        }
    }

    /// Speaks HTTP/2 where the handshake chose it, whatever comes (RFC 9113 section 3.4).
    fn secured(&mut self, slot: Slot) {
        if self.io.handshake(slot).is_some_and(|handshake| handshake.is_http2) {
            self.connections[slot as usize].protocol = ProtocolState::open_http2(0, &mut self.out);
            self.send(slot, Next::GoOn);
        }
    }

    pub fn close(&mut self, slot: Slot) {
        if let Some(connection) = self.connections.get_mut(slot as usize) {
            connection.is_open = false;
        }
        self.io.close(slot);
        if let Some(outbox) = &mut self.outbox {
            outbox.forget(slot);
        }
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        if connection.last.is_some() {
            return; // What comes after the last answer is not looked at.
        }
        let bytes = self.io.bytes();
        if connection.is_blocked {
            connection.waiting.extend_from_slice(bytes);
            if connection.waiting.len() > connection.protocol.most_waiting_bytes() {
                // A close would wait until the peer has read what it was sent.
                self.finish(slot, Next::Reset);
            }
            return;
        }
        let mut input = bytes;
        let next =
            answer(slot, connection, &mut self.responder, self.outbox.as_mut(), &mut input, &mut self.out);
        if !input.is_empty() {
            connection.waiting.extend_from_slice(input);
        }
        if self.send(slot, next) {
            self.go_on(slot);
        }
    }

    /// Sends what was collected. False: the connection has had its last answer, or it has to wait.
    #[inline]
    pub fn send(&mut self, slot: Slot, mut next: Next) -> bool {
        let connection = &mut self.connections[slot as usize];
        if !self.out.is_empty() {
            let sent = match &mut self.outbox {
                Some(outbox)
                    if self.out.kind() != OutputKind::Aside && connection.protocol.http2().is_none() =>
                {
                    let (goes_on, http10) = (next == Next::GoOn, connection.is_http10);
                    let is_message = self.out.kind() == OutputKind::Message;
                    let draft = Draft { bytes: &self.out.bytes, goes_on, http10, is_message };
                    let (is_out, still_goes_on) = outbox.send(&mut self.io, slot, draft, clock::now_ns());
                    if goes_on && (!still_goes_on || self.out.is_cut()) {
                        next = Next::Close;
                    }
                    self.out.clear();
                    is_out
                }
                _ => self.out.send(&mut self.io, slot),
            };
            connection.is_blocked = !sent;
            connection.stamp_ns = self.responder.clock.now_ns();
        }
        let goes_on = next == Next::GoOn;
        if !goes_on {
            connection.last = Some(next);
        }
        if connection.is_blocked {
            return false;
        }
        if !goes_on {
            self.finish(slot, next);
        }
        goes_on
    }

    /// Answers the requests that had to wait: the peer reads again, or a full output was sent.
    fn go_on(&mut self, slot: Slot) {
        loop {
            let connection = &mut self.connections[slot as usize];
            if !connection.can_go_on() {
                if connection.has_ended && !connection.is_held() {
                    self.close(slot);
                }
                return;
            }
            let waiting = std::mem::take(&mut connection.waiting);
            let mut input = &waiting[..];
            let next = answer(
                slot,
                connection,
                &mut self.responder,
                self.outbox.as_mut(),
                &mut input,
                &mut self.out,
            );
            connection.waiting.extend_from_slice(input);
            if !self.send(slot, next) {
                return;
            }
        }
    }

    /// Sends the answers whose time has come.
    fn send_due(&mut self, now_ns: u64) {
        while let Some(slot) = self.outbox.as_mut().and_then(|o| o.send_due(&mut self.io, now_ns)) {
            self.drained(slot);
        }
        while let Some((slot, reached)) = self.outbox.as_mut().and_then(|o| o.take_due(now_ns)) {
            let Some(connection) = self.connections.get_mut(slot as usize) else { continue };
            let Some(session) = connection.protocol.http2_mut().filter(|_| connection.last.is_none()) else {
                continue;
            };
            let (faults, out, peer) = (self.outbox.as_mut(), &mut self.out, connection.peer);
            let next = Http2Connection { session, slot, peer, faults, out }.reach(reached);
            if self.send(slot, next) {
                self.go_on(slot);
            }
        }
    }

    fn drained(&mut self, slot: Slot) {
        if self.outbox.as_ref().is_some_and(|outbox| outbox.holds(slot)) {
            return; // A part of an answer; the rest is not due yet.
        }
        let connection = &mut self.connections[slot as usize];
        connection.is_blocked = false;
        connection.stamp_ns = self.responder.clock.now_ns();
        match connection.last {
            Some(next) => self.finish(slot, next),
            None => self.go_on(slot),
        }
    }

    /// Handles a peer that sends no more requests; those that it has sent are still answered.
    fn ended(&mut self, slot: Slot) {
        let connection = &mut self.connections[slot as usize];
        connection.has_ended = true;
        if !connection.is_held() {
            self.close(slot);
        }
    }

    /// Ends a connection after its last answer.
    fn finish(&mut self, slot: Slot, next: Next) {
        if next == Next::Reset {
            self.io.reset(slot);
        }
        if next == Next::Linger && !self.connections[slot as usize].has_ended {
            self.io.shut_down(slot);
        } else {
            self.close(slot);
        }
    }
}

/// Answers the requests of `input` into `out`, until either is exhausted.
#[inline]
fn answer(
    slot: Slot,
    connection: &mut Connection,
    responder: &mut Responder,
    faults: Option<&mut FaultyOutbox<'_>>,
    input: &mut &[u8],
    out: &mut Out,
) -> Next {
    let Connection { parser, protocol, peer, .. } = connection;
    let next = match protocol {
        ProtocolState::Http1(echo) => responder.answer(parser, echo, *peer, input, out),
        ProtocolState::Http2(session) => {
            let mut connection = Http2Connection { session, slot, peer: *peer, faults, out };
            return responder.answer_http2(&mut connection, input);
        }
        ProtocolState::WebSocket(echo) => return responder.answer_websocket(echo, input, out),
    };
    connection.is_http10 = responder.was_http10;
    connection.protocol = match next {
        Next::SpeakHttp2(before) => ProtocolState::open_http2(before, out),
        Next::SpeakWebSocket => ProtocolState::WebSocket(Box::<WebSocketEcho>::default()),
        _ => return next,
    };
    connection.parser = RequestParser::default();
    answer(slot, connection, responder, faults, input, out)
}
