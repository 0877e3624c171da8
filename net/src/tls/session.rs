//! The TLS session of one connection: bytes in, bytes out, no sockets. Between two turns it keeps only the start of a record that
//! is not complete.

use super::buffers::{Buffers, Outgoing};
use super::connection::{Connection, Job, Step};
use super::reason::{self, Peer};
use super::{ClientTls, HTTP_2};
use crate::unsent::{FilePiece, More, Piece, Unsent};
use crate::{Errno, Handshake, Operation};
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::{Error, HandshakeKind, ProtocolVersion, ServerConfig};
use std::sync::Arc;

/// The stage of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The handshake is not complete.
    Handshaking,
    /// Both sides may send.
    Open,
    /// The peer will send nothing more.
    Ended,
    /// The session has failed. rustls is not called again, because it may panic when it fails twice.
    Failed,
}

/// The result of reading bytes. Plaintext is in the buffers, and so is what has to be sent.
#[derive(Debug, Default)]
pub struct Turn {
    /// Whether the handshake is now complete.
    pub is_secured: bool,
    /// Whether the peer announced that it will send nothing more.
    pub has_ended: bool,
    /// The operation that failed, if the session is over.
    pub failed: Option<Operation>,
}

/// The meaning of the transport's end.
#[derive(Debug)]
pub enum Ending {
    /// The peer will send nothing more, which is new.
    News,
    /// The end is already known.
    Known,
    /// The end came in the middle of the handshake.
    Handshake,
}

/// The most that a record of TLS has of what is handed over (RFC 8446 section 5.1).
const RECORD_BYTES: usize = 1 << 14;

/// The TLS session of one connection.
pub struct TlsSession {
    connection: Connection,
    /// The start of a record that is not complete; without memory when there is none. rustls remembers positions in it, so it is what
    /// rustls gets at every call.
    rest: Vec<u8>,
    /// What waits to be encrypted, in order: for the end of the handshake, until the peer has read what was encrypted before, or for its
    /// turn. Without memory as long as it is empty.
    waiting: Unsent,
    /// The stage of the session.
    pub stage: Stage,
    /// Whether the caller was told that something had to wait.
    pub owes_drained: bool,
    /// Whether the peer announced its end; `None`: it has not ended.
    pub ended_cleanly: Option<bool>,
    /// How many bytes the last record that was sent has more than what was handed over.
    pub record_bytes: u64,
    has_received: bool,
    reason: Option<String>,
}

impl TlsSession {
    /// A client's session, before its first message.
    pub fn client(tls: &ClientTls) -> Result<Self, Error> {
        let connection = UnbufferedClientConnection::new(tls.config.clone(), tls.name.clone())?;
        Ok(Self::new(Connection::Client(connection)))
    }

    /// A server's session.
    pub fn server(config: &Arc<ServerConfig>) -> Result<Self, Error> {
        Ok(Self::new(Connection::Server(UnbufferedServerConnection::new(config.clone())?)))
    }

    fn new(connection: Connection) -> Self {
        Self {
            connection,
            rest: Vec::new(),
            waiting: Unsent::default(),
            stage: Stage::Handshaking,
            owes_drained: false,
            ended_cleanly: None,
            record_bytes: 0,
            has_received: false,
            reason: None,
        }
    }

