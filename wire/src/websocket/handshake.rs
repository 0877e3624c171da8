//! The opening handshake (RFC 6455 section 4): the client's request and what its answer must say; the server's answer to a request.

use super::WebSocketError;
use crate::RequestHead;
use crate::head::tokens;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sha1::{Digest, Sha1};

/// The client's key: sixteen bytes in base64. It shows that the server understood the request and did not repeat an old answer. It need not
/// be secret, and a fixed one lets a run be repeated byte by byte.
const KEY: &str = "ZHJvbWUgd2ViIHNvY2tldA==";

/// The length of a key before it is coded.
const KEY_BYTES: usize = 16;

/// What a server appends to the key before it computes the digest (RFC 6455 section 1.3).
const GUID: &str = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

/// The only version.
const VERSION: &str = "13";

/// The value of `Sec-WebSocket-Accept` for this key.
fn accept_value(key: &[u8]) -> [u8; 28] {
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut value = [0; 28];
    // A digest has 20 bytes, which are 28 characters.
    let written = STANDARD.encode_slice(digest, &mut value);
    debug_assert_eq!(written, Ok(value.len()));
    value
}

/// A client's request to open a WebSocket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeRequest {
    /// The request.
    pub bytes: Vec<u8>,
    /// The value of the answer's `Sec-WebSocket-Accept`.
    accept: [u8; 28],
    /// The subprotocols that are offered, as a list.
    subprotocols: Vec<u8>,
}

impl UpgradeRequest {
    /// The request with the target and the fields of this one, as far as they do not concern a body or the handshake itself.
    pub fn new(head: &RequestHead<'_>) -> Result<Self, WebSocketError> {
        let mut bytes = format!("GET {} HTTP/1.1\r\n", head.target).into_bytes();
        let mut subprotocols = Vec::new();
        for (name, value) in head.fields() {
            let is = |other| name.eq_ignore_ascii_case(other);
            if is("sec-websocket-extensions") {
                return Err(WebSocketError::Offer);
            }
            if WRITTEN_ANEW.iter().any(|name| is(name)) {
                continue;
            }
            if is("sec-websocket-protocol") {
                subprotocols.extend_from_slice(value);
                subprotocols.push(b',');
            }
            [name.as_bytes(), b": ", value, b"\r\n"].iter().for_each(|part| bytes.extend_from_slice(part));
        }
        bytes.extend_from_slice(
            format!(
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: {VERSION}\r\nSec-WebSocket-Key: {KEY}\r\n\r\n"
            )
            .as_bytes(),
        );
        Ok(Self { bytes, accept: accept_value(KEY.as_bytes()), subprotocols })
    }
}

/// The fields of a plan's request that are not the handshake's: those of its body, and those that the handshake has of its own.
const WRITTEN_ANEW: [&str; 8] = [
    "connection",
    "content-length",
    "content-type",
    "expect",
    "sec-websocket-key",
    "sec-websocket-version",
    "transfer-encoding",
    "upgrade",
];

/// The fields of a switch of protocols that count, of either side.
#[derive(Debug, Default)]
pub struct UpgradeFields {
    is_websocket: bool,
    is_upgrade: bool,
    is_accepted: bool,
    has_extension: bool,
    has_other_subprotocol: bool,
}

impl UpgradeFields {
    /// Takes note of a field of the answer to this request.
    pub fn take(&mut self, request: &UpgradeRequest, name: &str, value: &[u8]) {
        self.take_common(name, value);
        let is = |other| name.eq_ignore_ascii_case(other);
        if is("sec-websocket-accept") {
            self.is_accepted = value == request.accept;
        } else if is("sec-websocket-extensions") {
            self.has_extension |= !value.is_empty();
        } else if is("sec-websocket-protocol") {
            self.has_other_subprotocol |= !tokens(&request.subprotocols).any(|offered| offered == value);
        }
    }

    fn take_common(&mut self, name: &str, value: &[u8]) {
        let names = |token: &[u8]| tokens(value).any(|other| other.eq_ignore_ascii_case(token));
        if name.eq_ignore_ascii_case("upgrade") {
            self.is_websocket |= names(b"websocket");
        } else if name.eq_ignore_ascii_case("connection") {
            self.is_upgrade |= names(b"upgrade");
        }
    }

    /// Whether the server has switched to what was asked for, and to nothing else (RFC 6455 section 4.1).
    pub fn check(&self) -> Result<(), WebSocketError> {
        match self {
            Self { is_websocket: false, .. } | Self { is_upgrade: false, .. } => Err(WebSocketError::Upgrade),
            Self { is_accepted: false, .. } => Err(WebSocketError::Accept),
            Self { has_extension: true, .. } => Err(WebSocketError::Extension),
            Self { has_other_subprotocol: true, .. } => Err(WebSocketError::Subprotocol),
            _ => Ok(()),
        }
    }
}

/// A server's answer that opens the WebSocket: no extension, no subprotocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpgradeAnswer([u8; 28]);

impl UpgradeAnswer {
    /// The answer to this request, or why there is none (RFC 6455 section 4.2.1).
    pub fn to(head: &RequestHead<'_>) -> Result<Self, UpgradeRefusal> {
        let (mut fields, mut has_version, mut has_host) = (UpgradeFields::default(), false, false);
        let (mut key, mut keys) = (&[][..], 0);
        for (name, value) in head.fields() {
            fields.take_common(name, value);
            let is = |other| name.eq_ignore_ascii_case(other);
            has_host |= is("host");
            has_version |= is("sec-websocket-version") && value == VERSION.as_bytes();
            if is("sec-websocket-key") {
                (key, keys) = (value, keys + 1);
            }
        }
        if !(fields.is_websocket && fields.is_upgrade && has_version) {
            return Err(UpgradeRefusal::Required);
        }
        let mut decoded = [0; KEY_BYTES + 2];
        let is_key = keys == 1 && STANDARD.decode_slice(key, &mut decoded) == Ok(KEY_BYTES);
        if !(is_key && has_host && head.minor > 0 && head.method == "GET") {
            return Err(UpgradeRefusal::Malformed);
        }
        Ok(Self(accept_value(key)))
    }

    /// Appends the answer.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n",
        );
        out.extend_from_slice(b"Sec-WebSocket-Accept: ");
        out.extend_from_slice(&self.0);
        out.extend_from_slice(b"\r\n\r\n");
    }
}

/// Why a server opens no WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeRefusal {
    /// The request does not ask for one, or for another version.
    Required,
    /// It asks for one in a wrong way.
    Malformed,
}

impl UpgradeRefusal {
    /// The status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Self::Required => 426,
            Self::Malformed => 400,
        }
    }

    /// The whole answer; the connection is closed behind it.
    pub fn response(self) -> &'static [u8] {
        match self {
            Self::Required => {
                b"HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nConnection: Upgrade, close\r\nSec-WebSocket-Version: 13\r\nContent-Length: 0\r\n\r\n"
            }
            Self::Malformed => b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
        }
    }
}
