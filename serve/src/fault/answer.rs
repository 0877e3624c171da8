//! Answers as bytes, before and after a fault; pure.

use super::{Framing, Mishap};
use std::borrow::Cow;

/// The bytes that are sent instead of an answer; they are not HTTP in any version.
pub const GARBAGE: &[u8] = b"\x00\xff this is not HTTP\r\n\r\n";

/// The unrequested answer. Real servers send this to connections that say nothing.
pub const UNASKED: &[u8] =
    b"HTTP/1.1 408 Request Timeout\r\nServer: drome\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";

/// The beginning of the answer that opens a WebSocket.
pub const UPGRADE: &[u8] = b"HTTP/1.1 101 ";

/// The message that no message asked for.
const UNASKED_MESSAGE: &[u8] = b"\x81\x07unasked";

/// A close frame with the code of a server that goes.
const GOING_AWAY: &[u8] = b"\x88\x02\x03\xe9";

/// The largest chunk.
const MAX_CHUNK_BYTES: usize = 4096;

/// What is to be changed in an answer to make it faulty.
#[derive(Clone, Copy, Debug, Default)]
pub struct Change {
    /// How the client learns where the answer ends.
    pub framing: Framing,
    /// The damage, if there is any.
    pub mishap: Option<Mishap>,
    /// Whether the answer announces that the connection closes after it.
    pub says_close: bool,
}

/// The bytes to send instead of `answer`, which is a head and its body, whole.
pub fn changed(answer: &[u8], change: Change) -> Vec<u8> {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").map_or(answer.len(), |at| at + 4);
    let (head, body) = answer.split_at(end);
    let (mut head, mut body) = (Head::of(head), Cow::Borrowed(body));
    if let Some(Mishap::Status(status)) = change.mishap {
        head.start = format!("HTTP/1.1 {status} Fault").into_bytes();
        if status == 204 || status == 304 {
            body = Cow::Borrowed(b""); // These have none (RFC 9110 sections 15.3.5 and 15.4.5).
            head.remove("content-length");
        }
    }
    match change.framing {
        Framing::Length => {}
        // Without a body, as after HEAD, there is nothing to cut into chunks.
        Framing::Chunked if body.is_empty() => {}
        Framing::Chunked => {
            head.remove("content-length");
            head.add("Transfer-Encoding: chunked");
            body = Cow::Owned(chunks(&body));
        }
        Framing::Http10 => {
            head.start[..8].copy_from_slice(b"HTTP/1.0");
            head.remove("content-length");
            head.remove("connection");
        }
    }
    if change.says_close && change.framing != Framing::Http10 {
        head.remove("connection");
        head.add("Connection: close");
    }
    match change.mishap {
        Some(Mishap::Garbage) => GARBAGE.to_vec(),
        Some(Mishap::Length(by)) => {
            head.lengthen(by);
            [head.bytes().as_slice(), &body].concat()
        }
        Some(Mishap::Truncate) if body.is_empty() => {
            let head = head.bytes();
            head[..head.len() / 2].to_vec()
        }
        Some(Mishap::Truncate) => [head.bytes().as_slice(), &body[..body.len() / 2]].concat(),
        Some(Mishap::Unasked) => [head.bytes().as_slice(), &body, UNASKED].concat(),
        Some(Mishap::Status(_) | Mishap::Reset) | None => [head.bytes().as_slice(), &body].concat(),
    }
}

/// The bytes to send instead of a message of a WebSocket. Faults of status, length and framing are of HTTP only.
pub fn changed_message(message: &[u8], mishap: Option<Mishap>, says_close: bool) -> Vec<u8> {
    let end = if says_close { GOING_AWAY } else { &[] };
    match mishap {
        Some(Mishap::Garbage) => GARBAGE.to_vec(),
        Some(Mishap::Truncate) => message[..message.len() / 2].to_vec(),
        Some(Mishap::Unasked) => [message, UNASKED_MESSAGE, end].concat(),
        Some(Mishap::Status(_) | Mishap::Length(_) | Mishap::Reset) | None => [message, end].concat(),
    }
}

