//! Reads certificates and keys from PEM files, or makes them; names what is wrong with them, file by file.

use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::{Error as PemError, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, InconsistentKeys};
use std::path::{Path, PathBuf};

/// The files of a certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdentityFiles {
    /// PEM: the certificate, then the chain of those that signed it.
    pub certificate: PathBuf,
    /// PEM: PKCS #8, PKCS #1 or SEC1, without a passphrase.
    pub key: PathBuf,
}

/// An error in the files or the options of TLS.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the messages say it")]
pub enum TlsError {
    #[error("can't read {}: {source}", file.display())]
    Unreadable { file: PathBuf, source: std::io::Error },
    #[error("{} holds no certificate: a PEM file is needed, with BEGIN CERTIFICATE in it", file.display())]
    NoCertificate { file: PathBuf },
    #[error("{} holds no certificate, but a private key: are certificate and key swapped?", file.display())]
    KeyForCertificate { file: PathBuf },
    #[error("{} holds no private key: a PEM file is needed, with BEGIN PRIVATE KEY in it", file.display())]
    NoKey { file: PathBuf },
    #[error("the key in {} has a passphrase: `openssl pkey -in {} -out FILE` writes it without", file.display(),
        file.display())]
    EncryptedKey { file: PathBuf },
    #[error("{} is damaged: {reason}", file.display())]
    Damaged { file: PathBuf, reason: String },
    #[error("a certificate in {} can't be used: {reason}", file.display())]
    BadCertificate { file: PathBuf, reason: String },
    #[error("the key in {} can't be used (RSA of 2048 bits or more, P-256, P-384, Ed25519 can): {reason}",
        file.display())]
    BadKey { file: PathBuf, reason: String },
    #[error("the key in {} does not fit the certificate in {}: its first certificate must be the key's own",
        key.display(), certificate.display())]
    Unfit { certificate: PathBuf, key: PathBuf },
    #[error(
        "this system has no certificate authorities: install ca-certificates, or give --cacert FILE \
        or --insecure"
    )]
    NoAuthorities,
    #[error("`{name}` can't be the name of a server: a domain name or an address is needed")]
    Name { name: String },
    #[error("can't make a certificate for {names}: {reason}")]
    SelfSigned { names: String, reason: String },
    #[error("can't set up TLS: {0}")]
    Setup(#[from] Error),
}

/// Reads every certificate in a PEM file, at least one.
pub fn read_certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let text = read(file)?;
    let certificates: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let certificates = certificates.map_err(|error| damaged(file, &error))?;
    if !certificates.is_empty() {
        return Ok(certificates);
    }
    let file = file.to_owned();
    let has_key = PrivateKeyDer::from_pem_slice(&text).is_ok();
    Err(if has_key { TlsError::KeyForCertificate { file } } else { TlsError::NoCertificate { file } })
}

/// Reads a certificate and its key, and checks that they match.
pub fn read_identity(files: &IdentityFiles, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let certificates = read_certificates(&files.certificate)?;
    let key = read_key(&files.key)?;
    CertifiedKey::from_der(certificates, key, provider).map_err(|error| match error {
        Error::InconsistentKeys(InconsistentKeys::KeyMismatch) => {
            TlsError::Unfit { certificate: files.certificate.clone(), key: files.key.clone() }
        }
        Error::InvalidCertificate(error) => {
            TlsError::BadCertificate { file: files.certificate.clone(), reason: error.to_string() }
        }
        error => TlsError::BadKey { file: files.key.clone(), reason: error.to_string() },
    })
}

/// Makes a self-signed certificate for these names and addresses, with a new key (ECDSA on P-256).
pub fn self_signed(names: &[String], provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
    let made = make(names)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok(CertifiedKey::from_der(vec![made.cert.der().clone()], key.into(), provider)?)
}

/// As [`self_signed`], as PEM: the certificate, and its key in PKCS #8.
pub fn self_signed_pem(names: &[String]) -> Result<[String; 2], TlsError> {
    let made = make(names)?;
    Ok([made.cert.pem(), made.signing_key.serialize_pem()])
}

fn make(names: &[String]) -> Result<rcgen::CertifiedKey<rcgen::KeyPair>, TlsError> {
    rcgen::generate_simple_self_signed(names)
        .map_err(|error| TlsError::SelfSigned { names: names.join(", "), reason: error.to_string() })
}

fn read_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    let text = read(file)?;
    PrivateKeyDer::from_pem_slice(&text).map_err(|error| {
        let text = String::from_utf8_lossy(&text);
        let has_passphrase =
            text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED");
        match error {
            _ if has_passphrase => TlsError::EncryptedKey { file: file.to_owned() },
            PemError::NoItemsFound => TlsError::NoKey { file: file.to_owned() },
            error => damaged(file, &error),
        }
    })
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file).map_err(|source| TlsError::Unreadable { file: file.to_owned(), source })
}

fn damaged(file: &Path, error: &PemError) -> TlsError {
    let reason = match error {
        PemError::MissingSectionEnd { .. } => "a section begins and does not end".to_owned(),
        PemError::IllegalSectionStart { .. } => "a line that begins a section is not whole".to_owned(),
        PemError::Base64Decode(_) => "what should be base64 is not".to_owned(),
        error => error.to_string(),
    };
    TlsError::Damaged { file: file.to_owned(), reason }
}
