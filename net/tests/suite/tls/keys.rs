//! Keys wear out: connections that live long renew theirs, or end and say why.

use super::certificates::Authority;
use super::sides::Pair;
use net::tls::ClientTls;
use net::{Io, Operation};
use rustls::crypto::{CryptoProvider, ring};
use rustls::{CipherSuiteCommon, SupportedCipherSuite, Tls12CipherSuite, Tls13CipherSuite};
use std::sync::Arc;

/// After so many records a key is worn out here; in truth it is 2^24.
const LIMIT: u64 = 8;

fn common(common: &CipherSuiteCommon) -> CipherSuiteCommon {
    CipherSuiteCommon {
        confidentiality_limit: LIMIT,
        suite: common.suite,
        hash_provider: common.hash_provider,
    }
}

/// The usual suite of this version, with keys that wear out soon.
fn short_lived(is_13: bool) -> CryptoProvider {
    let wanted = |suite: &SupportedCipherSuite| suite.tls13().is_some() == is_13;
    let suite = match ring::ALL_CIPHER_SUITES.iter().copied().find(wanted).unwrap() {
        SupportedCipherSuite::Tls13(suite) => {
            SupportedCipherSuite::Tls13(Box::leak(Box::new(Tls13CipherSuite {
                common: common(&suite.common),
                hkdf_provider: suite.hkdf_provider,
                aead_alg: suite.aead_alg,
                quic: None,
            })))
        }
        SupportedCipherSuite::Tls12(suite) => {
            SupportedCipherSuite::Tls12(Box::leak(Box::new(Tls12CipherSuite {
                common: common(&suite.common),
                prf_provider: suite.prf_provider,
                kx: suite.kx,
                sign: suite.sign,
                aead_alg: suite.aead_alg,
            })))
        }
    };
    CryptoProvider { cipher_suites: vec![suite], ..ring::default_provider() }
}

fn client(authority: &Authority, is_13: bool) -> ClientTls {
    let mut roots = rustls::RootCertStore::empty();
    roots.add(authority.certificate()).unwrap();
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(short_lived(is_13)))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    ClientTls::with_config(config, "localhost", false).unwrap()
}

#[test]
fn tls_1_3_renews_its_keys_in_the_middle_of_a_connection() {
    let authority = Authority::new();
    let mut pair = Pair::new(&client(&authority, true), &authority.leaf("localhost").server()).connected();
    let mut expected = Vec::new();
    for question in 0..100_u8 {
        expected.push(question);
        assert!(pair.client.io.send(0, &[question]));
        pair.until(|_, server| server.has(0).len() >= expected.len());
        // The server renews its own keys when it is told to, and says so with its answer.
        pair.server.io.send(0, &[question]);
        pair.until(|client, _| client.has(0).len() >= expected.len());
    }
    assert_eq!((pair.server.has(0), pair.client.has(0)), (&expected[..], &expected[..]));
    let large = vec![7; 1_000_000]; // 62 records in one send
    pair.client.io.send(0, &large);
    pair.until(|_, server| server.has(0).len() >= expected.len() + large.len());
}

#[test]
fn tls_1_2_ends_with_its_keys_and_says_why() {
    let authority = Authority::new();
    let mut pair = Pair::new(&client(&authority, false), &authority.leaf("localhost").server()).connected();
    for question in 0..20_u8 {
        pair.client.io.send(0, &[question]);
    }
    pair.until(|client, _| client.failure(0).is_some());
    assert_eq!(pair.client.failure(0), Some(Operation::Send));
    assert_eq!(
        pair.client.reason(0),
        "the keys of this connection are used up: TLS 1.2 can't renew them, TLS 1.3 does"
    );
    assert!(pair.client.io.send(0, b"after that"), "nothing waits on a connection that is over");
}
