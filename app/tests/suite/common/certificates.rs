//! Certificates as files, made for the tests.

use crate::common::Home;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose,
    date_time_ymd,
};
use std::path::PathBuf;

/// Someone who signs certificates, and where their files go.
pub struct Authority<'a> {
    issuer: CertifiedIssuer<'static, KeyPair>,
    home: &'a Home,
}

/// A certificate, and its key.
pub struct Files {
    pub certificate: PathBuf,
    pub key: PathBuf,
}

impl<'a> Authority<'a> {
    /// One whose own certificate is `ca.pem` in `home`.
    pub fn new(home: &'a Home) -> Self {
        let mut params = CertificateParams::new([]).unwrap();
        // Two of the same name would pass for one with another key.
        params.distinguished_name.push(DnType::CommonName, home.path().display().to_string());
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        home.write("ca.pem", &issuer.pem());
        Self { issuer, home }
    }

    /// `cert.pem`, `key.pem`, and `both.pem` with one behind the other: for this name, until this year.
    pub fn sign(&self, name: &str, until: i32) -> Files {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new([name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(2000, 1, 1);
        params.not_after = date_time_ymd(until, 1, 1);
        let certificate = params.signed_by(&key, &self.issuer).unwrap().pem();
        let key = key.serialize_pem();
        self.home.write("both.pem", &format!("{certificate}{key}"));
        Files {
            certificate: self.home.write("cert.pem", &certificate),
            key: self.home.write("key.pem", &key),
        }
    }
}