/// Cuts a body into chunks, at least two if it has two bytes.
fn chunks(body: &[u8]) -> Vec<u8> {
    let size = body.len().div_ceil(2).clamp(1, MAX_CHUNK_BYTES);
    let mut coded = Vec::with_capacity(body.len() + body.len() / 64 + 64);
    for chunk in body.chunks(size) {
        coded.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        coded.extend_from_slice(chunk);
        coded.extend_from_slice(b"\r\n");
    }
    coded.extend_from_slice(b"0\r\n\r\n");
    coded
}

/// The lines of a head.
struct Head {
    /// `HTTP/1.1 200 OK`; no shorter than `HTTP/1.1`.
    start: Vec<u8>,
    fields: Vec<Vec<u8>>,
}

impl Head {
    fn of(bytes: &[u8]) -> Self {
        let mut lines = bytes.split(|byte| *byte == b'\n').map(|line| line.trim_ascii_end().to_vec());
        let mut start = lines.next().unwrap_or_default();
        start.resize(start.len().max(8), b' ');
        Self { start, fields: lines.filter(|line| !line.is_empty()).collect() }
    }

    fn remove(&mut self, name: &str) {
        self.fields.retain(|field| !is_named(field, name));
    }

    fn add(&mut self, field: &str) {
        self.fields.push(field.as_bytes().to_vec());
    }

    /// Adds to the number in `Content-Length`, which stays at least 0.
    fn lengthen(&mut self, by: i64) {
        for field in self.fields.iter_mut().filter(|field| is_named(field, "content-length")) {
            let text = String::from_utf8_lossy(field);
            let length: u64 = text.split(':').nth(1).and_then(|n| n.trim().parse().ok()).unwrap_or(0);
            *field = format!("Content-Length: {}", length.saturating_add_signed(by)).into_bytes();
        }
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.start.clone();
        for field in &self.fields {
            bytes.extend_from_slice(b"\r\n");
            bytes.extend_from_slice(field);
        }
        bytes.extend_from_slice(b"\r\n\r\n");
        bytes
    }
}

