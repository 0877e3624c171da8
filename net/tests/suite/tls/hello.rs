//! What a client says of itself and of whom it wants, as the server hears it.

use super::certificates::Authority;
use super::sides::Pair;
use net::Io;
use net::tls::{ClientOptions, ClientTls, ServerOptions, Version};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use std::sync::{Arc, Mutex};

/// The name (SNI) and the protocols (ALPN) of the last hello.
#[derive(Debug)]
struct Heard {
    key: Arc<CertifiedKey>,
    name: Mutex<Option<String>>,
    protocols: Mutex<Vec<Vec<u8>>>,
}

impl ResolvesServerCert for Heard {
    fn resolve(&self, hello: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        *self.name.lock().unwrap() = hello.server_name().map(str::to_owned);
        let protocols = hello.alpn().into_iter().flatten().map(<[u8]>::to_vec).collect();
        *self.protocols.lock().unwrap() = protocols;
        Some(self.key.clone())
    }
}

/// What a server heard from a client of these options.
fn heard(options: &ClientOptions, host: &str) -> (Option<String>, Vec<Vec<u8>>) {
    let provider = rustls::crypto::ring::default_provider();
    let leaf = Authority::new().leaf(host);
    let key = CertifiedKey::from_der(vec![leaf.certificate.clone()], leaf.key_der(), &provider).unwrap();
    let heard = Arc::new(Heard { key: key.into(), name: Mutex::default(), protocols: Mutex::default() });
    let config = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_cert_resolver(heard.clone());
    Pair::new(&ClientTls::new(options, host).unwrap(), &config.into()).connected();
    let (name, protocols) = (heard.name.lock().unwrap().clone(), heard.protocols.lock().unwrap().clone());
    (name, protocols)
}

#[test]
fn a_client_names_its_protocol_and_the_server_unless_told_not_to() {
    let says = ClientOptions { insecure: true, ..ClientOptions::default() };
    assert_eq!(heard(&says, "localhost"), (Some("localhost".to_owned()), vec![b"http/1.1".to_vec()]));
    // An address has no place in a hello (RFC 6066, section 3).
    assert_eq!(heard(&says, "127.0.0.1").0, None);
    let silent = ClientOptions { sni: false, ..says };
    assert_eq!(heard(&silent, "localhost"), (None, vec![b"http/1.1".to_vec()]));
}

#[test]
fn a_client_offers_only_the_version_that_it_is_told_to() {
    let server = ServerOptions::default().config().unwrap();
    for (version, name) in [(Version::Tls12, "TLS 1.2"), (Version::Tls13, "TLS 1.3")] {
        let options = ClientOptions { insecure: true, version: Some(version), ..ClientOptions::default() };
        let pair = Pair::new(&ClientTls::new(&options, "localhost").unwrap(), &server).connected();
        assert_eq!(pair.client.io.handshake(0).unwrap().protocol, name);
    }
}
