//! Sends one request on a connection of its own and reads everything about its answer.

use crate::verify::origin::Origin;
use crate::verify::work::Question;
use model::workload::Method;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};
use wire::{Part, ResponseParser, WireError};

/// How long to wait for the connection, and for each read or write.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// How long a request and its answer may take together. A stream of events goes on for ever, without a pause that would be noticed.
const WHOLE_PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two fragments of a request: long enough for a server to have read the first.
const FRAGMENT_PAUSE: Duration = Duration::from_millis(15);

/// How long further bytes are waited for. A server that sends more than its answer does so at once.
const SURPLUS_PATIENCE: Duration = Duration::from_millis(20);

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
    let mut stream = Exchange { stream, patience, deadline: Instant::now() + patience };
    let request = question.request(at, false);
    match pace {
        Pace::AtOnce => stream.write_all(&request)?,
        Pace::InFragments => send_in_fragments(&mut stream, &request, request.len() - question.send.len())?,
    }
    let mut answer = read(&mut stream)?;
    let mut stream = stream.stream;
    stream.set_read_timeout(Some(SURPLUS_PATIENCE))?;
    let mut more = [0; 4096];
    let n = net::read_some(&mut stream, &mut more).unwrap_or(0);
    answer.surplus_bytes += more[..n].iter().filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
    Ok(answer)
}

/// A connection on which each read and write ends after [`ANSWER_PATIENCE`], and all of them at the deadline, however little is missing
/// then.
struct Exchange {
    stream: TcpStream,
    /// How long all may take.
    patience: Duration,
    deadline: Instant,
}

impl Exchange {
    /// How long the next read or write may take.
    fn left(&self) -> Result<Duration> {
        let left = self.deadline.saturating_duration_since(Instant::now()).min(ANSWER_PATIENCE);
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
    for to in [2, 20, head_bytes - 1, head_bytes + body_bytes / 2, request.len()] {
        if to > from {
            stream.write_all(&request[from..to])?;
            from = to;
            std::thread::sleep(FRAGMENT_PAUSE);
        }
    }
    Ok(())
}

fn read(stream: &mut impl Read) -> Result<Answer> {
    let mut answer = Answer::default();
    let (mut parser, mut buffer) = (ResponseParser::new(), vec![0; 64 * 1024]);
    loop {
        let n = match net::read_some(stream, &mut buffer) {
            Err(e) if e.kind() == ErrorKind::WouldBlock => {
                let why = match answer.wire_bytes {
                    0 => format!("nothing came for {ANSWER_PATIENCE:?}"),
                    _ => format!("only a part of an answer came, then nothing for {ANSWER_PATIENCE:?}"),
                };
                return Err(Error::new(ErrorKind::TimedOut, why));
            }
            other => other?,
        };
        answer.wire_bytes += n;
        let mut input = &buffer[..n];
        loop {
            let field = |name: &str, value: &[u8]| answer.keep(name, value);
            let event = if n == 0 { parser.closed() } else { parser.next_with(&mut input, false, field) };
            match event.map_err(|e| broken(e, &answer))? {
                Some(Part::Head(found)) => answer.status = found.status,
                Some(Part::Body(bytes)) => answer.body.extend_from_slice(bytes),
                Some(Part::End { .. }) => {
                    answer.wire_bytes -= input.len();
                    // Empty lines belong to no answer; under load they are passed over, too.
                    parser.skip_empty_lines(&mut input);
                    answer.surplus_bytes = input.len();
                    return Ok(answer);
                }
                None => break,
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

fn broken(error: WireError, answer: &Answer) -> Error {
    let cut = format!("{error}, after {} bytes of the body", answer.body.len());
    let why = if error == WireError::Truncated { cut } else { error.to_string() };
    Error::new(ErrorKind::InvalidData, why)
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
