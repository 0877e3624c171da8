//! TLS over any back end: [`Tls`] is itself an [`Io`]. Bytes are encrypted and decrypted in buffers that all
//! connections share; an idle connection holds its session and nothing else.

mod blocking;
mod buffers;
mod client;
mod connection;
mod identity;
mod reason;
mod server;
mod session;
mod tickets;
mod verifier;

pub use blocking::BlockingTls;
pub use client::{ClientOptions, ClientTls, Version};
pub use identity::{IdentityFiles, TlsError, self_signed_pem};
pub use server::{ServerOptions, ServerTls};

use crate::unsent::{FilePiece, More, Piece};
use crate::{Completion, Endpoint, Errno, Event, Handshake, Io, Operation, Ports, Slot};
use buffers::Buffers;
use rustls::ServerConfig;
use session::{Ending, Stage, TlsSession, Turn};
use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The number of bytes of plaintext that are encrypted at a time: four records of the largest size.
const CHUNK_BYTES: usize = 64 * 1024;

/// The largest part of its files that one connection encrypts in one go: others are served meanwhile.
const SHARE_BYTES: usize = 4 * CHUNK_BYTES;

/// The name of HTTP/1.1 where the two sides agree on a protocol (RFC 7301).
pub const HTTP_1_1: &str = "http/1.1";

/// The name of HTTP/2 there.
pub const HTTP_2: &str = "h2";

/// A back end whose connections speak TLS, all of them on the same side.
pub struct Tls<I> {
    inner: I,
    side: Side,
    /// The sessions by slot, boxed: an unused slot costs a pointer.
    sessions: Vec<Option<Box<TlsSession>>>,
    /// The connection that has just opened. Its handshake begins once `Connected` has been returned to the caller, so that its work counts
    /// as the handshake's, not the connection's.
    to_greet: Option<Slot>,
    /// Completions that are known and not returned yet. While there are some, nothing is decrypted: the plaintext stays.
    at_once: VecDeque<Completion>,
    /// Connections that go on with their files when the others have had their turn.
    paused: VecDeque<Slot>,
    buffers: Buffers,
}

enum Side {
    Client(ClientTls),
    Server(Arc<ServerConfig>),
}

impl<I: Io> Tls<I> {
    /// A back end for connections that are asked for. [`Event::Secured`] follows [`Event::Connected`].
    pub fn client(inner: I, tls: ClientTls) -> Self {
        Self::new(inner, Side::Client(tls))
    }

    /// A back end for accepted connections. [`Event::Secured`] follows [`Event::Accepted`].
    pub fn server(inner: I, config: Arc<ServerConfig>) -> Self {
        Self::new(inner, Side::Server(config))
    }

    fn new(inner: I, side: Side) -> Self {
        Self {
            inner,
            side,
            sessions: Vec::new(),
            to_greet: None,
            at_once: VecDeque::new(),
            paused: VecDeque::new(),
            buffers: Buffers::default(),
        }
    }

    fn tell(&mut self, slot: Slot, event: Event) {
        self.at_once.push_back(Completion { slot, event });
    }

    fn session(&mut self, slot: Slot) -> Option<&mut TlsSession> {
        session_of(&mut self.sessions, slot)
    }

    /// Handles a completion of the inner back end.
    fn take(&mut self, Completion { slot, event }: Completion) {
        match event {
            Event::Received => self.received(slot),
            Event::Connected => {
                self.to_greet = Some(slot);
                self.tell(slot, event);
            }
            Event::Accepted => {
                self.tell(slot, event);
                self.open(slot);
            }
            Event::Drained => self.go_on(slot),
            Event::Ended => self.ended(slot),
            Event::Failed(operation, errno) => self.broke(slot, operation, errno),
            Event::Secured | Event::Skipped(_) => self.tell(slot, event),
        }
    }

    /// Begins the handshake of a connection that has just opened, if there is one.
    fn greet(&mut self) -> bool {
        let slot = self.to_greet.take();
        if let Some(slot) = slot {
            self.open(slot);
        }
        slot.is_some()
    }

    /// Begins a session; the client's side says hello.
    fn open(&mut self, slot: Slot) {
        let session = match &self.side {
            Side::Client(tls) => TlsSession::client(tls),
            Side::Server(config) => TlsSession::server(config),
        };
        let Ok(session) = session else {
            return self.tell(slot, Event::Failed(Operation::Handshake, Errno::PROTO));
        };
        let session = crate::place(&mut self.sessions, slot).insert(Box::new(session));
        let turn = session.read(&[], &mut self.buffers);
        self.follow(slot, &turn);
    }

    #[inline]
    fn received(&mut self, slot: Slot) {
        let Some(session) = session_of(&mut self.sessions, slot) else { return };
        let turn = session.read(self.inner.bytes(), &mut self.buffers);
        self.follow(slot, &turn);
    }

