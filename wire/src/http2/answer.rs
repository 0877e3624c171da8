//! The header fields of an answer: what they say, and whether they may be there (RFC 9113 sections 8.1, 8.2 and 8.3).

use super::fields::{is_name, is_of_connection};
use crate::grpc::status::GrpcStatus;
use crate::head::number;

/// The fields of an answer as they come, in a head or in trailers.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnswerFields {
    /// The status; 0: none yet. Trailers have none.
    pub status: u16,
    /// The `Content-Length`.
    pub length: Option<u64>,
    /// The `grpc-status`.
    pub grpc_status: Option<GrpcStatus>,
    /// Whether one of them may not be there.
    pub is_malformed: bool,
    has_ordinary: bool,
}

impl AnswerFields {
    /// Reads a field. True: it is an ordinary one, and nothing is wrong so far.
    #[inline]
    pub fn read(&mut self, name: &[u8], value: &[u8]) -> bool {
        if name.first() == Some(&b':') {
            let status = parse_status(value).filter(|_| name == b":status" && !self.has_ordinary);
            self.is_malformed |= self.status != 0 || status.is_none();
            self.status = status.unwrap_or(0);
            return false;
        }
        self.has_ordinary = true;
        self.is_malformed |= !is_allowed(name, value);
        if name == b"content-length" {
            let length = number(value);
            self.is_malformed |= length.is_none() || self.length.is_some_and(|other| Some(other) != length);
            self.length = length;
        } else if name == b"grpc-status" {
            self.grpc_status = Some(GrpcStatus::read(value, self.grpc_status));
        }
        !self.is_malformed
    }

    /// Whether they are those of an interim answer.
    pub fn is_interim(&self) -> bool {
        (100..200).contains(&self.status)
    }

    /// Whether they make a head.
    pub fn is_head(&self) -> bool {
        // A switch of protocols has no place in HTTP/2 (RFC 9113 section 8.6).
        !self.is_malformed && self.status != 0 && self.status != 101
    }

    /// Whether they make trailers.
    pub fn is_trailers(&self) -> bool {
        !self.is_malformed && self.status == 0
    }
}

fn parse_status(value: &[u8]) -> Option<u16> {
    let [a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'] = value else { return None };
    Some(100 * u16::from(a - b'0') + 10 * u16::from(b - b'0') + u16::from(c - b'0'))
}

/// Whether a field that is not a pseudo-header can be one of an answer. White space around the value is taken off by who reads it.
fn is_allowed(name: &[u8], value: &[u8]) -> bool {
    is_name(name) && !is_of_connection(name) && memchr::memchr3(0, b'\r', b'\n', value).is_none()
}
