//! Completion-based I/O behind one small interface, sockets, clock and affinity. No HTTP.
//!
//! [`Io`] is the interface. A caller asks for connections, sends and closes by slot, waits once a turn and takes what
//! completed, one completion after the other. Received bytes are read in place and are gone with the next call of
//! [`Io::next`]: an idle connection needs no buffer.

mod back_end;
mod blocking;
mod buffer;
pub mod clock;
pub mod cpu;
mod epoll;
pub mod heap;
pub mod limits;
pub mod perf;
mod ports;
mod retired;
pub mod socket;
pub mod tls;
pub mod unix;
mod unsent;
mod uring;
mod wanted;

pub use back_end::{BackEnd, choose, uring, uring_refusal};
pub use blocking::read_some;
pub use epoll::Epoll;
pub use ports::Ports;
pub use rustix::io::Errno;
pub use socket::Endpoint;
pub use uring::{Sizes, Uring};

use std::net::IpAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

/// The number of a connection. A caller chooses the numbers of the connections that it opens, from 0; accepted
/// connections get a free one.
pub type Slot = u32;

/// The slot of completions that concern the listener.
pub const LISTENER: Slot = Slot::MAX;

/// The completion of a requested operation, or an action of the peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The connection.
    pub slot: Slot,
    /// The event.
    pub event: Event,
}

/// An event on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The connection that was asked for is open.
    Connected,
    /// The handshake is complete (TLS only): after `Connected` or `Accepted`.
    Secured,
    /// The listener has a new connection; its slot is this one.
    Accepted,
    /// Bytes have arrived: [`Io::bytes`] has them until the next call of [`Io::next`].
    Received,
    /// This number of the bytes that [`Io::skip`] named have arrived and were dropped.
    Skipped(u64),
    /// Everything that was handed to [`Io::send`] and its variants is in the kernel's hands, after it had to wait.
    Drained,
    /// The peer will send nothing more.
    Ended,
    /// The connection failed; the slot is to be closed.
    Failed(Operation, Errno),
}

/// The operation that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Operation {
    Connect,
    Handshake,
    Accept,
    Send,
    Receive,
    /// This machine ran out of a resource: descriptors, ports, memory.
    Local,
}

/// The interface of all back ends. What a caller asks for is handed to the kernel with the next [`Io::wait`] at the latest. Errors of a
/// connection are completions; an `Err` is the back end's own.
pub trait Io {
    /// Begins to connect. The slot must be closed. Ends in `Connected` or `Failed`.
    fn connect(&mut self, slot: Slot, to: &Endpoint);

    /// Makes connections choose their local ports from these from now on, where the back end can.
    fn choose_ports(&mut self, ports: Ports) {
        let _ = ports;
    }

    /// Accepts connections from now on.
    fn listen(&mut self, listener: OwnedFd) -> std::io::Result<()>;

    /// Sends all of `bytes`: they are sent or copied before it returns. False: some had to be copied
    /// because the peer does not read; [`Event::Drained`] follows.
    fn send(&mut self, slot: Slot, bytes: &[u8]) -> bool;

    /// As [`Io::send`], when more follows at once: a few bytes may wait for that, so that both leave together.
    fn send_more(&mut self, slot: Slot, bytes: &[u8]) -> bool {
        self.send(slot, bytes)
    }

    /// As [`Io::send`], with `length` bytes of a file from `offset` on: after everything that was handed over before, and
    /// before everything later. It fails when the file is shorter.
    fn send_file(&mut self, slot: Slot, file: &Arc<OwnedFd>, offset: u64, length: u64) -> bool;

    /// The number of bytes that were handed over and that the kernel has not taken; they are encrypted, where there is TLS. Known until the
    /// connection is closed, also where it failed.
    fn unsent(&self, slot: Slot) -> u64 {
        let _ = slot;
        0
    }

    /// The number of bytes that TLS adds to what is handed over at once, up to 16 KB; 0 without TLS.
    fn record_bytes(&self, slot: Slot) -> u64 {
        let _ = slot;
        0
    }

    /// Sends no more; what the peer still sends is received until the connection is closed. To be called when
    /// nothing waits: the last send returned true, or `Drained` came. A back end that can't do it closes the connection.
    fn shut_down(&mut self, slot: Slot) {
        self.close(slot);
    }

