//! The first message of each side: which version of drome it is, and on which machine.

use crate::{PROTOCOL, text};
use serde::{Deserialize, Serialize};

/// What a side first says about itself. Its form must never change, so that any two versions can tell that they differ.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Hello {
    /// drome's version, a space, and its build.
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
    /// The number of cores that the process may use.
    pub cores: usize,
    /// The process ID.
    pub pid: u32,
}

impl Hello {
    /// Whether two sides understand each other: they have the same version of the protocol and of drome. Their builds may differ; the
    /// content of requests changes only with the version.
    pub(crate) fn understands(&self, other: &Self) -> bool {
        let version = |hello: &Self| hello.drome.split(' ').next().map(str::to_owned);
        self.protocol == other.protocol && version(self) == version(other)
    }

    /// Removes escape sequences and control characters from all texts.
    pub(crate) fn cleaned(mut self) -> Self {
        for text in [&mut self.drome, &mut self.os, &mut self.arch, &mut self.kernel, &mut self.host] {
            *text = text::line(text);
        }
        self
    }
}

/// What this process says about itself. `drome`: drome's version, a space, and its build.
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
