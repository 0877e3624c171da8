//! Whom a client believes, and what it says when it doesn't.

use super::certificates::{Authority, Leaf};
use super::sides::Pair;
use net::tls::{ClientOptions, ClientTls};
use net::{Io, Operation};
use rustls::version::{TLS12, TLS13};

const WRONG_KEY: &str = "a signature of the server does not match: it lacks its certificate's key, or another issuer has the same name";

/// An authority that was made anew under its old name.
#[test]
fn a_certificate_from_a_namesake_of_the_issuer() {
    let server = Authority::new().leaf("localhost").server();
    assert_eq!(Pair::new(&Authority::new().client(), &server).refused(), WRONG_KEY);
}

#[test]
fn an_expired_certificate() {
    let authority = Authority::new();
    let server = authority.leaf_of_years("localhost", 2000, 2001).server();
    let reason = Pair::new(&authority.client(), &server).refused();
    let shape = reason.replace(|c: char| c.is_ascii_digit(), "");
    assert_eq!(shape, "the server's certificate has expired ( days ago): --insecure ignores this");
}

#[test]
fn a_certificate_that_is_not_valid_yet() {
    let authority = Authority::new();
    let server = authority.leaf_of_years("localhost", 3000, 3001).server();
    let reason = Pair::new(&authority.client(), &server).refused();
    assert!(reason.starts_with("the server's certificate is not valid yet (for another "), "{reason}");
    assert!(reason.ends_with(" days): is this machine's clock right?"), "{reason}");
}

#[test]
fn a_certificate_for_someone_else() {
    let authority = Authority::new();
    let server = authority.leaf("other.example").server();
    assert_eq!(
        Pair::new(&authority.client(), &server).refused(),
        "the server's certificate is for other.example, not localhost: --insecure ignores this"
    );
    let to_address = ClientTls::new(&authority.options(), "127.0.0.1").unwrap();
    assert_eq!(
        Pair::new(&to_address, &server).refused(),
        "the server's certificate is for other.example, not 127.0.0.1: --insecure ignores this"
    );
}

#[test]
fn a_certificate_from_an_unknown_issuer() {
    let server = Authority::named("someone").leaf("localhost").server();
    let expected = "the server's certificate is from an unknown issuer: --insecure or --cacert FILE";
    assert_eq!(Pair::new(&Authority::new().client(), &server).refused(), expected);
    let believes_the_system = ClientTls::new(&ClientOptions::default(), "localhost").unwrap();
    let mut pair = Pair::new(&believes_the_system, &server);
    assert_eq!(pair.refused(), expected);
    // The server hears of it too.
    pair.until(|_, server| server.failure(0).is_some());
    assert_eq!(pair.server.failure(0), Some(Operation::Handshake));
    assert_eq!(pair.server.reason(0), "the client does not accept the certificate (Unknown CA)");
}

/// What `openssl req -x509` makes.
#[test]
fn a_certificate_that_is_its_own_issuer() {
    let (authority, leaf) = (Authority::new(), Leaf::self_signed("localhost"));
    let believes = |leaf: &Leaf| ClientOptions {
        cacert: Some(authority.file("given.pem", &leaf.pem)),
        ..ClientOptions::default()
    };
    assert_eq!(
        Pair::new(&authority.client(), &leaf.server()).refused(),
        "the server's certificate is its own issuer: --insecure or --cacert FILE"
    );
    let given = believes(&leaf);
    Pair::new(&ClientTls::new(&given, "localhost").unwrap(), &leaf.server()).connected();
    assert_eq!(
        Pair::new(&ClientTls::new(&given, "other.example").unwrap(), &leaf.server()).refused(),
        "the server's certificate is for localhost, not other.example: --insecure ignores this"
    );
    // Another one of the same name is not the one that was given.
    let given = believes(&Leaf::self_signed("localhost"));
    assert_eq!(
        Pair::new(&ClientTls::new(&given, "localhost").unwrap(), &leaf.server()).refused(),
        "the server's certificate is its own issuer: --insecure or --cacert FILE"
    );
}

