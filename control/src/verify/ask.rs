//! Sends one request on a connection of its own and reads everything about its answer.

use crate::verify::origin::Origin;
use crate::verify::work::Question;
use model::workload::Method;
use std::io::{Error, ErrorKind, Result, Write};
use std::net::TcpStream;
use std::time::Duration;
use wire::{Event, ResponseParser, WireError};

/// How long to wait for the connection, and for each read or write.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

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
    let mut stream = TcpStream::connect_timeout(&at.address, ANSWER_PATIENCE)?;
    stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
    stream.set_write_timeout(Some(ANSWER_PATIENCE))?;
    stream.set_nodelay(true)?;
    let request = question.request(at, false);
    match pace {
        Pace::AtOnce => stream.write_all(&request)?,
        Pace::InFragments => send_in_fragments(&mut stream, &request, request.len() - question.send.len())?,
    }
    let mut answer = read(&mut stream)?;
    stream.set_read_timeout(Some(SURPLUS_PATIENCE))?;
    let mut more = [0; 4096];
    let n = net::read_some(&mut stream, &mut more).unwrap_or(0);
    answer.surplus_bytes += more[..n].iter().filter(|byte| !matches!(byte, b'\r' | b'\n')).count();
    Ok(answer)
}

fn send_in_fragments(stream: &mut TcpStream, request: &[u8], head_bytes: usize) -> Result<()> {
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

fn read(stream: &mut TcpStream) -> Result<Answer> {
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
                Some(Event::Head(found)) => answer.status = found.status,
                Some(Event::Body(bytes)) => answer.body.extend_from_slice(bytes),
                Some(Event::End { .. }) => {
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
