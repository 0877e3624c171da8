//! Sends one request on a connection of its own, in the protocol of its origin, and reads everything about its answer.

use crate::verify::origin::Origin;
use crate::verify::work::Question;
use model::Protocol;
use model::workload::Method;
use net::tls::{BlockingTls, ClientOptions, ClientTls, Version};
use std::cell::Cell;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::time::{Duration, Instant};
use wire::{ClientSession, Event, Grpc, Hearer, Http1, Http2, RequestBytes, WebSocket, WireError};

/// How long to wait for the connection, and for each read or write.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// How long a request and its answer may take together. A stream of events goes on for ever, without a pause that would be noticed.
const WHOLE_PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two fragments of a request: long enough for a server to have read the first.
const FRAGMENT_PAUSE: Duration = Duration::from_millis(15);

/// How long further bytes are waited for. A server that sends more than its answer does so at once.
const SURPLUS_PATIENCE: Duration = Duration::from_millis(20);

/// How often a request that was refused is sent again.
const MOST_REFUSALS: u32 = 8;

/// The size of the largest body that is read. No workload serves a larger one.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A whole answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The `Content-Type`, parameters aside.
    pub content_type: Option<String>,
    /// The `Content-Encoding`.
    pub content_encoding: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// The size of head and body as they came.
    pub wire_bytes: usize,
    /// The number of bytes that came after its end.
    pub surplus_bytes: usize,
}

/// How a request is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// In one piece.
    AtOnce,
    /// In fragments, cut at awkward places: in the method, in the head, before the last byte of the head, in the body.
    InFragments,
}

/// Requests one path on a connection of its own.
pub fn get(at: &Origin, path: &str) -> Result<Answer> {
    let question = Question { method: Method::Get, path: path.to_owned(), send: Vec::new(), body: None };
    ask(at, &question, Pace::AtOnce)
}

/// Sends a request on a connection of its own, and says that it is the last one.
pub fn ask(at: &Origin, question: &Question, pace: Pace) -> Result<Answer> {
    ask_for(WHOLE_PATIENCE, at, question, pace)
}

/// As [`ask`], for at most `patience` from when the connection is open.
fn ask_for(patience: Duration, at: &Origin, question: &Question, pace: Pace) -> Result<Answer> {
    let stream = TcpStream::connect_timeout(&at.address, ANSWER_PATIENCE)?;
    stream.set_nodelay(true)?;
    let most = Rc::new(Cell::new(ANSWER_PATIENCE));
    let deadline = Instant::now() + patience;
    let mut exchange = Exchange { stream, patience, deadline, most: Rc::clone(&most) };
    let request = question.request(at, false);
    let asked =
        Asked { request: &request, body_bytes: question.send.len(), is_encrypted: at.tls, pace, most };
    if at.tls {
        asked.by(at.protocol, &mut encrypted(exchange, at)?)
    } else {
        asked.by(at.protocol, &mut exchange)
    }
}

/// The connection with TLS 1.3, on which the origin's protocol was agreed. Any certificate will do.
fn encrypted(exchange: Exchange, at: &Origin) -> Result<BlockingTls<Exchange>> {
    let options = ClientOptions {
        insecure: true,
        version: Some(Version::Tls13),
        alpn: load::offered(at.protocol),
        ..ClientOptions::default()
    };
    let tls = ClientTls::new(&options, at.target("/").name()).map_err(Error::other)?;
    let stream = BlockingTls::connect(exchange, &tls).map_err(|error| match error.kind() {
        ErrorKind::WouldBlock => {
            let why = format!("nothing came for {ANSWER_PATIENCE:?} in the TLS handshake");
            Error::new(ErrorKind::TimedOut, why)
        }
        _ => error,
    })?;
    let is_agreed_on = matches!(at.protocol, Protocol::Http2 | Protocol::Grpc);
    if is_agreed_on && stream.agreed() != Some(net::tls::HTTP_2.as_bytes()) {
        return Err(Error::other("the server with TLS does not speak HTTP/2: it did not choose h2 (ALPN)"));
    }
    Ok(stream)
}

/// A request that is to be sent, and how.
struct Asked<'q> {
    request: &'q [u8],
    /// The length of its body.
    body_bytes: usize,
    is_encrypted: bool,
    pace: Pace,
    /// How long each read or write may take, whatever the deadline.
    most: Rc<Cell<Duration>>,
}

