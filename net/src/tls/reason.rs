//! Why a handshake failed, in words: what happened, to what, and what to do about it.

use crate::Errno;
use rustls::pki_types::UnixTime;
use rustls::{AlertDescription as Alert, CertificateError, Error, InvalidMessage, PeerIncompatible};

/// The side at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// The server; we are the client.
    Server,
    /// The client; we are the server.
    Client,
}

impl std::fmt::Display for Peer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Server => "the server",
            Self::Client => "the client",
        })
    }
}

/// The failure of a connection whose keys are used up: with one set of keys, only a limited amount may be encrypted safely.
pub const EXHAUSTED: &str = "the keys of this connection are used up: TLS 1.2 can't renew them, TLS 1.3 does";

/// The peer closed in the middle of the handshake.
pub fn closed(peer: Peer) -> String {
    format!("{peer} closed the connection in the middle of the handshake: does it speak TLS?")
}

/// The connection broke in the middle of the handshake.
pub fn broken(peer: Peer, errno: Errno) -> String {
    format!("{peer} broke off the handshake: {errno}")
}

/// Explains an error of rustls to a person.
pub fn of(error: &Error, peer: Peer, is_http: bool) -> String {
    match error {
        Error::InvalidCertificate(error) => certificate(error, peer),
        Error::AlertReceived(alert) => refused(*alert, peer),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) if is_http => {
            format!("{peer} does not speak TLS (it answered in plain HTTP): use http:// instead of https://")
        }
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => match peer {
            Peer::Server => "the server does not speak TLS (it answered with something else)".to_owned(),
            Peer::Client => "the client does not speak TLS (it sent something else)".to_owned(),
        },
        Error::NoCertificatesPresented => format!("{peer} sent no certificate"),
        Error::PeerIncompatible(
            PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
            | PeerIncompatible::ServerDoesNotSupportTls12Or13
            | PeerIncompatible::SupportedVersionsExtensionRequired
            | PeerIncompatible::Tls12NotOffered
            | PeerIncompatible::Tls12NotOfferedOrEnabled
            | PeerIncompatible::Tls13RequiredForQuic,
        ) => no_version(peer),
        Error::PeerIncompatible(PeerIncompatible::NoCipherSuitesInCommon) => {
            format!("{peer} and drome have no cipher suite in common")
        }
        Error::NoApplicationProtocol => none_in_common(peer),
        error => format!("TLS with {peer} failed: {error}"),
    }
}

fn no_version(peer: Peer) -> String {
    format!(
        "{peer} and drome have no version of TLS in common: drome speaks 1.2 and 1.3, or the one that it was told"
    )
}

fn none_in_common(peer: Peer) -> String {
    format!("{peer} speaks none of the protocols that were offered to it (ALPN)")
}

fn certificate(error: &CertificateError, peer: Peer) -> String {
    let remedy = match peer {
        Peer::Server => ": --insecure ignores this",
        Peer::Client => "",
    };
    match error {
        CertificateError::Expired => format!("{peer}'s certificate has expired{remedy}"),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("{peer}'s certificate has expired ({} ago){remedy}", days(*not_after, *time))
        }
        CertificateError::NotValidYet => format!("{peer}'s certificate is not valid yet{remedy}"),
        CertificateError::NotValidYetContext { time, not_before } => {
            let days = days(*time, *not_before);
            format!(
                "{peer}'s certificate is not valid yet (for another {days}): is this machine's clock right?"
            )
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            format!("{peer}'s certificate is for {}, not {}{remedy}", names(presented), expected.to_str())
        }
        CertificateError::UnknownIssuer => match peer {
            Peer::Server => {
                "the server's certificate is from an unknown issuer: --insecure or --cacert FILE".to_owned()
            }
            Peer::Client => "the client's certificate is from an unknown issuer".to_owned(),
        },
        CertificateError::BadSignature => format!(
            "a signature of {peer} does not match: it lacks its certificate's key, or another issuer has the \
             same name"
        ),
        // What most tools make for a test: a certificate that signs itself and says it is an authority. webpki
        // has no other way to say so.
        error if peer == Peer::Server && error.to_string().contains("CaUsedAsEndEntity") => {
            "the server's certificate is its own issuer: --insecure or --cacert FILE".to_owned()
        }
        error => format!("{peer}'s certificate is invalid: {error}{remedy}"),
    }
}

