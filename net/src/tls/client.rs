//! The client's side: whom it believes, who it says it is, what it remembers.

use super::HTTP_1_1;
use super::identity::{IdentityFiles, TlsError, read_certificates, read_identity};
use super::tickets::Tickets;
use super::verifier::{Anyone, Given};
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::{ClientConfig, RootCertStore};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the client's side is to be like.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub struct ClientOptions {
    /// Believes any certificate (`--insecure`); the server must have the key to it all the same.
    pub insecure: bool,
    /// Believes these authorities instead of the system's (`--cacert FILE`).
    pub cacert: Option<PathBuf>,
    /// What it shows a server that asks who it is (`--cert FILE --key FILE`).
    pub identity: Option<IdentityFiles>,
    /// Goes on from earlier sessions where the server lets it.
    pub resume: bool,
    /// Says that it speaks `http/1.1` (ALPN).
    pub alpn: bool,
    /// Says whom it wants to speak to (SNI).
    pub sni: bool,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { insecure: false, cacert: None, identity: None, resume: true, alpn: true, sni: true }
    }
}

impl ClientOptions {
    /// Reads the files and makes what rustls needs. Without a memory for sessions: see [`ClientTls::new`].
    pub fn config(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = self.verifier(&provider)?;
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()?
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(files) => {
                let identity = read_identity(files, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity)))
            }
        };
        config.enable_sni = self.sni;
        config.resumption = Resumption::disabled();
        if self.alpn {
            config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        }
        Ok(config)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Arc<dyn ServerCertVerifier>, TlsError> {
        if self.insecure {
            return Ok(Arc::new(Anyone(provider.clone())));
        }
        let (authorities, certificates) = match &self.cacert {
            Some(file) => given(file)?,
            None => (system()?, Vec::new()),
        };
        let authorities =
            WebPkiServerVerifier::builder_with_provider(Arc::new(authorities), provider.clone())
                .build()
                .map_err(|_| TlsError::NoAuthorities)?;
        Ok(if certificates.is_empty() { authorities } else { Arc::new(Given { authorities, certificates }) })
    }
}

/// The authorities of a file.
fn given(file: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), TlsError> {
    let certificates = read_certificates(file)?;
    let mut authorities = RootCertStore::empty();
    for certificate in &certificates {
        authorities
            .add(certificate.clone())
            .map_err(|error| TlsError::BadCertificate { file: file.to_owned(), reason: error.to_string() })?;
    }
    Ok((authorities, certificates))
}

/// The authorities that this system trusts. Of the hundreds a few may not be to rustls's liking: those are left
/// out.
fn system() -> Result<RootCertStore, TlsError> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if authorities.is_empty() { Err(TlsError::NoAuthorities) } else { Ok(authorities) }
}

/// The client's side, ready to connect to one server.
#[derive(Clone, Debug)]
pub struct ClientTls {
    /// What rustls needs.
    pub config: Arc<ClientConfig>,
    /// Whom the server's certificate must be for.
    pub name: ServerName<'static>,
    /// Goes on from earlier sessions.
    pub resume: bool,
}

impl ClientTls {
    /// For connections to `host`: a domain name, or an address, in brackets or not.
    pub fn new(options: &ClientOptions, host: &str) -> Result<Self, TlsError> {
        Self::with_config(options.config()?, host, options.resume)
    }

    /// The same with a configuration of one's own.
    pub fn with_config(config: ClientConfig, host: &str, resume: bool) -> Result<Self, TlsError> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name =
            ServerName::try_from(bare.to_owned()).map_err(|_| TlsError::Name { name: host.to_owned() })?;
        Ok(Self { config: Arc::new(config), name, resume }.with_own_memory())
    }

    /// The same without a memory of any session, nor one that is shared: for each worker its own.
    #[must_use]
    pub fn with_own_memory(&self) -> Self {
        let mut config = (*self.config).clone();
        config.resumption = if self.resume {
            Resumption::store(Arc::new(Tickets::default()))
        } else {
            Resumption::disabled()
        };
        Self { config: Arc::new(config), ..self.clone() }
    }
}
