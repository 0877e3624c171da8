//! The server's side of TLS: its identity, and whether clients may resume earlier sessions.

use super::identity::{IdentityFiles, TlsError, read_identity, self_signed};
use super::{HTTP_1_1, HTTP_2};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::server::NoServerSessionStorage;
use rustls::sign::SingleCertAndKey;
use std::sync::Arc;

/// The options of the server's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerOptions {
    /// The certificate and key (`--cert FILE --key FILE`); `None`: a self-signed certificate, made at
    /// the start.
    pub identity: Option<IdentityFiles>,
    /// The names of a certificate made at the start.
    pub names: Vec<String>,
    /// Whether clients may resume earlier sessions.
    pub resume: bool,
}

impl Default for ServerOptions {
    fn default() -> Self {
        let names = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        Self { identity: None, names, resume: true }
    }
}

/// The server's side, ready to be used by any number of threads.
pub type ServerTls = Arc<ServerConfig>;

impl ServerOptions {
    /// Reads the files, or makes a certificate, and makes the configuration of rustls. Threads that listen on one port share it, so that a
    /// client can resume another thread's session. Errors: a file can't be read, or what is in it can't be used.
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
        config.alpn_protocols = [HTTP_2, HTTP_1_1].map(|name| name.as_bytes().to_vec()).to_vec();
        Ok(Arc::new(config))
    }
}