impl Asked<'_> {
    fn by(&self, protocol: Protocol, stream: &mut (impl Read + Write)) -> Result<Answer> {
        match protocol {
            Protocol::Http1 => self.over::<Http1>(stream),
            Protocol::Http2 => self.over::<Http2>(stream),
            Protocol::Grpc => self.over::<Grpc>(stream),
            Protocol::WebSocket => self.over::<WebSocket>(stream),
        }
    }

    /// Sends the request in this protocol, and reads its answer.
    fn over<'q, S: ClientSession<'q>>(&'q self, stream: &mut (impl Read + Write)) -> Result<Answer> {
        let request =
            RequestBytes { request: self.request, last: self.request, is_encrypted: self.is_encrypted };
        let invalid = |error: WireError| Error::new(ErrorKind::InvalidData, error.to_string());
        let mut shared = S::shared(vec![request]).map_err(invalid)?;
        let (mut session, mut out) = (S::default(), Vec::new());
        let (mut is_begun, mut refusals) = (false, 0);
        session.open(&mut shared, &mut out);
        stream.write_all(&out)?;
        out.clear();
        let (mut answer, mut buffer) = (Answer::default(), vec![0; 64 * 1024]);
        loop {
            if !is_begun && session.room() > 0 {
                is_begun = true;
                session.begin(&mut shared, 0, true, &mut out);
                self.send(stream, &out, refusals > 0)?;
            } else if !out.is_empty() {
                stream.write_all(&out)?;
            }
            stream.flush()?;
            out.clear();
            let n = Self::read(stream, &mut buffer, &answer)?;
            answer.wire_bytes += n;
            let mut input = &buffer[..n];
            let mut closed = (n == 0).then(|| session.closed());
            loop {
                let event = match closed.take() {
                    Some(event) => event,
                    None => session.next(&mut shared, &mut input, &mut out, &mut answer),
                };
                match event.map_err(|e| broken(e, &answer))? {
                    Some(Event::Head(_, found)) => answer.status = found.status,
                    Some(Event::Body(_, bytes)) => answer.body.extend_from_slice(bytes),
                    Some(Event::End { failure: Some(failure), .. }) => {
                        return Err(Error::other(format!("{failure}")));
                    }
                    Some(Event::End { .. }) => {
                        answer.wire_bytes -= input.len();
                        answer.surplus_bytes = if S::IN_ORDER { self.surplus(stream, input) } else { 0 };
                        return Ok(answer);
                    }
                    // It has not looked at the request: lighttpd does so before it has heard that its settings are known.
                    Some(Event::Refused(_)) if refusals < MOST_REFUSALS => {
                        (is_begun, refusals) = (false, refusals + 1);
                    }
                    Some(Event::Refused(_)) => return Err(Error::other("the server refused the request")),
                    Some(Event::Reset(_, number)) => {
                        let why = format!("the server broke off its answer: {}", S::reason(number));
                        return Err(Error::new(ErrorKind::InvalidData, why));
                    }
                    Some(Event::Malformed(_, error)) => return Err(invalid(error)),
                    None => break,
                }
                if n == 0 {
                    break;
                }
            }
            if n == 0 {
                return Err(Error::new(ErrorKind::UnexpectedEof, "closed without an answer"));
            }
            if answer.body.len() > MAX_BODY_BYTES {
                return Err(Error::new(ErrorKind::InvalidData, "the body is larger than 64 MiB"));
            }
        }
    }

    /// Sends the request, or sends it again.
    fn send(&self, stream: &mut impl Write, bytes: &[u8], is_again: bool) -> Result<()> {
        match self.pace {
            _ if is_again => stream.write_all(bytes),
            Pace::AtOnce => stream.write_all(bytes),
            Pace::InFragments => {
                send_in_fragments(stream, bytes, bytes.len().saturating_sub(self.body_bytes))
            }
        }
    }

    fn read(stream: &mut impl Read, buffer: &mut [u8], answer: &Answer) -> Result<usize> {
        net::read_some(stream, buffer).map_err(|error| {
            let why = match (error.kind(), answer.wire_bytes) {
                (ErrorKind::WouldBlock, 0) => format!("nothing came for {ANSWER_PATIENCE:?}"),
                (ErrorKind::WouldBlock, _) => {
                    format!("only a part of an answer came, then nothing for {ANSWER_PATIENCE:?}")
                }
                _ => return error,
            };
            Error::new(ErrorKind::TimedOut, why)
        })
    }

    /// The number of bytes that come after the answer, `input` among them. Empty lines belong to no answer; under load they are passed over,
    /// too.
    fn surplus(&self, stream: &mut impl Read, input: &[u8]) -> usize {
        self.most.set(SURPLUS_PATIENCE);
        let mut more = [0; 4096];
        let n = net::read_some(stream, &mut more).unwrap_or(0);
        let is_content = |byte: &&u8| !matches!(byte, b'\r' | b'\n');
        input.iter().chain(&more[..n]).filter(is_content).count()
    }
}

