//! One connection's TLS: bytes in, bytes out, no sockets. What has to be kept between two turns is the start
//! of a record that is not whole, and nothing else.

use super::ClientTls;
use super::buffers::{Buffers, Outgoing};
use super::connection::{Connection, Job, Step};
use super::reason::{self, Peer};
use crate::{Errno, Handshake, Operation};
use rustls::client::UnbufferedClientConnection;
use rustls::server::UnbufferedServerConnection;
use rustls::{Error, HandshakeKind, ProtocolVersion, ServerConfig};
use std::sync::Arc;

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The handshake is not whole.
    Handshaking,
    /// Both sides may send.
    Open,
    /// The peer will send nothing more.
    Ended,
    /// Nothing goes any more. rustls is not asked again: it may panic when it fails twice.
    Failed,
}

/// What came of the bytes that were read. Plaintext is in the buffers, and so is what has to be sent.
#[derive(Debug, Default)]
pub struct Turn {
    /// The handshake is now whole.
    pub is_secured: bool,
    /// The peer said that it will send nothing more.
    pub has_ended: bool,
    /// The session is over.
    pub failed: Option<Operation>,
}

/// What the transport's end means.
#[derive(Debug)]
pub enum Ending {
    /// The peer will send nothing more; nobody knew yet.
    News,
    /// It has been told already.
    Known,
    /// It came in the middle of the handshake.
    Handshake,
}

/// One connection's TLS.
pub struct Session {
    connection: Connection,
    /// The start of a record that is not whole; no memory when there is none. rustls remembers positions in
    /// it, so it is what rustls gets whenever it is asked.
    rest: Vec<u8>,
    /// Plaintext that waits for the handshake; no memory until then.
    waiting: Vec<u8>,
    /// Where it stands.
    pub stage: Stage,
    /// The caller was told that something had to wait.
    pub owes_drained: bool,
    /// Whether the peer's end was its own word; none: it has not ended.
    pub ended_cleanly: Option<bool>,
    has_received: bool,
    reason: Option<String>,
}

impl Session {
    /// A client's, about to say hello.
    pub fn client(tls: &ClientTls) -> Result<Self, Error> {
        let connection = UnbufferedClientConnection::new(tls.config.clone(), tls.name.clone())?;
        Ok(Self::new(Connection::Client(connection)))
    }

    /// A server's.
    pub fn server(config: &Arc<ServerConfig>) -> Result<Self, Error> {
        Ok(Self::new(Connection::Server(UnbufferedServerConnection::new(config.clone())?)))
    }

    fn new(connection: Connection) -> Self {
        Self {
            connection,
            rest: Vec::new(),
            waiting: Vec::new(),
            stage: Stage::Handshaking,
            owes_drained: false,
            ended_cleanly: None,
            has_received: false,
            reason: None,
        }
    }

    /// Reads what has arrived.
    #[inline]
    pub fn read(&mut self, bytes: &[u8], buffers: &mut Buffers) -> Turn {
        let Buffers { incoming, plain, out } = buffers;
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

    /// The session is over: says why, and puts the alert that tells the peer into `out`.
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
        let is_written = self.perform(Job::Write(plaintext), buffers);
        if !is_written {
            self.stage = Stage::Failed;
            self.reason = Some(reason::EXHAUSTED.to_owned());
        }
        is_written
    }

    /// Says that nothing more will be sent, if the peer is still there to hear it. A server is always polite:
    /// without that word, the end of an answer that has no length could be a cut. A client's word to a server
    /// that has ended would only be met by a reset.
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

    /// Keeps what can't be sent before the handshake is whole. False, as of a send: it has to wait.
    pub fn wait(&mut self, plaintext: &[u8]) -> bool {
        self.waiting.extend_from_slice(plaintext);
        self.owes_drained = !self.waiting.is_empty();
        !self.owes_drained
    }

    /// What was kept, if anything.
    pub fn take_waiting(&mut self) -> Option<Vec<u8>> {
        self.owes_drained.then(|| std::mem::take(&mut self.waiting))
    }

    /// The kernel has taken everything: true if the caller waits to hear it.
    pub fn is_drained(&mut self) -> bool {
        self.waiting.is_empty() && std::mem::take(&mut self.owes_drained)
    }

    /// The transport has ended.
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

    /// The transport has failed: during what, as the caller sees it.
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

    /// Why it failed.
    pub fn reason(&self) -> Option<&str> {
        self.reason.as_deref()
    }

    /// What the handshake agreed on.
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
        })
    }

    /// Bits of the public key in the peer's certificate.
    pub fn peer_key_bits(&self) -> Option<u32> {
        super::key::bits(self.connection.common().peer_certificates()?.first()?)
    }

    fn peer(&self) -> Peer {
        match &self.connection {
            Connection::Client(_) => Peer::Server,
            Connection::Server(_) => Peer::Client,
        }
    }
}
