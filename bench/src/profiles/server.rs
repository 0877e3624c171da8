//! A running server, which tells what its answers have cost and never outlives drome-bench.

use super::truth::Truth;
use anyhow::{Context, Result, bail};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A server that does not listen, or does not answer, after this time is given up.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server; dropping this ends it.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts a command with the port as its last word, and waits until it listens.
    pub fn start(command: &[String]) -> Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let mut errors = tempfile::tempfile()?;
        // setpriv replaces itself by the program, and makes the kernel kill it when drome-bench is killed.
        let child = Command::new("setpriv")
            .args(["--pdeathsig", "KILL"])
            .args(command)
            .arg(port.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(errors.try_clone()?)
            .spawn()
            .context("can't start setpriv, which is in Debian's package util-linux")?;
        let mut server = Self { child, port };
        let (shown, deadline) = (command.join(" "), Instant::now() + PATIENCE);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if let Some(status) = server.child.try_wait()? {
                bail!("`{shown} {port}` ended with {status}: {}", read(&mut errors)?);
            }
            if Instant::now() > deadline {
                bail!("`{shown} {port}` does not listen after {} s", PATIENCE.as_secs());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    /// The port on which it listens.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Asks the server for its calls and their CPU time so far.
    pub fn truth(&self) -> Result<Truth> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port))?;
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
        let _ = self.child.kill();
        let _ = self.child.wait();
        // What compiles at run time leaves the names of its functions there.
        let _ = fs::remove_file(format!("/tmp/perf-{}.map", self.child.id()));
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

fn read(file: &mut File) -> Result<String> {
    let mut text = String::new();
    file.rewind()?;
    file.read_to_string(&mut text)?;
    Ok(text)
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

    #[test]
    fn a_command_that_ends_says_why() {
        let command = ["sh", "-c", "echo no way >&2; exit 3"].map(str::to_owned);
        let error = Server::start(&command).err().unwrap().to_string();
        assert!(error.contains("exit status: 3") && error.contains("no way"), "{error}");
    }
}
