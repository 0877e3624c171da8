//! The size of the key in a certificate, with the small part of a parser for X.509 (RFC 5280) that it takes to find it.

// Object identifiers of the kinds of keys and of the curves (RFC 8017, RFC 5480, RFC 8410): the content bytes of their DER.
const RSA: &[u8] = &[0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1];
const ELLIPTIC: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1];
const ED25519: &[u8] = &[0x2b, 0x65, 0x70];
const P256: &[u8] = &[0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7];
const P384: &[u8] = &[0x2b, 0x81, 4, 0, 34];
const P521: &[u8] = &[0x2b, 0x81, 4, 0, 35];

/// The tag of the version, which may be the first field of the signed part of a certificate.
const VERSION: u8 = 0xa0;

/// The size in bits of a certificate's public key, as OpenSSL counts it; `None` for other kinds, and if it is no certificate.
pub fn bits(certificate: &[u8]) -> Option<u32> {
    let (_, certificate, _) = element(certificate)?;
    let (_, signed, _) = element(certificate)?;
    let (tag, _, after) = element(signed)?;
    let mut rest = if tag == VERSION { after } else { signed };
    // Serial number, signature's kind, issuer, validity, subject.
    for _ in 0..5 {
        rest = element(rest)?.2;
    }
    let (_, key, _) = element(rest)?;
    let (_, kind, key) = element(key)?;
    let (_, name, parameters) = element(kind)?;
    match name {
        RSA => {
            let (_, bytes, _) = element(key)?;
            let (_, numbers, _) = element(bytes.get(1..)?)?;
            let (_, modulus, _) = element(numbers)?;
            let first = modulus.iter().position(|byte| *byte != 0)?;
            Some((modulus.len() - first) as u32 * 8 - modulus[first].leading_zeros())
        }
        ELLIPTIC => match element(parameters)?.1 {
            P256 => Some(256),
            P384 => Some(384),
            P521 => Some(521),
            _ => None,
        },
        // The order of its group has this number of bits.
        ED25519 => Some(253),
        _ => None,
    }
}

/// Splits off the first element of some DER: its tag, its content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let [tag, length, rest @ ..] = der else { return None };
    let (length, rest) = match usize::from(*length) {
        short @ 0..0x80 => (short, rest),
        long => {
            let (digits, rest) =
                rest.split_at_checked(long & 0x7f).filter(|(digits, _)| digits.len() <= 4)?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((*tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};

    fn certificate(kind: &'static rcgen::SignatureAlgorithm) -> Vec<u8> {
        let key = KeyPair::generate_for(kind).unwrap();
        CertificateParams::new(vec!["localhost".to_owned()])
            .unwrap()
            .self_signed(&key)
            .unwrap()
            .der()
            .to_vec()
    }

    #[test]
    fn keys_of_every_kind_that_servers_have() {
        let kinds = [
            (&rcgen::PKCS_ECDSA_P256_SHA256, 256),
            (&rcgen::PKCS_ECDSA_P384_SHA384, 384),
            (&rcgen::PKCS_ED25519, 253),
        ];
        for (kind, expected) in kinds {
            assert_eq!(bits(&certificate(kind)), Some(expected));
        }
    }

    #[test]
    fn a_modulus_is_counted_without_what_leads_it() {
        let der = |tag: u8, content: &[u8]| {
            [&[tag, 0x82, (content.len() >> 8) as u8, content.len() as u8], content].concat()
        };
        for (first, expected) in [(0xff, 2048), (0x80, 2048), (0x7f, 2047), (0x01, 2041)] {
            let modulus = [&[0, first][..], &[0; 255]].concat();
            let numbers = der(0x30, &[der(2, &modulus), der(2, &[1, 0, 1])].concat());
            let kind = der(0x30, &[der(6, RSA), vec![5, 0]].concat());
            let key = der(0x30, &[kind, der(3, &[vec![0], numbers].concat())].concat());
            let fields = [der(VERSION, &[]), vec![0; 10], key].concat();
            assert_eq!(bits(&der(0x30, &der(0x30, &fields))), Some(expected));
        }
    }

    #[test]
    fn what_is_cut_off_or_no_certificate_has_no_bits() {
        let whole = certificate(&rcgen::PKCS_ECDSA_P256_SHA256);
        assert!((0..whole.len() - 1).all(|end| bits(&whole[..end]).is_none()));
        assert_eq!(bits(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]), None);
        assert_eq!(bits(&[0x30, 0xff]), None);
    }
}
