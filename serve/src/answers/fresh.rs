//! Answers that are made for every request: a JSON object, and an echo.

use crate::answers::head::{Context, head};
use crate::connections::out::Out;
use serde::Serialize;
use std::fmt::Write;
use wire::RequestHead;

/// The largest body that is sent back.
pub const MAX_SENT_BYTES: usize = 4 * 1024 * 1024;

/// An answer that must be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// An object with this number in it.
    Json {
        /// The number in the query.
        number: u64,
        /// Whether the request was a HEAD.
        head_only: bool,
    },
    /// The body of the request.
    Echo,
}

/// A unary call of gRPC, and how it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    /// With the request's message, if it is one.
    Echo,
    /// There is no such method.
    Unknown,
    /// The message is larger than those that are sent back.
    TooLarge,
    /// The messages of the connection's calls take too much memory together.
    TooMuch,
}

impl Call {
    /// The call that a request of HTTP/2 makes, if it makes one: `/package.Service/Echo` sends a message back, whatever the service is called.
    pub fn from_head(head: &RequestHead<'_>) -> Option<Self> {
        let is_grpc = |value: &[u8]| {
            let rest = value.strip_prefix(b"application/grpc");
            rest.is_some_and(|rest| matches!(rest.first(), None | Some(b'+' | b';')))
        };
        let is_type = |(name, value): (&str, &[u8])| name == "content-type" && is_grpc(value);
        let is_call = head.method == "POST" && head.fields().any(is_type);
        let service = head.target.strip_prefix('/').and_then(|target| target.strip_suffix("/Echo"));
        let is_echo = service.is_some_and(|service| !service.is_empty() && !service.contains('/'));
        is_call.then_some(if is_echo { Self::Echo } else { Self::Unknown })
    }

    /// The status, and its reason where it is not 0.
    fn status(self, sent: &[u8]) -> (u8, &'static str) {
        match self {
            Self::Echo if wire::is_grpc_message(sent) => (0, ""),
            Self::Echo => (13, "not one message without compression"),
            Self::Unknown => (12, "only methods that are called Echo are there"),
            Self::TooLarge => (8, "a message of more than 4 MiB"),
            Self::TooMuch => (8, "too many bytes arrive on this connection at once"),
        }
    }
}

/// A request whose body is arriving and will be its answer.
#[derive(Debug)]
pub struct Echo {
    /// The part of the body that has arrived.
    pub body: Vec<u8>,
    /// Whether the connection can be used for another request.
    pub keep_alive: bool,
    /// Whether the request was HTTP/1.0.
    pub http10: bool,
}

/// The text of the object, `{n}` for the number.
pub const OBJECT: &str = r#"{"message":"Hello World","number":{n}}"#;

/// The object: its keys are written in this order.
#[derive(Serialize)]
struct Message<'m> {
    message: &'m str,
    number: u64,
}

/// Writes the answers that must be made, for one thread.
#[derive(Debug, Default)]
pub struct Writer {
    body: Vec<u8>,
    length: String,
}

impl Writer {
    /// Writes the object. Returns status and length for the log.
    pub fn json(&mut self, number: u64, head_only: bool, context: Context<'_>, out: &mut Out) -> (u16, u64) {
        self.body.clear();
        // Writing an object of text and a number to memory can't fail.
        let _ = serde_json::to_writer(&mut self.body, &Message { message: "Hello World", number });
        let fields = self.fields("application/json", self.body.len());
        head("200 OK", &[&fields], context, out);
        self.length = fields;
        if head_only {
            return (200, 0);
        }
        out.bytes.extend_from_slice(&self.body);
        (200, self.body.len() as u64)
    }

    /// Writes the echo. Returns status and length for the log.
    pub fn echo(&mut self, body: &[u8], context: Context<'_>, out: &mut Out) -> (u16, u64) {
        let fields = self.fields("application/octet-stream", body.len());
        head("200 OK", &[&fields], context, out);
        self.length = fields;
        out.bytes.extend_from_slice(body);
        (200, body.len() as u64)
    }

    /// Writes the answer to a call with this message, prefix included. Returns status and length for the log. The `Grpc-Status` belongs
    /// behind the body, if there is one.
    pub fn call(&mut self, call: Call, sent: &[u8], context: Context<'_>, out: &mut Out) -> (u16, u64) {
        let (status, reason) = call.status(sent);
        let body = if status == 0 { sent } else { &[] };
        let mut fields = self.fields("application/grpc", body.len());
        let _ = write!(fields, "Grpc-Status: {status}\r\n");
        if status != 0 {
            let _ = write!(fields, "Grpc-Message: {reason}\r\n");
        }
        head("200 OK", &[&fields], context, out);
        self.length = fields;
        out.bytes.extend_from_slice(body);
        (200, body.len() as u64)
    }

    /// The fields for type and length, in reused memory.
    fn fields(&mut self, content_type: &str, length: usize) -> String {
        let mut fields = std::mem::take(&mut self.length);
        fields.clear();
        let _ = write!(fields, "Content-Type: {content_type}\r\nContent-Length: {length}\r\n");
        fields
    }
}

/// The number in a query like `n=5`; `None` where there is none.
pub fn number(query: &str) -> Option<u64> {
    query.split('&').find_map(|pair| pair.strip_prefix("n="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connections::out::Each;

    #[test]
    fn a_number_is_read_from_the_query() {
        assert_eq!(
            ["n=1", "q=2&n=17", "n=0", "n=", "n=-1", "m=1", ""].map(number),
            [Some(1), Some(17), Some(0), None, None, None, None]
        );
    }

    #[test]
    fn the_object_is_written_for_each_request() {
        let (mut writer, mut out) = (Writer::default(), Out::new(Each::Gathered));
        let context = Context { date: b"Sun, 06 Nov 1994 08:49:37 GMT", keep_alive: true, http10: false };
        assert_eq!(writer.json(7, false, context, &mut out), (200, 36));
        let text = String::from_utf8(std::mem::take(&mut out.bytes)).unwrap();
        assert!(text.contains("Content-Type: application/json\r\nContent-Length: 36\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n{\"message\":\"Hello World\",\"number\":7}"), "{text}");
        assert_eq!(writer.echo(b"abc", context, &mut out), (200, 3));
        let text = String::from_utf8(std::mem::take(&mut out.bytes)).unwrap();
        assert!(text.ends_with("Content-Length: 3\r\n\r\nabc"), "{text}");
    }
}
