//! A client of a few lines: asks once, reads until the server closes.

use crate::common::PATIENCE;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

/// An answer, taken apart.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub fields: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

/// A connection that does not wait for ever.
pub fn connect(to: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(to).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream.set_write_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends a request and reads all that comes.
pub fn ask(to: SocketAddr, request: &[u8]) -> Answer {
    let mut stream = connect(to);
    // A server that has heard enough may close while it is still being written to.
    let _ = stream.write_all(request);
    read(&mut stream)
}

/// A GET of this path, and nothing else.
pub fn get(to: SocketAddr, path: &str) -> Answer {
    ask(to, format!("GET {path} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n").as_bytes())
}

/// Reads one answer, and the end.
pub fn read(stream: &mut impl Read) -> Answer {
    let mut bytes = Vec::new();
    stream.read_to_end(&mut bytes).unwrap();
    parse(&bytes)
}

/// All answers of a connection that stays open until the last: each must have its length in it.
pub fn parse_all(mut bytes: &[u8]) -> Vec<Answer> {
    let mut answers = Vec::new();
    while !bytes.is_empty() {
        let (head, rest) = bytes.split_at(head_bytes(bytes));
        let mut answer = parse(head);
        let length = answer.field("content-length").map_or(0, |n| n.parse().unwrap());
        answer.body = rest[..length].to_vec();
        bytes = &rest[length..];
        answers.push(answer);
    }
    answers
}

fn head_bytes(bytes: &[u8]) -> usize {
    let shown = || String::from_utf8_lossy(&bytes[..bytes.len().min(300)]).into_owned();
    let end = bytes.windows(4).position(|w| w == b"\r\n\r\n");
    end.unwrap_or_else(|| panic!("no head: {:?}", shown())) + 4
}

fn parse(bytes: &[u8]) -> Answer {
    let (head, body) = bytes.split_at(head_bytes(bytes));
    let head = String::from_utf8_lossy(head).into_owned();
    let mut lines = head.trim_end().split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let fields = lines
        .map(|line| line.split_once(':').unwrap_or_else(|| panic!("{line:?}")))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Answer { status, fields, body: body.to_vec() }
}
