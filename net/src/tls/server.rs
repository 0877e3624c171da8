//! The server's side: who it says it is, and whether it lets clients go on from earlier sessions.

use super::HTTP_1_1;
use super::identity::{IdentityFiles, TlsError, read_identity, self_signed};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use std::sync::Arc;

/// What the server's side is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// Its certificate and key (`--tls-cert FILE --tls-key FILE`); none: a certificate that signs itself, made
    /// at the start.
    pub identity: Option<IdentityFiles>,
    /// Whom a certificate made at the start is for.
    pub names: Vec<String>,
    /// Lets clients go on from earlier sessions.
    pub resume: bool,
    /// Agrees to `http/1.1` where clients ask (ALPN).
    pub alpn: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { identity: None, names, resume: true, alpn: true }
    }
}

/// The server's side, ready to be used by any number of threads.
pub type ServerTls = Arc<ServerConfig>;

impl ServerOptions {
    /// Reads the files, or makes a certificate, and makes what rustls needs. Threads that listen on one port
    /// share it, so that a client can go on with another one's session.
    pub fn config(&self) -> Result<ServerTls, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let identity = match &self.identity {
            Some(files) => read_identity(files, &provider)?,
            None => self_signed(&self.names, &provider)?,
        };
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_cert_resolver(Arc::new(SingleCertAndKey::from(identity)));
        // Tickets hold the session themselves, so any number of clients can come back.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        if self.resume {
            config.ticketer = ring::Ticketer::new()?;
        } else {
            config.send_tls13_tickets = 0;
        }
        if self.alpn {
            config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        }
        Ok(Arc::new(config))
    }
}