fn is_named(field: &[u8], name: &str) -> bool {
    let n = name.len();
    field.len() > n && field[n] == b':' && field[..n].eq_ignore_ascii_case(name.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use wire::{Part, ResponseParser, WireError};

    const HEAD: &str = "HTTP/1.1 200 OK\r\nServer: drome\r\nContent-Length: 12\r\n";
    const BODY: &str = "Hello World\n";

    fn hello(change: Change) -> String {
        let answer = format!("{HEAD}\r\n{BODY}");
        String::from_utf8(changed(answer.as_bytes(), change)).unwrap()
    }

    fn with(mishap: Mishap) -> Change {
        Change { mishap: Some(mishap), ..Change::default() }
    }

    /// Status, body, whether the connection can be asked again, how many bytes are left over.
    type Read = (u16, Vec<u8>, bool, usize);

    /// What a client reads.
    fn read(bytes: &[u8]) -> Result<Option<Read>, WireError> {
        let (mut parser, mut input) = (ResponseParser::new(), bytes);
        let (mut status, mut body) = (0, Vec::new());
        while let Some(event) = parser.next(&mut input, false)? {
            match event {
                Part::Head(head) => status = head.status,
                Part::Body(bytes) => body.extend_from_slice(bytes),
                Part::End { keep_alive } => return Ok(Some((status, body, keep_alive, input.len()))),
            }
        }
        Ok(parser.closed()?.map(|_| (status, body, false, 0)))
    }

    #[test]
    fn answers_come_out_as_they_should() {
        assert_eq!(hello(Change::default()), format!("{HEAD}\r\n{BODY}"));
        let closes = Change { says_close: true, ..Change::default() };
        assert_eq!(hello(closes), format!("{HEAD}Connection: close\r\n\r\n{BODY}"));
        let status = hello(with(Mishap::Status(503)));
        assert_eq!(status, format!("{HEAD}\r\n{BODY}").replace("200 OK", "503 Fault"));
        assert_eq!(hello(with(Mishap::Status(204))), "HTTP/1.1 204 Fault\r\nServer: drome\r\n\r\n");
        assert_eq!(hello(with(Mishap::Truncate)), format!("{HEAD}\r\nHello "));
        assert_eq!(hello(with(Mishap::Length(5))), format!("{HEAD}\r\n{BODY}").replace("12", "17"));
        assert_eq!(hello(with(Mishap::Length(-5))), format!("{HEAD}\r\n{BODY}").replace("12", "7"));
        assert_eq!(hello(with(Mishap::Length(-50))), format!("{HEAD}\r\n{BODY}").replace("12", "0"));
        let chunked = Change { framing: Framing::Chunked, ..Change::default() };
        let coded = "6\r\nHello \r\n6\r\nWorld\n\r\n0\r\n\r\n";
        let head = "HTTP/1.1 200 OK\r\nServer: drome\r\nTransfer-Encoding: chunked\r\n\r\n";
        assert_eq!(hello(chunked), format!("{head}{coded}"));
        let http10 = Change { framing: Framing::Http10, says_close: true, ..Change::default() };
        assert_eq!(hello(http10), format!("HTTP/1.0 200 OK\r\nServer: drome\r\n\r\n{BODY}"));
    }

    #[test]
    fn an_answer_without_a_body_has_none_whatever_befalls_it() {
        let head = format!("{HEAD}\r\n"); // As after HEAD: a length, but no body.
        for framing in [Framing::Length, Framing::Chunked, Framing::Http10] {
            let sent = changed(head.as_bytes(), Change { framing, ..Change::default() });
            assert!(sent.ends_with(b"\r\n\r\n") && sent.windows(4).filter(|w| w == b"\r\n\r\n").count() == 1);
        }
        let cut = changed(head.as_bytes(), with(Mishap::Truncate));
        assert!(cut.len() < head.len() && head.as_bytes().starts_with(&cut));
    }

    proptest! {
        #[test]
        fn what_a_client_reads_is_what_befell_the_answer(body in prop::collection::vec(any::<u8>(), 2..20_000)) {
            let length = body.len();
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n");
            let answer = [head.as_bytes(), &body].concat();
            let read = |change| read(&changed(&answer, change));
            let whole = |keep_alive, left| Ok(Some((200, body.clone(), keep_alive, left)));
            let framed = |framing| Change { framing, ..Change::default() };
            prop_assert_eq!(read(framed(Framing::Length)), whole(true, 0));
            prop_assert_eq!(read(framed(Framing::Chunked)), whole(true, 0));
            prop_assert_eq!(read(framed(Framing::Http10)), whole(false, 0));
            prop_assert_eq!(read(Change { says_close: true, ..framed(Framing::Chunked) }), whole(false, 0));
            prop_assert_eq!(read(with(Mishap::Unasked)), whole(true, UNASKED.len()));
            prop_assert_eq!(read(with(Mishap::Status(404))), Ok(Some((404, body.clone(), true, 0))));
            let short = body[..length - 1].to_vec();
            prop_assert_eq!(read(with(Mishap::Length(-1))), Ok(Some((200, short, true, 1))));
            prop_assert_eq!(read(with(Mishap::Length(1))), Err(WireError::Truncated));
            prop_assert_eq!(read(with(Mishap::Truncate)), Err(WireError::Truncated));
            let cut = Change { framing: Framing::Chunked, ..with(Mishap::Truncate) };
            prop_assert_eq!(read(cut), Err(WireError::Truncated));
            prop_assert!(read(with(Mishap::Garbage)).is_err());
        }
    }
}
