//! The client's side of TLS: the certificates that it trusts, its own identity, its memory of sessions.

use super::HTTP_1_1;
use super::identity::{IdentityFiles, TlsError, read_certificates, read_identity};
use super::tickets::Tickets;
use super::verifier::Verifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::sign::SingleCertAndKey;
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConfig, DEFAULT_VERSIONS, RootCertStore, SupportedProtocolVersion};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The options of the client's side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientOptions {
    /// Whether any certificate is accepted (`--insecure`); the server must still have its key.
    pub insecure: bool,
    /// The authorities that are trusted instead of the system's (`--cacert FILE`).
    pub cacert: Option<PathBuf>,
    /// The identity that is shown to a server that asks for one (`--cert FILE --key FILE`).
    pub identity: Option<IdentityFiles>,
    /// Whether earlier sessions are resumed where the server allows it.
    pub resume: bool,
    /// Whether the name of the server is sent (SNI).
    pub sni: bool,
    /// The only version that is offered; `None`: the best that both sides know.
    pub version: Option<Version>,
}

/// A version of TLS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}

impl Version {
    fn supported(self) -> &'static SupportedProtocolVersion {
        match self {
            Self::Tls12 => &TLS12,
            Self::Tls13 => &TLS13,
        }
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { insecure: false, cacert: None, identity: None, resume: true, sni: true, version: None }
    }
}

impl ClientOptions {
    /// Reads the files and makes the configuration of rustls. It resumes no sessions; [`ClientTls::with_own_memory`] gives
    /// each worker a session cache. Errors: a file can't be read, what is in it can't be used, or the system has no authorities.
    pub fn config(&self) -> Result<ClientConfig, TlsError> {
        let provider = Arc::new(ring::default_provider());
        let verifier = self.verifier(&provider)?;
        let versions =
            self.version.map_or_else(|| DEFAULT_VERSIONS.to_vec(), |version| vec![version.supported()]);
        let builder = ClientConfig::builder_with_provider(provider.clone())
            .with_protocol_versions(&versions)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match &self.identity {
            None => builder.with_no_client_auth(),
            Some(files) => {
                let identity = read_identity(files, &provider)?;
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(identity)))
            }
        };
        config.enable_sni = self.sni;
        config.resumption = Resumption::disabled();
        config.alpn_protocols = vec![HTTP_1_1.as_bytes().to_vec()];
        Ok(config)
    }

    fn verifier(&self, provider: &Arc<CryptoProvider>) -> Result<Verifier, TlsError> {
        let (roots, certificates) = match &self.cacert {
            _ if self.insecure => (None, Vec::new()),
            Some(file) => given(file).map(|(roots, certificates)| (Some(roots), certificates))?,
            None => (Some(system()?), Vec::new()),
        };
        let builder =
            |roots| WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider.clone()).build();
        let authorities = roots.map(builder).transpose().map_err(|_| TlsError::NoAuthorities)?;
        Ok(Verifier { algorithms: provider.signature_verification_algorithms, authorities, certificates })
    }
}

/// Reads the authorities of a file.
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

/// Reads the authorities that this system trusts. A few of the hundreds may not be acceptable to rustls: those are left
/// out.
fn system() -> Result<RootCertStore, TlsError> {
    let mut authorities = RootCertStore::empty();
    authorities.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    if authorities.is_empty() { Err(TlsError::NoAuthorities) } else { Ok(authorities) }
}

/// The client's side, ready to connect to one server.
#[derive(Clone, Debug)]
pub struct ClientTls {
    /// The configuration of rustls.
    pub config: Arc<ClientConfig>,
    /// The name that the server's certificate must have.
    pub name: ServerName<'static>,
    /// Whether earlier sessions are resumed.
    pub resume: bool,
}

impl ClientTls {
    /// The client's side for connections to `host`: a domain name, or an address, in brackets or not.
    pub fn new(options: &ClientOptions, host: &str) -> Result<Self, TlsError> {
        Self::with_config(options.config()?, host, options.resume)
    }

    /// The client's side with a given configuration.
    pub fn with_config(config: ClientConfig, host: &str, resume: bool) -> Result<Self, TlsError> {
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
        let name =
            ServerName::try_from(bare.to_owned()).map_err(|_| TlsError::Name { name: host.to_owned() })?;
        Ok(Self { config: Arc::new(config), name, resume }.with_own_memory())
    }

    /// The same client's side with an empty memory of sessions that is not shared: one for each worker.
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