#[test]
fn whoever_believes_anyone_believes_all_of_these() {
    let authority = Authority::new();
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let client = ClientTls::new(&options, "localhost").unwrap();
    for leaf in [
        authority.leaf("other.example"),
        authority.leaf_of_years("localhost", 2000, 2001),
        Leaf::self_signed("localhost"),
    ] {
        for version in [&TLS13, &TLS12] {
            Pair::new(&client, &leaf.server_with(&[version], None)).connected();
        }
    }
}

/// A server that shows a certificate without having its key is no one to believe.
#[test]
fn a_certificate_without_its_key_is_refused_even_so() {
    let authority = Authority::new();
    let (shown, own) = (authority.leaf("localhost"), authority.leaf("localhost"));
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    let client = ClientTls::new(&options, "localhost").unwrap();
    for version in [&TLS13, &TLS12] {
        let provider = rustls::crypto::ring::default_provider();
        let key = provider.key_provider.load_private_key(own.key_der()).unwrap();
        let stolen = rustls::sign::CertifiedKey::new(vec![shown.certificate.clone()], key);
        let config = rustls::ServerConfig::builder_with_provider(provider.into())
            .with_protocol_versions(&[version])
            .unwrap()
            .with_no_client_auth()
            .with_cert_resolver(std::sync::Arc::new(rustls::sign::SingleCertAndKey::from(stolen)));
        let reason = Pair::new(&client, &config.into()).refused();
        assert_eq!(reason, WRONG_KEY);
    }
}

#[test]
fn a_client_shows_its_own_certificate() {
    let authority = Authority::new();
    let options = authority.options_as(&authority.leaf("client.example"));
    for version in [&TLS13, &TLS12] {
        let server = authority.leaf("localhost").server_with(&[version], Some(&authority));
        let client = ClientTls::new(&options, "localhost").unwrap();
        let mut pair = Pair::new(&client, &server).connected();
        pair.client.io.send(0, b"it is me");
        pair.until(|_, server| server.has(0) == b"it is me");
    }
}

#[test]
fn a_server_that_demands_a_certificate_says_so_to_who_has_none() {
    let authority = Authority::new();
    let leaf = authority.leaf("localhost");
    let mut pair = Pair::new(&authority.client(), &leaf.server_with(&[&TLS13], Some(&authority)));
    assert_eq!(pair.refused(), "the server demands a client certificate: --cert FILE --key FILE");
    pair.until(|_, server| server.failure(0).is_some());
    assert_eq!(pair.server.reason(0), "the client sent no certificate");
    let reason = Pair::new(&authority.client(), &leaf.server_with(&[&TLS12], Some(&authority))).refused();
    assert!(reason.contains("--cert FILE --key FILE"), "{reason}");
}

#[test]
fn a_client_certificate_of_someone_unknown_is_refused() {
    let (authority, other) = (Authority::new(), Authority::named("someone"));
    let options = authority.options_as(&other.leaf("client.example"));
    for version in [&TLS13, &TLS12] {
        let server = authority.leaf("localhost").server_with(&[version], Some(&authority));
        let mut pair = Pair::new(&ClientTls::new(&options, "localhost").unwrap(), &server);
        let reason = pair.refused();
        assert_eq!(reason, "the server does not accept the client certificate (Unknown CA)");
        pair.until(|_, server| server.failure(0).is_some());
        assert_eq!(pair.server.reason(0), "the client's certificate is from an unknown issuer");
    }
}

#[test]
fn an_address_is_a_name_too() {
    let authority = Authority::new();
    let client = ClientTls::new(&authority.options(), "127.0.0.1").unwrap();
    Pair::new(&client, &authority.leaf("127.0.0.1").server()).connected();
}
