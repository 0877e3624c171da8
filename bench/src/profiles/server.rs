//! A running server, which tells what its answers have cost.

use super::truth::Truth;
use crate::process::{Listening, PATIENCE, free_port};
use anyhow::{Context, Result, bail};
use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::process::Command;

/// A running server; dropping this ends it.
pub struct Server(Listening);

impl Server {
    /// Starts a command with the port as its last word, and waits until it listens.
    pub fn start(mut command: Command) -> Result<Self> {
        let port = free_port()?;
        let started = Listening::start(None, port, command.arg(port.to_string()));
        Ok(Self(started.with_context(|| format!("{command:?}"))?))
    }

    /// The port on which it listens.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.0.process.pid()
    }

    /// Asks the server for its calls and their CPU time so far.
    pub fn truth(&self) -> Result<Truth> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port()))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.write_all(b"GET /truth HTTP/1.1\r\nHost: localhost\r\n\r\n")?;
        let (mut answer, mut chunk) = (Vec::new(), [0; 4096]);
        loop {
            if let Some(body) = body(&answer) {
                return Truth::parse(&body);
            }
            match stream.read(&mut chunk).context("the server does not tell its truth")? {
                0 => bail!("the server closed the connection instead of telling its truth"),
                n => answer.extend_from_slice(&chunk[..n]),
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What compiles at run time leaves the names of its functions there.
        let _ = fs::remove_file(format!("/tmp/perf-{}.map", self.pid()));
    }
}

/// The body of an answer, if the answer is whole.
fn body(answer: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    let mut lengths = fields.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length: usize = lengths.next()?.1.trim().parse().ok()?;
    (body.len() >= length).then(|| body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_given_when_it_is_whole() {
        let whole = "HTTP/1.1 200 OK\r\ncontent-length: 8\r\n\r\n1 2 3 4\n";
        assert_eq!(body(whole.as_bytes()).as_deref(), Some("1 2 3 4\n"));
        for cut in 0..whole.len() {
            assert_eq!(body(&whole.as_bytes()[..cut]), None, "{cut}");
        }
        assert_eq!(body(b"HTTP/1.1 200 OK\r\n\r\nno length"), None);
    }
}