/// A connection on which each read and write ends after a while, and all of them at the deadline, however little is missing
/// then.
struct Exchange {
    stream: TcpStream,
    /// How long all may take.
    patience: Duration,
    deadline: Instant,
    /// How long each read or write may take.
    most: Rc<Cell<Duration>>,
}

impl Exchange {
    /// How long the next read or write may take.
    fn left(&self) -> Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now()).min(self.most.get());
        if left.is_zero() { Err(self.too_long()) } else { Ok(left) }
    }

    /// The result of a read or write. If it was cut off by the deadline, the error says so.
    fn in_time(&self, result: Result<usize>) -> Result<usize> {
        result.map_err(|error| match error.kind() {
            ErrorKind::WouldBlock if Instant::now() >= self.deadline => self.too_long(),
            _ => error,
        })
    }

    fn too_long(&self) -> Error {
        Error::new(ErrorKind::TimedOut, format!("the answer did not end within {:?}", self.patience))
    }
}

impl Read for Exchange {
    fn read(&mut self, into: &mut [u8]) -> Result<usize> {
        self.stream.set_read_timeout(Some(self.left()?))?;
        let read = self.stream.read(into);
        self.in_time(read)
    }
}

impl Write for Exchange {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.stream.set_write_timeout(Some(self.left()?))?;
        let written = self.stream.write(bytes);
        self.in_time(written)
    }

    fn flush(&mut self) -> Result<()> {
        self.stream.flush()
    }
}

fn send_in_fragments(stream: &mut impl Write, request: &[u8], head_bytes: usize) -> Result<()> {
    let body_bytes = request.len() - head_bytes;
    let mut from = 0;
    for to in [2, 20, head_bytes.saturating_sub(1), head_bytes + body_bytes / 2, request.len()] {
        if to > from {
            stream.write_all(&request[from..to])?;
            from = to;
            std::thread::sleep(FRAGMENT_PAUSE);
        }
    }
    Ok(())
}

fn broken(error: WireError, answer: &Answer) -> Error {
    let cut = format!("{error}, after {} bytes of the body", answer.body.len());
    let why = if error == WireError::Truncated { cut } else { error.to_string() };
    Error::new(ErrorKind::InvalidData, why)
}

impl Hearer for Answer {
    const HEARS_FIELDS: bool = true;

    fn is_head(&self, _: usize) -> bool {
        false
    }

    fn field(&mut self, _: usize, name: &[u8], value: &[u8]) {
        self.keep(&String::from_utf8_lossy(name), value);
    }
}

impl Answer {
    /// Keeps what is of interest of a header field, in lower case. Of several with the same name, the first one counts.
    fn keep(&mut self, name: &str, value: &[u8]) {
        let value = String::from_utf8_lossy(value).to_lowercase();
        if name.eq_ignore_ascii_case("content-type") {
            let without_parameters = value.split(';').next().unwrap_or_default().trim();
            self.content_type.get_or_insert_with(|| without_parameters.to_owned());
        } else if name.eq_ignore_ascii_case("content-encoding") {
            self.content_encoding.get_or_insert(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// Asks a server that does this with its connection, for at most half a second; returns the error, and how long it took.
    fn asked(
        send: Vec<u8>,
        serve: impl FnOnce(TcpStream) -> Result<()> + Send + 'static,
    ) -> (Error, Duration) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = Origin::from(listener.local_addr().unwrap());
        std::thread::spawn(move || serve(listener.accept()?.0));
        let method = if send.is_empty() { Method::Get } else { Method::Post };
        let question = Question { method, path: "/".to_owned(), send, body: None };
        let begun = Instant::now();
        let error = ask_for(Duration::from_millis(500), &origin, &question, Pace::AtOnce).unwrap_err();
        (error, begun.elapsed())
    }

    fn assert_given_up((error, took): (Error, Duration)) {
        assert_eq!(error.to_string(), "the answer did not end within 500ms");
        assert!(error.kind() == ErrorKind::TimedOut && took < Duration::from_secs(10), "{took:?}");
    }

    #[test]
    fn an_answer_that_goes_on_for_ever_is_given_up() {
        assert_given_up(asked(Vec::new(), |mut stream| {
            stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            for _ in 0..400 {
                stream.write_all(b"3\r\n:\n\n\r\n")?;
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok(())
        }));
    }

    #[test]
    fn a_server_that_reads_a_request_for_ever_is_given_up() {
        assert_given_up(asked(vec![b'x'; 32 << 20], |mut stream| {
            let mut some = vec![0; 64 << 10];
            for _ in 0..400 {
                stream.read_exact(&mut some)?;
                std::thread::sleep(Duration::from_millis(50));
            }
            Ok(())
        }));
    }
}
