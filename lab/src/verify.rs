//! Is the server ready, and does it do the work? Asked over connections of their own, before any load.

use model::Workload;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use wire::{Event, ResponseParser};

/// A single answer gets so long.
const ANSWER_PATIENCE: Duration = Duration::from_secs(5);

/// Bodies beyond this are not what any workload serves.
const MAX_BODY_BYTES: usize = 64 * 1024 * 1024;

/// A whole answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The `Content-Type`, parameters aside.
    pub content_type: Option<String>,
    /// The body.
    pub body: Vec<u8>,
}

/// Asks for one path on a connection of its own.
pub fn get(address: SocketAddr, host: &str, path: &str) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect_timeout(&address, ANSWER_PATIENCE)?;
    stream.set_read_timeout(Some(ANSWER_PATIENCE))?;
    stream.set_write_timeout(Some(ANSWER_PATIENCE))?;
    stream
        .write_all(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").as_bytes())?;
    let mut answer = Answer { status: 0, content_type: None, body: Vec::new() };
    let (mut parser, mut head, mut buffer) = (ResponseParser::new(), Vec::new(), vec![0; 64 * 1024]);
    loop {
        let n = stream.read(&mut buffer)?;
        let mut input = &buffer[..n];
        if answer.status == 0 {
            head.extend_from_slice(input);
        }
        loop {
            let event = if n == 0 { parser.closed() } else { parser.next(&mut input, false) };
            match event.map_err(|e| std::io::Error::new(ErrorKind::InvalidData, e))? {
                Some(Event::Head(found)) => answer.status = found.status,
                Some(Event::Body(bytes)) => answer.body.extend_from_slice(bytes),
                Some(Event::End { .. }) => {
                    answer.content_type = content_type(&head);
                    return Ok(answer);
                }
                None => break,
            }
        }
        if n == 0 {
            return Err(std::io::Error::new(ErrorKind::UnexpectedEof, "closed without an answer"));
        }
        if answer.body.len() > MAX_BODY_BYTES {
            return Err(std::io::Error::new(ErrorKind::InvalidData, "a body without end"));
        }
    }
}

/// Asks for a workload. The list is empty when the answer is the work; else it has all that is wrong.
pub fn check(address: SocketAddr, path: &str, name: &str, workload: &Workload, body: &[u8]) -> Vec<String> {
    let answer = match get(address, &address.to_string(), path) {
        Ok(answer) => answer,
        Err(error) => return vec![format!("{name} ({path}): no answer: {error}")],
    };
    let mut wrong = Vec::new();
    if answer.status != 200 {
        wrong.push(format!("{name} ({path}): status {} instead of 200", answer.status));
    }
    if answer.content_type.as_deref() != Some(workload.content_type.as_str()) {
        let got = answer.content_type.as_deref().unwrap_or("none");
        wrong.push(format!("{name} ({path}): content type {got} instead of {}", workload.content_type));
    }
    if answer.body.len() != body.len() {
        wrong.push(format!("{name} ({path}): {} bytes instead of {}", answer.body.len(), body.len()));
    } else if let Some(at) = answer.body.iter().zip(body).position(|(got, expected)| got != expected) {
        wrong.push(format!("{name} ({path}): the body differs from byte {at} on"));
    }
    wrong
}

fn content_type(head: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(head);
    let head = text.split("\r\n\r\n").next()?;
    let line = head.lines().find(|line| line.to_ascii_lowercase().starts_with("content-type:"))?;
    let value = line.split_once(':')?.1.split(';').next()?;
    Some(value.trim().to_ascii_lowercase())
}