    /// Stops listening; new connections are refused. A back end that can't do it goes on accepting.
    fn stop_listening(&mut self) {}

    /// The address of the peer; `None` where there is none, or the back end does not know it.
    fn peer(&self, slot: Slot) -> Option<IpAddr> {
        let _ = slot;
        None
    }

    /// Announces that the next `bytes` of this connection will not be read: the kernel may drop them instead of copying them.
    /// They are reported as [`Event::Skipped`]; some may still come as [`Event::Received`], and count as well.
    fn skip(&mut self, slot: Slot, bytes: u64);

    /// Whether [`Io::send`] hands bytes to the kernel before it returns. If not, they leave with the next [`Io::flush`] or [`Io::wait`].
    fn sends_at_once(&self) -> bool {
        true
    }

    /// Closes the connection at once. No further completion of it comes; the slot is free.
    fn close(&mut self, slot: Slot);

    /// Closes the connection as [`Io::close`] does, but with a reset: the peer is told that it broke, not that it ended.
    fn reset(&mut self, slot: Slot);

    /// Gives up a connection whose last answer is whole, and frees its slot; no further completion of it comes. The peer may still
    /// close the connection first: it is closed as soon as the peer has, or by [`Io::close_retired`]. A back end that can't wait for that
    /// closes it now.
    fn retire(&mut self, slot: Slot, until_ns: u64) {
        let _ = until_ns;
        self.close(slot);
    }

    /// The end of the time that the oldest of the retired connections has; `None`: there is none.
    fn retired_until_ns(&self) -> Option<u64> {
        None
    }

    /// Closes the retired connections whose time is up at `now_ns`: with a reset, because the peer had its time and the ports must not stay in use.
    fn close_retired(&mut self, now_ns: u64) {
        let _ = now_ns;
    }

    /// Hands what was asked for to the kernel now, not only with the next [`Io::wait`].
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }

    /// Nanoseconds of the clock by which [`Io::wait`] waits: the monotonic one. A test's back end has its own.
    #[inline]
    fn now_ns(&self) -> u64 {
        clock::now_ns()
    }

    /// Waits until something completed, at most `longest`; `None`: without a limit. True: something did.
    fn wait(&mut self, longest: Option<Duration>) -> std::io::Result<bool>;

    /// Returns the completions, one at a time; `None` when it is time to wait again.
    fn next(&mut self) -> Option<Completion>;

    /// The bytes of the last completion, if it was `Received`.
    fn bytes(&self) -> &[u8];

    /// Why the connection failed, in words, where more is known than an error number says; until it is closed.
    fn reason(&self, _slot: Slot) -> Option<&str> {
        None
    }

    /// The result of the handshake; `None` before it is complete and without TLS.
    fn handshake(&self, _slot: Slot) -> Option<Handshake> {
        None
    }

    /// Whether the peer announced its end (TLS's `close_notify`), or the end may be a cut; until the connection is closed. `None`
    /// before the end and without TLS.
    fn ended_cleanly(&self, _slot: Slot) -> Option<bool> {
        None
    }
}

/// The result of a TLS handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// Whether it resumed an earlier session, which is cheaper on both sides.
    pub is_resumed: bool,
    /// The protocol: `TLS 1.2` or `TLS 1.3`.
    pub protocol: &'static str,
    /// The cipher suite, by IANA's name.
    pub cipher_suite: &'static str,
    /// The group of the key exchange, by IANA's name; `None` where an earlier session was resumed.
    pub group: Option<&'static str>,
    /// Whether both sides agreed to speak HTTP/2.
    pub is_http2: bool,
}

/// The place of a slot in a list that grows with the slots that are used.
fn place<C: Default>(all: &mut Vec<C>, slot: Slot) -> &mut C {
    let index = slot as usize;
    if index >= all.len() {
        all.resize_with(index + 1, C::default);
    }
    &mut all[index]
}

fn failed(operation: Operation, errno: Errno) -> Event {
    Event::Failed(if is_local(errno) { Operation::Local } else { operation }, errno)
}

/// Whether this error means that this machine ran out of a resource, whatever the peer does.
pub fn is_local(errno: Errno) -> bool {
    matches!(errno, Errno::MFILE | Errno::NFILE | Errno::ADDRNOTAVAIL | Errno::NOBUFS | Errno::NOMEM)
}
