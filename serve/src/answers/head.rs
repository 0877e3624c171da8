//! Writes the heads of answers that are not ready beforehand.

use crate::answers::date::Date;
use crate::connections::out::Out;

/// What all answers to a request have in common.
#[derive(Clone, Copy, Debug)]
pub struct Context<'c> {
    /// The date of the answer.
    pub date: &'c Date,
    /// Whether the connection stays open.
    pub keep_alive: bool,
    /// Whether the request was HTTP/1.0.
    pub http10: bool,
}

/// Writes a head with these fields, each with its line break.
#[inline]
pub fn head(status: &str, fields: &[&str], context: Context<'_>, out: &mut Out) {
    let bytes = &mut out.bytes;
    bytes.extend_from_slice(b"HTTP/1.1 ");
    bytes.extend_from_slice(status.as_bytes());
    bytes.extend_from_slice(b"\r\nServer: drome\r\nDate: ");
    bytes.extend_from_slice(context.date);
    bytes.extend_from_slice(b"\r\n");
    for field in fields {
        bytes.extend_from_slice(field.as_bytes());
    }
    bytes.extend_from_slice(ending(context.keep_alive, context.http10).as_bytes());
}

/// The field that says what happens to the connection, and the end of the head.
pub fn ending(keep_alive: bool, http10: bool) -> &'static str {
    match (keep_alive, http10) {
        (true, false) => "\r\n",
        (true, true) => "Connection: keep-alive\r\n\r\n",
        (false, _) => "Connection: close\r\n\r\n",
    }
}
