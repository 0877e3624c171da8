//! The head of a request: header fields from a block, checked as RFC 9113 section 8 asks and given the form of HTTP/1's.

use crate::head::number;
use crate::http2::fields::{is_name, is_of_connection};
use crate::http2::hpack::{Decoded, HpackDecoder, HpackError};
use crate::{MAX_HEAD_FIELDS, RequestHead};
use httparse::{EMPTY_HEADER, Header};
use std::ops::Range;

/// Memory for the fields of one block.
#[derive(Clone, Debug, Default)]
pub struct Fields {
    /// Names and values, one after the other.
    text: Vec<u8>,
    /// The end of each name and of its value.
    ends: Vec<(u32, u32)>,
    scratch: Vec<u8>,
}

/// What a head says of the body that follows, and the caller's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedHead<R> {
    /// What the caller made of it.
    pub route: R,
    /// The `Content-Length`.
    pub length: Option<u64>,
    /// Whether the client waits for `100 Continue` before it sends the body.
    pub expects_continue: bool,
}

/// The fields whose names begin with a colon.
#[derive(Default)]
struct Pseudo<'f> {
    method: Option<&'f [u8]>,
    scheme: Option<&'f [u8]>,
    authority: Option<&'f [u8]>,
    path: Option<&'f [u8]>,
}

impl Fields {
    /// Decodes a block; what is too much is left out.
    pub fn decode(&mut self, hpack: &mut HpackDecoder, block: &[u8]) -> Result<Decoded, HpackError> {
        let Self { text, ends, scratch } = self;
        text.clear();
        ends.clear();
        hpack.decode_some(block, scratch, |name, value| {
            text.extend_from_slice(name);
            let end = text.len() as u32;
            text.extend_from_slice(value);
            ends.push((end, text.len() as u32));
        })
    }

    /// Whether both are the same fields.
    pub fn is_same(&self, other: &Self) -> bool {
        self.ends == other.ends && self.text == other.text
    }

    /// Copies the fields of another.
    pub fn copy_from(&mut self, other: &Self) {
        self.text.clone_from(&other.text);
        self.ends.clone_from(&other.ends);
    }

    fn iter(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let part =
            |range: Range<u32>| self.text.get(range.start as usize..range.end as usize).unwrap_or_default();
        let mut start = 0;
        self.ends.iter().map(move |(middle, end)| {
            let field = (part(start..*middle), part(*middle..*end));
            start = *end;
            field
        })
    }

    /// Whether these are the fields after a body: no pseudo-fields, and names and values as they must be.
    pub fn are_trailers(&self) -> bool {
        self.iter().all(|(name, value)| is_name(name) && is_value(value))
    }

    /// Reads them as the head of a request. `None`: it is malformed.
    pub fn parse<R>(&self, route: impl FnOnce(&RequestHead<'_>) -> R) -> Option<ParsedHead<R>> {
        let (mut pseudo, mut count) = (Pseudo::default(), 0);
        let (mut length, mut expects_continue) = (None, false);
        let mut headers = [EMPTY_HEADER; MAX_HEAD_FIELDS + 1];
        for (name, value) in self.iter() {
            if !is_value(value) {
                return None;
            }
            if name.first() == Some(&b':') {
                // All of them stand before the others (section 8.3).
                if count > 0 || pseudo.place(name)?.replace(value).is_some() {
                    return None;
                }
                continue;
            }
            if !is_name(name) || is_of_connection(name) {
                return None;
            }
            match name {
                b"te" if value != b"trailers" => return None,
                b"content-length" => {
                    let value = number(value)?;
                    if length.replace(value).is_some_and(|other| other != value) {
                        return None;
                    }
                }
                b"expect" => expects_continue |= value.eq_ignore_ascii_case(b"100-continue"),
                b"host" if pseudo.authority.is_some() => {
                    // It says the same, or the request is ambiguous (section 8.3.1).
                    if pseudo.authority != Some(value) {
                        return None;
                    }
                    continue;
                }
                _ => {}
            }
            *headers.get_mut(count)? = Header { name: str::from_utf8(name).ok()?, value };
            count += 1;
        }
        if let Some(value) = pseudo.authority {
            *headers.get_mut(count)? = Header { name: "host", value };
            count += 1;
        }
        let (method, target) = pseudo.method_and_target()?;
        let fields = headers.get(..count)?;
        let head = RequestHead { method, target, major: 2, minor: 0, fields };
        Some(ParsedHead { route: route(&head), length, expects_continue })
    }
}

impl<'f> Pseudo<'f> {
    fn place(&mut self, name: &[u8]) -> Option<&mut Option<&'f [u8]>> {
        match name {
            b":method" => Some(&mut self.method),
            b":scheme" => Some(&mut self.scheme),
            b":authority" => Some(&mut self.authority),
            b":path" => Some(&mut self.path),
            _ => None,
        }
    }

    fn method_and_target(&self) -> Option<(&'f str, &'f str)> {
        let method =
            self.method.filter(|method| !method.is_empty() && method.iter().all(u8::is_ascii_graphic))?;
        let target = match method {
            // It names a host instead of a resource (section 8.5).
            b"CONNECT" if self.scheme.is_none() && self.path.is_none() => self.authority?,
            b"CONNECT" => return None,
            _ => self.scheme.and(self.path)?,
        };
        let is_visible = |byte: &u8| *byte > b' ' && *byte != 0x7f;
        let target = Some(target).filter(|target| !target.is_empty() && target.iter().all(is_visible))?;
        Some((str::from_utf8(method).ok()?, str::from_utf8(target).ok()?))
    }
}

/// Whether this can be the value of a field (RFC 9113 section 8.2.1).
fn is_value(value: &[u8]) -> bool {
    let is_blank = |byte: Option<&u8>| matches!(byte, Some(b' ' | b'\t'));
    !is_blank(value.first())
        && !is_blank(value.last())
        && !value.iter().any(|byte| matches!(byte, b'\0' | b'\r' | b'\n'))
}
