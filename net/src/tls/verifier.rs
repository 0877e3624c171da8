//! Verifies the server's certificate: against the system's authorities, against a file, or not at all.

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{WebPkiSupportedAlgorithms, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};
use std::sync::Arc;

/// Whom a client believes. Always, a server must have its certificate's key.
#[derive(Debug)]
pub struct Verifier {
    /// The algorithms of signatures.
    pub algorithms: WebPkiSupportedAlgorithms,
    /// The authorities, the system's or those of `--cacert FILE`; `None`: every certificate is accepted (`--insecure`).
    pub authorities: Option<Arc<WebPkiServerVerifier>>,
    /// The certificates in that file. A server that shows one of these very certificates is accepted, too: most self-signed ones say that
    /// they are authorities, and webpki accepts no authority as a server.
    pub certificates: Vec<CertificateDer<'static>>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(authorities) = &self.authorities else { return Ok(ServerCertVerified::assertion()) };
        let verdict = authorities.verify_server_cert(end_entity, intermediates, name, ocsp, now);
        // webpki checks the dates before it checks this, so they are valid.
        let is_authority = matches!(verdict, Err(Error::InvalidCertificate(CertificateError::Other(_))));
        if is_authority && self.certificates.iter().any(|given| given == end_entity) {
            rustls::client::verify_server_name(&ParsedCertificate::try_from(end_entity)?, name)?;
            return Ok(ServerCertVerified::assertion());
        }
        verdict
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls12_signature(message, certificate, signature, &self.algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        verify_tls13_signature(message, certificate, signature, &self.algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}
