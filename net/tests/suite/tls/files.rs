//! Files that are missing, empty, swapped, damaged: which file, and what is wrong with it.

use super::certificates::Authority;
use super::sides::Pair;
use net::tls::{ClientOptions, ClientTls, IdentityFiles, ServerOptions};
use std::path::Path;

/// What a server says to these contents of its certificate and key files, without the folder's name.
fn refusal(authority: &Authority, certificate: &str, key: &str) -> String {
    let files = IdentityFiles {
        certificate: authority.file("cert.pem", certificate),
        key: authority.file("key.pem", key),
    };
    let folder = files.key.parent().unwrap().to_str().unwrap().to_owned() + "/";
    let error =
        ServerOptions { identity: Some(files.clone()), ..ServerOptions::default() }.config().unwrap_err();
    // A client says the same of the same files.
    let options = ClientOptions { identity: Some(files), insecure: true, ..ClientOptions::default() };
    assert_eq!(options.config().unwrap_err().to_string(), error.to_string());
    error.to_string().replace(&folder, "")
}

#[test]
fn what_is_wrong_with_a_certificate_and_its_key() {
    let authority = Authority::new();
    let leaf = authority.leaf("localhost");
    let (pem, key) = (leaf.pem.as_str(), leaf.key.serialize_pem());
    let other = rcgen::KeyPair::generate().unwrap().serialize_pem();
    let encrypted = key.replace("PRIVATE", "ENCRYPTED PRIVATE");
    for (certificate, key, expected) in [
        (
            "",
            key.as_str(),
            "cert.pem holds no certificate: a PEM file is needed, with BEGIN CERTIFICATE in it",
        ),
        (&key, pem, "cert.pem holds no certificate, but a private key: are certificate and key swapped?"),
        (pem, "", "key.pem holds no private key: a PEM file is needed, with BEGIN PRIVATE KEY in it"),
        (pem, pem, "key.pem holds no private key: a PEM file is needed, with BEGIN PRIVATE KEY in it"),
        (
            pem,
            &encrypted,
            "the key in key.pem has a passphrase: `openssl pkey -in key.pem -out FILE` writes it without",
        ),
        (
            pem,
            &other,
            "the key in key.pem does not fit the certificate in cert.pem: its first certificate must be the key's own",
        ),
        (&pem[..200], &key, "cert.pem is damaged: a section begins and does not end"),
        (&pem.replace('M', "*"), &key, "cert.pem is damaged: what should be base64 is not"),
        (
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            &key,
            "a certificate in cert.pem can't be used: BadEncoding",
        ),
    ] {
        assert_eq!(refusal(&authority, certificate, key), expected);
    }
    let bad = refusal(&authority, pem, "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n");
    assert!(bad.starts_with("the key in key.pem can't be used (RSA of 2048 bits or more, "), "{bad}");
}

#[test]
fn a_file_that_is_not_there() {
    let missing = Path::new("/nowhere/at-all.pem").to_owned();
    let expected = "can't read /nowhere/at-all.pem: No such file or directory (os error 2)";
    let options = ClientOptions { cacert: Some(missing.clone()), ..ClientOptions::default() };
    assert_eq!(options.config().unwrap_err().to_string(), expected);
    let identity = Some(IdentityFiles { certificate: missing.clone(), key: missing });
    let error = ServerOptions { identity, ..ServerOptions::default() }.config().unwrap_err();
    assert_eq!(error.to_string(), expected);
}

#[test]
fn authorities_that_are_none() {
    let authority = Authority::new();
    let given = |text: &str| {
        let cacert = Some(authority.file("given.pem", text));
        ClientOptions { cacert, ..ClientOptions::default() }.config().unwrap_err().to_string()
    };
    assert!(given("# nothing\n").contains("given.pem holds no certificate: a PEM file is needed"));
    let bad = given("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n");
    assert!(bad.contains("a certificate in ") && bad.contains("given.pem can't be used: "), "{bad}");
}

#[test]
fn names_that_no_server_can_have() {
    let options = ClientOptions { insecure: true, ..ClientOptions::default() };
    for name in ["", "a b", "under_score..x", "[::1"] {
        let error = ClientTls::new(&options, name).unwrap_err().to_string();
        assert_eq!(
            error,
            format!("`{name}` can't be the name of a server: a domain name or an address is needed")
        );
    }
}

#[test]
fn a_server_with_files_serves_who_believes_their_authority() {
    let authority = Authority::new();
    let leaf = authority.leaf("localhost");
    let certificate = authority.file("cert.pem", &leaf.pem);
    let key = authority.file("key.pem", &leaf.key.serialize_pem());
    let options =
        ServerOptions { identity: Some(IdentityFiles { certificate, key }), ..ServerOptions::default() };
    Pair::new(&authority.client(), &options.config().unwrap()).connected();
}
