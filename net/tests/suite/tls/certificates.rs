//! Certificates of every kind, made for the tests.

use net::tls::{ClientOptions, ClientTls, IdentityFiles};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion};
use std::path::PathBuf;
use std::sync::Arc;

/// A certificate and its key.
pub struct Leaf {
    pub certificate: CertificateDer<'static>,
    pub pem: String,
    pub key: KeyPair,
}

impl Leaf {
    pub fn of(certificate: &rcgen::Certificate, key: KeyPair) -> Self {
        Self { certificate: certificate.der().clone(), pem: certificate.pem(), key }
    }

    /// One that signs itself, and says that it is an authority: what `openssl req -x509` makes.
    pub fn self_signed(name: &str) -> Self {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        Self::of(&params.self_signed(&key).unwrap(), key)
    }

    pub fn key_der(&self) -> PrivateKeyDer<'static> {
        PrivatePkcs8KeyDer::from(self.key.serialize_der()).into()
    }

    /// A server with this certificate.
    pub fn server(&self) -> Arc<ServerConfig> {
        self.server_with(rustls::ALL_VERSIONS, None)
    }

    /// A server of these versions only, which asks clients for a certificate of this authority, if one is given.
    pub fn server_with(
        &self,
        versions: &[&'static SupportedProtocolVersion],
        clients: Option<&Authority>,
    ) -> Arc<ServerConfig> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let builder =
            ServerConfig::builder_with_provider(provider.clone()).with_protocol_versions(versions).unwrap();
        let builder = match clients {
            None => builder.with_no_client_auth(),
            Some(authority) => {
                let mut roots = RootCertStore::empty();
                roots.add(authority.certificate()).unwrap();
                let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                builder.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        Arc::new(builder.with_single_cert(vec![self.certificate.clone()], self.key_der()).unwrap())
    }
}

/// Someone who signs certificates.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: tempfile::TempDir,
}

impl Authority {
    pub fn new() -> Self {
        Self::named("an authority of the tests")
    }

    pub fn named(name: &str) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Self { issuer, folder: tempfile::tempdir().unwrap() }
    }

    pub fn certificate(&self) -> CertificateDer<'static> {
        self.issuer.der().clone()
    }

    /// A good certificate for this name.
    pub fn leaf(&self, name: &str) -> Leaf {
        self.leaf_of_years(name, 2000, 4000)
    }

    pub fn leaf_of_years(&self, name: &str, from: i32, to: i32) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(from, 1, 1);
        params.not_after = date_time_ymd(to, 1, 1);
        Leaf::of(&params.signed_by(&key, &self.issuer).unwrap(), key)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Options of a client that believes this authority.
    pub fn options(&self) -> ClientOptions {
        ClientOptions { cacert: Some(self.file("ca.pem", &self.issuer.pem())), ..ClientOptions::default() }
    }

    /// The same, with a certificate of its own.
    pub fn options_as(&self, leaf: &Leaf) -> ClientOptions {
        let certificate = self.file("client.pem", &leaf.pem);
        let key = self.file("client.key", &leaf.key.serialize_pem());
        ClientOptions { identity: Some(IdentityFiles { certificate, key }), ..self.options() }
    }

    /// A client that believes this authority and wants to speak to `localhost`.
    pub fn client(&self) -> ClientTls {
        ClientTls::new(&self.options(), "localhost").unwrap()
    }
}