    /// Reads bytes that have arrived.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], buffers: &mut Buffers) -> Turn {
        let Buffers { incoming, plain, out, .. } = buffers;
        let mut turn = Turn::default();
        plain.clear();
        if matches!(self.stage, Stage::Ended | Stage::Failed) {
            return turn;
        }
        incoming.clear();
        incoming.extend_from_slice(&self.rest);
        incoming.extend_from_slice(bytes);
        let mut at = 0;
        let failure = loop {
            let (discard, step) = self.connection.advance(&mut incoming[at..], Job::Read, plain, out);
            at += discard;
            match step {
                Ok(Step::On) => {}
                Ok(Step::Blocked | Step::Done) => break None,
                Ok(Step::PeerClosed) => {
                    turn.has_ended = true;
                    break None;
                }
                Err(error) => break Some(error),
            }
        };
        self.has_received |= !plain.is_empty();
        if self.stage == Stage::Handshaking && !self.connection.common().is_handshaking() {
            self.stage = Stage::Open;
            turn.is_secured = true;
        }
        if let Some(error) = failure {
            turn.failed = Some(self.fail(&error, &mut incoming[at..], plain, out));
        } else if turn.has_ended {
            self.stage = Stage::Ended;
            self.ended_cleanly = Some(true);
        } else if at < incoming.len() {
            self.rest.clear();
            self.rest.extend_from_slice(&incoming[at..]);
            return turn;
        }
        self.rest = Vec::new();
        turn
    }

    /// Ends the session with a reason, and puts the alert for the peer into `out`.
    fn fail(
        &mut self,
        error: &Error,
        incoming: &mut [u8],
        plain: &mut Vec<u8>,
        out: &mut Outgoing,
    ) -> Operation {
        let is_late = self.stage != Stage::Handshaking;
        let is_http = incoming.starts_with(b"HTTP/");
        while self.connection.common().wants_write() {
            // The alerts come first: nothing is read before they are written.
            if self.connection.advance(incoming, Job::Read, plain, out).1.is_err() {
                break;
            }
        }
        self.stage = Stage::Failed;
        self.reason = Some(reason::of(error, self.peer(), is_http));
        // With TLS 1.3 a client's handshake is whole before the server has looked at its certificate.
        let is_refusal = matches!(error, Error::AlertReceived(_)) && !self.has_received;
        if is_late && !is_refusal { Operation::Receive } else { Operation::Handshake }
    }

    /// Encrypts into the buffers. False: the session is over.
    #[inline]
    pub fn write(&mut self, plaintext: &[u8], buffers: &mut Buffers) -> bool {
        let before = buffers.out.bytes().len();
        let is_written = self.perform(Job::Write(plaintext), buffers);
        if plaintext.len() <= RECORD_BYTES {
            self.record_bytes = buffers.out.bytes().len().saturating_sub(before + plaintext.len()) as u64;
        }
        if !is_written {
            self.stage = Stage::Failed;
            self.reason = Some(reason::EXHAUSTED.to_owned());
        }
        is_written
    }

    /// Announces that nothing more will be sent, if the peer is still there to receive it. A server always does: without it, the end of an
    /// answer that has no length could be a cut. A client's announcement to a server that has ended would only be answered by a
    /// reset.
    pub fn say_goodbye(&mut self, buffers: &mut Buffers) {
        if self.stage == Stage::Open || (self.stage == Stage::Ended && self.peer() == Peer::Client) {
            self.perform(Job::Close, buffers);
        }
    }

    #[inline]
    fn perform(&mut self, job: Job, buffers: &mut Buffers) -> bool {
        loop {
            let Buffers { plain, out, .. } = buffers;
            let (discard, step) = self.connection.advance(&mut self.rest, job, plain, out);
            self.rest.drain(..discard);
            match step {
                Ok(Step::On | Step::PeerClosed) => {}
                Ok(Step::Done) => return true,
                Ok(Step::Blocked) | Err(_) => return false,
            }
        }
    }

    /// Whether nothing waits to be encrypted.
    #[inline]
    pub fn is_idle(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Keeps what can't be encrypted yet, behind what already waits. Returns false, as a send that has to wait.
    pub fn wait(&mut self, more: More<'_>) -> bool {
        self.waiting.push(more);
        self.owes_drained |= !self.waiting.is_empty();
        !self.owes_drained
    }

    /// Takes the first of what waits; `None` also before the handshake is whole and after a failure, for nothing can be encrypted then.
    pub fn take_waiting(&mut self) -> Option<Piece> {
        match self.stage {
            Stage::Handshaking => return None,
            Stage::Failed => self.forget_waiting(),
            Stage::Open | Stage::Ended => {}
        }
        self.waiting.pop()
    }

    /// Puts back the rest of a file that was taken.
    pub fn put_back(&mut self, rest: FilePiece) {
        self.waiting.push_front(Piece::File(rest));
    }

    /// Forgets what waits, because it will never be sent.
    pub fn forget_waiting(&mut self) {
        (self.waiting, self.owes_drained) = (Unsent::default(), false);
    }

    /// Whether the caller is still to be told that the kernel has taken everything; true only once.
    pub fn is_drained(&mut self) -> bool {
        self.waiting.is_empty() && std::mem::take(&mut self.owes_drained)
    }

    /// Handles the end of the transport.
    pub fn end(&mut self) -> Ending {
        match self.stage {
            Stage::Ended | Stage::Failed => Ending::Known,
            Stage::Open => {
                self.stage = Stage::Ended;
                self.ended_cleanly = Some(false);
                Ending::News
            }
            Stage::Handshaking => {
                self.stage = Stage::Failed;
                self.reason = Some(reason::closed(self.peer()));
                Ending::Handshake
            }
        }
    }

    /// Handles the failure of the transport; returns the operation that failed, from the caller's view.
    pub fn broke(&mut self, operation: Operation, errno: Errno) -> Operation {
        let is_handshake =
            self.stage == Stage::Handshaking && matches!(operation, Operation::Send | Operation::Receive);
        self.stage = Stage::Failed;
        if !is_handshake {
            return operation;
        }
        self.reason = Some(reason::broken(self.peer(), errno));
        Operation::Handshake
    }

    /// Why the session failed.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// The result of the handshake.
    pub fn handshake(&self) -> Option<Handshake> {
        let common = self.connection.common();
        if common.is_handshaking() {
            return None;
        }
        Some(Handshake {
            is_resumed: common.handshake_kind()? == HandshakeKind::Resumed,
            protocol: match common.protocol_version()? {
                ProtocolVersion::TLSv1_3 => "TLS 1.3",
                _ => "TLS 1.2",
            },
            cipher_suite: match common.negotiated_cipher_suite()?.suite().as_str()? {
                "TLS13_AES_128_GCM_SHA256" => "TLS_AES_128_GCM_SHA256",
                "TLS13_AES_256_GCM_SHA384" => "TLS_AES_256_GCM_SHA384",
                "TLS13_CHACHA20_POLY1305_SHA256" => "TLS_CHACHA20_POLY1305_SHA256",
                name => name,
            },
            group: common.negotiated_key_exchange_group().and_then(|group| group.name().as_str()),
            is_http2: common.alpn_protocol() == Some(HTTP_2.as_bytes()),
        })
    }

    fn peer(&self) -> Peer {
        match &self.connection {
            Connection::Client(_) => Peer::Server,
            Connection::Server(_) => Peer::Client,
        }
    }
}