/// What the peer says is wrong with this side.
fn refused(alert: Alert, peer: Peer) -> String {
    match (alert, peer) {
        (Alert::CertificateRequired, Peer::Server) => {
            "the server demands a client certificate: --cert FILE --key FILE".to_owned()
        }
        (
            Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::DecryptError,
            _,
        ) => match peer {
            Peer::Server => format!("the server does not accept the client certificate ({})", word(alert)),
            Peer::Client => format!("the client does not accept the certificate ({})", word(alert)),
        },
        (Alert::ProtocolVersion, _) => no_version(peer),
        (Alert::HandshakeFailure | Alert::InsufficientSecurity, Peer::Server) => {
            "the server refuses the handshake: no cipher in common, or it demands a client certificate \
             (--cert FILE --key FILE)"
                .to_owned()
        }
        (Alert::UnrecognisedName, _) => format!("{peer} does not know this name (SNI)"),
        (Alert::NoApplicationProtocol, _) => none_in_common(peer),
        (alert, _) => format!("{peer} broke off TLS with the alert «{}»", word(alert)),
    }
}

/// `BadCertificate` → `bad certificate`.
fn word(alert: Alert) -> String {
    let Some(name) = alert.as_str() else { return format!("number {}", u8::from(alert)) };
    let mut words = String::new();
    for (at, letter) in name.char_indices() {
        let follows_small = name[..at].ends_with(|c: char| c.is_ascii_lowercase());
        if letter.is_ascii_uppercase() && follows_small {
            words.push(' ');
        }
        words.push(if name.ends_with("CA") { letter } else { letter.to_ascii_lowercase() });
    }
    words
}

/// `[DnsName("a.example"), IpAddress(127.0.0.1)]`, as rustls shows names, → `a.example and 127.0.0.1`.
fn names(presented: &[String]) -> String {
    let names: Vec<&str> = presented
        .iter()
        .map(|name| {
            let inner = name.split_once('(').map_or(name.as_str(), |(_, inner)| inner);
            inner.trim_end_matches(')').trim_matches('"')
        })
        .collect();
    match names.as_slice() {
        [] => "no name at all".to_owned(),
        [one] => (*one).to_owned(),
        [first, second] => format!("{first} and {second}"),
        [first, second, others @ ..] => format!("{first}, {second} and {} more", others.len()),
    }
}

fn days(from: UnixTime, to: UnixTime) -> String {
    match to.as_secs().saturating_sub(from.as_secs()) / 86_400 {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn names_are_read_as_rustls_shows_them() {
        let shown = |names_: &[&str]| names(&names_.iter().map(|n| (*n).to_owned()).collect::<Vec<_>>());
        assert_eq!(shown(&[]), "no name at all");
        assert_eq!(shown(&["DnsName(\"a.example\")"]), "a.example");
        assert_eq!(shown(&["DnsName(\"a.example\")", "IpAddress(127.0.0.1)"]), "a.example and 127.0.0.1");
        assert_eq!(shown(&["DnsName(\"*.a\")", "DnsName(\"b\")", "Unsupported(0x81)"]), "*.a, b and 1 more");
    }

    #[test]
    fn spans_of_time_are_told_in_days() {
        let at = |secs| UnixTime::since_unix_epoch(Duration::from_secs(secs));
        assert_eq!(days(at(1_000), at(2_000)), "less than a day");
        assert_eq!(days(at(0), at(86_400)), "1 day");
        assert_eq!(days(at(0), at(3 * 86_400 + 5)), "3 days");
        assert_eq!(days(at(5), at(0)), "less than a day");
    }

    #[test]
    fn alerts_have_names_for_people() {
        assert_eq!(word(Alert::BadCertificate), "bad certificate");
        assert_eq!(word(Alert::UnknownCA), "Unknown CA");
        assert_eq!(word(Alert::Unknown(200)), "number 200");
    }
}