    /// Reports the results of a turn of a session, in the order in which they happened.
    #[inline]
    fn follow(&mut self, slot: Slot, turn: &Turn) {
        self.flush(slot);
        if turn.is_secured {
            self.tell(slot, Event::Secured);
            self.go_on(slot);
        }
        if !self.buffers.plain.is_empty() {
            self.tell(slot, Event::Received);
        }
        if turn.has_ended {
            self.tell(slot, Event::Ended);
        }
        if let Some(operation) = turn.failed {
            self.tell(slot, Event::Failed(operation, Errno::PROTO));
        }
    }

    /// Hands on what was encrypted. False: some of it has to wait.
    #[inline]
    fn flush(&mut self, slot: Slot) -> bool {
        let out = &mut self.buffers.out;
        if out.bytes().is_empty() {
            return true;
        }
        let is_sent = self.inner.send(slot, out.bytes());
        out.clear();
        is_sent
    }

    /// Sends what waits, and tells the caller when nothing does any more, if it was told that something had to wait.
    fn go_on(&mut self, slot: Slot) {
        if self.send_waiting(slot) && self.session(slot).is_some_and(TlsSession::is_drained) {
            self.tell(slot, Event::Drained);
        }
    }

    /// Encrypts and sends what waits until the peer has to read first, so that no more than one chunk of a file is ever in memory. True: all
    /// of it is in the kernel's hands, or never will be.
    fn send_waiting(&mut self, slot: Slot) -> bool {
        let mut share = SHARE_BYTES;
        while let Some(piece) = self.session(slot).and_then(TlsSession::take_waiting) {
            let is_sent = match piece {
                Piece::Bytes { bytes, .. } => self.send_encrypted(slot, &bytes),
                Piece::File(file) if share == 0 => {
                    // No event tells when to go on.
                    self.put_back(slot, file);
                    if !self.paused.contains(&slot) {
                        self.paused.push_back(slot);
                    }
                    return false;
                }
                Piece::File(file) => {
                    let want = file.left.min(share as u64) as usize;
                    share -= want.min(CHUNK_BYTES);
                    self.send_chunk(slot, file)
                }
            };
            if !is_sent {
                return false;
            }
        }
        true
    }

    fn put_back(&mut self, slot: Slot, rest: FilePiece) {
        if let Some(session) = self.session(slot) {
            session.put_back(rest);
        }
    }

    /// Encrypts and sends the beginning of a piece of a file; the rest of it waits. True: that is in the kernel's hands, or nothing will be.
    fn send_chunk(&mut self, slot: Slot, mut piece: FilePiece) -> bool {
        let want = piece.left.min(CHUNK_BYTES as u64) as usize;
        let mut memory = std::mem::take(&mut self.buffers.file);
        memory.resize(CHUNK_BYTES, 0);
        let read = || rustix::io::pread(&piece.file, &mut memory[..want], piece.offset);
        let read = rustix::io::retry_on_intr(read).unwrap_or(0);
        let is_sent = if read == 0 {
            // The peer expects more, because the length was announced.
            if let Some(session) = self.session(slot) {
                session.forget_waiting();
            }
            self.tell(slot, Event::Failed(Operation::Send, Errno::IO));
            true
        } else {
            piece.offset += read as u64;
            piece.left -= read as u64;
            self.put_back(slot, piece);
            self.send_encrypted(slot, &memory[..read])
        };
        self.buffers.file = memory;
        is_sent
    }

    /// Lets each connection that paused go on once. True: something is known now that the caller has to hear.
    fn resume(&mut self) -> bool {
        for _ in 0..self.paused.len() {
            if let Some(slot) = self.paused.pop_front() {
                self.go_on(slot);
            }
        }
        !self.at_once.is_empty()
    }

    /// Forgets what is known of a connection that is closed.
    fn forget(&mut self, slot: Slot) {
        self.to_greet.take_if(|greeted| *greeted == slot);
        self.at_once.retain(|completion| completion.slot != slot);
        self.paused.retain(|paused| *paused != slot);
    }

    /// Sends encrypted bytes. True: all are in the kernel's hands, or never will be.
    #[inline]
    fn send_encrypted(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        let mut is_sent = true;
        for chunk in bytes.chunks(CHUNK_BYTES) {
            let Some(session) = session_of(&mut self.sessions, slot) else { return true };
            if !session.write(chunk, &mut self.buffers) {
                self.buffers.out.clear();
                self.tell(slot, Event::Failed(Operation::Send, Errno::PROTO));
                return true;
            }
            is_sent &= self.flush(slot);
        }
        is_sent
    }

    /// Ends a session, and announces that.
    fn say_goodbye(&mut self, slot: Slot) {
        if let Some(mut session) = self.sessions.get_mut(slot as usize).and_then(Option::take) {
            session.say_goodbye(&mut self.buffers);
            self.flush(slot);
        }
    }

    /// Handles the transport's report that the peer sends nothing more.
    fn ended(&mut self, slot: Slot) {
        match self.session(slot).map(TlsSession::end) {
            None | Some(Ending::News) => self.tell(slot, Event::Ended),
            Some(Ending::Known) => {}
            Some(Ending::Handshake) => {
                self.tell(slot, Event::Failed(Operation::Handshake, Errno::CONNRESET));
            }
        }
    }

