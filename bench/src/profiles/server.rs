//! A running server, which tells what its answers have cost.

use super::truth::Truth;
use crate::process::{Listening, PATIENCE, free_port};
use anyhow::{Context, Result};
use std::fs;
use std::process::Command;
use xtask::printed;

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
        let url = format!("http://127.0.0.1:{}/truth", self.port());
        let limit_s = PATIENCE.as_secs().to_string();
        let options = ["--fail", "-sS", "--noproxy", "*", "--max-time", &limit_s, &url];
        Truth::parse(&printed(Command::new("curl").args(options))?)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // What compiles at run time leaves the names of its functions there.
        let _ = fs::remove_file(format!("/tmp/perf-{}.map", self.pid()));
    }
}
