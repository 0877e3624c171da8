//! Completion-shaped I/O behind one small interface, sockets, clock and affinity. No HTTP.
//!
//! [`Io`] is the interface. A caller asks for connections, sends and closes by slot, waits once a turn
//! and takes what completed, one completion after the other. Bytes that arrived are looked at in place
//! and are gone with the next call of [`Io::next`]: an idle connection needs no buffer.

mod buffer;
pub mod clock;
pub mod cpu;
mod epoll;
pub mod heap;
pub mod limits;
mod ports;
mod refusal;
pub mod socket;
pub mod tls;
pub mod unix;
mod unsent;
mod uring;
mod wanted;

pub use epoll::Epoll;
pub use ports::Ports;
pub use refusal::uring_refusal;
pub use rustix::io::Errno;
pub use socket::Endpoint;
pub use uring::{Sizes, Uring};

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// A connection's number. A caller picks the numbers of the connections that it opens, from 0;
/// accepted ones get one that is free.
pub type Slot = u32;

/// The slot of completions that concern the listener.
pub const LISTENER: Slot = Slot::MAX;

/// Something that was asked for, or that the peer did, has happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// On which connection.
    pub slot: Slot,
    /// What.
    pub event: Event,
}

/// What can happen on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection that was asked for is open.
    Connected,
    /// The handshake of a connection that was asked for is whole (TLS only): after `Connected`.
    Secured,
    /// The listener has a new connection; its slot is this one.
    Accepted,
    /// Bytes have arrived: [`Io::bytes`] has them until the next call of [`Io::next`].
    Received,
    /// So many of the bytes that [`Io::skip`] named have arrived and are gone.
    Skipped(u64),
    /// All that was handed to [`Io::send`] and its kin is in the kernel's hands, after it had to wait.
    Drained,
    /// The peer will send nothing more.
    Ended,
    /// It failed; the slot is to be closed.
    Failed(Operation, Errno),
}

/// What failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Connect,
    Handshake,
    Accept,
    Send,
    Receive,
    /// This machine ran out of something: descriptors, ports, memory.
    Local,
}

/// The interface of all back ends. What is asked for leaves with the next [`Io::wait`] at the latest. Errors of a connection are completions; an `Err` is the back end's own.
pub trait Io {
    /// Starts to connect. The slot must be closed. Ends in `Connected` or `Failed`.
    fn connect(&mut self, slot: Slot, to: &Endpoint);

    /// Connections choose their local ports from these from now on, where the back end can say so.
    fn choose_ports(&mut self, ports: Ports) {
        let _ = ports;
    }

    /// Accepts connections from now on.
    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()>;

    /// Sends all of `bytes`: they are sent or copied before it returns. False: some had to be copied
    /// because the peer does not read; [`Event::Drained`] follows.
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool;

    /// As [`Io::send`], and more follows at once: what little there is may wait for that, so that both leave together.
    fn send_more(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.send(slot, bytes)
    }

    /// As [`Io::send`], with `length` bytes of a file from `offset` on: after all that was handed over before, and
    /// before all that is later. It fails when the file is shorter.
    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool;

    /// Sends no more; what the peer still sends is received until the connection is closed. To be called when
    /// nothing waits: the last send returned true, or `Drained` came. A back end that can't do it closes.
    fn shut_down(&mut self, slot: Slot) {
        self.close(slot);
    }

    /// Accepts no more: who wants to connect is refused. A back end that can't do it goes on accepting.
    fn stop_listening(&mut self) {}

    /// Who is at the other end; `None` where there is no such address, or the back end does not know.
    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        let _ = slot;
        None
    }

    /// Nobody will look at the next `bytes` of this connection: the kernel may drop them instead of copying them.
    /// They are told as [`Event::Skipped`]; some may still come as [`Event::Received`], and count as well.
    fn skip(&mut self, slot: Slot, bytes: u64);

    /// Closes the connection at once. Nothing of it completes any more; the slot is free.
    fn close(&mut self, slot: Slot);

    /// Closes it as [`Io::close`] does, but with a reset: the peer is told that it broke, not that it ended.
    fn reset(&mut self, slot: Slot);

    /// What was asked for leaves now, not only with the next [`Io::wait`].
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    /// Nanoseconds of the clock by which [`Io::wait`] waits: the monotonic one. A test's back end has its own.
    #[inline]
    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    /// Waits until something completed, at most `longest`; none: until then. True: something did.
    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool>;

    /// What completed, one at a time; `None` when it is time to wait again.
    fn next(&mut self) -> Option<Completion>;

    /// The bytes of the last completion, if it was `Received`.
    fn bytes(&self) -> &[u8];

    /// Why the connection failed, in words, where more is known than an errno says; until it is closed.
    fn reason(&self, _slot: Slot) -> Option<&str> {
        None
    }

    /// What the handshake agreed on; `None` before it is whole and without TLS.
    fn handshake(&self, _slot: Slot) -> Option<Handshake> {
        None
    }

    /// Bits of the public key in the certificate that the peer has shown, where its kind is known.
    fn peer_key_bits(&self, _slot: Slot) -> Option<u32> {
        None
    }

    /// Whether the end that the peer made was its own word (TLS's `close_notify`) or may be a cut; until the
    /// connection is closed. `None` before the end and without TLS.
    fn ended_cleanly(&self, _slot: Slot) -> Option<bool> {
        None
    }
}

/// What a handshake agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// It went on from an earlier session: cheaper on both sides.
    pub is_resumed: bool,
    /// `TLS 1.2` or `TLS 1.3`.
    pub protocol: &'static str,
    /// By the name that IANA has for it.
    pub cipher_suite: &'static str,
    /// By which both came to the same key, by IANA's name; none where they went on from an earlier session.
    pub group: Option<&'static str>,
}

fn failed(operation: Operation, errno: Errno) -> Event {
    Event::Failed(if is_local(errno) { Operation::Local } else { operation }, errno)
}

/// What this machine ran out of, whoever is at the other end.
pub fn is_local(errno: Errno) -> bool {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::ADDRNOTAVAIL | Errno::NOBUFS | Errno::NOMEM)
}
