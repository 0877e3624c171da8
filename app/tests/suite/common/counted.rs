//! `drome serve` whose answers can be counted from outside, in its access log.

use super::{Home, Server, serve};
use std::path::PathBuf;

/// The server, and where it logs.
pub struct Counted {
    pub server: Server,
    log: PathBuf,
    _home: Home,
}

impl Counted {
    /// A server with these arguments besides.
    pub fn new(args: &[&str]) -> Self {
        let home = Home::new();
        let log = home.path().join("access.log");
        let server = serve(&[&["--access-log", log.to_str().unwrap()][..], args].concat());
        Self { server, log, _home: home }
    }

    /// A page of it.
    pub fn url(&self) -> String {
        format!("http://{}/hello", self.server.address)
    }

    /// How many answers it has logged, which it does once a second.
    pub fn answers(&self) -> usize {
        let log = std::fs::read(&self.log).unwrap_or_default();
        log.split(|byte| *byte == b'\n').count() - 1
    }
}
