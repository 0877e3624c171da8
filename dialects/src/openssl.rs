//! What a handshake agreed on, in the words of OpenSSL, which the tools print.

use model::Agreed;

/// The version, such as `TLSv1.3`.
pub fn version(agreed: &Agreed) -> String {
    agreed.protocol.replace("TLS ", "TLSv")
}

/// The name of a cipher suite: OpenSSL has names of its own for those of TLS 1.2.
pub fn cipher(iana: &str) -> String {
    let Some((agreement, cipher)) = iana.split_once("_WITH_") else { return iana.to_owned() };
    let cipher = match cipher {
        "CHACHA20_POLY1305_SHA256" => "CHACHA20-POLY1305".to_owned(),
        other => other.replace("AES_", "AES").replace('_', "-"),
    };
    format!("{}-{cipher}", agreement.trim_start_matches("TLS_").replace('_', "-"))
}

/// The server's key of the exchange, with its size; `None` where the group is not known, or has no name here.
pub fn server_key(agreed: &Agreed) -> Option<&'static str> {
    match agreed.group? {
        "X25519" => Some("X25519 253 bits"),
        "secp256r1" => Some("ECDH prime256v1 256 bits"),
        "secp384r1" => Some("ECDH secp384r1 384 bits"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn suites_have_openssl_names() {
        let cases = [
            ("TLS_AES_256_GCM_SHA384", "TLS_AES_256_GCM_SHA384"),
            ("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "ECDHE-RSA-AES128-GCM-SHA256"),
            ("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384", "ECDHE-ECDSA-AES256-GCM-SHA384"),
            ("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256", "ECDHE-RSA-CHACHA20-POLY1305"),
        ];
        for (iana, openssl) in cases {
            assert_eq!(super::cipher(iana), openssl);
        }
    }
}
