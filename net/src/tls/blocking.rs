//! TLS over a blocking stream, for a few requests that are not timed.

use super::client::ClientTls;
use super::reason::{self, Peer};
use rustls::{ClientConnection, StreamOwned};
use std::io::{Error, ErrorKind, Read, Result, Write};

/// The client's side of an encrypted stream.
pub struct BlockingTls<S: Read + Write>(StreamOwned<ClientConnection, S>);

impl<S: Read + Write> BlockingTls<S> {
    /// Makes the handshake. Errors: it fails, for a reason that the error says.
    pub fn connect(mut stream: S, tls: &ClientTls) -> Result<Self> {
        let mut connection =
            ClientConnection::new(tls.config.clone(), tls.name.clone()).map_err(Error::other)?;
        while connection.is_handshaking() {
            if let (0, 0) = connection.complete_io(&mut stream).map_err(in_handshake)? {
                return Err(Error::other(reason::closed(Peer::Server)));
            }
        }
        Ok(Self(StreamOwned::new(connection, stream)))
    }

    /// The name of the protocol that both sides agreed on (ALPN); `None`: on none.
    pub fn agreed(&self) -> Option<&[u8]> {
        self.0.conn.alpn_protocol()
    }
}

impl<S: Read + Write> Read for BlockingTls<S> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.0.read(into).map_err(explained)
    }
}

impl<S: Read + Write> Write for BlockingTls<S> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.0.write(bytes).map_err(explained)
    }

    fn flush(&mut self) -> Result<()> {
        self.0.flush().map_err(explained)
    }
}

/// The same, of a handshake, which the server may also have ended by closing.
fn in_handshake(error: Error) -> Error {
    match error.kind() {
        ErrorKind::UnexpectedEof => Error::new(ErrorKind::UnexpectedEof, reason::closed(Peer::Server)),
        _ => explained(error),
    }
}

/// An error of rustls in words; any other as it is.
fn explained(error: Error) -> Error {
    let of_tls = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    match of_tls.map(|of_tls| reason::of(of_tls, Peer::Server, false)) {
        Some(words) => Error::new(error.kind(), words),
        None => error,
    }
}
