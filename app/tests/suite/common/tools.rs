//! The older tools themselves, and drome in their place: run in turn against the same server and compared.

use super::process;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How a program ended and what it said.
#[derive(Debug)]
pub struct Ended {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// Runs a program to its end.
pub fn run(command: &mut Command) -> Ended {
    let output = process::finish(command.stdin(Stdio::null()));
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    Ended { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// The real tool.
pub fn real(tool: &str, args: &[&str]) -> Ended {
    run(Command::new(tool).args(args))
}

/// drome in its place.
pub fn drome(tool: &str, args: &[&str]) -> Ended {
    run(Command::new(env!("CARGO_BIN_EXE_drome")).arg(tool).args(args))
}

/// Runs two at the same time: each mostly waits, and no figure of it is judged by the other's.
pub fn together<A: Send, B>(one: impl FnOnce() -> A + Send, other: impl FnOnce() -> B) -> (A, B) {
    std::thread::scope(|scope| {
        let one = scope.spawn(one);
        let other = other();
        (one.join().unwrap(), other)
    })
}

/// A report with every number replaced by `#`, and blanks before it by one: what is left must be equal.
pub fn shape(report: &str) -> String {
    let mut shape = String::new();
    let mut is_within = false;
    for c in report.chars() {
        let is_number = c.is_ascii_digit() || (is_within && c == '.');
        if is_number && !is_within {
            let bare = shape.trim_end_matches(' ').len();
            if bare < shape.len() {
                shape.truncate(bare);
                shape.push(' ');
            }
            shape.push('#');
        }
        if !is_number {
            shape.push(c);
        }
        is_within = is_number;
    }
    shape
}

/// A server of one's own that answers every request with `answer`, after a moment, and then closes or not; it ends with the test.
/// What the first connection sends first comes out of the channel.
pub struct Ears {
    pub port: u16,
    heard: std::sync::mpsc::Receiver<Vec<u8>>,
}

impl Ears {
    pub fn new(answer: &'static [u8], closes: bool) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, heard) = channel();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let tell = tell.clone();
                std::thread::spawn(move || {
                    let mut bytes = vec![0; 65536];
                    while let Ok(n @ 1..) = stream.read(&mut bytes) {
                        let _ = tell.send(bytes[..n].to_vec());
                        // A tool that asks as fast as it can leaves the cores to other tests.
                        std::thread::sleep(Duration::from_millis(1));
                        if stream.write_all(answer).is_err() || closes {
                            return;
                        }
                    }
                });
            }
        });
        Self { port, heard }
    }

    /// The first requests that were heard, as many as there were, up to `most`.
    pub fn several(&self, most: usize) -> Vec<Vec<u8>> {
        self.heard.try_iter().take(most).collect()
    }

    /// The first request that was heard.
    pub fn first(&self) -> Vec<u8> {
        self.heard.recv_timeout(Duration::from_secs(20)).expect("a request")
    }
}

/// What a tool sends first, with the port, which differs, replaced.
pub fn wire(run: impl Fn(&str), answer: &'static [u8], closes: bool) -> String {
    let ears = Ears::new(answer, closes);
    run(&format!("http://127.0.0.1:{}", ears.port));
    String::from_utf8_lossy(&ears.first()).replace(&ears.port.to_string(), "PORT")
}
