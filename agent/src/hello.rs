//! The first message of either side: what drome it is, on which machine.

use crate::{PROTOCOL, text};
use serde::{Deserialize, Serialize};

/// What a side says of itself first. Its form must never change, so that any two versions can tell that they differ.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Hello {
    /// drome's version, and after a blank its build.
    pub drome: String,
    /// The version of the protocol.
    pub protocol: u32,
    /// The operating system: `linux`.
    pub os: String,
    /// The architecture: `x86_64`, `aarch64`.
    pub arch: String,
    /// The kernel's release.
    pub kernel: String,
    /// The host's name.
    pub host: String,
    /// The cores that the process may use.
    pub cores: usize,
    /// The process.
    pub pid: u32,
}

impl Hello {
    /// Whether two sides understand each other: the same protocol and the same version, of whatever build. What requests carry changes
    /// with versions.
    pub(crate) fn understands(&self, other: &Self) -> bool {
        let version = |hello: &Self| hello.drome.split(' ').next().map(str::to_owned);
        self.protocol == other.protocol && version(self) == version(other)
    }

    /// Without what a terminal would obey.
    pub(crate) fn cleaned(mut self) -> Self {
        for text in [&mut self.drome, &mut self.os, &mut self.arch, &mut self.kernel, &mut self.host] {
            *text = text::line(text);
        }
        self
    }
}

/// What this process says of itself. `drome`: its version, and after a blank its build.
pub fn hello(drome: &str) -> Hello {
    let names = rustix::system::uname();
    Hello {
        drome: drome.to_owned(),
        protocol: PROTOCOL,
        os: std::env::consts::OS.to_owned(),
        arch: std::env::consts::ARCH.to_owned(),
        kernel: names.release().to_string_lossy().into_owned(),
        host: names.nodename().to_string_lossy().into_owned(),
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        pid: std::process::id(),
    }
}