    fn broke(&mut self, slot: Slot, operation: Operation, errno: Errno) {
        let operation = match self.session(slot) {
            None => operation,
            Some(session) if session.stage == Stage::Failed => return,
            Some(session) => session.broke(operation, errno),
        };
        self.tell(slot, Event::Failed(operation, errno));
    }
}

impl<I: Io> Io for Tls<I> {
    fn connect(&mut self, slot: Slot, to: &Endpoint) {
        self.inner.connect(slot, to);
    }

    fn choose_ports(&mut self, ports: Ports) {
        self.inner.choose_ports(ports);
    }

    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()> {
        self.inner.listen(listener)
    }

    #[inline]
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.greet();
        let Some(session) = session_of(&mut self.sessions, slot) else { return true };
        if session.stage == Stage::Failed {
            return true;
        }
        if session.stage == Stage::Handshaking || !session.is_idle() {
            return session.wait(More::Bytes(bytes));
        }
        let is_sent = self.send_encrypted(slot, bytes);
        if !is_sent && let Some(session) = self.session(slot) {
            session.owes_drained = true;
        }
        is_sent
    }

    #[inline]
    fn sends_at_once(&self) -> bool {
        self.inner.sends_at_once()
    }

    /// Encrypts a chunk at a time, and the next one when the kernel has taken the one before.
    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool {
        self.greet();
        let Some(session) = self.session(slot).filter(|session| session.stage != Stage::Failed) else {
            return true;
        };
        let was_idle = session.stage != Stage::Handshaking && session.is_idle();
        let is_blocked = session.owes_drained;
        let piece = FilePiece { file: Arc::clone(file), offset, left: length };
        if session.wait(More::File(piece)) {
            return true;
        }
        if !was_idle || is_blocked || !self.send_waiting(slot) {
            return false;
        }
        // Nothing had to wait after all.
        if let Some(session) = self.session(slot) {
            session.owes_drained = false;
        }
        true
    }

    fn unsent(&self, slot: Slot) -> u64 {
        self.inner.unsent(slot)
    }

    fn record_bytes(&self, slot: Slot) -> u64 {
        self.sessions.get(slot as usize).and_then(Option::as_deref).map_or(0, |session| session.record_bytes)
    }

    fn shut_down(&mut self, slot: Slot) {
        if let Some(session) = session_of(&mut self.sessions, slot) {
            session.say_goodbye(&mut self.buffers);
            self.flush(slot);
        }
        self.inner.shut_down(slot);
    }

    fn stop_listening(&mut self) {
        self.inner.stop_listening();
    }

    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        self.inner.peer(slot)
    }

    /// Does nothing: all bytes have to be decrypted, so all of them come.
    fn skip(&mut self, _slot: Slot, _bytes: u64) {}

    fn close(&mut self, slot: Slot) {
        self.say_goodbye(slot);
        self.inner.close(slot);
        self.forget(slot);
    }

    /// Resets without a TLS message, as a broken connection does.
    fn reset(&mut self, slot: Slot) {
        if let Some(session) = self.sessions.get_mut(slot as usize) {
            *session = None;
        }
        self.inner.reset(slot);
        self.forget(slot);
    }

    /// Announces the end, as a client has to before it closes (RFC 9112 section 9.8): what the peer still sends is not looked at.
    fn retire(&mut self, slot: Slot, until_ns: u64) {
        self.say_goodbye(slot);
        self.inner.retire(slot, until_ns);
        self.forget(slot);
    }

    fn retired_until_ns(&self) -> Option<u64> {
        self.inner.retired_until_ns()
    }

    fn close_retired(&mut self, now_ns: u64) {
        self.inner.close_retired(now_ns);
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.inner.now_ns()
    }

    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool> {
        if self.at_once.is_empty() && self.to_greet.is_none() && self.paused.is_empty() {
            return self.inner.wait(longest);
        }
        self.inner.wait(Some(Duration::ZERO)).map(|_| true)
    }

    #[inline]
    fn next(&mut self) -> Option<Completion> {
        loop {
            if let Some(completion) = self.at_once.pop_front() {
                return Some(completion);
            }
            if self.greet() {
                continue;
            }
            match self.inner.next() {
                Some(completion) => self.take(completion),
                None if self.resume() => {}
                None => return None,
            }
        }
    }

    fn bytes(&self) -> &[u8] {
        &self.buffers.plain
    }

    fn reason(&self, slot: Slot) -> Option<&str> {
        self.sessions.get(slot as usize)?.as_ref()?.reason()
    }

    fn handshake(&self, slot: Slot) -> Option<Handshake> {
        self.sessions.get(slot as usize)?.as_ref()?.handshake()
    }

    fn ended_cleanly(&self, slot: Slot) -> Option<bool> {
        self.sessions.get(slot as usize)?.as_ref()?.ended_cleanly
    }
}

/// The session of this slot, while the buffers that it uses are borrowed, too.
#[inline]
fn session_of(sessions: &mut [Option<Box<TlsSession>>], slot: Slot) -> Option<&mut TlsSession> {
    sessions.get_mut(slot as usize)?.as_deref_mut()
}
