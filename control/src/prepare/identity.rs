//! The certificate with which every contender listens with TLS: made once on a machine, signed by itself, kept in the cache folder.

use crate::lock::Lock;
use crate::prepare::fill_folder;
use std::path::{Path, PathBuf};

/// The certificate's file. The key's has the name that `HAProxy` looks for beside it.
const CERTIFICATE: &str = "drome.pem";
const KEY: &str = "drome.pem.key";

/// The names that it is for. Whoever measures accepts any.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The files of certificate and key, PEM and PKCS #8; they are made if they are missing. An ECDSA key on P-256, as most sites have now.
pub fn files(cache: &Path) -> std::io::Result<(PathBuf, PathBuf)> {
    let (parent, folder) = (cache.join("tls"), cache.join("tls").join("own"));
    let files = (folder.join(CERTIFICATE), folder.join(KEY));
    if folder.is_dir() {
        return Ok(files);
    }
    std::fs::create_dir_all(&parent)?;
    let _lock = Lock::take(&parent.join("lock"))?;
    // Another drome may have made them meanwhile.
    if !folder.is_dir() {
        let [certificate, key] =
            net::tls::self_signed_pem(&NAMES.map(str::to_owned)).map_err(std::io::Error::other)?;
        fill_folder(&folder, &parent.join("draft"), [(CERTIFICATE, certificate), (KEY, key)])?;
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn they_are_made_once_and_a_server_can_use_them() {
        let cache = tempfile::tempdir().unwrap();
        let (certificate, key) = files(cache.path()).unwrap();
        let first = std::fs::read(&certificate).unwrap();
        assert_eq!(files(cache.path()).unwrap(), (certificate.clone(), key.clone()));
        assert_eq!(std::fs::read(&certificate).unwrap(), first);
        let identity = Some(net::tls::IdentityFiles { certificate, key });
        assert!(net::tls::ServerOptions { identity, ..Default::default() }.config().is_ok());
    }
}
